"""Medians, intervals and means of paired rounds."""

from __future__ import annotations

import math
from collections.abc import Iterable

LEAST_ROUNDS = 6  # An interval of 95 % needs them.


def interval(samples: list[float]) -> tuple[float, float]:
    """The 95 % interval of the median between two order statistics, as src/trace/statistics.hpp has it."""
    ordered = sorted(samples)
    count = len(ordered)
    below, k = 0, 0
    while k < count // 2:
        below += math.comb(count, k)
        if 2 * below > 0.05 * 2**count:
            break
        k += 1
    return (ordered[k - 1], ordered[-k]) if k else (-math.inf, math.inf)


def geometric_mean(values: Iterable[float]) -> float:
    logarithms = [math.log(value) for value in values]
    return math.exp(sum(logarithms) / len(logarithms))
