"""One table of a knapsack on one device, or of parts of the capacities on several: its rows, passes and decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from core.errors import NoRoom
from core.lang import u32, u64
from core.lang.types import Scalar
from core.run.devices import ComputeDevice, DeviceArray, DeviceCollectives, DeviceLimits, Ranks, RecordedLaunches
from core.run.protocol import CountCallback
from core.tables.engine.decisions import DecisionRows, spans_of_launches
from core.tables.engine.recurrences import TableAnswer
from core.tables.engine.table_search import TableRun, TableStrategy, trace_over_ranks
from core.tables.knapsack.kernels import table as kernels
from core.tables.knapsack.problem import Knapsack

TEAM_SIZE = 128
BLOCKS = 256
"""Neighbouring blocks of a team of one lane."""
BATCH = 64
"""Passes between two reports of progress; they run without the host."""
LEAST_PART = {True: 1 << 22, False: 1 << 16}
"""Fewest cells of a part, of a wide device and of a core: with fewer a pass takes less time than synchronising."""


def value_type(instance: Knapsack) -> Scalar:
    return u32 if instance.upper_bound() < 2**32 else u64


class RowBlocking(NamedTuple):
    """Blocks of a row: lanes of a team, cells in flight, neighbouring blocks of a team, and cells of a block."""

    team_size: int
    at_once: int
    share: int
    block: int

    @classmethod
    def of(cls, capabilities: DeviceLimits, team_size: int | None) -> RowBlocking:
        is_wide = capabilities.lanes_resident > 1
        lanes = min(TEAM_SIZE if is_wide else 1, capabilities.max_team_size) if team_size is None else team_size
        # A lone lane's words of neighbouring blocks lie in one cache line, which two cores should not share.
        at_once, share = (kernels.AT_ONCE, 1) if lanes > 1 else (1, BLOCKS)
        return cls(lanes, at_once, share, kernels.CELLS * lanes)

    def padded(self, capacity: int) -> int:
        return (capacity // self.block + 1) * self.block


class KnapsackPart(NamedTuple):
    """Numbers, weights and values of a table's items, and the cells ``lowest`` to ``highest`` of its last row.

    A pass has two items. Spare items in front, of value 0, fill up the first pass.
    """

    numbers: np.ndarray
    weights: np.ndarray
    values: np.ndarray
    lowest: int
    highest: int

    @classmethod
    def of(cls, instance: Knapsack, numbers: np.ndarray, dtype: np.dtype, lowest: int, highest: int) -> KnapsackPart:
        slots = 2 * max(1, -(-len(numbers) // 2))
        weights, values = np.zeros(slots, np.int64), np.zeros(slots, dtype)
        weights[slots - len(numbers) :] = instance.weights[numbers]
        values[slots - len(numbers) :] = instance.values[numbers]
        return cls(numbers, weights, values, lowest, highest)

    @property
    def spare(self) -> int:
        return len(self.weights) - len(self.numbers)

    @property
    def passes(self) -> int:
        return len(self.weights) // 2

    def cells_that_matter(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the lowest and highest cell of interest before the first pass and after each: (passes + 1,), i32 each.

        Above the weight of all items so far no value changes. The trace starts at the lowest requested cell and goes
        down by at most the weight of the items after the pass's first.
        """
        sums = np.concatenate([[0], np.cumsum(self.weights)])
        high = np.minimum(sums[::2], self.highest)
        after_first = np.concatenate([[0], sums[1::2]])
        low = np.maximum(self.lowest - (sums[-1] - after_first), 0)
        return low.astype(np.int32), high.astype(np.int32)

    @property
    def work(self) -> int:
        low, high = self.cells_that_matter()
        return 2 * int((high[1:].astype(np.int64) - low[1:] + 1).sum())

    @property
    def traffic(self) -> int:
        """Cells that passes read and write in memory: a cell, that without one of the items, that without both."""
        low, high = (bounds[1:].astype(np.int64) for bounds in self.cells_that_matter())
        light, heavy = self.weights[::2], self.weights[1::2]
        reads = sum(np.maximum(high - np.maximum(low, weight) + 1, 0).sum() for weight in (light, light + heavy))
        return self.work + int(reads)


