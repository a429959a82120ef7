"""First times at which runs reached a target cost, in seconds and evaluations, from their histories.

A run is of one seed. Its repetitions take the same course and differ only in their seconds, so a run's time is the
median of its repetitions, and success rates, expected running times and empirical distributions count runs, not
repetitions. A run that ended without the target is right-censored at its end.

Expected running time: N. Hansen, A. Auger, R. Ros, O. Mersmann, T. Tusar, D. Brockhoff: COCO: a platform for comparing
continuous optimizers in a black-box setting. Optimization Methods and Software 36 (1), 2021, pp. 114-144.
Distribution with censored runs: E. L. Kaplan, P. Meier: Nonparametric estimation from incomplete observations. Journal
of the American Statistical Association 53 (282), 1958, pp. 457-481 (`scipy.stats.ecdf`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from reports.records.files import Record
from reports.statistics.medians import CONFIDENCE, LEAST_FOR_INTERVAL, RESAMPLES, SEED, Estimate
from reports.statistics.seeds import seeds_text
from reports.text.formatting import cost

if TYPE_CHECKING:
    import pandas

EffortMeasure = Literal["seconds", "evaluations"]
SAMPLES = ("seed", "repetition", "seconds", "evaluations", "cost", "ended")
"""Columns of the samples of a search: the best cost after some seconds and evaluations, and if it ended there."""
GAPS = (0.01, 0.05)
"""Distances of the other targets above the first one, relative to its absolute value."""
EQUAL_COSTS = 1e-9
"""Relative difference of equal costs."""


# --- one run ---


def read_samples(run: Record) -> tuple[list[tuple[Any, ...]], list[str]]:
    """Read the histories of a run's repetitions.

    Returns rows of `SAMPLES` in the order of time, those of each usable history and one of its end, and the defects of
    all other histories.
    """
    rows: list[tuple[Any, ...]] = []
    troubles = []
    for number, repetition in enumerate(run.repetitions, 1):
        history = repetition.history
        trouble = _history_problem(history, run.best_cost)
        if trouble or not history:
            troubles.append(f"seed {run.seed}, repetition {number}: {trouble}")
            continue
        rows += [(run.seed, number, seconds, count, cost, False) for _, count, seconds, cost in history]
        # An exact search counts no work in some records, and clocks of several ranks differ a little.
        _, count, seconds, cost = history[-1]
        end = max(repetition.running_s, seconds), max(run.evaluations, count)
        rows.append((run.seed, number, *end, cost, True))
    return rows, troubles


def _history_problem(rows: Sequence[Any] | None, best_cost: float) -> str:
    """Return the defect of a history, or an empty text. Its form was checked when the record was read."""
    if rows is None:
        return "no history was recorded"
    if not rows:
        return "its history is empty"
    costs = [row[3] for row in rows]
    for number, (before, after) in enumerate(zip(costs, costs[1:], strict=False), 2):
        if after > before:
            return f"the best cost of its history rises from {cost(before)} to {cost(after)} in row {number}"
    if not math.isclose(costs[-1], best_cost, rel_tol=EQUAL_COSTS):
        return f"its history ends at {cost(costs[-1])} and not at the best cost {cost(best_cost)}"
    return ""


# --- targets ---


@dataclass(frozen=True)
class Target:
    """A sufficient cost, and its name."""

    cost: float
    name: str

    @property
    def words(self) -> str:
        return f"{self.name} ({cost(self.cost)})"


@dataclass(frozen=True)
class Targets:
    """Targets, the hardest first, and their selection in a sentence without its full stop."""

    all: tuple[Target, ...]
    why: str

    @property
    def first(self) -> Target:
        return self.all[0]


def choose_targets(runs: Sequence[Record], asked: float | None = None) -> Targets:
    """Choose the same targets for all runs on an instance, at least one.

    The first is the user's (``asked``); else the known optimum if a run reached it, else the best cost of any run. A
    run's target cannot be below its stop criterion, so the first target is at least the highest of those. By default,
    `GAPS` define the others.
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
    distinct = [other for other in others if other.cost > first]
    said = f", and costs {' and '.join(f'{gap:.0%}'.replace('%', ' %') for gap in GAPS)} above it" if distinct else ""
    return Targets((Target(first, name), *distinct), f"Target: {why}{said}; the same for every row")


def stop_cost(run: Record) -> float | None:
    stop = run.parameters.get("target")
    return stop if isinstance(stop, int | float) and not isinstance(stop, bool) else None


def _above(cost: float, gap: float, whole: bool) -> float:
    above = cost + gap * abs(cost)
    return math.floor(above) if whole else above


# --- runs of several seeds ---


