"""Pushes under way: from their start at the worker until their server begins to handle them, on the clock of rank 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy
import pandas

from .ranks import RankFiles
from .runs import Trial

KEYS = ["step", "worker", "shard"]


@dataclass
class Transfers:
    """Of one server, [pushes] ascending by begin."""

    begin_ns: numpy.ndarray
    end_ns: numpy.ndarray
    bytes: numpy.ndarray
    worker: numpy.ndarray  # World ranks.


def frame_of(files: RankFiles, trial: Trial, rank: int, phases: tuple[str, ...]) -> pandas.DataFrame | None:
    """Events of these phases, with times of rank 0."""
    events = files.rows(rank, "events", trial)
    if events is None:
        return None
    events = events[numpy.isin(events["phase"], [files.phases[phase] for phase in phases])]
    clock = files.clock(rank)
    return pandas.DataFrame(
        {
            "step": events["step"],
            "peer": events["peer"],
            "shard": events["shard"],
            "bytes": events["bytes"],
            "begin": clock.on_rank_0(events["begin_ns"]),
            "end": clock.on_rank_0(events["end_ns"]),
        }
    )


def pushes_of(files: RankFiles, trial: Trial) -> pandas.DataFrame | None:
    """The starts of all pushes: step, worker and server (world ranks), shard, begin; None where no worker has events."""
    pushed = []
    for rank in trial.ranks("worker"):
        own = frame_of(files, trial, rank, ("push",))
        if own is not None:
            pushed.append(own[own["peer"] >= 0].rename(columns={"peer": "server"}).assign(worker=rank))
    return pandas.concat(pushed)[[*KEYS, "server", "begin"]] if pushed else None


def transfers_of(files: RankFiles, trial: Trial) -> list[Transfers]:
    """[servers]; none where the trace lacks a server's events. A push whose start the trace lacks is left out."""
    pushes = pushes_of(files, trial)
    if pushes is None:
        return []
    found = []
    for rank in trial.ranks("server"):
        handled = frame_of(files, trial, rank, ("serve", "apply"))
        if handled is None:
            return []
        handled = handled.rename(columns={"peer": "worker", "begin": "handled"})[[*KEYS, "bytes", "handled"]]
        both = pushes[pushes["server"] == rank].merge(handled, on=KEYS).sort_values("begin")
        # Clocks agree within an error only: what seems to arrive before it left took no time that can be told.
        end = numpy.maximum(both["handled"].to_numpy(), both["begin"].to_numpy())
        found.append(Transfers(both["begin"].to_numpy(), end, both["bytes"].to_numpy(), both["worker"].to_numpy()))
    return found


def joined(begin_ns: numpy.ndarray, end_ns: numpy.ndarray) -> list[tuple[float, float]]:
    """The stretches in which at least one interval holds. @param begin_ns ascending."""
    merged: list[tuple[float, float]] = []
    for begin, end in zip(begin_ns, end_ns):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


def rate_mb_per_s(transfers: Transfers) -> float:
    """Bytes pushed / time in which some push was under way; NaN where that is no time."""
    ns = sum(end - begin for begin, end in joined(transfers.begin_ns, transfers.end_ns))
    return 1e3 * float(transfers.bytes.sum()) / ns if ns > 0 else float("nan")
