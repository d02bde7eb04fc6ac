"""Where each rank's time goes; what each rank does in a few steps."""

from __future__ import annotations

from ..chart import MOST_SERIES, PALETTE, Chart, Panel, Series, tint
from ..contestants import Section
from ..raw import Raw
from ..timeline import TRANSFER, Span, Timeline
from ..waits import waiting_for
from .common import Raws, raw_of, shown

# Work is grey, so that the colours are left for the servers and for what is waited for.
COLORS = {
    "data": "#CBB7C4",
    "forward": "#D3DAE0",
    "backward": "#A7B5C1",
    "push": "#5D6C79",
    "update": "#7C8B73",
    "apply": "#666666",
    "serve": "#999999",
    "wait": "#E8D28F",
    "reply": "#333333",
    "allreduce": "#D55E00",
    "migrate": "#000000",
    "checkpoint": "#000000",
    "evaluate": "#7F5539",
    "idle": "#F0F0F0",
    "other": "#C4C4C4",
}
# Events that lie inside others are drawn narrower, on top of them.
PLACES = {"push": (0.4, -0.2), "allreduce": (0.14, -0.4), "reply": (0.2, -0.4)}  # Width, and where it begins.
PALE = 0.3  # Of a server's colour: what is on its way.


def styles_of(raw: Raw) -> dict[int, int]:
    """Server: style. With more servers than colours only those that are waited for most have one."""
    servers = range(len(raw.servers))
    if len(servers) > MOST_SERIES and raw.waits:
        servers = sorted(sorted(servers, key=lambda server: -raw.waits.total[server])[:MOST_SERIES])
    servers = servers[:MOST_SERIES]
    return {server: style for style, server in enumerate(servers)}


def breakdown(section: Section, raws: Raws) -> list[Chart]:
    own, note = shown(section)
    panels = []
    servers: set[int] = set()
    waiting_for_others = "wait for other servers"
    for one in own:
        raw = raw_of(raws, one)
        if not raw.times:
            continue
        names = [time.name for time in raw.times][::-1]
        panel = Panel(one.label, "time of a step, ms", "", categories=names, horizontal=True, stacked=True)

        def add(name: str, parts: list[str], **look: object) -> None:
            values = [sum(time.parts.get(part, 0.0) for part in parts) for time in raw.times][::-1]
            hover = [f"{rank}<br>{name}: {value:.3f} ms" for rank, value in zip(names, values)]
            if any(values):
                panel.series.append(Series(name, values, names, "bar", hover=hover, **look))

        styles = styles_of(raw)
        servers |= styles.keys()
        for phase, color in COLORS.items():
            add(phase, [phase], color=color, hatch=False)
            if phase == "wait":
                for server, style in styles.items():
                    add(waiting_for(server), [waiting_for(server)], style=style)
                others = [waiting_for(server) for server in range(len(raw.servers)) if server not in styles]
                add(waiting_for_others, others, color=OTHERS)
        panels.append(panel)
    most = max((len(panel.categories) for panel in panels), default=0)
    return [
        Chart(
            "step-time",
            "Where a step's time goes, by rank",
            "A bar is a mean step of one rank. Coloured is waiting, in the colour of the server whose values are awaited; "
            "pale is a server's idling. Much waiting at every worker means that communication or the servers limit the "
            "step, and the widest colour which server is late, or needs a late worker's push; a worker with little of it beside others with much is the one they "
            "wait for. Servers: apply is handling that completed an update, serve all other handling, both in wall time. "
            "One trial each, that of median speed, without its warm-up.",
            panels,
            columns=min(len(panels), 2) or 1,
            height=max(170 + 24 * most, 240),
            note=note,
            legend=[*COLORS, *map(waiting_for, sorted(servers)), waiting_for_others],
        )
    ]


OTHERS = "#BBBBBB"  # Servers without a colour.


def spans_series(timeline: Timeline, name: str, own: list[Span], place: tuple[float, float], **look: object) -> Series:
    return Series(
        name,
        [span.length_ms for span in own],
        [timeline.rows[span.row] for span in own],
        "span",
        base=[span.begin_ms for span in own],
        hover=[f"{timeline.rows[span.row]}: {span.hover}" for span in own],
        width=place[0],
        offset=place[1],
        **look,
    )


def timeline_series(timeline: Timeline, styles: dict[int, int]) -> list[Series]:
    """What belongs to a server has its colour and one entry of the legend; phases are grey. Later ones lie on top."""
    moved, wide, colored, narrow = [], [], [], []
    whole = (0.8, -0.4)
    for server in sorted({span.server for span in timeline.spans} - {-1}):
        own = [span for span in timeline.spans if span.server == server and span.phase != "reply"]
        style = styles.get(server)
        name, color = ("other servers", OTHERS) if style is None else (f"server {server}", PALETTE[style])
        looks = (
            ((TRANSFER,), moved, {"color": tint(color, PALE), "hatch": False, "in_legend": False}),
            (("serve", "apply"), colored, {"color": color, "hatch": False}),
            (("wait",), colored, {"color": color, "style": style or 0}),
        )
        for phases, layer, look in looks:
            if of_kind := [span for span in own if span.phase in phases]:
                layer.append(spans_series(timeline, name, of_kind, whole, **look))
    for phase, color in COLORS.items():
        own = [span for span in timeline.spans if span.phase == phase and (span.server < 0 or phase == "reply")]
        if own:
            layer = narrow if phase in PLACES else wide
            layer.append(spans_series(timeline, phase, own, PLACES.get(phase, whole), color=color, hatch=False))
    return moved + wide + colored + narrow


def timelines(section: Section, raws: Raws) -> list[Chart]:
    own, note = shown(section)
    charts = []
    for one in own:
        raw = raw_of(raws, one)
        timeline = raw.timeline
        if timeline is None:
            continue
        panel = Panel(
            "", "time since the first of these steps began, ms", "", categories=timeline.rows[::-1], horizontal=True
        )
        panel.series = timeline_series(timeline, styles_of(raw))
        last = timeline.first_step + timeline.steps - 1
        steps = f"step {last}" if timeline.steps == 1 else f"steps {timeline.first_step} to {last}"
        left_out = f" {timeline.ranks_left_out} ranks are left out." if timeline.ranks_left_out else ""
        colours = (
            "A colour is a server: on its own row pushes that are on their way to it (pale) or being handled (full), on the "
            "workers' rows waiting for it. Whose colour fills the workers' rows is waited for: it is late itself, or a worker whose push it needs is. "
            if one.is_ps
            else ""
        )
        charts.append(
            Chart(
                f"timeline-{one.place:02d}",
                f"Timeline of {one.label}",
                f"What each rank did in {steps} of the first worker, steps of usual length. {colours}Narrow bars lie "
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