@dataclass(frozen=True)
class TargetAttempts:
    """Seconds and evaluations until the runs of a family reached a target, or until their end; a row per seed."""

    target: Target
    spent: pandas.DataFrame

    @property
    def reached(self) -> int:
        return int(self.spent["reached"].sum())

    def amounts(self, measure: EffortMeasure, reached: bool | None = None) -> list[float]:
        """Return seconds or evaluations by seed: of all runs, or of those that reached the target or did not."""
        chosen = self.spent if reached is None else self.spent[self.spent["reached"] == reached]
        return [float(amount) for amount in chosen[measure]]

    def expected(self, measure: EffortMeasure) -> Estimate | None:
        """Return the expected running time: total time until the target or the end, over the number of successful runs.

        The interval is a 95 % percentile bootstrap over the runs; its upper end is infinite if too many resamples have
        no successful run. None if no run reached the target.
        """
        if not self.reached:
            return None
        spent = np.array(self.amounts(measure), dtype=np.float64)
        reached = self.spent["reached"].to_numpy(np.float64)
        value = float(spent.sum() / reached.sum())
        if spent.size < LEAST_FOR_INTERVAL:
            return Estimate(value)
        drawn = np.random.default_rng(SEED).integers(0, spent.size, (RESAMPLES, spent.size))
        successes = reached[drawn].sum(axis=1)
        sums = spent[drawn].sum(axis=1)
        resampled = np.divide(sums, successes, out=np.full(RESAMPLES, math.inf), where=successes > 0)
        # An order statistic: there is nothing between a number and infinity.
        ends = np.quantile(resampled, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], method="inverted_cdf")
        return Estimate(value, float(ends[0]), float(ends[1]))

    def distribution(self, measure: EffortMeasure) -> tuple[list[float], list[float]]:
        """Return the empirical distribution of the time to the target: the function's steps, and its values there.

        Runs that never reached the target count as censored at their end, which is the share of runs itself if all
        others reached it before.
        """
        from scipy.stats import CensoredData, ecdf

        if not self.reached:
            return [], []
        data = CensoredData(uncensored=self.amounts(measure, True), right=self.amounts(measure, False))
        distribution = ecdf(data).cdf
        # The function is constant at ends of runs.
        rises = np.diff(distribution.probabilities, prepend=0.0) > 0
        return distribution.quantiles[rises].tolist(), distribution.probabilities[rises].tolist()


def success_rate(reached: int, runs: int) -> Estimate:
    """Return the part of runs that reached a target, with Wilson's 95 % interval.

    E. B. Wilson: Probable inference, the law of succession, and statistical inference. Journal of the American
    Statistical Association 22 (158), 1927, pp. 209-212.
    """
    from scipy.stats import binomtest

    interval = binomtest(reached, runs).proportion_ci(CONFIDENCE, method="wilson")
    return Estimate(reached / runs, float(interval.low), float(interval.high))


@dataclass(frozen=True)
class SeedFamily:
    """Runs that differ only in their seeds, with their histories.

    Attributes
    ----------
    runs
        In the order of their seeds.
    samples : pandas.DataFrame
        The columns `SAMPLES`; without rows if a run has no usable history, since the times of the others are no fair
        sample.
    notes
        Problems of histories, in sentences without their full stops.
    """

    label: str
    runs: tuple[Record, ...]
    samples: pandas.DataFrame
    notes: tuple[str, ...]

    @classmethod
    def of(cls, label: str, runs: Sequence[Record]) -> SeedFamily:
        import pandas

        read = [read_samples(run) for run in runs]
        without = [run.seed for run, (rows, _) in zip(runs, read, strict=True) if not rows]
        samples = pandas.DataFrame([] if without else [row for rows, _ in read for row in rows], columns=list(SAMPLES))
        notes = _history_notes(label, runs, without, [trouble for _, troubles in read for trouble in troubles])
        return cls(label, tuple(runs), samples, tuple(notes))

    @property
    def has_histories(self) -> bool:
        return not self.samples.empty

    @property
    def costs(self) -> list[int | float]:
        return [run.best_cost for run in self.runs]

    def reached(self, target: Target) -> int:
        return sum(run.best_cost <= target.cost for run in self.runs)

    def tries(self, target: Target) -> TargetAttempts | None:
        """Return the effort of each run, the median of its repetitions, for a target; None without histories."""
        if not self.has_histories:
            return None
        samples = self.samples.assign(reached=self.samples["cost"] <= target.cost)
        first = samples[samples["reached"] | samples["ended"]].groupby(["seed", "repetition"]).first()
        efforts = first.groupby("seed").agg({"reached": "all", "seconds": "median", "evaluations": "median"})
        return TargetAttempts(target, efforts)

    def costs_at(self, amounts: Sequence[float] | np.ndarray, measure: EffortMeasure) -> np.ndarray:
        """Return the best cost of each run after each amount, the median of its repetitions.

        In the shape (amounts, runs), not a number before the first sample of a run.
        """
        samples = self.samples[~self.samples["ended"]]
        known = samples.pivot_table("cost", measure, ["seed", "repetition"], aggfunc="last").ffill()
        costs = known.reindex(amounts, method="ffill").T.groupby("seed").median().T
        return np.asarray(costs, dtype=np.float64)


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