class KnapsackTable(TableStrategy):
    """One table; every rank computes a part of its capacities. For the parameters see `KnapsackSearch`.

    A row has ``padded`` cells, whole blocks. With ``bounds``, whole blocks too, rank r computes cells bounds[r] to
    bounds[r + 1] - 1. Without them this rank computes the whole row.
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
        self.backend, self.communicator, self.instance = backend, communicator, instance
        self.room, self.folder = room, folder
        self.numbers = instance.useful_items()
        # No selection is heavier than all items together.
        self.capacity = min(instance.capacity, int(instance.weights[self.numbers].sum(dtype=np.int64)))
        self.cut = cut = RowBlocking.of(backend.capabilities, team_size)
        self.padded, self.dtype = cut.padded(self.capacity), np.dtype(value_type(instance).dtype)
        parts = self.parts()
        self.work = sum(part.work for part in parts)
        self.part = part = parts[self.part_number]
        self.passes = part.passes
        needed, memory = 2 * self.padded * self.dtype.itemsize, backend.device.memory_bytes
        if memory and needed > memory:
            raise NoRoom(
                f"capacity {part.highest}: two rows of values need {needed} bytes, {backend.device.name} has {memory}"
            )
        self.bounds = self.bounds_of_ranks()
        left, right = (0, self.padded) if self.bounds is None else self.bounds[communicator.rank :][:2]
        self.own = kernels.Slice(left, right, 1, 1)
        self.words = self.padded // kernels.CELLS
        shares = -(-self.padded // cut.block // cut.share)
        # A wide device takes a team for every block as places come free; cores take turns.
        self.teams = shares if cut.team_size > 1 else min(shares, backend.capabilities.compute_units)
        low, high = part.cells_that_matter()
        weights, clock = part.weights.astype(np.int32), np.zeros(self.teams, np.int32)
        self.table = backend.load(kernels.Passes(weights, part.values, low, high, clock))
        self.share = backend.load(kernels.CapacityShare(np.ones(self.passes, np.int32), 1, 0))
        self.trace = backend.allocate(2, np.int32)
        self.chosen = backend.allocate(2 * self.passes, np.uint8)
        self.nothing = backend.allocate(1, np.uint32)
        self.row: list[DeviceArray] = []
        self.together: DeviceCollectives
        self.sequences: dict[tuple[int, int, int, bool], RecordedLaunches] = {}
        self.rows: DecisionRows | None = None

    @property
    def part_number(self) -> int:
        """Place of this rank's part among `parts`."""
        return 0

    def parts(self) -> Sequence[KnapsackPart]:
        """Return the items and cells of each table."""
        return [KnapsackPart.of(self.instance, self.numbers, self.dtype, self.capacity, self.capacity)]

    def bounds_of_ranks(self) -> list[int] | None:
        """Return bounds of the ranks' parts of a row, in whole blocks; the last parts of a short row are empty."""
        size, block = self.communicator.size, self.cut.block
        if size == 1:
            return None
        used_ranks = self.used_ranks(size)
        return [block * (self.padded // block * min(rank, used_ranks) // used_ranks) for rank in range(size + 1)]

    def used_ranks(self, ranks: int) -> int:
        """Return how many of some ranks have a part of a row."""
        least = max(LEAST_PART[self.cut.team_size > 1], self.cut.block)
        return max(1, min(ranks, self.padded // least))

    def warm_up(self, trace: bool) -> None:
        self.make_rows(self.backend.collectives(self.communicator))
        for tracing in (False, True):
            self.begin()  # a pass continues where the one before it ended, and there may be only one
            self.launch_pass(self.nothing, 1, 0, tracing, empty=True)
        self.follow(self.nothing, self.passes)

    def compute(self, run: TableRun) -> TableAnswer:
        together, ranks = self.backend.collectives(run.ranks), run.ranks
        self.queue_passes(together, run.trace, run.progress)
        value, chosen = self.finish(run, together)
        streamed_bytes = int(ranks.sum(self.rows.streamed_bytes if run.trace and self.rows is not None else 0))
        return TableAnswer(value, None if chosen is None else ranks.sum(chosen) > 0, streamed_bytes)

    def finish(self, run: TableRun, together: DeviceCollectives) -> tuple[int, np.ndarray | None]:
        """Return the largest value and, with a trace, this rank's chosen items, (n,), u8; all passes are queued."""
        owns = self.own.left <= self.part.highest < self.own.right
        value = int(run.ranks.sum(int(self.backend.read(self.last_row, self.part.highest, 1)[0]) if owns else 0))
        if not run.trace:
            return value, None
        self.select_none()
        trace_over_ranks(run.ranks, self.state_at(self.part.highest), self.follow_all)
        return value, self.selected()

    # --- passes ---

    def queue_passes(self, together: DeviceCollectives, trace: bool, progress: CountCallback | None) -> None:
        """Queue all passes; ``together`` are the collectives of the ranks."""
        self.make_rows(together)
        if trace and self.rows is None:
            self.rows = DecisionRows(self.backend, self.passes, 2 * self.words, self.room, self.folder)
        if self.bounds is not None:
            together.barrier()  # another rank may still read what the run before has left
        self.begin()
        rows = self.rows if trace else None
        chunk, most = self.passes if rows is None else rows.rows_per_chunk, BATCH if progress else self.passes
        for first, stop, buffer in spans_of_launches(rows, self.nothing, 0, self.passes, most):
            self.queue_span(buffer, chunk, first, stop, trace)
            if progress is not None:
                self.backend.synchronize()
                own, count = len(self.part.numbers), len(self.numbers)
                progress(max(2 * stop - self.part.spare, 0) * count // max(1, own), count)

    def queue_span(self, buffer: DeviceArray, passes_kept: int, first: int, end: int, trace: bool) -> None:
        """Queue the passes ``first`` to ``end`` - 1, whose decisions are in ``buffer``."""
        if self.bounds is None or self.together.is_silent or self.together.is_one_memory:
            self._replay(buffer, passes_kept, first, end, trace)
        else:
            for step in range(first, end):
                self.launch_pass(buffer, passes_kept, step % 2, trace)
                self._exchange(step % 2, step + 1)

    def make_rows(self, together: DeviceCollectives) -> None:
        is_made = bool(self.row) and (self.bounds is None or self.together is together)
        self.together = together
        if is_made:
            return
        self.row.clear()
        self.sequences.clear()
        for _ in range(2):
            if self.bounds is None:
                self.row.append(self.backend.allocate(self.padded, self.dtype))
            else:
                self.row.append(together.common(self.padded, self.dtype, self.bounds))

    @property
    def last_row(self) -> DeviceArray:
        return self.row[self.passes % 2]

    @property
    def free_row(self) -> DeviceArray:
        return self.row[1 - self.passes % 2]

    def begin(self) -> None:
        self.backend.launch(
            kernels.begin, 1, self.cut.team_size,
            self.table, self.row[0], self.trace, self.teams, 2 * self.passes - 1, self.part.highest,
        )  # fmt: skip

    def launch_pass(self, buffer: DeviceArray, passes_kept: int, parity: int, trace: bool, empty: bool = False) -> None:
        """Queue the next pass, which reads row ``parity``; an ``empty`` one computes nothing."""
        decisions = kernels.DecisionBits(buffer, self.words, passes_kept)
        own = kernels.Slice(self.own.left, self.own.left, 1, 1) if empty else self.own
        self.launch_part(decisions, own, parity, trace)

    def launch_part(self, decisions: kernels.DecisionBits, own: kernels.Slice, parity: int, trace: bool) -> None:
        self.backend.launch(
            kernels.add_two_items, self.teams, self.cut.team_size,
            self.table, self.row[parity], self.row[1 - parity], decisions, own, trace, self.cut.at_once, self.cut.share,
        )  # fmt: skip

    def _replay(self, buffer: DeviceArray, passes_kept: int, first: int, end: int, trace: bool) -> None:
        """Queue passes as recorded sequences of two, alternating between the two rows of values."""
        parity = first % 2
        for count, times in ((2, (end - first) // 2), (1, (end - first) % 2)):
            if times == 0:
                continue
            key = id(buffer), parity, count, trace
            if key not in self.sequences:
                with self.backend.record() as sequence:
                    for step in range(parity, parity + count):
                        self.launch_pass(buffer, passes_kept, step % 2, trace)
                        self._exchange(step % 2, 0)
                self.sequences[key] = sequence
            self.sequences[key].replay(times)

    def _exchange(self, parity: int, following: int) -> None:
        if self.bounds is not None:
            width = int(self.part.weights[2 * following : 2 * following + 2].sum())
            self.together.exchange(self.row[1 - parity], self.bounds, width)

    # --- tracing ---

    def follow(self, buffer: DeviceArray, first: int) -> None:
        decisions = kernels.DecisionBits(buffer, self.words, self.passes)
        self.backend.launch(
            kernels.trace_items, 1, 1,
            self.table, decisions, first, self.own.left, self.share, self.cut.team_size, self.trace, self.chosen,
        )  # fmt: skip

    def select_none(self) -> None:
        self.backend.write(self.chosen, np.zeros(2 * self.passes, np.uint8))

    def state_at(self, cell: int) -> np.ndarray:
        """Return the state of a trace from a cell of the last row; all decisions beyond the row's end are equal."""
        return np.array([2 * self.passes - 1, cell], np.int32)

    def follow_all(self, state: np.ndarray) -> np.ndarray:
        """Trace from this item and cell through this rank's cells; return the item and cell reached."""
        assert self.rows is not None
        self.backend.write(self.trace, state)
        for first, _, buffer in self.rows.chunks_backwards():
            self.follow(buffer, first)
        return np.asarray(self.backend.download(self.trace))

    def selected(self) -> np.ndarray:
        """Return the items that this rank has chosen: (n,), u8."""
        chosen = np.zeros(self.instance.n, np.uint8)
        chosen[self.part.numbers] = np.asarray(self.backend.download(self.chosen))[self.part.spare :]
        return chosen


class UndividedTable(KnapsackTable):
    """A table of one rank among others."""

    def bounds_of_ranks(self) -> None:
        """This rank computes the whole row."""
