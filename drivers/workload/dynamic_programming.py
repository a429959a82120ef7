"""Declarations that the workloads of dynamic programming share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from drivers.options.dynamic_programming import AnyDp
from drivers.workload.declaration import PreparedRun, Workload
from drivers.workload.run_time import RepetitionWork


class DpWorkload(Workload[AnyDp]):
    """Dynamic programming on a table.

    `speeds` has the cells per second that a core usually reaches, by the mapping.
    """

    hash_scope = "result"
    speeds: Mapping[str, float]

    def once(self, run: PreparedRun[AnyDp], callback: Callable[..., Any] | None) -> Any:
        return run.searched(callback, trace=run.options.trace)

    def cells(self, options: AnyDp, problem: Any) -> int | None:
        """Return the number of cells of the table, at most; None if there is no table."""
        raise NotImplementedError

    def speed(self, options: AnyDp) -> float:
        return self.speeds[options.mapping]

    def planned_work(self, options: AnyDp, problem: Any) -> RepetitionWork | None:
        cells = self.cells(options, problem)
        return RepetitionWork(cells, self.unit, self.speed(options)) if cells else None

    def work(self, run: PreparedRun[AnyDp]) -> RepetitionWork | None:
        return RepetitionWork.of(run.search, self.speed(run.options))

    def execution(self, run: PreparedRun[AnyDp]) -> dict[str, Any]:
        """Return True if stored decisions leave the device to files, and not the folder."""
        return {"spill_to_files": run.options.spill is not None}
