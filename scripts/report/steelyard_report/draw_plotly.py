"""Charts as plotly figures, for the page."""

from __future__ import annotations

import math

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from .chart import DASHES, HATCHES, MARKERS, PALETTE, Chart, Panel, Series, errors

FONT = "DejaVu Sans, Liberation Sans, Arial, sans-serif"
GRID = "#E3E3E3"


def error_bars(series: Series, horizontal: bool) -> dict[str, dict]:
    """Where some value has an interval."""
    if not any(math.isfinite(one) for one in series.low):
        return {}
    below, above = errors(series.low, series.high, series.x if horizontal else series.y)
    bars = {
        "type": "data",
        "symmetric": False,
        "array": above,
        "arrayminus": below,
        "color": "#333333",
        "thickness": 1.2,
        "width": 4,
    }
    return {"error_x" if horizontal else "error_y": bars}


def filled(series: Series) -> dict[str, object]:
    if not series.hatch:
        return {"color": series.fill}
    pattern = {"shape": HATCHES[series.style % len(HATCHES)][0], "bgcolor": series.fill, "fgcolor": "#333333"}
    return {"color": series.fill, "pattern": {**pattern, "fgopacity": 0.35, "size": 6, "solidity": 0.2}}


def bar_trace(series: Series, horizontal: bool) -> go.Bar:
    # Without a hatch the pieces are thin: an edge would hide them.
    marker = {**filled(series), "line": {"color": "#333333", "width": 0.5 if series.hatch else 0}}
    return go.Bar(
        x=series.x,
        y=series.y,
        orientation="h" if horizontal else "v",
        marker=marker,
        hovertext=series.hover,
        hoverinfo="text",
        **error_bars(series, horizontal),
    )


def span_trace(series: Series) -> go.Bar:
    marker = {**filled(series), "line": {"width": 0}}
    return go.Bar(
        x=series.x,
        y=series.y,
        base=series.base,
        width=series.width,
        offset=series.offset,
        orientation="h",
        marker=marker,
        hovertext=series.hover,
        hoverinfo="text",
    )


def scatter_trace(series: Series, horizontal: bool) -> go.Scatter:
    marks = series.kind == "points" or series.marked
    mode = "markers" if series.kind == "points" else "lines+markers" if marks else "lines"
    gray = bool(series.color)
    marker = {
        "symbol": "line-ns-open" if gray else MARKERS[series.style % len(MARKERS)][0],
        "size": 7 if gray else 9,
        "line": {"color": series.fill if gray else "#333333", "width": 1 if gray else 0.5},
    }
    line = {"color": series.fill, "dash": DASHES[series.style % len(DASHES)][0], "width": 2}
    return go.Scatter(
        x=series.x,
        y=series.y,
        mode=mode,
        marker={**marker, "color": series.fill},
        line=line,
        hovertext=series.hover,
        hoverinfo="text",
        **error_bars(series, horizontal),
    )


def trace_of(series: Series, horizontal: bool) -> go.Bar | go.Scatter:
    if series.kind == "bar":
        return bar_trace(series, horizontal)
    return span_trace(series) if series.kind == "span" else scatter_trace(series, horizontal)


def bands_of(panel: Panel) -> list[tuple[str, go.Scatter]]:
    """A line across all categories, with its interval as a shade around it."""
    traces = []
    for band in panel.bands:
        color, x = PALETTE[band.style], panel.categories
        if math.isfinite(band.low) and math.isfinite(band.high):
            red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
            traces.append(
                (
                    "",
                    go.Scatter(
                        x=[*x, *x[::-1]],
                        y=[band.high] * len(x) + [band.low] * len(x),
                        fill="toself",
                        fillcolor=f"rgba({red},{green},{blue},0.18)",
                        line={"width": 0},
                        mode="lines",
                        hoverinfo="skip",
                    ),
                )
            )
        traces.append(
            (
                band.name,
                go.Scatter(
                    x=x,
                    y=[band.value] * len(x),
                    mode="lines",
                    line={"color": color, "width": 2, "dash": "dash"},
                    hovertext=[f"{band.name}: {band.value:,.4g}"] * len(x),
                    hoverinfo="text",
                ),
            )
        )
    return traces


def shape_axes(figure: go.Figure, panel: Panel, row: int, column: int) -> None:
    place = {"row": row, "col": column}
    common = {
        "gridcolor": GRID,
        "linecolor": "#333333",
        "ticks": "outside",
        "automargin": True,
        "title_standoff": 8,
        "title_font_size": 13,
        "zeroline": False,
    }
    values = {"rangemode": "tozero"} if panel.from_zero else {}
    named = {"type": "category", "categoryorder": "array", "categoryarray": panel.categories} if panel.categories else {}
    if panel.horizontal:
        figure.update_xaxes(title_text=panel.x_label, **common, **values, **place)
        figure.update_yaxes(title_text=panel.y_label, **common, **named, **place)
    else:
        figure.update_xaxes(title_text=panel.x_label, **common, **named, **place)
        figure.update_yaxes(title_text=panel.y_label, **common, **values, **place)
    if panel.reference is not None:
        line = {"line_color": "#333333", "line_width": 1, "line_dash": "dot"}
        draw = figure.add_vline if panel.horizontal else figure.add_hline
        draw(panel.reference, **line, **place)


def figure_of(chart: Chart) -> go.Figure:
    figure = make_subplots(
        rows=chart.rows,
        cols=chart.columns,
        subplot_titles=[panel.title for panel in chart.panels],
        horizontal_spacing=0.1 if chart.columns < 3 else 0.08,
        vertical_spacing=min(0.3, 90 / (chart.height * chart.rows)),
    )
    in_legend: set[str] = set()
    for number, panel in enumerate(chart.panels):
        row, column = number // chart.columns + 1, number % chart.columns + 1
        traces = [(*band, bool(band[0])) for band in bands_of(panel)]
        traces += [(series.name, trace_of(series, panel.horizontal), series.in_legend) for series in panel.series]
        for name, trace, listed in traces:
            trace.update(name=name, legendgroup=name or None, showlegend=listed and name not in in_legend)
            trace.legendrank = 1000 + chart.rank(name)  # 1000 is plotly's default.
            in_legend |= {name} if listed else set()
            figure.add_trace(trace, row=row, col=column)
        shape_axes(figure, panel, row, column)
    spans = any(series.kind == "span" for panel in chart.panels for series in panel.series)
    stacked = any(panel.stacked for panel in chart.panels)
    figure.update_layout(
        barmode="overlay" if spans else "stack" if stacked else "group",
        bargap=0.25,
        plot_bgcolor="white",
        paper_bgcolor="white",
        font={"family": FONT, "size": 13, "color": "#111111"},
        height=chart.height * chart.rows + 60,
        hovermode="closest",
        dragmode="zoom",
        margin={"l": 60, "r": 20, "t": 40, "b": 60},
        legend={
            "orientation": "h",
            "yanchor": "bottom",
            "y": 1 + 36 / (chart.height * chart.rows),
            "x": 0,
            "traceorder": "normal",
        },
    )
    figure.update_annotations(font_size=14)
    return figure
