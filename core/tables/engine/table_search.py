"""The common part of the searches that compute a table to its end.

A new table derives from `TableSearch` and defines `compute`, which receives a `TableRun`::

    class Partition(TableSearch[Split]):
        subject = "the partition table"

        def compute(self, run):
            result = self.engine.run(run.trace, run.progress)
            return Split(result.value, ...)

Tables keep no checkpoints, and only the published mapping keeps host memory (`make_room`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from core.errors import UserError
from core.run.checkpoint import Checkpoint, Checkpointer
from core.run.progress import ProgressMonitor, refuse_history
from core.run.protocol import Callback, CountCallback, Search
from core.run.stop import Stop
from core.tables.engine.recurrences import Waves
from core.tables.engine.waves import WaveEngine

MAPPINGS = ("native", "published")
Found = TypeVar("Found", bound=Any)


class TableRun(NamedTuple):
    """Settings of one run. ``progress(done, all)`` reports parts of the table; without it the device never waits."""

    trace: bool
    progress: CountCallback | None
    ranks: Any


class TableSearch(Search, Generic[Found]):
    """A search by a table; the answer is known at its end.

    ``work`` counts the cells of a run, over all ranks, and ``subject`` names the table in messages. ``are_parts_even``
    is True if the parts that progress counts are about equal work. ``engine`` computes a table by the paper's mapping.
    """

    unit = "cells"
    backend: Any
    communicator: Any
    work: int
    subject: str
    are_parts_even = True
    engine: WaveEngine | None = None

    def published_engine(self, problem: Waves, folder: str | None, lanes: int | None) -> WaveEngine:
        """Return the engine that computes a problem by the paper's mapping, with ``lanes`` in a team."""
        shape = (lanes,) if lanes else None
        return WaveEngine(self.backend, self.communicator, problem, "published", folder=folder, shape=shape)

    def make_room(self) -> None:
        """Allocate host memory for all cells if they are kept, before any computation."""
        if self.engine is not None:
            self.engine.make_room()

    @property
    def evaluations(self) -> int:
        return self.work

    def compute(self, run: TableRun) -> Found:
        raise NotImplementedError

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Any = None,
        checkpointer: Checkpointer | None = None,
        trace: bool = True,
    ) -> Found:
        """Find the best value and, with ``trace``, a solution that has it; see `core.run.protocol.Search.run`.

        Stop criteria, a history and checkpoints are refused: the answer is known at the end. The callback's steps are
        parts of the table; it cannot end the search.
        """
        refuse_checkpoints(checkpointer, self.subject)
        (stop or Stop()).only(self.subject)
        refuse_history(history, self.subject)
        monitor = ProgressMonitor(Stop(), callback)
        ranks = self.communicator if ranks is None else ranks
        progress = monitor.counts(self.evaluations if self.are_parts_even else None)
        result = self.compute(TableRun(trace, progress, ranks))
        monitor.report_all(result.cost, self.evaluations)
        return result


def check_mapping(mapping: str) -> None:
    if mapping not in MAPPINGS:
        raise UserError(f"mapping {mapping!r}; choose one of {', '.join(MAPPINGS)}")


def refuse_checkpoints(checkpointer: Checkpointer | None, subject: str) -> None:
    """Refuse to keep checkpoints in a file; those in memory, for lost ranks, are allowed: the others begin again."""
    if checkpointer is not None and checkpointer.write is not None:
        raise UserError(f"--checkpoint: {subject} has none, since it takes seconds; expected no --checkpoint")


class WithoutCheckpoints:
    """The part of `core.run.loop.Steps` for a search that refuses checkpoints."""

    def checkpoint(self, run: Any) -> None:
        """Return nothing: no run has a checkpointer."""

    def layout(self, run: Any, state: Checkpoint) -> tuple[()]:
        return ()


def trace_over_ranks(ranks: Any, state: np.ndarray, follow: Callable[[np.ndarray], np.ndarray]) -> None:
    """Pass a trace from the last rank to the first; each follows it through its part of the table.

    ``state`` is the last cell on the last rank, and becomes the cell where the trace enters the part of each rank.
    """
    if ranks.rank < ranks.size - 1:
        ranks.receive(state, ranks.rank + 1)
    reached = follow(state)
    if ranks.rank > 0:
        ranks.send(reached, ranks.rank - 1)
