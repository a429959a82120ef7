"""A knapsack on two groups of ranks: each has a table of half of the items, and one gives the other a row at the end.

If ranks shared the capacities of one table instead, a rank would read as many cells of the other in every pass as the
pass's two items weigh. With items of up to 30 % of the capacity, as the paper draws them, these are more bytes than the
link between two GPUs carries in the time of the pass.

A group of several ranks shares the capacities of its table (`core.tables.knapsack.shares`).

The kernels and why the selection is that of a single table: `core.tables.knapsack.kernels.halves`.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property

import numpy as np

from core.ranks import Transfer
from core.run.devices import ComputeDevice, DeviceArray, DeviceCollectives, Ranks, RecordedLaunches
from core.tables.engine.decisions import decision_room
from core.tables.engine.recurrences import TableAnswer
from core.tables.engine.table_search import TableRun, connect
from core.tables.knapsack.kernels import halves as kernels
from core.tables.knapsack.kernels.table import CapacityShare, DecisionBits, Slice
from core.tables.knapsack.problem import Knapsack
from core.tables.knapsack.shares import PassShares
from core.tables.knapsack.table import KnapsackPart, KnapsackTable, UndividedTable

ItemHalves = tuple[KnapsackPart, KnapsackPart]
"""The lighter items, and the heavier ones."""
CELLS_OF_A_LAUNCH = {True: 1 << 20, False: 1 << 13}
"""Cells that a wide device (True) and a core (False) compute in the time of an empty launch."""
CELLS_OF_A_RECEIVED_ONE = 8
"""Cells that a GPU reads from its memory in the time in which it receives one from another GPU."""
TEAMS = 1024
"""Most teams of a search for the largest sum; each sends a number to the host."""
FEW = 1024
"""Most splits that one team traces; of more, the whole device drops some, item by item."""
SEVERAL = 16
"""Most splits that a group of several ranks traces, one after the other; with more, one rank solves the whole again."""


class KnapsackHalf(KnapsackTable):
    """One of at least two ranks. The first ones have a table of the lighter items, the others one of the heavier.

    The ``head`` is the first rank of the heavier items; it joins both tables. ``shares`` has both groups' shares.
    """

    def __init__(
        self,
        backend: ComputeDevice,
        communicator: Ranks,
        instance: Knapsack,
        room: int | None = None,
        folder: str | None = None,
        team_size: int | None = None,
    ) -> None:
        self.head = communicator.size - communicator.size // 2
        super().__init__(backend, communicator, instance, room, folder, team_size)
        self.is_head = communicator.rank == self.head
        # Of `narrow`, by the first pass of a chunk.
        self.narrowing: dict[int, RecordedLaunches] = {}
        self.own_shares = shares = self.shares[self.part_number]
        self.place = communicator.rank - shares.first_rank
        if shares.ranks > 1:
            self.teams = min(self.teams, shares.most_blocks)
            self.share = backend.load(CapacityShare(shares.widths, shares.ranks, self.place))

    @property
    def part_number(self) -> int:
        return int(self.communicator.rank >= self.head)

    def parts(self) -> ItemHalves:
        """Cut items, in order of weight, so that both groups take equal time."""

        def is_lighter_longer(k: int) -> bool:
            lighter, heavier = map(self.cost, self.shares_of(self.cut_at(k)))
            return lighter >= heavier

        halves = self.cut_at(bisect_left(range(len(self.numbers)), True, key=is_lighter_longer))
        self.lighter, self.heavier = halves
        self.shares = self.shares_of(halves)
        return halves

    def shares_of(self, halves: ItemHalves) -> list[PassShares]:
        sizes = self.head, self.communicator.size - self.head
        return [
            PassShares.of(part, first, self.used_ranks(size), self.padded, self.cut.block)
            for part, first, size in zip(halves, (0, self.head), sizes, strict=True)
        ]

    def cost(self, shares: PassShares) -> int:
        """Return the time of a rank in cells that it reads or writes."""
        is_wide, part = self.cut.team_size > 1, shares.part
        cells = (part.traffic if is_wide else part.work) // shares.ranks
        return cells + CELLS_OF_A_LAUNCH[is_wide] * part.passes + CELLS_OF_A_RECEIVED_ONE * shares.received

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
        """Each rank has memory for a whole row."""

    def warm_up(self, trace: bool) -> None:
        super().warm_up(trace)
        self.transfers  # noqa: B018
        if self.is_head:
            self.largest_sum()
            self.mark(0)
            self.backend.write(self.splits.alive, np.zeros(self.words, np.uint32))  # so no decision is read
            self.forget_decisions()
            self.narrow(self.nothing, self.passes - 1, self.passes)
            self.narrowing.clear()
            self.trace_few(self.nothing, self.passes, 0)

    def join(self, run: TableRun) -> None:
        messages = [transfer for step in self.transfers for transfer in step]
        messages += [transfer for shares in self.shares for transfer in shares.last_cells(self.head)]
        connect(self.backend, run.ranks, ((message.source, message.to) for message in messages))

    def compute(self, run: TableRun) -> TableAnswer:
        if run.trace:  # all ranks of a group have chunks of equal size
            self.room, _ = run.ranks.minloc(decision_room(self.backend, self.room), 0)
        return super().compute(run)

    @cached_property
    def transfers(self) -> list[list[Transfer]]:
        """Cells that ranks of the group lack before each pass."""
        return [[], *(self.own_shares.transfers(step) for step in range(1, self.passes))]

    def queue_span(self, buffer: DeviceArray, passes_kept: int, first: int, end: int, trace: bool) -> None:
        shares = self.own_shares
        if self.place >= shares.ranks:
            return
        if shares.ranks == 1:
            super().queue_span(buffer, passes_kept, first, end, trace)
            return
        decisions = DecisionBits(buffer, self.words, passes_kept)
        for step in range(first, end):
            self.together.transfer(self.row[step % 2], self.transfers[step])
            width = int(shares.widths[step])
            own = Slice(self.place * width * self.cut.block, self.padded, width, width * shares.ranks)
            self.launch_part(decisions, own, step % 2, trace)

    def finish(self, run: TableRun, together: DeviceCollectives) -> tuple[int, np.ndarray | None]:
        ranks, (lighter, heavier) = run.ranks, self.shares
        passes = [shares.part.passes if shares.ranks > 1 else 0 for shares in self.shares]
        own = passes[self.part_number] if self.place < self.own_shares.ranks else 0
        for _ in range(own, max(passes)):  # every rank calls this for each pass of either group
            together.transfer(self.row[0], [])
        together.transfer(self.free_row if self.is_head else self.last_row, lighter.last_cells(self.head))
        together.transfer(self.last_row, heavier.last_cells(self.head))
        value = int(ranks.sum(self.largest_sum() if self.is_head else 0))
        if not run.trace:
            return value, None
        self.select_none()
        none = self.selected()
        if heavier.ranks > 1:
            chosen = self.trace_several(ranks, value)
            if chosen is None:
                self.rows = None  # its memory is the whole table's
                return value, none if ranks.rank > 0 else self.solve_alone()
        else:
            if self.is_head:
                self.trace_splits(value)
            chosen = self.selected() if self.is_head else none
        weight = int(ranks.sum(int(self.instance.weights[chosen > 0].sum(dtype=np.int64))))
        self.select_none()
        self.follow_group(ranks, lighter, np.array([2 * self.lighter.passes - 1, self.capacity - weight], np.int32))
        return value, chosen if self.part_number == 1 else self.selected()

    def solve_alone(self) -> np.ndarray:
        """Return the chosen items, (n,), u8, by one table for all of them on this rank."""
        self.row.clear()
        table = UndividedTable(
            self.backend, self.communicator, self.instance, self.room, self.folder, self.cut.team_size
        )
        table.queue_passes(self.together, True, None)
        table.select_none()
        table.follow_all(table.state_at(table.part.highest))
        self.make_rows(self.together)
        return table.selected()

    # --- a group of several ranks ---

    def follow_group(self, ranks: Ranks, shares: PassShares, state: np.ndarray) -> None:
        """Trace from a state through a group's table; all ranks call this, also those of the other group."""
        mine = shares is self.own_shares
        if shares.ranks == 1:
            if mine and self.place == 0:
                self.follow_all(state)
            return
        chunks = self.rows.chunks_backwards() if mine and self.rows is not None else [(0, 0, self.nothing)]
        for first, _, buffer in chunks:
            while state[0] >= 2 * first:
                reached = np.zeros(2, np.int32)
                if mine and shares.owner(*state.tolist()) == self.place:
                    self.backend.write(self.trace, state)
                    self.follow(buffer, first)
                    reached = np.asarray(self.backend.download(self.trace))
                state = ranks.sum(reached)

    def trace_several(self, ranks: Ranks, value: int) -> np.ndarray | None:
        """Trace the best splits through the heavier table, one after the other; None if there are too many.

        The selection that leaves out the last item on which two differ wins. The head returns the chosen items, (n,),
        u8, and other ranks none.
        """
        count = int(ranks.sum(self.mark(value) if self.is_head else 0))
        if count > min(SEVERAL, FEW):
            return None
        cells = (
            np.asarray(self.backend.read(self.splits.cells, 0, count)) if self.is_head else np.zeros(count, np.int32)
        )
        order, selections = self.heavier.numbers[::-1], []
        for cell in ranks.sum(cells).tolist():
            self.select_none()
            self.follow_group(ranks, self.shares[1], np.array([2 * self.heavier.passes - 1, cell], np.int32))
            selections.append(
                ranks.sum(self.selected() if self.part_number == 1 else np.zeros(self.instance.n, np.uint8))
            )
        best = min(selections, key=lambda chosen: chosen[order].tobytes())
        return best if self.is_head else np.zeros_like(best)

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
