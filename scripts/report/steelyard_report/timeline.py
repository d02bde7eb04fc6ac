"""What every rank did in a few steps, on one clock."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy

from .ranks import RankFiles
from .runs import Trial
from .transfers import Transfers, joined

STEPS = 3
MOST_RANKS = 32
TRANSFER = "transfer"  # Of no event: from a push's start until its server begins to handle it.


@dataclass
class Span:
    row: int  # Of Timeline.rows.
    phase: str
    begin_ms: float
    length_ms: float
    hover: str
    server: int = -1  # Whose it is, or for which a worker waits; -1: none.


@dataclass
class Timeline:
    first_step: int
    steps: int
    rows: list[str]  # "server 0", ...
    clock_error_us: float  # The greatest over the ranks.
    ranks_left_out: int
    spans: list[Span] = field(default_factory=list)


def window_of(steps: numpy.ndarray, warmup: int, count: int) -> tuple[int, int, int]:
    """(first step, begin ns, end ns) of `count` steps that took about as long as such windows did in the median."""
    measured = steps[steps["step"] >= warmup] if numpy.any(steps["step"] >= warmup) else steps
    count = min(count, len(measured))
    starts = numpy.arange(len(measured) - count + 1)
    lengths = measured["end_ns"][starts + count - 1] - measured["begin_ns"][starts]
    at = int(numpy.argmin(numpy.abs(lengths - numpy.median(lengths))))
    return int(measured["step"][at]), int(measured["begin_ns"][at]), int(measured["end_ns"][at + count - 1])


def chosen_ranks(trial: Trial) -> tuple[list[tuple[str, int]], int]:
    """Servers first; where there are too many, the first of each role, half and half."""
    servers = [(f"server {index}", rank) for index, rank in enumerate(trial.ranks("server"))]
    workers = [(f"worker {index}", rank) for index, rank in enumerate(trial.ranks("worker"))]
    kept = servers[: max(MOST_RANKS // 2, MOST_RANKS - len(workers))]
    kept += workers[: MOST_RANKS - len(kept)]
    return kept, len(servers) + len(workers) - len(kept)


def hover_of(row: numpy.void, phase: str, names: dict[int, str]) -> str:
    peer = int(row["peer"])
    text = f"{phase}, step {int(row['step'])}: {(int(row['end_ns']) - int(row['begin_ns'])) / 1e6:.3f} ms"
    if peer >= 0:
        text += f"<br>{'to' if phase in ('push', 'reply') else 'with'} {names.get(peer, f'rank {peer}')}"
    if row["bytes"]:
        text += f"<br>{int(row['bytes']) / 1e3:,.1f} kB"
    return text + (f", shard {int(row['shard'])}" if row["shard"] >= 0 else "")


def spans_of(files: RankFiles, trial: Trial, place: int, rank: int, bounds: tuple[float, float]) -> list[Span]:
    events = files.rows(rank, "events", trial)
    if events is None or len(events) == 0:
        return []
    clock = files.clock(rank)
    begin, end = clock.on_rank_0(events["begin_ns"]), clock.on_rank_0(events["end_ns"])
    push = events["phase"] == files.phases["push"]
    # Of the two kinds of pushes (docs/trace_format.md) the one that says to whom.
    seen = (end > bounds[0]) & (begin < bounds[1]) & ~(push & (events["peer"] < 0) & (trial.row["mode"] == "ps"))
    names = {rank: f"{role} {index}" for rank, (role, index) in trial.roles.items()}
    index_of = {rank: index for index, rank in enumerate(trial.ranks("server"))}
    phase_names = {number: name for name, number in files.phases.items()}
    spans = []
    for at in numpy.flatnonzero(seen):
        phase = phase_names.get(int(events["phase"][at]), "other")
        left, right = max(begin[at], bounds[0]), min(end[at], bounds[1])
        server = index_of.get(rank, index_of.get(int(events["peer"][at]), -1) if phase == "wait" else -1)
        hover = hover_of(events[at], phase, names)
        spans.append(Span(place, phase, (left - bounds[0]) / 1e6, (right - left) / 1e6, hover, server))
    return spans


def transfer_spans(transfers: Transfers, place: int, server: int, bounds: tuple[float, float]) -> list[Span]:
    """The stretches in which pushes are on their way to a server."""
    spans = []
    for begin, end in joined(transfers.begin_ns, transfers.end_ns):
        left, right = max(begin, bounds[0]), min(end, bounds[1])
        if left >= right:
            continue
        inside = (transfers.begin_ns >= begin) & (transfers.begin_ns <= end)
        count, kilobytes = numpy.count_nonzero(inside), transfers.bytes[inside].sum() / 1e3
        hover = (
            f"{count} {'push' if count == 1 else 'pushes'} on the way: {(end - begin) / 1e6:.3f} ms<br>{kilobytes:,.1f} kB from "
            f"{len(numpy.unique(transfers.worker[inside]))} of the workers, {1e6 * kilobytes / (end - begin):,.4g} MB/s"
        )
        spans.append(Span(place, TRANSFER, (left - bounds[0]) / 1e6, (right - left) / 1e6, hover, server))
    return spans


def timeline_of(files: RankFiles, trial: Trial, transfers: list[Transfers], most_spans: int) -> Timeline | None:
    """With fewer steps where there would be too many spans; None where the first worker recorded nothing."""
    workers = trial.ranks("worker")
    steps = files.rows(workers[0], "steps", trial) if workers else None
    if steps is None or len(steps) == 0:
        return None
    ranks, left_out = chosen_ranks(trial)
    for count in range(STEPS, 0, -1):
        first, begin, end = window_of(steps, int(trial.row["warmup"]), count)
        bounds = tuple(files.clock(workers[0]).on_rank_0(numpy.array([begin, end], dtype=float)))
        read = [(name, rank) for name, rank in ranks if files.rows(rank, "events", trial) is not None]
        spans = [span for place, (_, rank) in enumerate(read) for span in spans_of(files, trial, place, rank, bounds)]
        at = {name: place for place, (name, _) in enumerate(read)}
        for server, one in enumerate(transfers):
            if (name := f"server {server}") in at:
                spans += transfer_spans(one, at[name], server, bounds)
        if len(spans) <= most_spans or count == 1:
            break
    if not spans:
        return None
    error = max(files.clock(rank).error_ns for _, rank in read) / 1e3
    spans = sorted(spans, key=lambda span: -span.length_ms)[:most_spans]
    return Timeline(first, min(count, len(steps)), [name for name, _ in read], error, left_out, spans)
