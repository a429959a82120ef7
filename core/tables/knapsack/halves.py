"""A knapsack on two ranks: each has a table of half of the items, and one of them gives the other a row at the end.

If ranks shared the capacities of one table instead, a rank would read as many cells of the other in every pass as the
pass's two items weigh. With items of up to 30 % of the capacity, as the paper draws them, these are more bytes than the
link between two GPUs carries in the time of the pass.

The kernels and why the selection is that of a single table: `core.tables.knapsack.kernels.halves`.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property

import numpy as np

from core.run.devices import DeviceArray, DeviceCollectives, RecordedLaunches
from core.tables.engine.table_search import TableRun
from core.tables.knapsack.kernels import halves as kernels
from core.tables.knapsack.kernels.table import DecisionBits
from core.tables.knapsack.table import KnapsackPart, KnapsackTable

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


class KnapsackHalf(KnapsackTable):
    """One of two ranks with a table each; rank 0 has the lighter items."""

    def parts(self) -> ItemHalves:
        """Cut items, in order of weight, so that both halves take equal time."""
        launch = CELLS_OF_A_LAUNCH[self.cut.team_size > 1]

        def is_lighter_longer(k: int) -> bool:
            lighter, heavier = self.cut_at(k)
            return lighter.work + launch * lighter.passes >= heavier.work + launch * heavier.passes

        count = len(self.numbers)
        halves = self.cut_at(bisect_left(range(count), True, key=is_lighter_longer))
        self.lighter, self.heavier = halves
        return halves

    def cut_at(self, k: int) -> ItemHalves:
        """Return the halves if the lighter one has the first ``k`` items."""
        halves = self.numbers[:k], self.numbers[k:]
        weights = [int(self.instance.weights[half].sum(dtype=np.int64)) for half in halves]
        first, second = (
            KnapsackPart.of(
                self.instance, half, self.dtype, max(0, self.capacity - other_weight), min(self.capacity, weight)
            )
            for half, weight, other_weight in zip(halves, weights, weights[::-1], strict=True)
        )
        return first, second

    def bounds_of_ranks(self) -> None:
        """Each rank has a whole row."""

    def warm_up(self, trace: bool) -> None:
        super().warm_up(trace)
        if self.communicator.rank == 1:
            self.largest_sum()
            self.mark(0)
            self.backend.write(self.splits.alive, np.zeros(self.words, np.uint32))  # so no decision is read
            self.forget_decisions()
            self.narrow(self.nothing, self.passes - 1, self.passes)
            self.narrowing.clear()
            self.trace_few(self.nothing, self.passes, 0)

    def finish(self, run: TableRun, together: DeviceCollectives) -> tuple[int, np.ndarray | None]:
        row, ranks = self.lighter, run.ranks
        for start in range(row.lowest, row.highest + 1, PIECE):
            count = min(PIECE, row.highest + 1 - start)
            if self.communicator.rank == 0:
                together.send(self.last_row, start, count, 1)
            else:
                together.receive(self.free_row, start, count, 0)
        value = int(ranks.sum(self.largest_sum() if self.communicator.rank == 1 else 0))
        if not run.trace:
            return value, None
        self.select_none()
        weight = np.zeros(1, np.int64)
        if self.communicator.rank == 0:
            ranks.receive(weight, 1)
            self.follow_all(self.state_at(self.capacity - int(weight[0])))
            return value, self.selected()
        self.trace_splits(value)
        chosen = self.selected()
        weight[0] = self.part.weights[self.part.spare :][chosen > 0].sum()
        ranks.send(weight, 0)
        return value, chosen

    # --- the rank of the heavier items ---

    @property
    def tables(self) -> kernels.HalfTables:
        first, last = self.heavier.lowest, self.heavier.highest
        return kernels.HalfTables(self.free_row, self.last_row, self.capacity, first, last)

    def largest_sum(self) -> int:
        backend, cells = self.backend, self.heavier.highest - self.heavier.lowest + 1
        most_teams = TEAMS if self.cut.team_size > 1 else backend.capabilities.compute_units
        teams = min(most_teams, -(-cells // self.cut.team_size))
        best = backend.allocate(teams, self.dtype)
        backend.launch(kernels.best_values, teams, self.cut.team_size, self.tables, best)
        return int(backend.download(best).max())

    @cached_property
    def narrowing(self) -> dict[int, RecordedLaunches]:
        """Recorded launches of `narrow`, by the first pass of a chunk."""
        return {}

    @cached_property
    def splits(self) -> kernels.Splits:
        backend, items = self.backend, 2 * self.passes
        sizes = {"count": 1, "cells": FEW, "leaves": items, "taken": items, "clock": self.split_teams}
        arrays = {name: backend.allocate(size, np.int32) for name, size in sizes.items()}
        return kernels.Splits(alive=backend.allocate(self.words, np.uint32), **arrays)

    def mark(self, value: int) -> int:
        """Mark the splits that reach a value; return their number."""
        splits = self.splits
        self.backend.write(splits.count, np.zeros(1, np.int32))
        self.backend.launch(
            kernels.mark_splits, self.split_teams, self.cut.team_size,
            self.tables, self.dtype.type(value), splits, self.blocks, FEW,
        )  # fmt: skip
        return int(self.backend.download(splits.count)[0])

    @property
    def blocks(self) -> int:
        return self.padded // self.cut.block

    @property
    def split_teams(self) -> int:
        return self.blocks if self.cut.team_size > 1 else min(self.blocks, self.backend.capabilities.compute_units)

    def forget_decisions(self) -> None:
        splits, items = self.splits, 2 * self.passes
        for buffer in (splits.leaves, splits.taken):
            self.backend.write(buffer, np.zeros(items, np.int32))
        self.backend.write(splits.clock, np.full(self.split_teams, items - 1, np.int32))

    def trace_splits(self, value: int) -> None:
        count = self.mark(value)
        self.forget_decisions()
        assert self.rows is not None
        for first, passes, buffer in self.rows.chunks_backwards():
            if count <= FEW:
                self.trace_few(buffer, first, count)
            else:
                self.narrow(buffer, first, first + passes)

    def trace_few(self, buffer: DeviceArray, first: int, count: int) -> None:
        """Decide the items of the passes in ``buffer``, from pass ``first`` on, by a list of splits."""
        decisions = DecisionBits(buffer, self.words, self.passes)
        self.backend.launch(
            kernels.trace_few, 1, self.cut.team_size,
            self.table, decisions, first, self.splits, count, self.cut.team_size, self.chosen,
        )  # fmt: skip

    def narrow(self, buffer: DeviceArray, first: int, end: int) -> None:
        """Decide the items of the passes ``first`` to ``end`` - 1 in ``buffer``."""
        backend = self.backend
        if first not in self.narrowing:
            decisions = DecisionBits(buffer, self.words, self.passes)
            span = kernels.Span(first, end, 2 * self.passes, self.blocks)
            with backend.record() as sequence:
                backend.launch(
                    kernels.narrow, self.split_teams, self.cut.team_size,
                    self.table, decisions, self.splits, span, self.cut.team_size, self.chosen,
                )  # fmt: skip
            self.narrowing[first] = sequence
        self.narrowing[first].replay(2 * (end - first) + 1)
