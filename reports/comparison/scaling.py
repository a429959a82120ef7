"""Scaling with the number of ranks: strong with Amdahl's law, weak with Gustafson's.

G. M. Amdahl: Validity of the single processor approach to achieving large scale computing capabilities. AFIPS 1967.
J. L. Gustafson: Reevaluating Amdahl's law. Communications of the ACM 31 (5), 1988, pp. 532-533.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from reports.comparison.seeds import merge_seeds
from reports.comparison.speedups import ComparedRuns, configuration_name
from reports.records.files import Record, families, group_by
from reports.statistics.medians import Estimate, Summary, ratio_of_medians, summarise
from reports.text.formatting import number, per_cent, ratio_interval, seconds_interval
from reports.text.tables import TextTable

LEAST_FURTHER_RANKS = 2
"""Least number of ranks, besides one, of a curve."""
GROWING = ("walks", "climbers", "ants")
"""Parameters that grow with the ranks in weak scaling."""

STRONG_LAW = (
    "Amdahl's law (Amdahl 1967): T(p) / T(1) = s + (1 - s) / p, where s is the part of the time on one rank that "
    "further ranks do not shorten"
)
WEAK_LAW = (
    "Gustafson's law (Gustafson 1988): p T(1) / T(p) = p - a (p - 1), where a is the serial part of the time on p ranks"
)
FITTED = "by least squares over all points that share no core, in closed form"


class RankScalingPoint(NamedTuple):
    """A number of ranks, its time, and its speed-up over one rank.

    For grown work `speedup` is scaled: p times the work in the time of p ranks, over the work in that of one.
    """

    ranks: int
    time: Summary
    speedup: Estimate
    oversubscribed: bool

    @property
    def efficiency(self) -> float:
        return self.speedup.value / self.ranks


@dataclass(frozen=True)
class ScalingCurve:
    """Runs of one backend on one and several ranks, by their number.

    Attributes
    ----------
    name
        Name of the configuration, without its ranks.
    weak
        True if the work grew with the ranks; otherwise it was the same.
    points
        In the order of the ranks; the first has one.
    """

    name: str
    weak: bool
    points: tuple[RankScalingPoint, ...]

    @property
    def fitted(self) -> list[RankScalingPoint]:
        """Points for the fit: several ranks with a core each."""
        return [point for point in self.points if point.ranks > 1 and not point.oversubscribed]

    @property
    def serial(self) -> float | None:
        """Serial part by the fitted law; None with fewer than two points.

        Above 1 ranks cost more than they gain, below 0 they gain more than their number: the law does not describe the
        runs.
        """
        points = self.fitted
        if len(points) < LEAST_FURTHER_RANKS:
            return None
        ranks, speedups = np.array([(point.ranks, point.speedup.value) for point in points]).T
        x, y = (ranks - 1, ranks - speedups) if self.weak else (1 - 1 / ranks, 1 / speedups - 1 / ranks)
        return float((x * y).sum() / (x * x).sum())

    def predicted(self, ranks: float) -> float:
        """Speed-up on a number of ranks by the fitted law, within the law's limits."""
        serial = min(1.0, max(0.0, self.serial or 0.0))
        return ranks - serial * (ranks - 1) if self.weak else 1 / (serial + (1 - serial) / ranks)

    @property
    def largest_deviation(self) -> float:
        """Largest difference between a point and the law, relative to the point's speed-up."""
        return max((abs(self.predicted(p.ranks) / p.speedup.value - 1) for p in self.fitted), default=0.0)

    def fit(self) -> str:
        """Return the fit as a sentence without its full stop."""
        serial = self.serial
        what, law = ("Weak", "Gustafson's") if self.weak else ("Strong", "Amdahl's")
        begin = f"{what} scaling of {self.name}:"
        if serial is None:
            return f"{begin} no fit of {law} law, which needs {LEAST_FURTHER_RANKS} numbers of ranks with a core each"
        if not 0 <= serial <= 1:
            why = "ranks cost more time than they save" if serial > 1 else "the speed-up exceeds the number of ranks"
            return f"{begin} {law} law does not describe it, the serial part would be {per_cent(serial)}: {why}"
        limit = "" if self.weak or serial == 0 else f", so at most {number(1 / serial)}x on any number of ranks"
        return (
            f"{begin} serial part {per_cent(serial)} by {law} law{limit}; no fitted point is more than "
            f"{per_cent(self.largest_deviation)} away"
        )

    def table(self) -> TextTable:
        caption, speedup = f"Strong scaling of {self.name}: the same work on more ranks", ">speed-up over one rank"
        if self.weak:
            caption, speedup = f"Weak scaling of {self.name}: the work grows with the ranks", ">scaled speed-up"
        columns: dict[str, Callable[[RankScalingPoint], str]] = {
            ">ranks": lambda point: str(point.ranks),
            ">time, median [95 % CI]": lambda point: seconds_interval(point.time.median),
            speedup: lambda point: ratio_interval(point.speedup),
            ">efficiency": lambda point: per_cent(point.efficiency),
            "notes": lambda point: "ranks share cores: not fitted" * point.oversubscribed,
        }
        return TextTable.of(caption, self.points, columns)


