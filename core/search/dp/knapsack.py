"""The 0-1 knapsack problem by dynamic programming (`oconnell2014`, section IV.B.2), its selection traced on the device.

Items are taken in order of weight (of equal weights the smaller number first), and one is taken only if that is
strictly better than leaving it: this rule makes the selection unique, whatever the backend, tiling and number of ranks.
The order also keeps the cells that a pass reads for its two items close together, in caches.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np

from core.errors import UserError
from core.kernels import knapsack as kernels
from core.lang import u32, u64
from core.problems.knapsack import Knapsack
from core.search.dp.knapsack_waves import KnapsackByWaves, KnapsackWaves, Progress
from core.search.dp.rows import DecisionRows

TILINGS = ("auto", "none")
TEAM_SIZE = 128
BLOCKS = 256
"""Neighbouring blocks of a team of one lane."""
BATCH = 64
"""Passes between two reports of progress: what is queued in between runs without the host."""


class Selection(NamedTuple):
    """What a search found.

    Attributes
    ----------
    value : int
        The largest value that fits.
    weight : int or None
        Of the selection; None if it was not traced.
    chosen : ndarray, shape (n,), bool, or None
        One selection of that value, by item number; None if it was not traced.
    optimal : bool
        Whether the value is proved to be the largest.
    cells : int
        Cells of the whole table, n * (capacity + 1), also those that nobody needs; 0 without a table.
    nodes : int
        Nodes of a branch and bound; 0 with a table.
    streamed_bytes : int
        Decisions that left the device for the host.
    digest : int
        64-bit digest of the value and the selection.

    """

    value: int
    weight: int | None
    chosen: np.ndarray | None
    optimal: bool
    cells: int
    nodes: int
    streamed_bytes: int
    digest: int


def selection(
    instance: Knapsack,
    value: int,
    chosen: np.ndarray | None,
    *,
    optimal: bool = True,
    cells: int = 0,
    nodes: int = 0,
    streamed_bytes: int = 0,
) -> Selection:
    """A `Selection` with its weight and digest."""
    weight = None if chosen is None else instance.weight_and_value(chosen)[0]
    found = hashlib.blake2b(str(value).encode(), digest_size=8)
    if chosen is not None:
        found.update(np.packbits(chosen).tobytes())
    digest = int.from_bytes(found.digest(), "big")
    return Selection(value, weight, chosen, optimal, cells, nodes, streamed_bytes, digest)


class KnapsackSearch:
    """Dynamic programming on one instance and one device per rank, ready to be repeated.

    Parameters
    ----------
    backend
        A `backends.base.Backend`.
    communicator
        A `cluster.Communicator`; every rank constructs and calls the same. Each rank computes a slice of the
        capacities. After every pass, two items, all ranks send their slices to all others, 4 or 8 bytes a
        capacity: results are equal, and a network is the limit. The trace goes from the rank of the largest
        capacities to that of the smallest in two integers.
    instance : Knapsack
    tiling
        ``auto``: passes of two items; ``none``: the paper's engine, a launch for every item, on one rank.
    room, folder
        See `core.search.dp.rows.DecisionRows`.
    team_size
        Lanes of a team; None: chosen for the device.

    Attributes
    ----------
    work : int
        Cells that a run computes, over all ranks: those of the table that matter.

    Raises
    ------
    UserError
        An unknown tiling; ``none`` over several ranks; two rows of values do not fit the device.

    """

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        instance: Knapsack,
        *,
        tiling: str = "auto",
        room: int | None = None,
        folder: str | None = None,
        team_size: int | None = None,
    ) -> None:
        if tiling not in TILINGS:
            raise UserError(f"tiling {tiling!r}; choose one of {', '.join(TILINGS)}")
        self.backend, self.communicator, self.instance = backend, communicator, instance
        self.tiling, self.room, self.folder = tiling, room, folder
        self.items = instance.useful_items()
        self.cells = instance.n * (instance.capacity + 1)
        self.value_type: Any = u32 if instance.upper_bound() < 2**32 else u64
        self.by_waves: KnapsackByWaves | None = None
        if tiling == "none":
            problem = KnapsackWaves(instance, self.items, self.value_type)
            self.by_waves = KnapsackByWaves(backend, communicator, problem, room, folder)
            self.work = len(self.items) * (instance.capacity + 1)
            return
        capability = backend.capabilities
        wide = capability.lanes_resident > 1
        self.team_size = min(TEAM_SIZE if wide else 1, capability.max_team_size) if team_size is None else team_size
        # A lone lane's words of neighbouring blocks lie in one cache line, which two cores should not share.
        self.at_once, self.share = (kernels.AT_ONCE, 1) if self.team_size > 1 else (1, BLOCKS)
        block = kernels.CELLS * self.team_size
        # No selection is heavier than all items together.
        self.capacity = min(instance.capacity, int(instance.weights[self.items].astype(np.int64).sum()))
        blocks = self.capacity // block + 1
        self.words = blocks * self.team_size
        shares = -(-blocks // self.share)
        # A wide device takes a team for every block as places come free; cores take turns.
        self.teams = shares if self.team_size > 1 else min(shares, capability.compute_units)
        rank, size = communicator.rank, communicator.size
        self.left, self.right = (rank_begin(self.capacity, r, size) for r in (rank, rank + 1))
        self._allocate(blocks * block)

    def _allocate(self, padded: int) -> None:
        """Tables of the items, which of their cells matter, and two rows of values."""
        backend, capacity = self.backend, self.capacity
        dtype = self.value_type.dtype
        needed = 2 * padded * dtype.itemsize
        memory = backend.device.memory_bytes
        if memory and needed > memory:
            raise UserError(
                f"capacity {capacity}: two rows of values need {needed} bytes, {backend.device.name} has {memory}"
            )
        self.passes = max(1, -(-len(self.items) // 2))
        weights, values = np.zeros(2 * self.passes, np.int64), np.zeros(2 * self.passes, dtype)
        self.spare = 2 * self.passes - len(self.items)  # items of no weight and no value, in front
        weights[self.spare :] = self.instance.weights[self.items]
        values[self.spare :] = self.instance.values[self.items]
        low, high = cells_that_matter(weights, capacity)
        clock = np.zeros(self.teams, np.int32)
        self.table = backend.load(kernels.Passes(weights.astype(np.int32), values, low, high, clock))
        self.trace = backend.allocate(2, np.int32)
        self.chosen = backend.allocate(2 * self.passes, np.uint8)
        self.row = [backend.allocate(padded, dtype) for _ in range(2)]
        self.whole = np.zeros(padded if self.communicator.size > 1 else 0, dtype)
        self.nothing = backend.allocate(1, np.uint32)
        self.last_cell = int(high[-1])
        self.work = 2 * int((high[1:].astype(np.int64) - low[1:] + 1).sum())
        self.sequences: dict[Any, Any] = {}
        self.rows: DecisionRows | None = None

    work_unit = "cells"

    def warm_up(self) -> None:
        """Compile everything; the time counts as the backend's compilation."""
        if self.by_waves is not None:
            return
        with self.backend.warming_up():
            for tracing in (False, True):
                self._begin()  # a pass goes on where the one before it ended, and there may be only one
                self.backend.launch(*self._pass(self.nothing, 1, 0, tracing, empty=True))
            self._follow(self.nothing, self.passes, 0)

    def run(self, trace: bool = True, progress: Progress | None = None) -> Selection:
        """Find the largest value, and with ``trace`` a selection that has it."""
        if self.by_waves is not None:
            value, chosen, streamed = self.by_waves.run(trace, progress)
            return selection(self.instance, value, chosen, cells=self.cells, streamed_bytes=streamed)
        self._begin()
        if trace and self.rows is None:
            self.rows = DecisionRows(self.backend, self.passes, 2 * self.words, self.room, self.folder)
        for first in range(0, self.passes, self.rows.rows_per_chunk if trace and self.rows else self.passes):
            self._compute(first, self.rows if trace else None, progress)
        value = int(self.backend.read(self.row[self.passes % 2], self.last_cell, 1)[0])
        chosen = self._traced(self.rows) if trace and self.rows else None
        streamed = self.rows.streamed_bytes if trace and self.rows else 0
        streamed = int(self.communicator.sum(streamed))
        return selection(self.instance, value, chosen, cells=self.cells, streamed_bytes=streamed)

    # --- passes ---

    def _begin(self) -> None:
        self.backend.launch(
            kernels.begin, 1, self.team_size,
            self.table, self.row[0], self.trace, self.teams, 2 * self.passes - 1, self.capacity,
        )  # fmt: skip

    def _pass(self, kept: Any, passes_kept: int, parity: int, tracing: bool, empty: bool = False) -> tuple[Any, ...]:
        """The launch of a pass that reads row ``parity``."""
        decisions = kernels.Decisions(kept, self.words, passes_kept)
        own = kernels.Slice(self.left, self.left if empty else self.right)
        return (
            kernels.two_items, self.teams, self.team_size,
            self.table, self.row[parity], self.row[1 - parity], decisions, own, tracing, self.at_once, self.share,
        )  # fmt: skip

    def _compute(self, first: int, rows: DecisionRows | None, progress: Progress | None) -> None:
        """Queue the passes from ``first`` to the end, or to the end of its chunk of rows."""
        passes_kept = rows.rows_per_chunk if rows is not None else self.passes
        end = min(self.passes, first + passes_kept)
        kept = rows.place(first)[0] if rows is not None else self.nothing
        at = first
        while at < end:
            until = end if progress is None else min(end, at + BATCH)
            if self.communicator.size > 1:
                for step in range(at, until):
                    self.backend.launch(*self._pass(kept, passes_kept, step % 2, rows is not None))
                    self._put_together(self.row[(step + 1) % 2])
            else:
                self._queue(kept, passes_kept, at, until, rows is not None)
            at = until
            if progress is not None:
                self.backend.synchronize()
                progress(max(2 * at - self.spare, 0), len(self.items))
        if rows is not None:
            rows.close_row(end - 1)

    def _queue(self, kept: Any, passes_kept: int, first: int, end: int, tracing: bool) -> None:
        """Queue passes as a recorded sequence of two, there and back between the two rows of values."""
        parity = first % 2
        key = id(kept), parity, tracing
        if key not in self.sequences:
            with self.backend.record() as sequence:
                for which in (parity, 1 - parity):
                    self.backend.launch(*self._pass(kept, passes_kept, which, tracing))
            self.sequences[key] = sequence
        self.sequences[key].replay((end - first) // 2)
        if (end - first) % 2:
            self.backend.launch(*self._pass(kept, passes_kept, parity, tracing))

    def _put_together(self, row: Any) -> None:
        """Make a row of values whole on all ranks."""
        mine = self.backend.read(row, self.left, self.right - self.left)
        self.whole[: self.capacity + 1] = self.communicator.join(mine)
        self.backend.write(row, self.whole)

    # --- tracing ---

    def _follow(self, kept: Any, first: int, left: int) -> None:
        decisions = kernels.Decisions(kept, self.words, self.passes)
        self.backend.launch(
            kernels.follow, 1, 1,
            self.table, decisions, first, left, self.team_size, self.trace, self.chosen,
        )  # fmt: skip

    def _traced(self, rows: DecisionRows) -> np.ndarray:
        """The selection; from rank to rank, since capacities left only become smaller."""
        backend, ranks = self.backend, self.communicator
        backend.write(self.chosen, np.zeros(2 * self.passes, np.uint8))
        for rank in reversed(range(ranks.size)):
            if rank == ranks.rank:
                for first, _, kept in rows.chunks_backwards():
                    self._follow(kept, first, self.left)
            if ranks.size > 1:
                state = backend.download(self.trace)
                backend.write(self.trace, ranks.sum(state if rank == ranks.rank else np.zeros_like(state)))
        taken = ranks.sum(backend.download(self.chosen))[self.spare :]
        chosen = np.zeros(self.instance.n, bool)
        chosen[self.items[taken > 0]] = True
        return chosen


def cells_that_matter(weights: np.ndarray, capacity: int) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest cell of interest before the first pass and after each.

    Above the weight of all items so far nothing changes any more, and the trace comes down from the capacity by no more
    than the weight of the items after the pass's first.

    Parameters
    ----------
    weights : ndarray, shape (2 * passes,), int64
    capacity : int
        At most the sum of all weights.

    Returns
    -------
    low, high : ndarray, shape (passes + 1,), int32
    """
    sums = np.concatenate([[0], np.cumsum(weights)])
    high = np.minimum(sums[::2], capacity)
    after_first = np.concatenate([[0], sums[1::2]])
    low = np.maximum(capacity - (sums[-1] - after_first), 0)
    return low.astype(np.int32), high.astype(np.int32)


def rank_begin(capacity: int, rank: int, size: int) -> int:
    """First capacity of a rank's slice."""
    return (capacity + 1) * rank // size
