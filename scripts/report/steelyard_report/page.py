"""The page: verdict, tables, figures, provenance, in one file that needs nothing else."""

from __future__ import annotations

import datetime
import json
import pathlib
from typing import Any

import jinja2
import plotly.offline

from . import tables, words
from .chart import Chart
from .contestants import Section
from .draw_plotly import figure_of
from .figures.common import Raws
from .notes import Notes
from .runs import Run

HERE = pathlib.Path(__file__).resolve().parent
CONFIGURATION = {"displaylogo": False, "responsive": True, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}


def in_script(value: object) -> str:
    """JSON that cannot end the script element that it stands in."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def drawn(chart: Chart, identity: str) -> dict[str, str]:
    figure = json.loads(figure_of(chart).to_json())
    figure["layout"].pop("template", None)  # Plotly's default theme, 7 kB a figure; nothing of it is used.
    return {
        "id": identity,
        "title": chart.title,
        "how_to_read": chart.how_to_read,
        "note": chart.note,
        "height": figure["layout"]["height"],
        "data": in_script(figure["data"]),
        "layout": in_script(figure["layout"]),
    }


def section_of(section: Section, charts: list[Chart], raws: Raws, number: int) -> dict[str, Any]:
    shown = [tables.contestants(section), tables.ratios(section), tables.efficiency(section)]
    return {
        "title": section.title,
        "verdict": words.verdict(section),
        "findings": words.findings(section, raws),
        "tables": [table for table in shown if table],
        "figures": [drawn(chart, f"figure-{number}-{chart.slug}") for chart in charts],
    }


def plotly_js() -> str:
    """Nothing in it may end the script element."""
    return plotly.offline.get_plotlyjs().replace("</script", "<\\/script")


def render(sections: list[tuple[Section, list[Chart], Raws]], runs: list[Run], notes: Notes) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    titles = [section.title for section, _, _ in sections]
    return environment.get_template("page.html").render(
        title=titles[0] if len(titles) == 1 else f"{titles[0]} and {len(titles) - 1} more",
        style=(HERE / "style.css").read_text(encoding="utf-8"),
        plotly=plotly_js(),
        configuration=in_script(CONFIGURATION),
        runs=runs,
        trials=sum(len(one.trials) for section, _, _ in sections for one in section.contestants),
        made=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        sections=[section_of(section, charts, raws, number) for number, (section, charts, raws) in enumerate(sections, 1)],
        provenance=tables.provenance(runs),
        notes=notes.rows,
    )
