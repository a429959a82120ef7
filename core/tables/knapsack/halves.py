"""A knapsack on two ranks: each has a table of half of the items, and one of them gives the other a row at the end.

If ranks shared the capacities of one table instead, a rank would read as many cells of the other in every pass as the
pass's two items weigh. With items of up to 30 % of the capacity, as the paper draws them, these are more bytes than the
link between two GPUs carries in the time of the pass.

The kernels and why the selection is that of a single table: `core.tables.knapsack.kernels.halves`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.run.devices import DeviceArray, DeviceCollectives, Ranks, RecordedLaunches
from core.tables.knapsack.kernels import halves as kernels
from core.tables.knapsack.kernels.table import DecisionBits
from core.tables.knapsack.problem import Knapsack
from core.tables.knapsack.table import KnapsackPart, KnapsackTable, KnapsackTableItems

ItemHalves = tuple[KnapsackPart, KnapsackPart]
"""The lighter items, and the heavier ones."""
PIECE = 1 << 26
"""Cells of a message, at most: communicators count its bytes in 31 bits."""
CELLS_OF_A_LAUNCH = {True: 1 << 20, False: 1 << 13}
"""Cells that a wide device (True) and a core (False) compute in the time of an empty launch."""
TEAMS = 1024
"""Most teams of a search for the largest sum; each sends a number to the host."""
FEW = 1024
"""Most splits that one team traces; of more, the whole device drops some, item by item."""


def split_items(instance: Knapsack, numbers: np.ndarray, dtype: np.dtype, capacity: int, is_wide: bool) -> ItemHalves:
    """Cut items, in order of weight, so that both halves take equal time; see `KnapsackTableItems.of`."""
    launch = CELLS_OF_A_LAUNCH[is_wide]
    low, high = 0, len(numbers)
    while low < high:
        middle = (low + high) // 2
        lighter, heavier = split_at(instance, numbers, dtype, capacity, middle)
        if lighter.work + launch * lighter.items.passes < heavier.work + launch * heavier.items.passes:
            low = middle + 1
        else:
            high = middle
    return split_at(instance, numbers, dtype, capacity, low)


def split_at(instance: Knapsack, numbers: np.ndarray, dtype: np.dtype, capacity: int, k: int) -> ItemHalves:
    halves = [KnapsackTableItems.of(instance, part, dtype) for part in (numbers[:k], numbers[k:])]
    weights = [int(half.weights.sum()) for half in halves]
    first, second = (
        KnapsackPart(half, max(0, capacity - other_weight), min(capacity, weight))
        for half, weight, other_weight in zip(halves, weights, weights[::-1], strict=True)
    )
    return first, second


class KnapsackHalf:
    """One of two ranks with a table each; rank 0 has the lighter items."""

    def __init__(self, table: KnapsackTable, halves: ItemHalves, rank: int, capacity: int) -> None:
        self.table, self.rank, self.capacity = table, rank, capacity
        self.lighter, self.heavier = halves
        self.lanes = table.cut.team_size
        self.blocks = table.padded // table.cut.block
        self.splits: Any = None
        self.sequences: dict[int, RecordedLaunches] = {}

    def warm_up(self) -> None:
        if self.rank == 1:
            self.largest_sum()
            self.mark(0)
            alive = self.splits.alive
            self.table.backend.write(alive, np.zeros(alive.size, np.uint32))  # so no decision is read
            self.forget_decisions()
            self.narrow(self.table.nothing, self.table.passes - 1, self.table.passes)
            self.sequences.clear()
            self.trace_few(self.table.nothing, self.table.passes, 0)

    def meet(self, ranks: Ranks, together: DeviceCollectives, trace: bool) -> tuple[int, np.ndarray | None]:
        """Return the largest value, and with ``trace`` this rank's chosen items; all passes must be queued."""
        table, row = self.table, self.lighter
        for start in range(row.lowest, row.highest + 1, PIECE):
            count = min(PIECE, row.highest + 1 - start)
            if self.rank == 0:
                together.send(table.last_row, start, count, 1)
            else:
                together.receive(table.free_row, start, count, 0)
        value = int(ranks.sum(self.largest_sum() if self.rank == 1 else 0))
        if not trace:
            return value, None
        table.select_none()
        weight = np.zeros(1, np.int64)
        if self.rank == 0:
            ranks.receive(weight, 1)
            table.trace_from(self.capacity - int(weight[0]))
            return value, table.selected()
        self.trace(value)
        chosen = table.selected()
        weight[0] = table.items.weights[table.items.spare :][chosen > 0].sum()
        ranks.send(weight, 0)
        return value, chosen

    # --- the rank of the heavier items ---

    @property
    def tables(self) -> kernels.HalfTables:
        table = self.table
        return kernels.HalfTables(
            table.free_row, table.last_row, self.capacity, self.heavier.lowest, self.heavier.highest
        )

    def largest_sum(self) -> int:
        backend, cells = self.table.backend, self.heavier.highest - self.heavier.lowest + 1
        most_teams = TEAMS if self.lanes > 1 else backend.capabilities.compute_units
        teams = min(most_teams, -(-cells // self.lanes))
        best = backend.allocate(teams, self.table.dtype)
        backend.launch(kernels.best_values, teams, self.lanes, self.tables, best)
        return int(backend.download(best).max())

    def mark(self, value: int) -> int:
        backend, table = self.table.backend, self.table
        if self.splits is None:
            items = 2 * table.passes
            sizes = {"count": 1, "cells": FEW, "leaves": items, "taken": items, "clock": self.teams}
            arrays = {name: backend.allocate(size, np.int32) for name, size in sizes.items()}
            self.splits = kernels.Splits(alive=backend.allocate(table.words, np.uint32), **arrays)
        backend.write(self.splits.count, np.zeros(1, np.int32))
        backend.launch(
            kernels.mark_splits, self.teams, self.lanes,
            self.tables, table.dtype.type(value), self.splits, self.blocks, FEW,
        )  # fmt: skip
        return int(backend.download(self.splits.count)[0])

    @property
    def teams(self) -> int:
        return self.blocks if self.lanes > 1 else min(self.blocks, self.table.backend.capabilities.compute_units)

    def forget_decisions(self) -> None:
        backend, last = self.table.backend, 2 * self.table.passes - 1
        for buffer, first in ((self.splits.leaves, 0), (self.splits.taken, 0), (self.splits.clock, last)):
            backend.write(buffer, np.full(buffer.size, first, np.int32))

    def trace(self, value: int) -> None:
        count = self.mark(value)
        self.forget_decisions()
        assert self.table.rows is not None
        for first, passes, buffer in self.table.rows.chunks_backwards():
            if count <= FEW:
                self.trace_few(buffer, first, count)
            else:
                self.narrow(buffer, first, first + passes)

    def trace_few(self, buffer: DeviceArray, first: int, count: int) -> None:
        """Decide the items of the passes in ``buffer``, from pass ``first`` on, by a list of splits."""
        table = self.table
        decisions = DecisionBits(buffer, table.words, table.passes)
        table.backend.launch(
            kernels.trace_few, 1, self.lanes,
            table.table, decisions, first, self.splits, count, self.lanes, table.chosen,
        )  # fmt: skip

    def narrow(self, buffer: DeviceArray, first: int, end: int) -> None:
        """Decide the items of the passes ``first`` to ``end`` - 1 in ``buffer``."""
        backend, table = self.table.backend, self.table
        if first not in self.sequences:
            decisions = DecisionBits(buffer, table.words, table.passes)
            span = kernels.Span(first, end, 2 * table.passes, self.blocks)
            with backend.record() as sequence:
                backend.launch(
                    kernels.narrow, self.teams, self.lanes,
                    table.table, decisions, self.splits, span, self.lanes, table.chosen,
                )  # fmt: skip
            self.sequences[first] = sequence
        self.sequences[first].replay(2 * (end - first) + 1)
