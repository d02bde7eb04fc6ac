"""The lines of the table, and how they are written."""

from __future__ import annotations

import csv
import json
import math
import statistics
from dataclasses import asdict, dataclass, fields

from . import estimate
from .targets import ANY_PEER, target_of


@dataclass
class Row:
    """`ratio` is the median over the rounds of ours / peer, with its 95 % interval; `share` what part of the
    physical limit ours reaches. Where a figure does not exist it is NaN."""

    section: str
    what: str
    unit: str
    ours: float
    against: str = "nothing"
    peer: float = math.nan
    ratio: float = math.nan
    low: float = math.nan
    high: float = math.nan
    share: float = math.nan
    wanted: str = ""
    verdict: str = ""


def compare(section: str, what: str, unit: str, ours: list[float], peers: dict[str, list[float]],
            lower_is_better: bool = False, share: float = math.nan) -> list[Row]:
    """A line for each peer. Samples are paired by round. What is wanted against the best peer stands in that
    peer's line."""
    if not peers:
        return [Row(section, what, unit, statistics.median(ours), share=share)]
    medians = {name: statistics.median(samples) for name, samples in peers.items()}
    best = (min if lower_is_better else max)(medians, key=lambda name: medians[name])
    rows = []
    for name, samples in peers.items():
        ratios = [mine / other for mine, other in zip(ours, samples, strict=True)]
        ratio, (low, high) = statistics.median(ratios), estimate.interval(ratios)
        row = Row(section, what, unit, statistics.median(ours), name, medians[name], ratio, low, high, share)
        judge(row, name == best)
        rows.append(row)
    return rows


def judge(row: Row, is_best: bool) -> None:
    target = target_of(row.section, row.what, row.against)
    if target is None and is_best:
        target = target_of(row.section, row.what, ANY_PEER)
    if target:
        row.wanted = target.text()
        row.verdict = "ok" if target.met_by(row.ratio) else "short"


def number_text(value: float) -> str:
    if not math.isfinite(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def table_text(rows: list[Row]) -> str:
    """At most 120 columns."""
    columns = f"{'unit':<8} {'ours':>8} {'peer':>8}  {'peer is':<18}"
    lines = [f"{'what':<32} {columns} {'ours / peer [95 %]':<22} {'limit':>6}  {'wanted':<7} is"]
    section = ""
    for row in rows:
        if row.section != section:
            section = row.section
            lines.append(f"-- {section} " + "-" * (117 - len(section)))
        ratio = "-"
        if math.isfinite(row.ratio):
            ratio = f"{row.ratio:.3g} [{row.low:.3g}, {row.high:.3g}]"
        share = f"{100 * row.share:.3g} %" if math.isfinite(row.share) else "-"
        figures = f"{row.unit:<8} {number_text(row.ours):>8} {number_text(row.peer):>8}  {row.against:<18}"
        lines.append(f"{row.what:<32} {figures} {ratio:<22} {share:>6}  {row.wanted:<7} {row.verdict}".rstrip())
    return "\n".join(lines)


def plain(row: Row) -> dict[str, object]:
    """What does not exist is None."""
    return {key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in asdict(row).items()}


def write_csv(path: str, rows: list[Row]) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)])
        writer.writeheader()
        writer.writerows(plain(row) for row in rows)


def write_json(path: str, rows: list[Row], machine: dict[str, object], notes: list[str]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"machine": machine, "rows": [plain(row) for row in rows], "notes": notes}, file, indent=1)
        file.write("\n")
