"""Tracing a longest common subsequence in less memory than the bits of its table: block by block along the trace.

The whole table is computed once; some of its rows and the carries into some columns are kept. They cut it into blocks,
and with the row above and the carries from the left any block can be computed again alone. Only the blocks on the trace
are, the last first, with all of their bits, so the trace is the one of the whole table. A block with too many bits is
cut in the same way.

Checkpoints in place of Hirschberg's division (CACM 18(6), 1975), which finds another of several equal subsequences and
computes the table about twice: here it is once, and some 2 / sqrt(blocks) of it again.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from core.ranks import Ranks
from core.tables.engine.table_search import TableRun
from core.tables.lcs.kernels import COLUMN, COLUMNS, EVERY_ROW, GROWS, LEFT, ROW, ROWS, SOME_ROWS
from core.tables.lcs.strategies import Follow, LcsInput, LcsTraceOverRanks
from core.tables.lcs.table import LcsBlock, LcsTable, LcsTableLayout, layout_for

LEAST_STRIPS = 8
"""Least number of strips of a table that is cut, if it has as many words: cuts are between strips."""


class LcsBlockTable:
    """A block's table that keeps rows ``stretch`` batches apart, and carries into columns ``group`` strips apart."""

    def __init__(self, given: LcsInput, block: LcsBlock, layout: LcsTableLayout, stretch: int, group: int) -> None:
        self.block, self.layout, self.stretch, self.group = block, layout, stretch, group
        self.table = LcsTable(given.backend, given.alphabet, block, layout, SOME_ROWS, stretch=stretch)
        self.rows: dict[int, np.ndarray] = {}
        self.carries: dict[int, np.ndarray] = {}

    def keep(self) -> None:
        table, batches = self.table, self.layout.batches
        words = table.first.size
        for k in range(self.stretch, batches, self.stretch):
            self.rows[k * ROWS] = table.backend.read(table.marks, (k // self.stretch - 1) * words, words)
        self.rows[batches * ROWS] = table.row()
        shape = self.layout.shape
        for strip in range(self.group, shape.strips, self.group):
            self.carries[strip * shape.strip_columns] = table.entering(strip)

    def around(self, row: int, column: int) -> tuple[int, int, LcsBlock]:
        """Return the first row and column, both at least 1, of the block that ends at a cell, and the block."""
        above = max((k for k in self.rows if k < row), default=0)
        left = max((k for k in self.carries if k < column), default=0)
        words = slice(left // COLUMNS, -(-column // COLUMNS))
        first = self.rows[above] if above else self.block.above
        carries = self.carries[left] if left else self.block.entering
        return above, left, LcsBlock(
            self.block.a[above:row],
            self.block.b[left:column],
            None if first is None else first[words],
            None if carries is None else carries[above // ROWS :],
        )  # fmt: skip


class LcsBlocks(LcsTraceOverRanks):
    """A trace through blocks of the table.

    A block's bits may take all memory for bits, on the device and on the host, and its marks a quarter of the host's.
    """

    method = "stored bits, in blocks"

    def __init__(self, given: LcsInput, ranks: Ranks) -> None:
        super().__init__(given, ranks)
        self.room, self.most_bytes = given.room, given.room + given.host_bytes
        self.most_marks = given.host_bytes // 4

    def table_and_trace(self, run: TableRun) -> tuple[int, Follow]:
        self.streamed_bytes = 0
        marked = self.marked(self.given.block, self.given.layout(strips=LEAST_STRIPS))
        marked.table.compute(run.progress, self.carry_ranks(run.ranks, marked.layout))
        marked.keep()
        marked.block = marked.block._replace(entering=marked.table.entering(0))
        return marked.table.zeros(), partial(self.follow, marked)

    def layout(self, rows: int, columns: int) -> LcsTableLayout:
        return layout_for(self.given.backend.capabilities, rows, columns, room=self.room)

    def fits(self, rows: int, columns: int) -> bool:
        layout = self.layout(rows, columns)
        return layout.fits_launches(self.room) and layout.kept_bytes <= self.most_bytes

    def marked(self, block: LcsBlock, layout: LcsTableLayout) -> LcsBlockTable:
        """Return the block's table, cut into parts that fit if there is memory for the marks."""
        strip = layout.shape.strip_columns
        stretch, group = self.halved(layout.batches, layout.shape.strips, strip)  # at least once: it must get smaller
        while not self.fits(stretch * ROWS, group * strip):
            finer = self.halved(stretch, group, strip)
            if finer == (stretch, group) or self.marks_bytes(layout, *finer) > self.most_marks:
                break
            stretch, group = finer
        return LcsBlockTable(self.given, block, layout, stretch, group)

    def halved(self, stretch: int, group: int, strip: int) -> tuple[int, int]:
        """Halve the longer side of a part, or its columns if they are too many for a launch."""
        rows, columns = stretch * ROWS, group * strip
        by_columns = columns >= rows or not self.layout(rows, columns).fits_launches(self.room)
        if group > 1 and (by_columns or stretch == 1):
            return stretch, -(-group // 2)
        return -(-stretch // 2), group

    @staticmethod
    def marks_bytes(layout: LcsTableLayout, stretch: int, group: int) -> int:
        shape = layout.shape
        rows = -(-layout.batches // stretch) * 8 * shape.strips * shape.lanes * shape.words
        return rows + shape.strips // group * layout.batches * 4

    def trace(self, block: LcsBlock, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows, columns = len(block.a), len(block.b)
        layout = layout_for(self.given.backend.capabilities, rows, columns, strips=LEAST_STRIPS)
        is_divisible = layout.shape.strips > 1 or layout.batches > 1
        if self.fits(rows, columns) or not is_divisible:
            layout = self.layout(rows, columns)
            table = LcsTable(self.given.backend, self.given.alphabet, block, layout, EVERY_ROW, room=self.room)
            table.compute()
            pairs, reached = table.trace(state)
            self.streamed_bytes += table.streamed_bytes
            return pairs, reached
        marked = self.marked(block, layout)
        marked.table.compute()
        marked.keep()
        return self.follow(marked, state)

    def follow(self, marked: LcsBlockTable, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found_pairs: list[np.ndarray] = []
        i, j, grows, pairs_left = (int(word) for word in state)
        del marked.table  # its memory is the parts' now
        while i > 0 and j > 0 and pairs_left > 0:
            above, left, part = marked.around(i, j)
            most_pairs = min(pairs_left, i - above, j - left)
            pairs, reached = self.trace(part, np.array([i - above, j - left, grows, most_pairs], np.int32))
            found_pairs.append(pairs + (above, left))
            i, j, grows = above + int(reached[ROW]), left + int(reached[COLUMN]), int(reached[GROWS])
            pairs_left -= most_pairs - int(reached[LEFT])
        pairs = np.concatenate(found_pairs[::-1]) if found_pairs else np.empty((0, 2), np.int64)
        return pairs, np.array([i, j, grows, pairs_left], np.int32)
