"""The 0-1 knapsack problem by dynamic programming (`oconnell2014`, section IV.B.2), its selection traced on the device.

Items are taken in order of weight (of equal weights the smaller number first), and one is taken only if that is
strictly better than leaving it: this rule makes the selection unique on every backend and any number of ranks.
The order also keeps the cells that a pass reads for its two items close together, in caches.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.run.protocol import Digested, alias
from core.tables.engine.table_search import TableRun, TableSearch, check_mapping, trace_over_ranks
from core.tables.knapsack.halves import KnapsackHalf, split_items
from core.tables.knapsack.problem import Knapsack
from core.tables.knapsack.table import (
    LEAST_PART,
    KnapsackPart,
    KnapsackTable,
    KnapsackTableItems,
    RowBlocking,
    value_type,
)


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
    cells: int
    nodes: int
    streamed_bytes: int
    digest: int

    cost, solution, finished = alias("value"), alias("chosen"), alias("optimal")
    history = None

    @property
    def evaluations(self) -> int:
        return self.cells or self.nodes


def make_selection(
    instance: Knapsack,
    value: int,
    chosen: np.ndarray | None,
    *,
    optimal: bool = True,
    cells: int = 0,
    nodes: int = 0,
    streamed_bytes: int = 0,
) -> Selection:
    weight = None if chosen is None else instance.weight_and_value(chosen)[0]
    hashed = hashlib.blake2b(str(value).encode(), digest_size=8)
    if chosen is not None:
        hashed.update(np.packbits(chosen).tobytes())
    digest = int.from_bytes(hashed.digest(), "big")
    return Selection(value, weight, chosen, optimal, cells, nodes, streamed_bytes, digest)


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
        backend: Any,
        communicator: Any,
        instance: Knapsack,
        *,
        mapping: str = "native",
        room: int | None = None,
        folder: str | None = None,
        team_size: int | None = None,
    ) -> None:
        check_mapping(mapping)
        self.backend, self.communicator, self.instance = backend, communicator, instance
        self.items = instance.useful_items()
        self.cells = instance.n * (instance.capacity + 1)
        self.value_type = value_type(instance)
        if mapping == "published":
            from core.tables.knapsack.waves import KnapsackDiagonals, smallest

            self.engine, self.smallest_engine = (
                self.published_engine(KnapsackDiagonals(one), folder, team_size)
                for one in (instance, smallest(instance))
            )
            self.work = self.cells
            return
        # No selection is heavier than all items together.
        self.capacity = min(instance.capacity, int(instance.weights[self.items].astype(np.int64).sum()))
        cut = RowBlocking.of(backend.capabilities, team_size)
        padded, dtype = cut.padded(self.capacity), np.dtype(self.value_type.dtype)
        rank, size = communicator.rank, communicator.size
        self.half: KnapsackHalf | None = None
        if size == 2:
            halves = split_items(instance, self.items, dtype, self.capacity, cut.team_size > 1)
            own = halves[rank]
            self.table = KnapsackTable(backend, own, cut, padded, room=room, folder=folder)
            self.half = KnapsackHalf(self.table, halves, rank, self.capacity)
            self.work = sum(half.work for half in halves)
            return
        bounds = None if size == 1 else bounds_of_parts(padded, cut.block, size, LEAST_PART[cut.team_size > 1])
        part = KnapsackPart(KnapsackTableItems.of(instance, self.items, dtype), self.capacity, self.capacity)
        self.table = KnapsackTable(backend, part, cut, padded, bounds=bounds, rank=rank, room=room, folder=folder)
        self.work = part.work

    @property
    def evaluations(self) -> int:
        return self.cells

    def warm_up(self) -> None:
        if self.engine is not None:
            with self.backend.warming_up():
                for tracing in (False, True):
                    self.smallest_engine.run(tracing)
            return
        table = self.table
        table.make_rows(self.backend.collectives(self.communicator))
        with self.backend.warming_up():
            for tracing in (False, True):
                table.begin()  # a pass continues where the one before it ended, and there may be only one
                table.launch_pass(table.nothing, 1, 0, tracing, empty=True)
            table.follow(table.nothing, table.passes)
            if self.half is not None:
                self.half.warm_up()

    def compute(self, run: TableRun) -> Selection:
        trace, progress, ranks = run
        if self.engine is not None:
            result = self.engine.run(trace, progress)
            chosen = self.engine.problem.chosen(result)
            return make_selection(
                self.instance, result.value, chosen, cells=self.cells, streamed_bytes=result.streamed_bytes
            )
        table, together = self.table, self.backend.collectives(ranks)
        own_items, all_items = max(1, len(table.items.numbers)), len(self.items)
        table.compute(together, trace, progress and (lambda done: progress(done * all_items // own_items, all_items)))
        own_chosen: np.ndarray | None = None
        if self.half is not None:
            value, own_chosen = self.half.meet(ranks, together, trace)
        else:
            value = self.value_of(table, ranks)
            if trace:
                table.select_none()
                trace_over_ranks(ranks, np.array([2 * table.passes - 1, table.highest], np.int32), table.follow_all)
                own_chosen = table.selected()
        streamed = int(ranks.sum(table.streamed_bytes if trace else 0))
        chosen = None
        if own_chosen is not None:
            is_chosen = np.zeros(self.instance.n, np.uint8)
            is_chosen[table.items.numbers] = own_chosen
            chosen = ranks.sum(is_chosen) > 0
        return make_selection(self.instance, value, chosen, cells=self.cells, streamed_bytes=streamed)

    def value_of(self, table: KnapsackTable, ranks: Any) -> int:
        owns = table.own.left <= table.highest < table.own.right
        return int(ranks.sum(int(self.backend.read(table.last_row, table.highest, 1)[0]) if owns else 0))


def bounds_of_parts(cells: int, block: int, ranks: int, least: int) -> list[int]:
    """Return bounds of the ranks' parts of a row, in whole blocks; the last parts of a short row are empty."""
    blocks = cells // block
    used_ranks = max(1, min(ranks, cells // least))
    return [block * (blocks * min(rank, used_ranks) // used_ranks) for rank in range(ranks + 1)]
