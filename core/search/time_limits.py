"""Sizes of launches under a time limit. A search reads the clock between launches, so its last launches are short.

A launch may take several times as long as the one before it suggests: walks become slower as they improve, and other
programs use the machine. So a launch is given only a part of the time that is left.
"""

from __future__ import annotations

from math import inf

LATE_PART, LEAST_LATE_S, MOST_LATE_S = 0.1, 0.05, 0.25
SAFETY_FACTOR = 4.0
"""A launch that takes up to this many times its estimate still ends in time."""
MOST_SAFETY_FACTOR = 128.0
"""The same at most, where iterations are expected to become slower: shorter launches would cost too much."""


def allowance_s(limit_s: float) -> float:
    """Seconds by which a run may exceed its time limit: a tenth, at least 50 and at most 250 ms."""
    return min(MOST_LATE_S, max(LEAST_LATE_S, LATE_PART * limit_s))


def longest_launch_s(limit_s: float, spent_s: float, uneven: float = SAFETY_FACTOR) -> float:
    """Return the most seconds that the next launch may be estimated at; infinite without a time limit.

    Parameters
    ----------
    limit_s
        Time limit of the run; `math.inf`: none.
    spent_s
        Seconds of the run so far.
    uneven
        Factor by which a launch may exceed its estimate.

    """
    return inf if limit_s == inf else max(0.0, limit_s + allowance_s(limit_s) - spent_s) / uneven


def is_time_for(limit_s: float, spent_s: float, seconds: float) -> bool:
    """Return True if a launch of this estimate, which cannot be shortened, ends within the allowance."""
    return spent_s + seconds <= limit_s + allowance_s(limit_s)


class BatchSizes:
    """Number of steps from one synchronisation to the next: a batch takes about the same time, and less at the end.

    Parameters
    ----------
    first
        Steps of the first batch.
    growth
        A batch has at most this multiple of the steps of the one before.
    seconds
        Duration of a batch.

    """

    def __init__(self, first: int = 1, growth: int = 4, seconds: float = 0.2) -> None:
        self.first, self.growth, self.seconds = first, growth, seconds
        self.next = first

    def learn(self, step_s: float, longest_s: float) -> None:
        """Choose the next size from the seconds of a step, and from the most seconds that a batch may take."""
        self.next = max(1, min(self.growth * self.next, int(min(self.seconds, longest_s) / step_s)))
