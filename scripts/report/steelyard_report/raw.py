"""What single ranks recorded of a trial, as figures need it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy

from .ranks import RankFiles
from .runs import Trial
from .timeline import Timeline, timeline_of
from .transfers import rate_mb_per_s, transfers_of
from .waits import Waits, waiting_for, waits_by_server, waits_of

PHASES = ("data", "forward", "backward", "push", "wait", "update")
MOST_POINTS = 120  # Of a curve: means over as many pieces.


@dataclass
class ServerLoad:
    rank: int
    bytes: int  # In and out.
    messages: int
    busy_s: float


@dataclass
class RankTime:
    """Where one rank's time of a step goes, ms."""

    name: str
    parts: dict[str, float]


@dataclass
class Windows:
    """Of one server: seconds since the trial began, and the share of each window of steps in which it was busy."""

    time_s: list[float]
    busy: list[float]


@dataclass
class Raw:
    servers: list[ServerLoad] = field(default_factory=list)
    staleness: dict[int, int] = field(default_factory=dict)  # updates: pushes
    loss: tuple[list[float], list[float]] = ((), ())  # seconds, mean over the global batch
    evaluation: tuple[list[float], list[float], list[float]] = ((), (), ())  # seconds, loss, accuracy
    waits: Waits | None = None  # Mean over the workers.
    times: list[RankTime] = field(default_factory=list)  # These four of typical trials alone.
    windows: list[Windows] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)  # [servers] MB/s of pushes under way; none in shared memory.
    timeline: Timeline | None = None


def server_loads(files: RankFiles, trial: Trial) -> list[ServerLoad]:
    found = []
    for rank in trial.ranks("server"):
        load = files.rows(rank, "load", trial)
        if load is None:
            return []
        total = {name: int(load[name].sum()) for name in ("bytes_in", "bytes_out", "messages", "busy_ns")}
        found.append(ServerLoad(rank, total["bytes_in"] + total["bytes_out"], total["messages"], total["busy_ns"] / 1e9))
    return found


def staleness(files: RankFiles, trial: Trial) -> dict[int, int]:
    counts: dict[int, int] = {}
    for rank in trial.ranks("server"):
        rows = files.rows(rank, "staleness", trial)
        for value in numpy.unique(rows["staleness"]) if rows is not None else ():
            counts[int(value)] = counts.get(int(value), 0) + int(rows["count"][rows["staleness"] == value].sum())
    return counts


def thinned(x: numpy.ndarray, y: numpy.ndarray) -> tuple[list[float], list[float]]:
    pieces = min(len(x), MOST_POINTS)
    if pieces == 0:
        return [], []
    return (
        [float(part.mean()) for part in numpy.array_split(x, pieces)],
        [float(part.mean()) for part in numpy.array_split(y, pieces)],
    )


def loss_curve(files: RankFiles, trial: Trial) -> tuple[list[float], list[float]]:
    """Mean over the global batch of each step that every worker completed, against the first worker's time."""
    workers = [files.rows(rank, "steps", trial) for rank in trial.ranks("worker")]
    if not workers or any(rows is None or len(rows) == 0 for rows in workers):
        return [], []
    steps = min(len(rows) for rows in workers)
    samples = sum(rows["samples"][:steps].astype(float) for rows in workers)
    total = sum(rows["samples"][:steps] * rows["loss"][:steps].astype(float) for rows in workers)
    if not numpy.any(total) or numpy.any(samples == 0):
        return [], []  # A replay has no loss.
    first = workers[0]
    return thinned((first["end_ns"][:steps] - first["begin_ns"][0]) / 1e9, total / samples)


def evaluations(files: RankFiles, trial: Trial) -> tuple[list[float], list[float], list[float]]:
    workers = trial.ranks("worker")
    steps = files.rows(workers[0], "steps", trial) if workers else None
    rows = trial.evaluation
    if steps is None or len(steps) == 0 or rows is None or len(rows) == 0:
        return [], [], []
    return (((rows["time_ns"] - steps["begin_ns"][0]) / 1e9).tolist(), rows["loss"].tolist(), rows["accuracy"].tolist())


def worker_time(rows: numpy.ndarray, warmup: int, waits: Waits | None) -> dict[str, float]:
    """Waiting by the server awaited, where the trace has it."""
    measured = rows[rows["step"] >= warmup] if numpy.any(rows["step"] >= warmup) else rows
    parts = {phase: float(measured[f"{phase}_ns"].mean()) / 1e6 for phase in PHASES}
    whole = float((measured["end_ns"] - measured["begin_ns"]).mean()) / 1e6
    parts["other"] = max(whole - sum(parts.values()), 0.0)
    if waits is not None:
        parts["wait"] = max(parts["wait"] - float(waits.total.sum()), 0.0)
        parts |= {waiting_for(server): float(ms) for server, ms in enumerate(waits.total)}
    return parts


def server_time(rows: numpy.ndarray, warmup: int) -> dict[str, float]:
    """Wall time by window: idle; handlings that completed an update; the others. Windows that begin in the warm-up are
    left out where others are there."""
    begins = numpy.concatenate([[0], rows["step"][:-1]])
    kept = begins >= warmup if numpy.any(begins >= warmup) else begins >= 0
    steps = max(int((rows["step"] - begins)[kept].sum()), 1)
    wall = float((rows["end_ns"] - rows["begin_ns"])[kept].sum())
    idle, apply = float(rows["idle_ns"][kept].sum()), float(rows["apply_ns"][kept].sum())
    serve = max(wall - idle - apply, 0.0)
    return {name: value / steps / 1e6 for name, value in (("apply", apply), ("serve", serve), ("idle", idle))}


def rank_times(files: RankFiles, trial: Trial) -> list[RankTime]:
    found = []
    for role, table in (("server", "load"), ("worker", "steps")):
        for index, rank in enumerate(trial.ranks(role)):
            rows = files.rows(rank, table, trial)
            if rows is None or len(rows) == 0:
                continue
            warmup = int(trial.row["warmup"])
            parts = worker_time(rows, warmup, waits_of(files, trial, rank)) if role == "worker" else server_time(rows, warmup)
            found.append(RankTime(f"{role} {index}", parts))
    return found


def windows(files: RankFiles, trial: Trial) -> list[Windows]:
    tables = [files.rows(rank, "load", trial) for rank in trial.ranks("server")]
    if any(rows is None or len(rows) == 0 for rows in tables):
        return []
    found = []
    for rank, rows in zip(trial.ranks("server"), tables):
        clock = files.clock(rank)
        middle = clock.on_rank_0((rows["begin_ns"] + rows["end_ns"]) / 2) - trial.row["begin"]
        wall = numpy.maximum(rows["end_ns"] - rows["begin_ns"], 1)
        time_s, busy = thinned(middle / 1e9, 100.0 * rows["busy_ns"] / wall)
        found.append(Windows(time_s, busy))
    return found


def read(files: RankFiles, trial: Trial, typical: bool, most_spans: int) -> Raw:
    """`typical` trials stand for their contestant in figures of whole trials."""
    raw = Raw(server_loads(files, trial), staleness(files, trial), loss_curve(files, trial), evaluations(files, trial))
    raw.waits = waits_by_server(files, trial)
    if typical:
        transfers = transfers_of(files, trial)
        if trial.row.get("transport") != "shared":
            raw.rates = [rate_mb_per_s(one) for one in transfers]
        raw.times = rank_times(files, trial)
        raw.windows = windows(files, trial)
        raw.timeline = timeline_of(files, trial, transfers, most_spans)
    return raw
