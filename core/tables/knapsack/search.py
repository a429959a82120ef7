"""The 0-1 knapsack problem by dynamic programming (`oconnell2014`, section IV.B.2), its selection traced on the device.

Items are taken in order of weight (of equal weights the smaller number first), and one is taken only if that is
strictly better than leaving it: this rule makes the selection unique on every backend and any number of ranks.
The order also keeps the cells that a pass reads for its two items close together, in caches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.run.devices import ComputeDevice, DeviceLimits, Ranks
from core.run.protocol import Digested, alias
from core.tables.engine.recurrences import TableAnswer
from core.tables.engine.table_search import PublishedTable, TableSearch, check_mapping, digest
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


def has_halves(limits: DeviceLimits, ranks: int) -> bool:
    """Return True if two groups of ranks have tables of half of the items each.

    A rank then needs memory for whole rows, which many cores of a host do not have.
    """
    return ranks == 2 or (ranks > 2 and limits.lanes_resident > 1)


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
            halves = has_halves(backend.capabilities, communicator.size)
            self.strategy = (KnapsackHalf if halves else KnapsackTable)(
                backend, communicator, instance, room, folder, team_size
            )

    @property
    def evaluations(self) -> int:
        return self.cells

    def result(self, answer: TableAnswer) -> Selection:
        value, chosen, streamed_bytes, _ = answer
        return make_selection(self.instance, value, chosen, cells=self.cells, streamed_bytes=streamed_bytes)
