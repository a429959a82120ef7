"""Searches by the paper's own mapping (`oconnell2014`, section IV.C)."""

from __future__ import annotations

from typing import Any

from core.search.dp.engine.recurrences import Waves
from core.search.dp.engine.results import WaveResult
from core.search.dp.engine.table_search import Found, TableRun, TableSearch
from core.search.dp.engine.waves import WaveEngine


class PublishedTable(TableSearch[Found]):
    """A table with a launch per wave, whose cells go to the host and are traced there.

    The suite's rules for ties hold in the trace, so the solution is that of the suite's own kernels.

    Parameters
    ----------
    backend, communicator
        See `core.search.dp.engine.waves.WaveEngine`, which refuses several ranks.
    problem : Waves or None
        None: an empty table.
    folder
        Cells go to a file there; by default to the host's memory.
    team_size
        Lanes of a team; None: the default of the engine.

    """

    without_checkpoints = ("--mapping published", "--mapping native")

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        problem: Waves | None,
        folder: str | None = None,
        team_size: int | None = None,
    ) -> None:
        self.backend, self.communicator = backend, communicator
        self.shape = None if team_size is None else (team_size,)
        self.engine = None if problem is None else self.engine_of(problem, folder)

    def engine_of(self, problem: Waves, folder: str | None = None) -> WaveEngine:
        """The engine of a problem."""
        return WaveEngine(self.backend, self.communicator, problem, "published", folder=folder, shape=self.shape)

    def smallest(self) -> Waves:
        """A small problem of the same kind, from which programs are compiled."""
        raise NotImplementedError

    def found(self, last: WaveResult | None, trace: bool) -> Found:
        """The answer from the last wave and, if they were kept, all cells; None: the table is empty."""
        raise NotImplementedError

    def make_room(self) -> None:
        """Take the host's memory for all cells, or refuse before anything is computed."""
        if self.engine is not None:
            self.engine.make_room()

    def warm_up(self, trace: bool = True) -> None:
        """Compile everything; the time counts as the backend's compilation."""
        if self.engine is not None:
            with self.backend.warming_up():
                self.engine_of(self.smallest()).run(trace=False)

    def compute(self, run: TableRun) -> Found:
        """Compute all waves."""
        last = None if self.engine is None else self.engine.run(run.trace, run.progress)
        return self.found(last, run.trace)
