"""First times at which runs reached a target cost, in seconds and evaluations, from their histories.

A run is of one seed. Its repetitions take the same course and differ in their seconds alone, so a run's time is the
median of its repetitions, and a run, not a repetition, is what success rates, expected running times and empirical
distributions count. A run that ended without the target is right-censored at its end.

Expected running time: N. Hansen, A. Auger, R. Ros, O. Mersmann, T. Tusar, D. Brockhoff: COCO: a platform for comparing
continuous optimizers in a black-box setting. Optimization Methods and Software 36 (1), 2021, pp. 114-144.
Distribution with censored runs: E. L. Kaplan, P. Meier: Nonparametric estimation from incomplete observations. Journal
of the American Statistical Association 53 (282), 1958, pp. 457-481 (`scipy.stats.ecdf`).
"""

from __future__ import annotations

import math
import statistics
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from reports.records.files import Record
from reports.statistics.medians import CONFIDENCE, LEAST_FOR_INTERVAL, RESAMPLES, SEED, Estimate
from reports.statistics.seeds import seeds_text
from reports.text.formatting import cost

EffortMeasure = Literal["seconds", "evaluations"]
GAPS = (0.01, 0.05)
"""How far above the first target the others are, as parts of its absolute value."""
EQUAL_COSTS = 1e-9
"""Relative difference below which two costs are one."""


# --- one run ---


@dataclass(frozen=True)
class SearchEffort:
    """What a run spent until it knew a target, or until its end if it never did."""

    reached: bool
    seconds: float
    evaluations: float


@dataclass(frozen=True)
class CostHistory:
    """How the best cost of one repetition came to improve.

    Attributes
    ----------
    evaluations, seconds, costs : tuple
        As the rows of `reports.records.schema.Repetition.history` have them; at least one row.
    end : Spent
        What the whole repetition spent.
    """

    evaluations: tuple[int, ...]
    seconds: tuple[float, ...]
    costs: tuple[float, ...]
    end: SearchEffort

    def until(self, target: float) -> SearchEffort:
        """What was spent until the best cost was the target or better."""
        for evaluations, seconds, best in zip(self.evaluations, self.seconds, self.costs, strict=True):
            if best <= target:
                return SearchEffort(True, seconds, evaluations)
        return self.end

    def best_at(self, amount: float, measure: EffortMeasure) -> float:
        """The best cost that was known after so many seconds or evaluations; not a number before the first row."""
        known = bisect_right(getattr(self, measure), amount)
        return self.costs[known - 1] if known else math.nan


def cost_histories(run: Record) -> tuple[tuple[CostHistory, ...], list[str]]:
    """Read the histories of a run's repetitions.

    Returns
    -------
    tuple of Course
        Of the repetitions whose history can be used.
    list of str
        What is the matter with each of the others, in words.
    """
    courses, troubles = [], []
    for number, repetition in enumerate(run.repetitions, 1):
        rows = repetition.history
        trouble = _history_problem(rows, run.best_cost)
        if trouble or not rows:
            troubles.append(f"seed {run.seed}, repetition {number}: {trouble}")
            continue
        _, evaluations, seconds, costs = zip(*rows, strict=True)
        # An exact search counts no work in some records, and clocks of several ranks differ a little.
        end = SearchEffort(False, max(repetition.running_s, seconds[-1]), max(run.evaluations, evaluations[-1]))
        courses.append(CostHistory(evaluations, seconds, costs, end))
    return tuple(courses), troubles


def _history_problem(rows: Sequence[Any] | None, best_cost: float) -> str:
    """Say why a history cannot be used; empty where it can. Its form was checked when the record was read."""
    if rows is None:
        return "no history was recorded"
    if not rows:
        return "its history is empty"
    costs = [row[3] for row in rows]
    for number, (before, now) in enumerate(zip(costs, costs[1:], strict=False), 2):
        if now > before:
            return f"the best cost of its history rises from {cost(before)} to {cost(now)} in row {number}"
    if not math.isclose(costs[-1], best_cost, rel_tol=EQUAL_COSTS):
        return f"its history ends at {cost(costs[-1])} and not at the best cost {cost(best_cost)}"
    return ""


# --- targets ---