def strong(comparison: ComparedRuns) -> list[ScalingCurve]:
    """Curves of rows with equal backend, device and settings, on one and at least two more numbers of ranks."""
    labels = {row.record.identity: comparison.label(row) for row in comparison.rows}
    return [
        ScalingCurve(labels[runs[0].identity], False, _points(runs, grown=False))
        for runs in _on_ranks([row.record for row in comparison.rows])
    ]


def weak(records: Sequence[Record]) -> list[ScalingCurve]:
    """Curves of runs with work that grows with their ranks, without rejected results.

    Raises `UnequalWorkError` if repetitions of one run have different results.
    """
    grown, bases = grown_work(records)
    scaled = [run for run in map(merge_seeds, families([*bases, *grown])) if run.verified]
    return [ScalingCurve(configuration_name(runs[0]), True, _points(runs, grown=True)) for runs in _on_ranks(scaled)]


def _on_ranks(records: Sequence[Record]) -> Iterator[list[Record]]:
    """Yield the runs of each curve, one for each number of ranks."""

    def setting(run: Record) -> list[Any]:
        host = run.environment.get("host")
        return [run.workload, run.instance_sha256, run.backend, run.device, run.execution, host]

    for group in group_by(records, setting):
        runs = {run.ranks: run for run in sorted(group, key=lambda run: run.ranks)}
        if 1 in runs and len(runs) > LEAST_FURTHER_RANKS:
            yield list(runs.values())


def grown_work(records: Sequence[Record]) -> tuple[list[Record], list[Record]]:
    """Return the runs on p ranks that do p times the work of others on one rank, and these others."""

    def of_one_rank(record: Record) -> dict[str, Any]:
        grown = {name: record.parameters[name] / record.ranks for name in GROWING if record.parameters.get(name)}
        return {**record.parameters, **grown}

    of_single_ranks = [record for record in records if record.ranks == 1]
    known = [of_one_rank(record) for record in of_single_ranks]
    several = [record for record in records if record.ranks > 1]
    grown = [one for one in several if of_one_rank(one) in known and one.parameters not in known]
    shares = [of_one_rank(one) for one in grown]
    return grown, [one for one, share in zip(of_single_ranks, known, strict=True) if share in shares]


def without_grown_work(records: Sequence[Record]) -> list[Record]:
    """Return the runs of equal work: none that has grown, and if other work is there, none of which it has grown."""
    grown, bases = grown_work(records)
    others = [one for one in records if one not in grown and all(one.parameters != base.parameters for base in bases)]
    return others or [one for one in records if one not in grown]


def _points(runs: Sequence[Record], *, grown: bool) -> tuple[RankScalingPoint, ...]:
    points = []
    for run in runs:
        times, factor = run.running_seconds, run.ranks if grown else 1
        over = Estimate(1.0) if run is runs[0] else ratio_of_medians(runs[0].running_seconds, times)
        points.append(RankScalingPoint(run.ranks, summarise(times), over.scaled(factor), run.is_oversubscribed))
    return tuple(points)
