"""Starts scripts/report/report as a user would."""
from __future__ import annotations

import csv
import html
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.support.steelyard import run

REPORT = Path(__file__).resolve().parents[2] / "scripts" / "report" / "report"


SAMPLE = ("--data", "fashion-mnist-sample", "--model", "mlp:784-32-10", "--batch", "24")


@dataclass
class Report:
    code: int
    out: str
    err: str
    page: str  # Without plotly.js; "" where none was written.

    def text(self) -> str:
        """What a reader sees, on one line."""
        plain = re.sub(r"<(script|style)>.*?</\1>|<[^>]+>", " ", self.page, flags=re.DOTALL)
        return re.sub(r"\s+", " ", html.unescape(plain))

    def titles(self) -> list[str]:
        """Of the figures."""
        return re.findall(r"<h3>(.*?)</h3>", self.page)

    def figure(self, slug: str, section: int = 1) -> list[dict]:
        """The traces of a figure."""
        found = re.search(rf'Plotly\.newPlot\("figure-{section}-{slug}", (.*)\);</script>', self.page)
        assert found, (slug, self.titles())
        return json.JSONDecoder().raw_decode(found.group(1))[0]


def report(output: Path, *arguments: str | Path) -> Report:
    if output.is_file():
        output.unlink()
    done = subprocess.run([str(REPORT), *map(str, arguments), "-o", str(output)], capture_output=True, text=True, timeout=100, check=False)
    page = output.read_text(encoding="utf-8") if output.is_file() else ""
    body = page.find("</head>")
    return Report(done.returncode, done.stdout, done.stderr, page[body:] if body >= 0 else "")


def must(ranks: int, *arguments: str) -> None:
    done = run(ranks, *arguments)
    assert done.code == 0, (arguments, done)


def summary(run_directory: Path) -> dict[str, str]:
    with (run_directory / "summary.csv").open() as file:
        return next(csv.DictReader(file))