@dataclass(frozen=True)
class Target:
    """A cost that is good enough, and what it is called."""

    cost: float
    name: str

    @property
    def words(self) -> str:
        """Its name and the cost."""
        return f"{self.name} ({cost(self.cost)})"


@dataclass(frozen=True)
class Targets:
    """Targets, the hardest first, and in a sentence without its full stop how they were chosen."""

    all: tuple[Target, ...]
    why: str

    @property
    def first(self) -> Target:
        """The hardest."""
        return self.all[0]


def choose_targets(runs: Sequence[Record], asked: float | None = None) -> Targets:
    """Choose the same targets for all runs on an instance.

    The first is what the user asked for; else the known optimum if a run reached it, else the best cost of any run. No
    run may be asked for less than what it was told to stop at, so the first is at least the highest of those. Without
    a wish of the user, `GAPS` say the others.

    Parameters
    ----------
    runs : sequence of Record, at least one
    asked : float, optional
        A cost.
    """
    if asked is not None:
        return Targets((Target(asked, "the target"),), f"Target: the cost {cost(asked)}, as given by `--target`")
    best = min(run.best_cost for run in runs)
    optimum = next((run.details["optimum"] for run in runs if run.details.get("optimum") is not None), None)
    if optimum is not None and best <= optimum:
        first, name, why = optimum, "the optimum", f"the known optimum {cost(optimum)}, which a run reached"
    else:
        first, name = best, "the best found"
        unknown = "no optimum is known" if optimum is None else f"no run reached the known optimum {cost(optimum)}"
        why = f"the best cost {cost(best)} of all runs, since {unknown}"
    stops = [stop for run in runs if (stop := stop_cost(run)) is not None]
    if stops and max(stops) > first:
        first, name = max(stops), "the stop"
        why = f"{cost(first)}, the cost at which runs stopped"
    whole = all(isinstance(run.best_cost, int) for run in runs)
    others = [Target(_above(first, gap, whole), f"{name} + {gap:.0%}".replace("%", " %")) for gap in GAPS]
    # Small costs have no whole number between them and one per cent more.
    distinct = [one for one in others if one.cost > first]
    said = f", and costs {' and '.join(f'{gap:.0%}'.replace('%', ' %') for gap in GAPS)} above it" if distinct else ""
    return Targets((Target(first, name), *distinct), f"Target: {why}{said}; the same for every row")


def stop_cost(run: Record) -> float | None:
    """The cost at which a run was told to stop, if it was."""
    stop = run.parameters.get("target")
    return stop if isinstance(stop, int | float) and not isinstance(stop, bool) else None


def _above(cost: float, gap: float, whole: bool) -> float:
    above = cost + gap * abs(cost)
    return math.floor(above) if whole else above


# --- runs of several seeds ---


@dataclass(frozen=True)
class TargetAttempts:
    """What the runs of a family spent on one target, a run per seed."""

    target: Target
    spent: tuple[SearchEffort, ...]

    @property
    def reached(self) -> int:
        """How many runs reached the target."""
        return sum(one.reached for one in self.spent)

    def amounts(self, measure: EffortMeasure) -> list[float]:
        """Seconds or evaluations of all runs, by seed."""
        return [getattr(one, measure) for one in self.spent]

    def expected(self, measure: EffortMeasure) -> Estimate | None:
        """Expected running time: what all runs spent until the target or their end, over how many reached it.

        Returns
        -------
        Estimate or None
            With a 95 % percentile bootstrap over the runs, whose upper end is infinite where too many resamples have no
            run that reached the target. None where no run reached it: the expectation is then not known.
        """
        if not self.reached:
            return None
        spent = np.array(self.amounts(measure), dtype=np.float64)
        reached = np.array([one.reached for one in self.spent], dtype=np.float64)
        value = float(spent.sum() / reached.sum())
        if spent.size < LEAST_FOR_INTERVAL:
            return Estimate(value)
        drawn = np.random.default_rng(SEED).integers(0, spent.size, (RESAMPLES, spent.size))
        successes = reached[drawn].sum(axis=1)
        sums = spent[drawn].sum(axis=1)
        resampled = np.divide(sums, successes, out=np.full(RESAMPLES, math.inf), where=successes > 0)
        # An order statistic: nothing lies between a number and infinity.
        ends = np.quantile(resampled, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], method="inverted_cdf")
        return Estimate(value, float(ends[0]), float(ends[1]))

    def distribution(self, measure: EffortMeasure) -> tuple[list[float], list[float]]:
        """The empirical distribution of the time to the target.

        Returns
        -------
        (list of float, list of float)
            Where the function steps, and how high it is from there on. Runs that never reached the target count as
            censored at their end, which is the share of runs itself where all others reached it before.
        """
        from scipy.stats import CensoredData, ecdf

        if not self.reached:
            return [], []
        amounts = [(one.reached, getattr(one, measure)) for one in self.spent]
        data = CensoredData(
            uncensored=[amount for reached, amount in amounts if reached],
            right=[amount for reached, amount in amounts if not reached],
        )
        found = ecdf(data).cdf
        at: list[float] = []
        high: list[float] = []
        for amount, probability in zip(found.quantiles, found.probabilities, strict=True):
            # Where runs only ended, nothing rises.
            if probability > (high[-1] if high else 0.0):
                at.append(float(amount))
                high.append(float(probability))
        return at, high


