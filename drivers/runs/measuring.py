"""Rule of a measurement: the amount of a repetition, and the number of repetitions.

*Prove equal work on one amount; measure rates on long enough runs; compare rates of one host.* The proof is one run of
the stated amount, and also the first call. The rate is measured on an amount that fits the device. This module decides
on amounts and repetitions from seconds alone, and runs nothing: `drivers.runs.repetitions` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from core.errors import UserError
from drivers.workload.run_time import WorkUnit
from reports.statistics.medians import Estimate, median_interval
from reports.text import formatting

if TYPE_CHECKING:
    from drivers.options.declaration import Options
    from reports.records.check import RepetitionKind
    from reports.records.schema import Repetition

BUDGET_S = 10.0
"""Seconds of a rate's repetitions unless the user says otherwise, beyond the least number of repetitions."""
LEAST_S = 0.1
"""Least seconds of a repetition for any budget."""
MOST_GROWTH = 64
"""Largest growth of an amount after one trial: a trial of some microseconds is no estimate."""
MARGIN = 1.02
"""Duration of a grown repetition, relative to the shortest allowed one, if time grows with the amount."""
MOST_PROOF_S = 5.0
"""Seconds of a proof above which the rate is measured on less work."""
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
    amount
        Amount of each run of the rate; 0 for one that takes `shortest_s`.
    """

    budget_s: float = BUDGET_S
    shortest_s: float = 1.0
    fewest: int = 6
    most: int = 30
    width: float = 0.02
    amount: int = 0

    @classmethod
    def of(cls, unit: WorkUnit, budget_s: float, amount: int = 0) -> MeasuringRule:
        """Return the rule for a workload: repetitions of whole runs, and of a small budget, may be shorter."""
        usual_s = 1.0 if unit.option and not amount else 0.3
        return cls(budget_s, shortest_s=min(usual_s, max(LEAST_S, budget_s / cls.fewest)), amount=amount)

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
class FixedAmount:
    """Repetitions of one amount, the parameters': `--repeats`.

    Attributes
    ----------
    work
        Work of each repetition.
    most
        Number of repetitions.
    done
        Number of those that need not run: recorded ones, or those before a rank was lost.
    """

    work: Work
    most: int
    done: int = 0

    turn = 0

    def resume(self, repetitions: Sequence[Repetition]) -> str:
        """Leave out recorded repetitions; return their number as text, empty for none."""
        self.done = sum(one.kind == "fixed" for one in repetitions)
        return f"{self.done} of {self.most}" if self.done else ""

    def next_work(self) -> Work | None:
        return self.work if self.done < self.most else None

    def add(self, seconds: float) -> RepetitionKind:
        """Add a repetition; return its kind, as `reports.records.schema.Repetition` has it."""
        self.done += 1
        return "fixed"


class RateMeasurement:
    """State of the measurement of one rate: the proof, then warm repetitions.

    Attributes
    ----------
    rule, unit
        See `MeasuringRule`, and the unit of the workload.
    proof
        Work of the proof; None after it.
    whole
        Amount of the runs that repeat inside a repetition; 0 if the amount grows instead.
    work
        Work of the next warm repetition: at first `whole` or that of the proof, or that of earlier repetitions.
    seconds
        Seconds of the repetitions that count.
    turn
        Number of complete measurements before this one.
    """

    def __init__(self, rule: MeasuringRule, unit: WorkUnit) -> None:
        self.turn = 0
        self.rule = rule
        self.unit = unit
        self.whole = rule.amount if unit.option else unit.amount
        self.work = Work(self.whole or unit.amount)
        self.proof: Work | None = Work(unit.amount)
        self.seconds: list[float] = []

    def resume(self, repetitions: Sequence[Repetition]) -> str:
        """Take the amount of the last recorded measurement, and complete it if it was interrupted.

        Repetitions of an earlier, smaller budget are too short to continue. Returns the number of its repetitions as
        text; empty if another measurement begins.
        """
        rates = [one for one in repetitions if one.kind == "rate"]
        if not rates:
            return ""
        last = [one for one in rates if one.turn == rates[-1].turn]
        amount = last[0].work // self.unit.each
        one = self.whole or min(amount, MOST_AMOUNT)
        self.work = Work(one, max(1, amount // one))
        seconds = [one.running_s for one in last]
        is_new = self.rule.is_enough(seconds) or max(seconds) < self.rule.shortest_s
        self.turn = last[0].turn + is_new
        self.seconds = [] if is_new else seconds
        return "" if is_new else f"{len(seconds)} warm"

    def next_work(self) -> Work | None:
        return self.proof or (None if self.is_done else self.work)

    def add(self, seconds: float) -> RepetitionKind:
        """Add a repetition of `next_work`; return its kind, as `reports.records.schema.Repetition` has it.

        A trial was too short: it only decides the next amount.
        """
        if self.proof is not None:
            is_first = not (self.turn or self.seconds)
            if not self.whole and is_first and seconds > MOST_PROOF_S:
                self.work = Work(max(1, _rounded_up(self.work.amount * self.rule.shortest_s / seconds)))
            self.proof = None
            return "proof"
        if not self.seconds and seconds < self.rule.shortest_s:
            self.work = self.rule.grown(self.work, seconds, scales=not self.whole)
            return "trial"
        self.seconds.append(seconds)
        return "rate"

    @property
    def is_done(self) -> bool:
        return self.rule.is_enough(self.seconds)

    @property
    def rate(self) -> Estimate:
        """Units per second: median with its 95 % interval."""
        units = self.work.total * self.unit.each
        return median_interval([units / one for one in self.seconds])

    def __str__(self) -> str:
        rate, median = self.rate, self.work.total * self.unit.each / self.rate.value
        width = formatting.deviation(rate, self.rule.width)
        speed = f"{formatting.rate(rate.value, 4)} {self.unit.name}/s{width and f' {width}'}"
        warm = f"{len(self.seconds)} warm repetitions of {amount_text(self.unit, self.work)}"
        return f"{speed}, median of {warm}, {formatting.seconds(median)} each"


def repetition_plan(options: Options, unit: WorkUnit) -> FixedAmount | RateMeasurement:
    """Return the plan of the repetitions that the options ask for. Raises `UserError` for options that contradict."""
    amount = options.rate_amount or 0
    if amount and not (options.measure and unit.option):
        raise UserError(f"--rate-amount {amount}: expected with --measure, and only if the amount of a run scales")
    if options.measure is None:
        return FixedAmount(Work(unit.amount), options.repeats)
    return RateMeasurement(MeasuringRule.of(unit, options.measure, amount), unit)


def amount_text(unit: WorkUnit, work: Work) -> str:
    """Return the work of a repetition as text: 8,130 climbs; 12 runs of 14,400 cells."""
    if unit.name == "runs":
        return f"{work.runs:,} runs"
    of_runs = f"{work.runs:,} runs of " if work.runs > 1 else ""
    return f"{of_runs}{work.amount * unit.each:,} {unit.name}"


def _rounded_up(amount: float) -> int:
    """Return an amount with at most three digits other than zero: 8,123.4 becomes 8,130."""
    step = 10 ** max(0, math.floor(math.log10(amount)) - 2)
    return math.ceil(amount / step) * step
