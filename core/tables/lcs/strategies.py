"""Strategies for a longest common subsequence by bit-parallel tables: its length by one table, and stored bits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.run.devices import ComputeDevice, Ranks
from core.tables.engine.recurrences import TableAnswer
from core.tables.engine.table_search import TableRun, trace_over_ranks
from core.tables.lcs.kernels import COLUMN, COLUMNS, EVERY_ROW
from core.tables.lcs.table import Alphabet, CarryRanks, LcsBlock, LcsLaunchShape, LcsTable, LcsTableLayout, layout_for

Follow = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Traces from a cell; returns matched positions, ascending, (count, 2), i64, and the cell reached."""


@dataclass(frozen=True)
class LcsInput:
    """Two strings on one rank, its device, and memory for the bits of a trace.

    Bits may take ``room`` bytes of the device. Others go to a file in ``folder``, or, without one, to ``host_bytes`` of
    the host's memory. The rank in the ``communicator`` determines its columns.
    """

    backend: ComputeDevice
    communicator: Ranks
    a: np.ndarray
    b: np.ndarray
    alphabet: Alphabet
    room: int
    host_bytes: int
    folder: str | None = None
    shape: LcsLaunchShape | None = None

    @property
    def columns(self) -> slice:
        """This rank's columns, in whole words."""
        share = -(-self.b.size // (COLUMNS * self.communicator.size)) * COLUMNS
        begin, end = (min(self.b.size, share * (self.communicator.rank + side)) for side in range(2))
        return slice(begin, end)

    @property
    def block(self) -> LcsBlock:
        return LcsBlock(self.a, self.b[self.columns])

    def layout(self, room: int | None = None, strips: int | None = None) -> LcsTableLayout:
        size, shape = self.block.b.size, None if strips else self.shape
        limits, ranks = self.backend.capabilities, self.communicator.size
        return layout_for(limits, self.a.size, size, room=room, strips=strips, ranks=ranks, shape=shape)

    def fits(self, ranks: Ranks) -> bool:
        """Return True, on all ranks alike, if the bits of the whole table can be kept."""
        layout = self.layout(self.room)
        too_large = self.folder is None and layout.kept_bytes > self.room + self.host_bytes
        return int(ranks.sum(int(too_large or not layout.fits_launches(self.room)))) == 0


class LcsStrategy:
    """One algorithm for the strings of ``given``; it is made by all ranks."""

    def __init__(self, given: LcsInput, ranks: Ranks) -> None:
        self.given = given

    def serves(self, ranks: Ranks) -> bool:
        """Return True if the strategy can be repeated with this communicator."""
        return True

    def compute(self, run: TableRun) -> TableAnswer:
        raise NotImplementedError


class LcsLength(LcsStrategy):
    """The length alone, by one rank: the growth of the last row."""

    def __init__(self, given: LcsInput, ranks: Ranks) -> None:
        super().__init__(given, ranks)
        self.table = LcsTable(given.backend, given.alphabet, given.block, given.layout())

    def compute(self, run: TableRun) -> TableAnswer:
        self.table.compute(run.progress)
        return TableAnswer(self.table.zeros(), method="length only")


class LcsTraceOverRanks(LcsStrategy):
    """A table with carries from rank to rank, left to right, and a trace from the last rank to the first."""

    method: str
    streamed_bytes = 0

    def table_and_trace(self, run: TableRun) -> tuple[int, Follow]:
        """Compute this rank's columns. Return by how much the last row grows in them, and the trace through them."""
        raise NotImplementedError

    def carry_ranks(self, ranks: Ranks, layout: LcsTableLayout) -> CarryRanks:
        left = ranks.rank - 1 if ranks.rank > 0 else None
        right = ranks.rank + 1 if ranks.rank < ranks.size - 1 else None
        return CarryRanks.of(self.given.backend, ranks, layout, left, right)

    def compute(self, run: TableRun) -> TableAnswer:
        columns, ranks = self.given.columns, run.ranks
        growth, trace = self.table_and_trace(run)
        last_cell = np.array([self.given.a.size, 0, 0, ranks.sum(growth)], np.int32)
        own_pairs = np.empty((0, 2), np.int64)

        def through(entry: np.ndarray) -> np.ndarray:
            nonlocal own_pairs
            entry[COLUMN] = columns.stop - columns.start
            own_pairs, reached = trace(entry)
            return reached

        trace_over_ranks(ranks, last_cell, through)
        own_pairs[:, 1] += columns.start
        pairs = np.asarray(ranks.join(own_pairs.reshape(-1))).reshape(-1, 2)
        return TableAnswer(len(pairs), pairs, int(ranks.sum(self.streamed_bytes)), self.method)


class LcsStoredBits(LcsTraceOverRanks):
    """A trace by the bits of all rows."""

    method = "stored bits"

    def __init__(self, given: LcsInput, ranks: Ranks) -> None:
        super().__init__(given, ranks)
        self.table = LcsTable(
            given.backend, given.alphabet, given.block, given.layout(given.room), EVERY_ROW,
            room=given.room, folder=given.folder,
        )  # fmt: skip
        self.streamed_bytes = self.table.streamed_bytes

    def table_and_trace(self, run: TableRun) -> tuple[int, Follow]:
        self.table.compute(run.progress, self.carry_ranks(run.ranks, self.table.layout))
        return self.table.zeros(), self.table.trace
