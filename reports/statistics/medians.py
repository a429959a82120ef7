"""Medians with intervals for any distribution, after Hoefler and Belli (SC 2015), rules 5 and 6."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95
# Fewer than six values cannot enclose a median with 95 % probability: 1 - 2 * 0.5^5 = 0.94.
LEAST_FOR_COVERAGE = 6


@dataclass(frozen=True)
class Estimate:
    """A point estimate with its 95 % confidence interval; `low` and `high` may be None."""

    value: float
    low: float | None = None
    high: float | None = None

    def changed(self, change: Callable[[float], float]) -> Estimate:
        """Return the estimate of a growing function of the value."""
        low, high = (None if end is None else change(end) for end in (self.low, self.high))
        return Estimate(change(self.value), low, high)

    def scaled(self, factor: float) -> Estimate:
        return self.changed(lambda value: value * factor)

    @property
    def half_width(self) -> float | None:
        """Largest distance of an end of the interval from the value, relative to it; None without an interval."""
        if self.low is None or self.high is None or not self.value:
            return None
        return max(self.value - self.low, self.high - self.value) / self.value


def median_interval(values: Sequence[float]) -> Estimate:
    """Return the median with the 95 % interval between two order statistics, which holds for any distribution.

    The interval of n sorted values is from the k-th smallest to the k-th largest, with the largest k for which a
    binomial variable of n fair trials is below k with a probability of at most 2.5 %, as in the sign test. Fewer than
    `LEAST_FOR_COVERAGE` values have none. Raises `ValueError` without values.
    """
    if not values:
        raise ValueError("no repetitions to summarise")
    data, count = sorted(values), len(values)
    median = float(statistics.median(data))
    if count < LEAST_FOR_COVERAGE:
        return Estimate(median)
    below, place = 0.0, 0
    while below + math.comb(count, place) * 0.5**count <= (1 - CONFIDENCE) / 2:
        below += math.comb(count, place) * 0.5**count
        place += 1
    return Estimate(median, float(data[place - 1]), float(data[count - place]))
