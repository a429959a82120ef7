"""Our best algorithm on one core next to other solvers, over the seeds and repetitions of one work.

In runs with `--peers` solvers run once after each repetition of ours. A solver's time to our cost is measured for each
seed, because each seed of ours has its own cost and time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from reports.comparison.reference_solvers import Solver, read_solvers
from reports.records.files import Record, families
from reports.records.iohprofiler import MAXIMISED

OURS = "onekernel"
PROVED = "proved"


@dataclass(frozen=True)
class SolverRuns:
    """One solver, or our search, over the seeds of a work.

    Attributes
    ----------
    costs : tuple of int or float
        The cost of each run, in the order of the seeds.
    seconds, to_cost : tuple of float
        The time of each seed's runs, and that to a cost as good as ours; the latter without seeds that never had one.
    seeds : int
        Number of seeds for which the solver was run.
    notes : tuple of str
        ``proved`` if each of its results is proved to be optimal.
    """

    name: str
    costs: tuple[float, ...]
    seconds: tuple[float, ...]
    to_cost: tuple[float, ...]
    seeds: int
    startup_s: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def proves(self) -> bool:
        return PROVED in self.notes


@dataclass(frozen=True)
class BestAlgorithm:
    """A work of ours on one core, and the solvers that ran in turn with it.

    Attributes
    ----------
    runs : tuple of Record
        A run for each seed.
    rows : tuple of SolverRuns
        Our search first, then the solvers that answered.
    missing : mapping
        Reasons of the solvers without an answer, by name.
    """

    runs: tuple[Record, ...]
    rows: tuple[SolverRuns, ...]
    missing: dict[str, str]

    @property
    def record(self) -> Record:
        return self.runs[0]

    @property
    def optimum(self) -> float | None:
        return self.record.details.get("optimum")

    def worst(self, costs: Sequence[float]) -> float:
        return min(costs) if self.record.workload in MAXIMISED else max(costs)


def best_algorithms(records: Iterable[Record]) -> list[BestAlgorithm]:
    """Return each confirmed work of one core with reference solvers, in the order of the records."""
    works = []
    for family in families(record for record in records if record.verified and record.device_kind == "core"):
        measured = [(run, read_solvers(run)) for run in family]
        if not any(solvers for _, solvers in measured):
            continue
        names = dict.fromkeys(one.name for _, solvers in measured for one in solvers if one.cost is not None)
        rows = [_ours(family), *(_row(name, [solvers for _, solvers in measured]) for name in names)]
        failed = {
            one.name: one.failure for _, solvers in measured for one in solvers if one.failure and one.name not in names
        }
        works.append(BestAlgorithm(tuple(family), tuple(rows), failed))
    return works


def _ours(runs: Sequence[Record]) -> SolverRuns:
    times = tuple(median(run.running_seconds) for run in runs)
    costs = tuple(run.best_cost for run in runs for _ in run.repetitions)
    notes = (PROVED,) if runs[0].hash_scope == "result" else ()
    return SolverRuns(OURS, costs, times, tuple(map(_seconds_to_best, runs)), len(runs), notes=notes)


def _seconds_to_best(run: Record) -> float:
    """Seconds until a run had its best cost, if a history has them, else until its end."""
    return median(one.history[-1][2] if one.history else one.running_s for one in run.repetitions)


def _row(name: str, measured: Sequence[Sequence[Solver]]) -> SolverRuns:
    own = [one for solvers in measured for one in solvers if one.name == name]
    answered = [one for one in own if one.cost is not None and one.solve_s is not None]
    starts = [one.startup_s for one in answered if one.startup_s is not None]
    limits = "as long as ours" if any(one.time_limit_s is not None for one in answered) else ""
    proved = PROVED if all(one.proved for one in answered) else ""
    failures = [one.failure for one in own if one.failure]
    return SolverRuns(
        name,
        tuple(cost for one in answered for cost in (one.costs or (one.cost or 0,))),
        tuple(one.solve_s or 0.0 for one in answered),
        tuple(one.time_to_cost_s for one in answered if one.time_to_cost_s is not None),
        len(own),
        median(starts) if starts else None,
        tuple(note for note in (limits, proved, *dict.fromkeys(failures)) if note),
    )
