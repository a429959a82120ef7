"""Declarations that the workloads of dynamic programming share."""

from __future__ import annotations

from collections.abc import Mapping

from drivers.options.dynamic_programming import AnyDp
from drivers.workload.declaration import AnyOutcome, AnyProblem, AnySearch, PreparedRun, WorkloadDeclaration
from drivers.workload.run_time import WorkUnit


class DpWorkload(WorkloadDeclaration[AnyDp, AnyProblem, AnySearch, AnyOutcome]):
    """Dynamic programming on a table.

    `speeds` has the cells per second that a core usually reaches, by the mapping.
    """

    hash_scope = "result"
    speeds: Mapping[str, float]

    def run_settings(self, options: AnyDp) -> dict[str, object]:
        return {"trace": options.trace}

    def cells(self, options: AnyDp, problem: AnyProblem) -> int | None:
        """Return the number of cells of the table, at most; None if there is no table."""
        raise NotImplementedError

    def speed(self, options: AnyDp) -> float:
        return self.speeds[options.mapping]

    def core_seconds(self, options: AnyDp, problem: AnyProblem) -> float | None:
        cells = self.cells(options, problem)
        return cells / self.speed(options) if cells else None

    def work_unit(self, options: AnyDp, problem: AnyProblem) -> WorkUnit:
        cells = self.cells(options, problem)
        return WorkUnit(self.unit, each=cells) if cells else WorkUnit()

    def execution(self, run: PreparedRun[AnyDp, AnyProblem, AnySearch]) -> dict[str, bool]:
        """Return True if stored decisions leave the device to files, and not the folder."""
        return {"spill_to_files": run.options.spill is not None}
