"""Statistics of paired measurements."""
import sys
from math import comb


def interval(values: list[float]) -> tuple[float, float]:
    """95 % interval of the median between two order statistics, as src/trace/statistics.hpp does it."""
    ordered, n, tail, k = sorted(values), len(values), 0.0, 0
    while k < n // 2:
        tail += comb(n, k) / 2**n
        if 2 * tail > 0.05:
            break
        k += 1
    if k == 0:
        sys.exit("at least 6 pairs are needed for an interval")
    return ordered[k - 1], ordered[n - k]
