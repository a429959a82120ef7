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
    found = [(record, one) for record in records if record.verified for one in _measured(record)]
    if not found:
        return None
    record = found[0][0]
    proof_s = record.repetitions[0].running_s
    proved = record.hash_scope == "result" and record.details.get("proved") is not False
    own = Solver("this search, one core", proved, "", record.best_cost, proof_s, None, proof_s)
    others = [one for of, one in found if of is record]
    return table_of(f"Reference solvers for {record.work_name}", own, others, record.details.get("optimum"))


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