def success_rate(reached: int, runs: int) -> Estimate:
    """The part of runs that reached a target, with Wilson's 95 % interval.

    E. B. Wilson: Probable inference, the law of succession, and statistical inference. Journal of the American
    Statistical Association 22 (158), 1927, pp. 209-212.
    """
    from scipy.stats import binomtest

    interval = binomtest(reached, runs).proportion_ci(CONFIDENCE, method="wilson")
    return Estimate(reached / runs, float(interval.low), float(interval.high))


@dataclass(frozen=True)
class SeedFamily:
    """Runs that differ in their seeds alone, with their courses.

    Attributes
    ----------
    label : str
    runs : tuple of Record
        In the order of their seeds.
    courses : tuple of tuple of Course
        Of each run's repetitions; empty where a run has no history that can be used: what the others spent is then
        no fair sample.
    notes : tuple of str
        What is the matter with histories, in sentences without their full stops.
    """

    label: str
    runs: tuple[Record, ...]
    courses: tuple[tuple[CostHistory, ...], ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, label: str, runs: Sequence[Record]) -> SeedFamily:
        """Read the histories of runs."""
        read = [cost_histories(run) for run in runs]
        without = [run.seed for run, (courses, _) in zip(runs, read, strict=True) if not courses]
        return cls(
            label,
            tuple(runs),
            () if without else tuple(courses for courses, _ in read),
            tuple(_history_notes(label, runs, without, [trouble for _, troubles in read for trouble in troubles])),
        )

    @property
    def costs(self) -> list[int | float]:
        """The best cost of each run."""
        return [run.best_cost for run in self.runs]

    def reached(self, target: Target) -> int:
        """How many runs found the target's cost or better; their best costs say it, with histories or without."""
        return sum(run.best_cost <= target.cost for run in self.runs)

    def tries(self, target: Target) -> TargetAttempts | None:
        """What the runs spent on a target; None where that is not known."""
        if not self.courses:
            return None
        return TargetAttempts(
            target, tuple(_median_effort([one.until(target.cost) for one in run]) for run in self.courses)
        )

    def costs_at(self, amount: float, measure: EffortMeasure) -> list[float]:
        """The best cost that each run knew after so many seconds or evaluations, the median of its repetitions."""
        return [statistics.median(one.best_at(amount, measure) for one in run) for run in self.courses]


def _median_effort(repetitions: Sequence[SearchEffort]) -> SearchEffort:
    """The median of what repetitions of one run spent; all of them end at the same cost."""
    return SearchEffort(
        all(one.reached for one in repetitions),
        statistics.median(one.seconds for one in repetitions),
        statistics.median(one.evaluations for one in repetitions),
    )


def _history_notes(
    label: str, runs: Sequence[Record], without: Sequence[int], troubles: Sequence[str]
) -> Iterator[str]:
    if all(repetition.history is None for run in runs for repetition in run.repetitions):
        yield f"{label}: no history was recorded (`--history`), so times to targets are not known"
        return
    for trouble in troubles:
        yield f"{label}, {trouble}: left out"
    if without:
        whose = f"seeds {seeds_text(without)} have" if len(without) > 1 else f"seed {without[0]} has"
        yield f"{label}: {whose} no history that can be used, so times to targets are not known"
