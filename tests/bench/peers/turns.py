"""A peer's side of scripts/bench: it is started once, and measures whenever a line asks for it.

Rank 0 prints {"ready": true, ...} when its team has shown that it trains; then it answers every line with a
number of seconds by one JSON line; at the end of its input it compares the ranks' values and ends.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import time
from collections.abc import Callable
from typing import Protocol

WARMUP_STEPS = 3
CHECK_STEPS = 120
AGREEMENT = 1e-4


class Team(Protocol):
    """The ranks of a peer."""

    rank: int

    def tell(self, number: float) -> float:
        """@return rank 0's number, on every rank. Waits without using a core."""


class Work(Protocol):
    """What a rank does in a step."""

    samples: int
    loss: float
    compute_s: float

    def step(self) -> None: ...

    def wrong(self) -> str: ...


def fail(text: str) -> None:
    print(json.dumps({"error": text}), flush=True)
    sys.exit(1)


def check_training(work: Work, team: Team) -> float:
    """The loss must fall, where there is one. @return milliseconds of a step."""
    losses, begin = [], time.perf_counter()
    for _ in range(CHECK_STEPS):
        work.step()
        losses.append(work.loss)
    first, last = statistics.mean(losses[:5]), statistics.mean(losses[-5:])
    if team.rank == 0 and any(losses) and not last < 0.8 * first:
        fail(f"the loss does not fall: {first:.3f} at first, {last:.3f} after {CHECK_STEPS} steps")
    return 1e3 * (time.perf_counter() - begin) / CHECK_STEPS


def measure(work: Work, steps: int) -> dict[str, float]:
    """@return per step, without the first ones."""
    for _ in range(WARMUP_STEPS):
        work.step()
    work.compute_s = 0.0
    begin = time.perf_counter()
    for _ in range(steps):
        work.step()
    return {"step_ms": 1e3 * (time.perf_counter() - begin) / steps, "compute_ms": 1e3 * work.compute_s / steps}


def serve(work: Work, team: Team, workers: int, info: dict[str, str], spread: Callable[[], float]) -> None:
    """@param spread collective; the greatest difference between ranks' values, relative to the values."""
    step_ms = check_training(work, team)  # A few lucky steps would ask for too many in the first turn.
    if team.rank == 0:
        print(json.dumps({"ready": True} | info), flush=True)
    while True:
        line = sys.stdin.readline() if team.rank == 0 else ""
        wanted = 1e3 * float(line) / step_ms if line.strip() else 0.0
        steps = int(team.tell(float(math.ceil(wanted))))
        if steps == 0:
            break
        figures = measure(work, max(steps, 2 * WARMUP_STEPS))
        step_ms = figures["step_ms"]
        if team.rank == 0:
            figures["images_per_s"] = 1e3 * work.samples * workers / step_ms
            print(json.dumps(figures), flush=True)
    apart = spread()
    if team.rank == 0:
        wrong = work.wrong() or (f"ranks' values differ by {apart}" if not apart <= AGREEMENT else "")
        print(json.dumps({"wrong": wrong}), flush=True)
