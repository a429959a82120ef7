"""Reference solvers on one core: other algorithms on the same problem, beside the proof of our search.

Records have measurements of other solvers in ``details["reference_solvers"]``, a dictionary for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.records.files import Record
from reports.text.formatting import cost, gap, seconds
from reports.text.tables import TextTable


@dataclass(frozen=True)
class Solver:
    """Measurements of one solver; None for missing values.

    Attributes
    ----------
    name
        Name, with the version if known.
    failure
        Reason for missing results.
    cost : int or float
        Of its worst repetition.
    solve_s
        Median of its repetitions without its start, which is `startup_s`.
    time_to_cost_s
        Seconds until its cost was as good as ours.
    """

    name: str
    proved: bool
    failure: str
    cost: float | None = None
    solve_s: float | None = None
    startup_s: float | None = None
    time_to_cost_s: float | None = None

    @classmethod
    def of(cls, measured: Mapping[str, Any]) -> Solver:
        """Read a record's entry of a solver; a value of another form counts as not measured."""
        name = " ".join(str(measured[key]) for key in ("name", "version") if measured.get(key))
        read = {key: measured.get(key) for key in ("cost", "solve_s", "startup_s", "time_to_cost_s")}
        return cls(
            name or "a solver without a name",
            measured.get("proved") is True,
            str(measured.get("failure") or ""),
            **{key: one for key, one in read.items() if isinstance(one, int | float) and not isinstance(one, bool)},
        )

    @property
    def time_to_cost(self) -> str:
        """Time to a cost as good as ours, as text; empty without a cost."""
        return "not reached" if self.time_to_cost_s is None and self.cost is not None else seconds(self.time_to_cost_s)


def solver_table(records: Sequence[Record]) -> TextTable | None:
    """Return the results of reference solvers beside the proof on one core; None without any.

    Of several seeds, the first with reference solvers counts.
    """
    record = _record_with_solvers(records)
    if record is None:
        return None
    caption = f"Reference solvers for {record.work_name}"
    return table_of(caption, _own(record), _measured(record), record.details.get("optimum"))


def table_of_works(works: Mapping[str, Sequence[Record]]) -> TextTable | None:
    """Return a row for each work, our search and each solver that started; None without a solver.

    Solvers that are not installed, or refuse the problem, have no row.
    """
    rows: list[tuple[str, Solver]] = []
    for name, records in works.items():
        if record := _record_with_solvers(records):
            solvers = [Solver.of(one) for one in _measured(record)]
            started = [one for one in solvers if one.cost is not None or one.failure.startswith("failed")]
            rows += [(name, one) for one in (_own(record), *started) if started]
    columns: dict[str, Callable[[tuple[str, Solver]], str]] = {
        "workload": lambda row: row[0],
        "solver": lambda row: row[1].name,
        ">cost": lambda row: "" if row[1].cost is None else cost(row[1].cost),
        ">time to our cost": lambda row: row[1].failure or row[1].time_to_cost,
        "proved": lambda row: "yes" if row[1].proved else "",
    }
    return TextTable.of("Reference solvers", rows, columns, optional=("proved",)) if rows else None


def _record_with_solvers(records: Sequence[Record]) -> Record | None:
    return next((record for record in records if record.verified and _measured(record)), None)


def _own(record: Record) -> Solver:
    """Return our search with the time of its proof."""
    proof_s = record.repetitions[0].running_s
    proved = record.hash_scope == "result" and record.details.get("proved") is not False
    return Solver("this search, one core", proved, "", record.best_cost, proof_s, None, proof_s)


def table_of(caption: str, own: Solver, others: Iterable[Mapping[str, Any]], optimum: float | None) -> TextTable:
    """Return a row for our search and each of the others, which are entries of a record."""
    columns: dict[str, Callable[[Solver], str]] = {
        "solver": lambda one: one.name,
        ">cost": lambda one: "" if one.cost is None else cost(one.cost),
        "gap": lambda one: "" if one.cost is None else gap(one.cost, optimum),
        ">time": lambda one: one.failure or seconds(one.solve_s),
        ">time to our cost": lambda one: one.time_to_cost,
        ">start-up": lambda one: seconds(one.startup_s),
        "proved": lambda one: "yes" if one.proved else "",
    }
    return TextTable.of(caption, [own, *map(Solver.of, others)], columns, optional=("gap", ">start-up", "proved"))


def _measured(record: Record) -> list[dict[str, Any]]:
    solvers = record.details.get("reference_solvers")
    return [one for one in solvers if isinstance(one, dict)] if isinstance(solvers, list) else []
