"""Load per server; how busy servers were over time; which tensors they hold."""

from __future__ import annotations

import math
import statistics

import numpy

from ..chart import PALETTE, Chart, Panel, Series
from ..contestants import Contestant, Estimate, Section, estimate
from .common import Raws, interval_note, interval_text, raw_of, raws_of, shown

LARGEST = 6  # Tensors that are shown by name.


def per_step(contestant: Contestant, raws: Raws) -> list[dict[str, Estimate]]:
    """[servers] MB, messages, busy ms and ms waited for it of a step, over the contestant's trials."""
    trials = [
        (raw.servers, raw.waits.total if raw.waits else [math.nan] * len(raw.servers), int(trial.row["steps"]))
        for raw, trial in zip(raws_of(raws, contestant), contestant.trials)
        if raw.servers and trial.row["steps"]
    ]
    servers = min((len(loads) for loads, _, _ in trials), default=0)
    return [
        {
            "bytes": estimate([loads[i].bytes / steps / 1e6 for loads, _, steps in trials]),
            "messages": estimate([loads[i].messages / steps for loads, _, steps in trials]),
            "busy": estimate([1e3 * loads[i].busy_s / steps for loads, _, steps in trials]),
            "waits": estimate([float(waits[i]) for _, waits, _ in trials]),
        }
        for i in range(servers)
    ]


def server_load(section: Section, raws: Raws) -> list[Chart]:
    own, note = shown(section, ps_only=True)
    kinds = (
        ("bytes", "payload, MB per step", "bytes in and out"),
        ("messages", "messages per step", "messages"),
        ("busy", "busy, ms of CPU time per step", "busy time"),
        ("waits", "waited for it, ms per step and worker", "waiting for it"),
    )
    panels = [Panel(title, "server", label) for _, label, title in kinds]
    most = 0
    for one in own:
        loads = per_step(one, raws)
        most = max(most, len(loads))
        for panel, (key, label, _) in zip(panels, kinds):
            values = [load[key] for load in loads]
            if any(value.count for value in values):
                panel.series.append(
                    Series(
                        one.label,
                        [str(i) for i in range(len(values))],
                        [v.median for v in values],
                        "bar",
                        one.place,
                        low=[v.low for v in values],
                        high=[v.high for v in values],
                        hover=[f"{one.label}, server {i}<br>{label}: {interval_text(v)}" for i, v in enumerate(values)],
                    )
                )
    for panel in panels:
        panel.categories = [str(i) for i in range(most)]
    return [
        Chart(
            "server-load",
            "Load per server",
            "Bars of one colour that are equally high are an even load. A server that stands out in bytes holds a "
            "tensor too "
            "large for a fair share (which one: the figure of holdings); one that stands out in messages holds many "
            "small ones; in busy time alone: its core is slow; in waiting alone: its link is slow, it answers late, or it holds what a step needs first. "
            f"{interval_note(section)}",
            panels,
            columns=2,
            note=note,
        )
    ]


def holdings(section: Section, _: Raws) -> list[Chart]:
    """Bytes of each tensor that each server owns, for placements with several servers."""
    panels, seen = [], set()
    own, note = shown(section, ps_only=True)
    for one in own:
        run, row = one.typical.run, one.row
        if row["servers"] < 2 or run.placement is None or run.inventory is None:
            continue
        mine = run.placement[run.placement["trial"] == one.typical.id]
        key = (row["servers"], mine[["tensor", "begin", "end", "server"]].tobytes())
        if len(mine) == 0 or key in seen:
            continue
        seen.add(key)
        panels.append(holdings_panel(one.label, int(row["servers"]), mine, run.inventory))
    return [
        Chart(
            "holdings",
            "Which server holds what",
            "Each bar is a server, each piece a tensor or a part of one. Even bars are an even placement; a tensor "
            "in one bar only that is longer than "
            "the others' whole bars has to be cut (striped, range, paa do). Parameters only, without optimizer "
            "state.",
            panels,
            columns=min(len(panels), 3) or 1,
            note=note,
        )
    ]


def holdings_panel(label: str, servers: int, shards: numpy.ndarray, inventory: numpy.ndarray) -> Panel:
    names = [f"server {i}" for i in range(servers)][::-1]
    panel = Panel(label, "parameters held, kB", "", categories=names, horizontal=True, stacked=True)
    sizes = {int(row["tensor"]): int(row["elements"]) for row in inventory}
    width = {int(row["tensor"]): int(row["bytes"]) / max(int(row["elements"]), 1) for row in inventory}
    largest = sorted(sizes, key=lambda tensor: (-sizes[tensor], tensor))[:LARGEST]
    title = {int(row["tensor"]): row["name"].decode("utf-8", "replace") for row in inventory}
    for style, tensor in enumerate([*largest, None]):
        held = [0.0] * servers
        for row in shards:
            if (int(row["tensor"]) == tensor) if tensor is not None else (int(row["tensor"]) not in largest):
                held[int(row["server"])] += (int(row["end"]) - int(row["begin"])) * width[int(row["tensor"])] / 1e3
        name = title[tensor] if tensor is not None else f"{len(sizes) - len(largest)} others"
        if any(held):
            panel.series.append(
                Series(
                    name,
                    held[::-1],
                    names,
                    "bar",
                    style,
                    color="#999999" if tensor is None else PALETTE[style],
                    hover=[f"{name}: {kb:,.4g} kB" for kb in held[::-1]],
                )
            )
    return panel


def busy_windows(section: Section, raws: Raws) -> list[Chart]:
    panels = []
    own, note = shown(section, ps_only=True)
    for one in own:
        windows = raw_of(raws, one).windows
        if not windows or len(windows[0].time_s) < 2:
            continue
        panel = Panel(one.label, "time since the trial began, s", "busy, % of the window")
        for index, window in enumerate(windows[: len(PALETTE)]):
            panel.series.append(
                Series(
                    f"server {index}",
                    window.time_s,
                    window.busy,
                    "line",
                    index,
                    marked=len(window.time_s) < 30,
                    hover=[f"server {index}: busy {busy:.1f} %" for busy in window.busy],
                )
            )
        if len(windows) > len(PALETTE):
            mean = statistics.fmean(max(window.busy) for window in windows)
            note += (
                f" {one.label}: the first {len(PALETTE)} of {len(windows)} servers; the mean of the highest shares of all "
                f"is {mean:.0f} %."
            )
        panels.append(panel)
    return [
        Chart(
            "server-busy",
            "How busy servers were over time",
            "Share of each window of 50 steps that a server spent on CPU handling requests. A line near 100 % is a "
            "server that limits the step; lines that "
            "cross: the hot server changes; lines apart: it is always the same one. One trial each, that of median "
            "speed.",
            panels,
            columns=min(len(panels), 3) or 1,
            note=note.strip(),
        )
    ]
