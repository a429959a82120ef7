"""The knapsack by passes over one table: by one rank, or by ranks that share its capacities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.run.devices import ComputeDevice, DeviceCollectives, Ranks
from core.tables.engine.recurrences import TableAnswer
from core.tables.engine.table_search import TableRun, TableStrategy, trace_over_ranks
from core.tables.knapsack.problem import Knapsack
from core.tables.knapsack.table import (
    LEAST_PART,
    KnapsackPart,
    KnapsackTable,
    KnapsackTableItems,
    RowBlocking,
    value_type,
)


class SharedCapacities(TableStrategy):
    """One table, of whose capacities every rank computes a part; for the parameters see `KnapsackSearch`."""

    def __init__(
        self,
        backend: ComputeDevice,
        communicator: Ranks,
        instance: Knapsack,
        room: int | None,
        folder: str | None,
        team_size: int | None,
    ) -> None:
        self.backend, self.communicator, self.instance = backend, communicator, instance
        self.numbers = instance.useful_items()
        # No selection is heavier than all items together.
        self.capacity = min(instance.capacity, int(instance.weights[self.numbers].sum(dtype=np.int64)))
        self.cut = RowBlocking.of(backend.capabilities, team_size)
        self.dtype = np.dtype(value_type(instance).dtype)
        padded, rank = self.cut.padded(self.capacity), communicator.rank
        parts = self.parts()
        self.work = sum(part.work for part in parts)
        self.table = KnapsackTable(
            backend, parts[rank % len(parts)], self.cut, padded,
            bounds=self.bounds(padded), rank=rank, room=room, folder=folder,
        )  # fmt: skip

    def parts(self) -> Sequence[KnapsackPart]:
        """Return the items and cells of the table of each rank, or of the one table of all."""
        return [
            KnapsackPart(KnapsackTableItems.of(self.instance, self.numbers, self.dtype), self.capacity, self.capacity)
        ]

    def bounds(self, cells: int) -> list[int] | None:
        """Return bounds of the ranks' parts of a row, in whole blocks; the last parts of a short row are empty."""
        size, block = self.communicator.size, self.cut.block
        if size == 1:
            return None
        used_ranks = max(1, min(size, cells // LEAST_PART[self.cut.team_size > 1]))
        return [block * (cells // block * min(rank, used_ranks) // used_ranks) for rank in range(size + 1)]

    def warm_up(self, trace: bool) -> None:
        table = self.table
        table.make_rows(self.backend.collectives(self.communicator))
        for tracing in (False, True):
            table.begin()  # a pass continues where the one before it ended, and there may be only one
            table.launch_pass(table.nothing, 1, 0, tracing, empty=True)
        table.follow(table.nothing, table.passes)

    def compute(self, run: TableRun) -> TableAnswer:
        table, together = self.table, self.backend.collectives(run.ranks)
        progress, count = run.progress, len(self.numbers)
        table.compute(
            together, run.trace, progress and (lambda done, own: progress(done * count // max(1, own), count))
        )
        value, own_chosen = self.finish(run, together)
        streamed_bytes = int(run.ranks.sum(table.streamed_bytes if run.trace else 0))
        if own_chosen is None:
            return TableAnswer(value, None, streamed_bytes)
        chosen = np.zeros(self.instance.n, np.uint8)
        chosen[table.items.numbers] = own_chosen
        return TableAnswer(value, run.ranks.sum(chosen) > 0, streamed_bytes)

    def finish(self, run: TableRun, together: DeviceCollectives) -> tuple[int, np.ndarray | None]:
        """Return the largest value and, with a trace, this rank's chosen items; all passes are queued."""
        table, ranks = self.table, run.ranks
        owns = table.own.left <= table.highest < table.own.right
        value = int(ranks.sum(int(self.backend.read(table.last_row, table.highest, 1)[0]) if owns else 0))
        if not run.trace:
            return value, None
        table.select_none()
        trace_over_ranks(ranks, table.state_at(table.highest), table.follow_all)
        return value, table.selected()
