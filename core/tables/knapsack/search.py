"""The 0-1 knapsack problem by dynamic programming (`oconnell2014`, section IV.B.2), its selection traced on the device.

Items are taken in order of weight (of equal weights the smaller number first), and one is taken only if that is
strictly better than leaving it: this rule makes the selection unique on every backend and any number of ranks.
The order also keeps the cells that a pass reads for its two items close together, in caches.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from core.errors import UserError
from core.run.checkpoint import ANY, Checkpoint, CheckpointArray, Checkpointer
from core.run.devices import ComputeDevice, Ranks
from core.run.loop import Steps, SynchronousRun, execute
from core.run.progress import refuse_history
from core.run.protocol import Callback, Digested, Search, alias
from core.run.stop import BatchSizes, Stop
from core.tables.engine.recurrences import TableAnswer
from core.tables.engine.table_search import PublishedTable, TableSearch, check_mapping, digest, refuse_checkpoints
from core.tables.knapsack.halves import KnapsackHalf
from core.tables.knapsack.problem import Knapsack
from core.tables.knapsack.table import KnapsackTable


@dataclass(frozen=True)
class Selection(Digested):
    """Result of a search: the largest value that fits and, if traced, a selection of that value, (n,), bool.

    ``optimal`` is True if the value is proved to be the largest. ``cells`` counts the whole table, n * (capacity + 1),
    also cells that are not computed, or 0 without a table; ``nodes`` those of a branch and bound. ``streamed_bytes``
    are decisions that left the device for the host. ``digest`` has 64 bits, of the value and the selection.
    """

    value: int
    weight: int | None
    chosen: np.ndarray | None
    optimal: bool
    cells: int = 0
    nodes: int = 0
    streamed_bytes: int = 0
    digest: int = 0

    cost, solution, finished = alias("value"), alias("chosen"), alias("optimal")
    history = None

    @property
    def evaluations(self) -> int:
        return self.cells or self.nodes


def make_selection(
    instance: Knapsack, value: int, chosen: np.ndarray | None, *, optimal: bool = True, **counts: int
) -> Selection:
    """Return the result with its weight and digest; ``counts`` are fields of `Selection`."""
    weight = None if chosen is None else instance.weight_and_value(chosen)[0]
    digits = digest(value, b"" if chosen is None else np.packbits(chosen).tobytes())
    return Selection(value, weight, chosen, optimal, digest=int(digits, 16), **counts)


class KnapsackSearch(TableSearch[Selection]):
    """Dynamic programming on one instance and one device per rank, ready to be repeated.

    Two ranks have a table each, of the lighter half of the items and of the heavier one, and meet at the end
    (`core.tables.knapsack.halves`). More than two share the capacities of one table: after every pass, two items, a
    rank gets the cells to its left that the next one reads, in shared memory or by messages. The trace passes from the
    rank of the largest capacities to that of the smallest in two integers. ``work`` counts the cells that a run
    computes, over all ranks: those of the table that matter.

    Raises `UserError` for an unknown mapping, ``published`` over several ranks, or two rows that do not fit the device.

    Parameters
    ----------
    mapping
        ``native``: passes of two items; ``published``: the paper's mapping, a launch for every diagonal, with all cells
        copied to the host.
    room, folder
        See `core.tables.engine.decisions.DecisionRows`.
    team_size
        Lanes of a team; None: chosen for the device.
    """

    subject = "the knapsack problem's table"

    def __init__(
        self,
        backend: ComputeDevice,
        communicator: Ranks,
        instance: Knapsack,
        *,
        mapping: str = "native",
        room: int | None = None,
        folder: str | None = None,
        team_size: int | None = None,
    ) -> None:
        check_mapping(mapping)
        self.backend, self.communicator, self.instance = backend, communicator, instance
        self.cells = instance.n * (instance.capacity + 1)
        if mapping == "published":
            from core.tables.knapsack.waves import KnapsackDiagonals, smallest

            problems = KnapsackDiagonals(instance), KnapsackDiagonals(smallest(instance))
            self.strategy = PublishedTable(backend, communicator, *problems, folder, team_size)
        else:
            strategy = KnapsackHalf if communicator.size == 2 else KnapsackTable
            self.strategy = strategy(backend, communicator, instance, room, folder, team_size)

    @property
    def evaluations(self) -> int:
        return self.cells

    def result(self, answer: TableAnswer) -> Selection:
        value, chosen, streamed_bytes, _ = answer
        return make_selection(self.instance, value, chosen, cells=self.cells, streamed_bytes=streamed_bytes)


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

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Ranks | None = None,
        checkpointer: Checkpointer | None = None,
    ) -> Selection:
        """Search until the value is proved, or a limit or the callback ends it. See `core.run.protocol.Search.run`.

        A history is refused, since the times of improvements are not kept. The callback's steps are those of a launch,
        and its cost is the incumbent's value.
        """
        stop = (stop or Stop()).only(self.subject, *self.criteria)
        refuse_history(history, self.subject)
        if not self.keeps_checkpoints:
            refuse_checkpoints(checkpointer, self.subject)
            checkpointer = None
        sizes = BatchSizes(self.first_budget, GROWTH, SLICE_SECONDS)
        stop = replace(stop, iterations=self.most_steps)
        return execute(self, SynchronousRun(self.communicator, stop, callback, checkpointer=checkpointer, sizes=sizes))

    def checkpoint(self, run: SynchronousRun) -> Checkpoint | None:
        """Return nothing: no run has a checkpointer."""

    def layout(self, run: SynchronousRun, state: Checkpoint) -> Iterable[CheckpointArray]:
        return ()
