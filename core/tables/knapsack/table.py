"""One table of a knapsack on one device, or of parts of the capacities on several: its rows, passes and decisions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.errors import NoRoom
from core.lang import u32, u64
from core.lang.types import Scalar
from core.run.devices import ComputeDevice, DeviceArray, DeviceCollectives, DeviceLimits, RecordedLaunches
from core.run.protocol import CountCallback
from core.tables.engine.decisions import DecisionRows, spans_of_launches
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


class KnapsackTableItems(NamedTuple):
    """Numbers, weights and values of items, two to a pass; spare items in front, of value 0, fill up the first pass."""

    numbers: np.ndarray
    weights: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, instance: Knapsack, numbers: np.ndarray, dtype: np.dtype) -> KnapsackTableItems:
        slots = 2 * max(1, -(-len(numbers) // 2))
        weights, values = np.zeros(slots, np.int64), np.zeros(slots, dtype)
        weights[slots - len(numbers) :] = instance.weights[numbers]
        values[slots - len(numbers) :] = instance.values[numbers]
        return cls(numbers, weights, values)

    @property
    def spare(self) -> int:
        return len(self.weights) - len(self.numbers)

    @property
    def passes(self) -> int:
        return len(self.weights) // 2


class KnapsackPart(NamedTuple):
    """The items of a table in the order of the passes, and the cells ``lowest`` to ``highest`` of its last row."""

    items: KnapsackTableItems
    lowest: int
    highest: int

    def cells_that_matter(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the lowest and highest cell of interest before the first pass and after each: (passes + 1,), i32 each.

        Above the weight of all items so far no value changes. The trace starts at the lowest requested cell and goes
        down by at most the weight of the items after the pass's first.
        """
        sums = np.concatenate([[0], np.cumsum(self.items.weights)])
        high = np.minimum(sums[::2], self.highest)
        after_first = np.concatenate([[0], sums[1::2]])
        low = np.maximum(self.lowest - (sums[-1] - after_first), 0)
        return low.astype(np.int32), high.astype(np.int32)

    @property
    def work(self) -> int:
        low, high = self.cells_that_matter()
        return 2 * int((high[1:].astype(np.int64) - low[1:] + 1).sum())


class KnapsackTable:
    """The passes over some items, ready to be repeated.

    A row has ``padded`` cells, whole blocks. With ``bounds``, whole blocks too, rank r computes cells bounds[r] to
    bounds[r + 1] - 1. See `core.tables.engine.decisions.DecisionRows` for room and folder.
    """

    def __init__(
        self,
        backend: ComputeDevice,
        part: KnapsackPart,
        cut: RowBlocking,
        padded: int,
        *,
        bounds: list[int] | None = None,
        rank: int = 0,
        room: int | None = None,
        folder: str | None = None,
    ) -> None:
        self.backend, self.items, self.cut, self.bounds = backend, part.items, cut, bounds
        self.highest, self.padded, self.room, self.folder = part.highest, padded, room, folder
        self.own = kernels.Slice(0, padded) if bounds is None else kernels.Slice(bounds[rank], bounds[rank + 1])
        self.words = padded // kernels.CELLS
        shares = -(-padded // cut.block // cut.share)
        # A wide device takes a team for every block as places come free; cores take turns.
        self.teams = shares if cut.team_size > 1 else min(shares, backend.capabilities.compute_units)
        items, self.passes, self.dtype = part.items, part.items.passes, part.items.values.dtype
        needed, memory = 2 * padded * self.dtype.itemsize, backend.device.memory_bytes
        if memory and needed > memory:
            raise NoRoom(
                f"capacity {part.highest}: two rows of values need {needed} bytes, {backend.device.name} has {memory}"
            )
        low, high = part.cells_that_matter()
        clock = np.zeros(self.teams, np.int32)
        self.table = backend.load(kernels.Passes(items.weights.astype(np.int32), items.values, low, high, clock))
        self.trace = backend.allocate(2, np.int32)
        self.chosen = backend.allocate(2 * self.passes, np.uint8)
        self.nothing = backend.allocate(1, np.uint32)
        self.row: list[DeviceArray] = []
        self.together: DeviceCollectives
        self.sequences: dict[tuple[int, int, int, bool], RecordedLaunches] = {}
        self.rows: DecisionRows | None = None

    # --- passes ---

    def compute(self, together: DeviceCollectives, trace: bool, progress: CountCallback | None = None) -> None:
        """Queue all passes.

        ``together`` are the collectives of the ranks, and ``progress`` gets the numbers of finished and of all items.
        """
        self.make_rows(together)
        if trace and self.rows is None:
            self.rows = DecisionRows(self.backend, self.passes, 2 * self.words, self.room, self.folder)
        if self.bounds is not None:
            together.barrier()  # another rank may still read what the run before has left
        self.begin()
        rows = self.rows if trace else None
        chunk, most = self.passes if rows is None else rows.rows_per_chunk, BATCH if progress else self.passes
        for first, stop, buffer in spans_of_launches(rows, self.nothing, 0, self.passes, most):
            if self.bounds is None or self.together.is_silent or self.together.is_one_memory:
                self._replay(buffer, chunk, first, stop, trace)
            else:
                for step in range(first, stop):
                    self.launch_pass(buffer, chunk, step % 2, trace)
                    self._exchange(step % 2, step + 1)
            if progress is not None:
                self.backend.synchronize()
                progress(max(2 * stop - self.items.spare, 0), len(self.items.numbers))

    def make_rows(self, together: DeviceCollectives) -> None:
        if self.row and (self.bounds is None or self.together is together):
            return
        self.together = together
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

    @property
    def streamed_bytes(self) -> int:
        return self.rows.streamed_bytes if self.rows is not None else 0

    def begin(self) -> None:
        self.backend.launch(
            kernels.begin, 1, self.cut.team_size,
            self.table, self.row[0], self.trace, self.teams, 2 * self.passes - 1, self.highest,
        )  # fmt: skip

    def launch_pass(self, buffer: DeviceArray, passes_kept: int, parity: int, trace: bool, empty: bool = False) -> None:
        """Queue the next pass, which reads row ``parity``; an ``empty`` one computes nothing."""
        decisions = kernels.DecisionBits(buffer, self.words, passes_kept)
        own = kernels.Slice(self.own.left, self.own.left) if empty else self.own
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
            width = int(self.items.weights[2 * following : 2 * following + 2].sum())
            self.together.exchange(self.row[1 - parity], self.bounds, width)

    # --- tracing ---

    def follow(self, buffer: DeviceArray, first: int) -> None:
        decisions = kernels.DecisionBits(buffer, self.words, self.passes)
        self.backend.launch(
            kernels.trace_items, 1, 1,
            self.table, decisions, first, self.own.left, self.cut.team_size, self.trace, self.chosen,
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
        """Return the chosen items: (n,), u8, in the order of `KnapsackTableItems.numbers`."""
        return np.asarray(self.backend.download(self.chosen))[self.items.spare :]
