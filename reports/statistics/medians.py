"""Medians with intervals, and ratios of medians, after Hoefler and Belli (SC 2015), rules 4 to 9.

`median_interval` is distribution-free, for measured rates. The papers' pages still resample (`summarise`).

Costs (seconds) are never averaged as ratios: a speed-up is one ratio of two medians, with a separate interval. Papers
of the field print mean and standard deviation over seeds, so a summary has them too.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

CONFIDENCE = 0.95
RESAMPLES = 9_999
# With one or two repetitions a resample can only repeat them, so there is no interval.
LEAST_FOR_INTERVAL = 3
# Fewer than six values cannot enclose a median with 95 % probability: 1 - 2 * 0.5^5 = 0.94.
LEAST_FOR_COVERAGE = 6
SEED = 20150901


@dataclass(frozen=True)
class Estimate:
    """A point estimate with its 95 % confidence interval; `low` and `high` may be None."""

    value: float
    low: float | None = None
    high: float | None = None

    def scaled(self, factor: float) -> Estimate:
        low, high = (None if end is None else end * factor for end in (self.low, self.high))
        return Estimate(self.value * factor, low, high)

    @property
    def half_width(self) -> float | None:
        """Largest distance of an end of the interval from the value, relative to it; None without an interval."""
        if self.low is None or self.high is None or not self.value:
            return None
        return max(self.value - self.low, self.high - self.value) / self.value


@dataclass(frozen=True)
class Summary:
    """Repetitions, or runs of several seeds, in brief: their number, extremes, median with its interval, and mean.

    `deviation` is the sample standard deviation, over n - 1; None for one value.
    """

    repetitions: int
    minimum: float
    maximum: float
    median: Estimate
    mean: float
    deviation: float | None


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


def summarise(values: Sequence[float]) -> Summary:
    """Median with 95 % bootstrap interval, minimum, maximum, mean and sample standard deviation.

    Raises `ValueError` without values.
    """
    data = _as_array(values)
    median = Estimate(float(np.median(data)), *_interval((data,), np.median))
    deviation = float(data.std(ddof=1)) if data.size > 1 else None
    return Summary(data.size, float(data.min()), float(data.max()), median, float(data.mean()), deviation)


def ratio_of_medians(baseline: Sequence[float], other: Sequence[float]) -> Estimate:
    """Return the speed-up of `other` over `baseline`: median(baseline) / median(other).

    The interval resamples both sides; None if either has too few repetitions. Raises `ValueError` if a side has no
    values or the median below the line is zero.
    """
    above, below = _as_array(baseline), _as_array(other)
    if np.median(below) == 0:
        raise ValueError("a median time of zero has no ratio")

    def ratio(x: np.ndarray, y: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.divide(np.median(x, axis=axis), np.median(y, axis=axis))

    return Estimate(float(ratio(above, below)), *_interval((above, below), ratio))


def _as_array(values: Sequence[float]) -> np.ndarray:
    data = np.asarray(values, dtype=np.float64)
    if data.size == 0:
        raise ValueError("no repetitions to summarise")
    return data


def _interval(data: tuple[np.ndarray, ...], statistic: Callable[..., Any]) -> tuple[float | None, float | None]:
    if min(values.size for values in data) < LEAST_FOR_INTERVAL:
        return None, None
    from scipy.stats import bootstrap

    # Percentile, not BCa: BCa's jackknife is degenerate for the median of a small or tied sample.
    result = bootstrap(
        data,
        statistic,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        vectorized=True,
        rng=np.random.default_rng(SEED),
    )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)
