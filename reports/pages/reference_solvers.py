"""Reference solvers on one core: other algorithms on the same problem, beside the proof of our search.

Records have measurements of other solvers in ``details["reference_solvers"]``, a dictionary for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.rates import seconds_of_proof
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


SolverRow = tuple[str, Solver, float | None]
"""Name of a work (may be empty), a solver on it, and the optimum if it is known."""


def solver_table(works: Iterable[tuple[str, Sequence[Record]]]) -> TextTable | None:
    """Return our search and each reference solver that started, for each work with its name; None without any.

    The time of our search is that of a warm run. Of several seeds, the first with reference solvers counts.
    """
    rows: list[SolverRow] = []
    for name, records in works:
        record = next((one for one in records if one.verified and _measured(one)), None)
        solvers = map(Solver.of, _measured(record)) if record else ()
        started = [one for one in solvers if one.cost is not None or one.failure.startswith("failed")]
        if record and started:
            warm_s = seconds_of_proof(record)
            proved = record.hash_scope == "result" and record.details.get("proved") is not False
            own = Solver("this search, one core", proved, "", record.best_cost, warm_s, None, warm_s)
            rows += [(name, one, record.details.get("optimum")) for one in (own, *started)]
    return table_of("Reference solvers", rows) if rows else None


def table_of(caption: str, rows: Iterable[SolverRow]) -> TextTable:
    """Return a row for each solver."""
    columns: dict[str, Callable[[SolverRow], str]] = {
        "work": lambda row: row[0],
        "solver": lambda row: row[1].name,
        ">cost": lambda row: "" if row[1].cost is None else cost(row[1].cost),
        "gap": lambda row: "" if row[1].cost is None else gap(row[1].cost, row[2]),
        ">time": lambda row: row[1].failure or seconds(row[1].solve_s),
        ">time to our cost": lambda row: row[1].time_to_cost,
        ">start-up": lambda row: seconds(row[1].startup_s),
        "proved": lambda row: "yes" if row[1].proved else "",
    }
    return TextTable.of(caption, rows, columns, optional=("work", "gap", ">start-up", "proved"))


def _measured(record: Record) -> list[dict[str, Any]]:
    solvers = record.details.get("reference_solvers")
    return [one for one in solvers if isinstance(one, dict)] if isinstance(solvers, list) else []
