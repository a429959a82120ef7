"""Rule of a measurement: the amount of a repetition, and the number of repetitions.

*Prove equal work on one amount; measure rates on long enough runs; compare rates of one host.* The proof is one run of
the stated amount, and also the first call. The rate is measured on an amount that fits the device. This module decides
on amounts and repetitions from seconds alone, and runs nothing: `drivers.runs.measured_run` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from drivers.workload.run_time import WorkUnit
from reports.statistics.medians import Estimate, median_interval

BUDGET_S = 10.0
"""Seconds of a rate's repetitions unless the user says otherwise, beyond the least number of repetitions."""
LEAST_S = 0.1
"""Least seconds of a repetition for any budget."""
MOST_GROWTH = 64
"""Largest growth of an amount after one trial: a trial of some microseconds is no estimate."""
MARGIN = 1.02
"""Duration of a grown repetition, relative to the shortest allowed one, if time grows with the amount."""
MOST_AMOUNT = 2**31 - 2
"""Largest amount: one more means no limit (`core.run.stop.MOST`)."""


class Work(NamedTuple):
    """Work of one repetition.

    Attributes
    ----------
    amount : int
        Amount of one run: the value of the option that scales it, or 1 without one.
    runs : int
        Number of runs inside the repetition.
    """

    amount: int
    runs: int = 1

    @property
    def total(self) -> int:
        return self.amount * self.runs


@dataclass(frozen=True)
class MeasuringRule:
    """Rule of a rate's measurement.

    Attributes
    ----------
    budget_s
        Seconds of repetitions after which no further one begins, if there are at least `fewest`.
    shortest_s
        Least seconds of a repetition.
    fewest, most
        Numbers of repetitions.
    width
        Half width of the 95 % interval of the median, relative to it, that ends the repetitions.
    """

    budget_s: float = BUDGET_S
    shortest_s: float = 1.0
    fewest: int = 6
    most: int = 30
    width: float = 0.02

    @classmethod
    def of(cls, unit: WorkUnit, budget_s: float) -> MeasuringRule:
        """Return the rule for a workload: repetitions of whole runs, and of a small budget, may be shorter."""
        usual_s = 1.0 if unit.option else 0.3
        return cls(budget_s, shortest_s=min(usual_s, max(LEAST_S, budget_s / cls.fewest)))

    def is_enough(self, seconds: Sequence[float]) -> bool:
        """Return True if a rate with these repetitions needs no further one."""
        if len(seconds) < self.fewest:
            return False
        half_width = median_interval(seconds).half_width
        is_narrow = half_width is not None and half_width <= self.width
        return is_narrow or len(seconds) >= self.most or sum(seconds) >= self.budget_s

    def grown(self, work: Work, seconds: float, *, scales: bool) -> Work:
        """Return larger work after a repetition that was too short.

        Time grows at most in proportion to the amount, so the estimate from one repetition is not too large.
        """
        factor = min(MOST_GROWTH, MARGIN * self.shortest_s / max(seconds, 1e-9))
        if scales and work.amount < MOST_AMOUNT:
            return Work(min(MOST_AMOUNT, max(work.amount + 1, _rounded_up(work.amount * factor))))
        return Work(work.amount, max(work.runs + 1, math.ceil(work.runs * factor)))


@dataclass
class RateMeasurement:
    """State of the measurement of one rate.

    Attributes
    ----------
    rule
        See `MeasuringRule`.
    work
        Work of the next repetition: at first that of the proof, or of earlier repetitions.
    scales
        True if an option changes the amount of a run.
    seconds
        Seconds of the repetitions that count.
    """

    rule: MeasuringRule
    work: Work
    scales: bool
    seconds: list[float] = field(default_factory=list)

    def add(self, seconds: float) -> bool:
        """Add a warm repetition of `work`; return False if it was too short, and only a trial for the next amount."""
        if not self.seconds and seconds < self.rule.shortest_s:
            self.work = self.rule.grown(self.work, seconds, scales=self.scales)
            return False
        self.seconds.append(seconds)
        return True

    @property
    def is_done(self) -> bool:
        return self.rule.is_enough(self.seconds)

    @property
    def rate(self) -> Estimate:
        """Amount per second: median with its 95 % interval."""
        return median_interval([self.work.total / one for one in self.seconds])


def _rounded_up(amount: float) -> int:
    """Return an amount with at most three digits other than zero: 8,123.4 becomes 8,130."""
    step = 10 ** max(0, math.floor(math.log10(amount)) - 2)
    return math.ceil(amount / step) * step
