"""Interleaved rounds: in each, every contestant has one turn."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping

from .estimate import LEAST_ROUNDS

Figures = dict[str, float]


def play(what: str, contestants: Mapping[str, Callable[[], Figures]], rounds: int,
         budget_s: float) -> dict[str, list[Figures]]:
    """Who goes first changes from round to round. Ends early, but not before the least number of rounds, when
    the budget is spent."""
    results: dict[str, list[Figures]] = {name: [] for name in contestants}
    names = list(contestants)
    begin = time.monotonic()
    for number in range(rounds):
        turn = number % len(names)
        order = names[turn:] + names[:turn]
        for name in order if number // len(names) % 2 == 0 else reversed(order):
            results[name].append(contestants[name]())
        took = time.monotonic() - begin
        left = min(took / (number + 1) * (rounds - number - 1), max(budget_s - took, 0.0))
        say_progress(f"  {what}: round {number + 1} of {rounds}, about {left:.0f} s left")
        if took > budget_s and number + 1 >= LEAST_ROUNDS:
            break
    say_progress("")
    return results


def say_progress(text: str) -> None:
    """One line that is written over, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def column(figures: list[Figures], key: str) -> list[float]:
    return [one[key] for one in figures]
