"""Where each rank's time goes; what each rank does in a few steps."""

from __future__ import annotations

from ..chart import Chart, Panel, Series
from ..contestants import Section
from ..timeline import Span, Timeline
from .common import Raws, raw_of, shown

# Waiting is pale, since nothing is done in it. Forward and backward, serve and apply are two shades of one thing.
COLORS = {
    "data": "#CC79A7",
    "forward": "#56B4E9",
    "backward": "#0072B2",
    "push": "#E69F00",
    "wait": "#DDDDDD",
    "update": "#009E73",
    "serve": "#F0E442",
    "apply": "#009E73",
    "reply": "#D55E00",
    "allreduce": "#D55E00",
    "migrate": "#000000",
    "checkpoint": "#000000",
    "evaluate": "#7F5539",
    "idle": "#DDDDDD",
    "other": "#999999",
}
# Events that lie inside others are drawn narrower, on top of them.
PLACES = {"push": (0.4, -0.2), "allreduce": (0.14, -0.4), "reply": (0.2, -0.4)}  # Width, and where it begins.


def breakdown(section: Section, raws: Raws) -> list[Chart]:
    own, note = shown(section)
    panels = []
    for one in own:
        times = raw_of(raws, one).times
        if not times:
            continue
        names = [time.name for time in times][::-1]
        panel = Panel(one.label, "time of a step, ms", "", categories=names, horizontal=True, stacked=True)
        for phase in [name for name in COLORS if any(time.parts.get(name, 0.0) > 0.0 for time in times)]:
            values = [time.parts.get(phase, 0.0) for time in times][::-1]
            panel.series.append(
                Series(
                    phase,
                    values,
                    names,
                    "bar",
                    color=COLORS[phase],
                    hatch=False,
                    hover=[f"{name}<br>{phase}: {value:.3f} ms" for name, value in zip(names, values)],
                )
            )
        panels.append(panel)
    most = max((len(panel.categories) for panel in panels), default=0)
    return [
        Chart(
            "step-time",
            "Where a step's time goes, by rank",
            "A bar is a mean step of one rank. Grey is waiting (workers) or idling (servers): much of it at every "
            "worker means that communication or the "
            "servers limit the step; a worker with little of it beside others with much is the one they wait for. "
            "Servers: apply is handling that "
            "completed an update, serve all other handling, both in wall time. One trial each, that of median speed, "
            "without its warm-up.",
            panels,
            columns=min(len(panels), 2) or 1,
            height=max(170 + 24 * most, 240),
            note=note,
        )
    ]


def spans_series(timeline: Timeline, phase: str) -> Series:
    width, offset = PLACES.get(phase, (0.8, -0.4))
    own: list[Span] = [span for span in timeline.spans if span.phase == phase]
    return Series(
        phase,
        [span.length_ms for span in own],
        [timeline.rows[span.row] for span in own],
        "span",
        color=COLORS.get(phase, "#999999"),
        base=[span.begin_ms for span in own],
        hover=[f"{timeline.rows[span.row]}: {span.hover}" for span in own],
        width=width,
        offset=offset,
    )


def timelines(section: Section, raws: Raws) -> list[Chart]:
    own, note = shown(section)
    charts = []
    for one in own:
        timeline = raw_of(raws, one).timeline
        if timeline is None:
            continue
        panel = Panel(
            "", "time since the first of these steps began, ms", "", categories=timeline.rows[::-1], horizontal=True
        )
        phases = {span.phase for span in timeline.spans}
        panel.series = [spans_series(timeline, phase) for phase in COLORS if phase in phases]
        last = timeline.first_step + timeline.steps - 1
        steps = f"step {last}" if timeline.steps == 1 else f"steps {timeline.first_step} to {last}"
        left_out = f" {timeline.ranks_left_out} ranks are left out." if timeline.ranks_left_out else ""
        charts.append(
            Chart(
                f"timeline-{one.place:02d}",
                f"Timeline of {one.label}",
                f"What each rank did in {steps} of the first worker, steps of usual length. Narrow bars lie "
                "within the time of wide ones: pushes in "
                "backward, an allreduce (the strip) while backward and waiting go on. White is time without an "
                "event. Drag to zoom, double-click to return; hover says peer and bytes. "
                f"Clocks of ranks agree within {timeline.clock_error_us:.1f} "
                "µs.",
                [panel],
                height=170 + 34 * len(timeline.rows),
                note=(note + left_out).strip(),
            )
        )
    return charts
