"""Charts as PNG and SVG, for papers."""

from __future__ import annotations

import math
import pathlib

import matplotlib

matplotlib.use("Agg")
import numpy  # noqa: E402
from matplotlib import pyplot  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402

from .chart import DASHES, HATCHES, MARKERS, PALETTE, Chart, Panel, Series, errors  # noqa: E402

STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E3E3E3",
    "axes.axisbelow": True,
    "hatch.linewidth": 0.4,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "steelyard",
}
INCH = 100  # Pixels of the page that are an inch on paper.


def error_bars(series: Series, values: list[float]) -> list[list[float]] | None:
    return list(errors(series.low, series.high, values)) if any(math.isfinite(one) for one in series.low) else None


def draw_bars(axes: Axes, panel: Panel, series: Series, place: int, many: int, base: numpy.ndarray) -> None:
    """The `place`-th of `many` series, beside the others or on top of `base`, which grows."""
    keys, values = (series.y, series.x) if panel.horizontal else (series.x, series.y)
    where = numpy.array([panel.categories.index(key) for key in keys] if panel.categories else keys, dtype=float)
    size = 0.75 if panel.stacked else 0.8 / many
    if not panel.stacked:
        where += (place - (many - 1) / 2) * size
    look = {
        "color": series.fill,
        "edgecolor": "#333333",
        "linewidth": 0.4 if series.hatch else 0,
        "label": series.name,
        "hatch": HATCHES[series.style % len(HATCHES)][1] if series.hatch else "",
        "error_kw": {"elinewidth": 0.8, "capsize": 2},
    }
    if panel.horizontal:
        axes.barh(where, values, size, left=base if panel.stacked else 0, xerr=error_bars(series, values), **look)
    else:
        axes.bar(where, values, size, bottom=base if panel.stacked else 0, yerr=error_bars(series, values), **look)
    if panel.stacked:
        base += numpy.array(values)


def draw_spans(axes: Axes, panel: Panel, series: Series) -> None:
    label = series.name if series.in_legend else ""
    for row, name in enumerate(panel.categories):
        spans = [(begin, length) for begin, length, y in zip(series.base, series.x, series.y) if y == name]
        if spans:
            look = {"facecolor": series.fill, "linewidth": 0, "label": label}
            if series.hatch:
                look |= {"hatch": HATCHES[series.style % len(HATCHES)][1], "edgecolor": "#333333"}
            axes.broken_barh(spans, (row + series.offset, series.width), **look)
            label = ""


def draw_points(axes: Axes, panel: Panel, series: Series) -> None:
    def numbers(keys: list) -> list:
        return [panel.categories.index(key) for key in keys] if panel.categories else keys

    x, y = (series.x, numbers(series.y)) if panel.horizontal else (numbers(series.x), series.y)
    marks = series.kind == "points" or series.marked
    gray = bool(series.color)
    look = {
        "color": series.fill,
        "label": series.name,
        "markersize": 5,
        "marker": ("|" if gray else MARKERS[series.style % len(MARKERS)][1]) if marks else "",
        "linestyle": "" if series.kind == "points" else DASHES[series.style % len(DASHES)][1],
    }
    bars = error_bars(series, series.x if panel.horizontal else series.y)
    axes.errorbar(
        x, y, capsize=2, elinewidth=0.8, **({"xerr" if panel.horizontal else "yerr": bars} if bars else {}), **look
    )


def draw_bands(axes: Axes, panel: Panel) -> None:
    for band in panel.bands:
        axes.axhline(band.value, color=PALETTE[band.style], linestyle="--", label=band.name)
        if math.isfinite(band.low) and math.isfinite(band.high):
            axes.axhspan(band.low, band.high, color=PALETTE[band.style], alpha=0.18, linewidth=0)


def shape_axes(axes: Axes, panel: Panel) -> None:
    axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    if panel.categories:
        ticks = range(len(panel.categories))
        (axes.set_yticks if panel.horizontal else axes.set_xticks)(ticks, panel.categories)
        (axes.set_ylim if panel.horizontal else axes.set_xlim)(-0.6, len(panel.categories) - 0.4)
        axes.grid(False, axis="y" if panel.horizontal else "x")
    if panel.reference is not None:
        (axes.axvline if panel.horizontal else axes.axhline)(panel.reference, color="#333333", linewidth=0.8, linestyle=":")
    values = axes.xaxis if panel.horizontal else axes.yaxis
    if max(map(abs, values.get_view_interval())) >= 10_000:
        values.set_major_formatter("{x:,.0f}")
    if panel.from_zero:
        get, put = (axes.get_xlim, axes.set_xlim) if panel.horizontal else (axes.get_ylim, axes.set_ylim)
        put(0, get()[1])


def draw_panel(axes: Axes, panel: Panel) -> None:
    draw_bands(axes, panel)
    base = numpy.zeros(len(panel.categories))
    bars = [series for series in panel.series if series.kind == "bar"]
    for series in panel.series:
        if series.kind == "bar":
            draw_bars(axes, panel, series, bars.index(series), len(bars), base)
        elif series.kind == "span":
            draw_spans(axes, panel, series)
        else:
            draw_points(axes, panel, series)
    shape_axes(axes, panel)


def write(chart: Chart, folder: pathlib.Path, name: str) -> list[pathlib.Path]:
    """name.png (200 dots an inch) and name.svg, whose text stays text."""
    with pyplot.rc_context(STYLE):
        width, height = (7.2 if chart.columns < 3 else 9.6), chart.height * chart.rows / INCH + 0.5
        figure, grid = pyplot.subplots(
            chart.rows, chart.columns, figsize=(width, height), squeeze=False, layout="constrained"
        )
        for axes, panel in zip(grid.flat, chart.panels):
            draw_panel(axes, panel)
        for axes in grid.flat[len(chart.panels) :]:
            axes.remove()
        entries = {}
        for axes in figure.axes:
            for handle, label in zip(*axes.get_legend_handles_labels()):
                entries.setdefault(label, handle)
        names = sorted(entries, key=chart.rank)
        if len(names) > 1:
            figure.legend(
                [entries[name] for name in names],
                names,
                loc="outside upper center" if matplotlib.__version_info__ >= (3, 7) else "lower center",
                bbox_to_anchor=None if matplotlib.__version_info__ >= (3, 7) else (0.5, 1.0),
                ncol=min(len(names), 4),
            )
        paths = [folder / f"{name}.{kind}" for kind in ("png", "svg")]
        for path in paths:
            metadata = {"Date": None} if path.suffix == ".svg" else None
            figure.savefig(path, dpi=200, bbox_inches="tight", metadata=metadata)
        pyplot.close(figure)
    return paths
