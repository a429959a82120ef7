"""Another algorithm on one core, beside our search: a measure for the speed-up over our own core.

Records have measurements of other solvers in ``details["reference_solvers"]``, a dictionary for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from reports.comparison.speedups import ComparedRun, ComparedRuns
from reports.records.files import Record
from reports.text.formatting import cost, gap, number, ratio, seconds
from reports.text.tables import TextTable


@dataclass(frozen=True)
class Solver:
    """Measurements of one solver; None for missing values.

    Attributes
    ----------
    name
        Name, with the version if known.
    whole_process
        True if it was timed as a whole process.
    failure
        Reason for missing results.
    cost : int or float
        Of its worst repetition.
    solve_s
        Median of its repetitions without its start, which is `startup_s`.
    time_to_cost_s
        Seconds until its cost was as good as ours.
    time_limit_s
        Its time limit, if it searches for a given time.
    """

    name: str
    proved: bool
    whole_process: bool
    failure: str
    cost: float | None = None
    solve_s: float | None = None
    startup_s: float | None = None
    time_to_cost_s: float | None = None
    time_limit_s: float | None = None

    @classmethod
    def of(cls, measured: Mapping[str, Any]) -> Solver:
        """Read a record's entry of a solver; a value of another form counts as not measured."""
        name = " ".join(str(measured[key]) for key in ("name", "version") if measured.get(key))
        read = {key: measured.get(key) for key in ("cost", "solve_s", "startup_s", "time_to_cost_s", "time_limit_s")}
        return cls(
            name or "a solver without a name",
            measured.get("proved") is True,
            measured.get("in_process") is False,
            str(measured.get("failure") or ""),
            **{key: one for key, one in read.items() if isinstance(one, int | float) and not isinstance(one, bool)},
        )

    @property
    def time_to_cost(self) -> str:
        """Time to a cost as good as ours, as text; empty without a cost."""
        return "not reached" if self.time_to_cost_s is None and self.cost is not None else seconds(self.time_to_cost_s)

    @property
    def notes(self) -> list[str]:
        limit = "" if self.time_limit_s is None else f"time limit {number(self.time_limit_s)} s"
        whole = "a whole process without its start-up" if self.whole_process else ""
        return [note for note in (self.failure, "proved" * self.proved, limit, whole) if note]


class SolverVerdict(NamedTuple):
    """A sentence on a solver; `ahead` if it is faster or better than one of our runs."""

    text: str
    ahead: bool = False


@dataclass(frozen=True)
class SolverComparison:
    """Our runs and reference solvers on one problem.

    Attributes
    ----------
    solvers
        Solvers with records, each once.
    cost : int or float
        Cost of our search in the accompanying run.
    seed
        Seed of that run.
    """

    comparison: ComparedRuns
    solvers: tuple[Solver, ...]
    cost: float
    seed: int

    @property
    def ours(self) -> list[tuple[str, ComparedRun]]:
        """Our fastest run and our run on one core, each with a description; a single one if they are the same."""
        fastest, one_core = self.comparison.fastest, self.comparison.baseline
        known = (("ours, the fastest", None if fastest is one_core else fastest), ("ours, one core", one_core))
        return [(what, row) for what, row in known if row]

    def better(self, cost: float, other: float) -> bool:
        return cost > other if self.comparison.work.maximises else cost < other

    def table(self) -> TextTable:
        work = self.comparison.work
        optimum = work.details.get("optimum")
        headings = ("solver", ">cost", "gap", ">time", ">to our cost", ">start-up", "notes")

        def found(value: float | None) -> list[str]:
            return ["", ""] if value is None else [cost(value), gap(value, optimum)]

        rows = []
        for what, row in self.ours:
            time = seconds(row.median_s)
            rows.append([f"{what}: {self.comparison.label(row)}", *found(self.cost), time, time, "", ""])
        for solver in self.solvers:
            times = seconds(solver.solve_s), solver.time_to_cost, seconds(solver.startup_s)
            rows.append([solver.name, *found(solver.cost), *times, "; ".join(solver.notes)])
        seed = f", seed {self.seed}" if "seeds" in work.parameters else ""
        return TextTable(f"Reference solvers for {work.work_name}{seed}", headings, rows)

    def verdicts(self) -> list[SolverVerdict]:
        """For every solver with a result, say if it is faster or better than ours."""
        return [verdict for solver in self.solvers for verdict in self._verdict(solver)]

    def _verdict(self, solver: Solver) -> Iterator[SolverVerdict]:
        if solver.cost is None or solver.solve_s is None or not self.ours:
            return
        ours = self.cost
        if self.better(ours, solver.cost):
            yield SolverVerdict(
                f"{solver.name} found {cost(solver.cost)} in {seconds(solver.solve_s)}, worse than our {cost(ours)}."
            )
            return
        rows = [(self._named(what, row), row.median_s) for what, row in self.ours]
        took = solver.solve_s if solver.time_to_cost_s is None else solver.time_to_cost_s
        outcome = ""
        if self.better(solver.cost, ours):
            outcome = f" found {cost(solver.cost)} in {seconds(solver.solve_s)}, better than our {cost(ours)}, and"
        against = "; ".join(_speed_text(took, name, time) for name, time in rows)
        yield SolverVerdict(
            f"{solver.name} on one core{outcome} needs {seconds(took)} for a cost as good as ours: {against}.",
            bool(outcome) or any(took < time for _, time in rows),
        )

    def _named(self, what: str, row: ComparedRun) -> str:
        time = seconds(row.median_s)
        return f"our fastest ({self.comparison.label(row)}, {time})" if "fastest" in what else f"our one core ({time})"


def compare_solvers(comparison: ComparedRuns, records: Sequence[Record]) -> SolverComparison | None:
    """Results of reference solvers in records; None without any.

    Of several seeds, the first with reference solvers counts; of its runs, the first with a result of each solver.
    """
    asked = [(record, measured) for record in records for measured in _peers(record) if record.verified]
    if not asked:
        return None
    first = asked[0][0]
    solvers: dict[str, Solver] = {}
    for record, measured in asked:
        solver = Solver.of(measured)
        if record.seed == first.seed and (
            solver.name not in solvers or (solvers[solver.name].failure and not solver.failure)
        ):
            solvers[solver.name] = solver
    return SolverComparison(comparison, tuple(solvers.values()), first.best_cost, first.seed)


def _peers(record: Record) -> list[dict[str, Any]]:
    peers = record.details.get("reference_solvers")
    return [peer for peer in peers if isinstance(peer, dict)] if isinstance(peers, list) else []


def _speed_text(took: float, name: str, ours: float) -> str:
    if 0 < took < ours:
        return f"it is {ratio(ours / took)} as fast as {name}"
    return f"{name} is {ratio(took / ours)} as fast" if ours else f"{name} took no time that can be measured"
