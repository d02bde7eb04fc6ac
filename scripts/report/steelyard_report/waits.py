"""How long workers waited for which server, out of /reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy

from .ranks import RankFiles
from .runs import Trial


@dataclass
class Waits:
    """[servers] ms of a measured step. `first` is the part that was a step's first wait: it falls to whoever holds what a
    step needs first, while everything else is still on its way too."""

    total: numpy.ndarray
    first: numpy.ndarray


def waiting_for(server: int) -> str:
    """The name of such time in figures."""
    return f"wait for server {server}"


def owners(trial: Trial) -> numpy.ndarray:
    """[shards] the server of each, -1 for numbers that are no shard."""
    placement = trial.run.placement
    mine = placement[placement["trial"] == trial.id]
    found = numpy.full(int(mine["shard"].max()) + 1 if len(mine) else 0, -1)
    found[mine["shard"]] = mine["server"]
    return found


def waits_of(files: RankFiles, trial: Trial, rank: int) -> Waits | None:
    """Of one worker. None where it has no rows: --trace off, damage, or a program that wrote no /reads."""
    reads, steps = files.rows(rank, "reads", trial), files.rows(rank, "steps", trial)
    if reads is None or steps is None or len(steps) == 0:
        return None
    warmup, servers, owner = int(trial.row["warmup"]), len(trial.ranks("server")), owners(trial)
    first_step = warmup if numpy.any(steps["step"] >= warmup) else 0
    known = reads[(reads["step"] >= first_step) & (reads["shard"] >= 0) & (reads["shard"] < len(owner))]
    known = known[owner[known["shard"]] >= 0]
    ms = known["wait_ns"] / 1e6 / numpy.count_nonzero(steps["step"] >= first_step)
    is_first = numpy.diff(known["step"], prepend=-1) != 0
    server = owner[known["shard"]]
    return Waits(numpy.bincount(server, ms, servers), numpy.bincount(server, numpy.where(is_first, ms, 0.0), servers))


def waits_by_server(files: RankFiles, trial: Trial) -> Waits | None:
    """Mean over the workers."""
    known = [one for rank in trial.ranks("worker") if (one := waits_of(files, trial, rank)) is not None]
    if not known or not trial.ranks("server"):
        return None
    return Waits(
        numpy.mean([one.total for one in known], axis=0),
        numpy.mean([one.first for one in known], axis=0),
    )
