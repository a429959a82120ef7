"""Base of the searches for a knapsack without a table: branch and bound, and an expanding core."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Unpack

from core.errors import UserError
from core.run.checkpoint import ANY, Checkpoint, CheckpointArray
from core.run.devices import ComputeDevice, Ranks
from core.run.loop import Steps, SynchronousRun, execute
from core.run.progress import refuse_history
from core.run.protocol import Search, Watching
from core.run.stop import BatchSizes, Stop
from core.tables.engine.table_search import refuse_checkpoints
from core.tables.knapsack.problem import Knapsack
from core.tables.knapsack.search import Selection

GROWTH = 2
"""Factor by which the steps of a launch of one lane grow at most."""
SLICE_SECONDS = 0.25
"""Approximate duration of such a launch in seconds, for time limits and progress."""


class OneLaneSearch(Steps[SynchronousRun, Selection], Search):
    """A search without a table, in launches of one lane; the communicator has one rank.

    ``subject`` names it in messages, with the reason for ``one_rank``. ``criteria`` are its stop criteria, and
    ``most_steps`` ends it too. Launches begin with ``first_budget`` steps.
    """

    subject: str
    one_rank: str
    criteria: tuple[str, ...] = ()
    keeps_checkpoints = False
    most_steps: int = ANY
    first_budget: int
    work = None
    """Units of work of a run, which are not known before."""

    def __init__(self, backend: ComputeDevice, communicator: Ranks, instance: Knapsack) -> None:
        if communicator.size > 1:
            raise UserError(f"{self.subject} on {communicator.size} ranks: expected one, {self.one_rank}")
        self.backend, self.communicator, self.instance = backend, communicator, instance

    def run(self, stop: Stop | None = None, *, ranks: Ranks | None = None, **watching: Unpack[Watching]) -> Selection:
        """Search until the value is proved, or a limit or the callback ends it. See `core.run.protocol.Search.run`.

        A history is refused, since the times of improvements are not kept. The callback's steps are those of a launch,
        and its cost is the incumbent's value.
        """
        stop = (stop or Stop()).only(self.subject, *self.criteria)
        refuse_history(watching.get("history", False), self.subject)
        if not self.keeps_checkpoints:
            refuse_checkpoints(watching.pop("checkpointer", None), self.subject)
        sizes = BatchSizes(self.first_budget, GROWTH, SLICE_SECONDS)
        stop = replace(stop, iterations=self.most_steps)
        return execute(self, SynchronousRun(self.communicator, stop, sizes=sizes, **watching))

    def checkpoint(self, run: SynchronousRun) -> Checkpoint | None:
        """Return nothing: no run has a checkpointer."""

    def layout(self, run: SynchronousRun, state: Checkpoint) -> Iterable[CheckpointArray]:
        return ()
