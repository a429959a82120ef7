"""The length of a longest common subsequence, by ranks that come from both ends of the strings and meet in the middle.

Hirschberg (CACM 18(6), 1975) joins the table of the first rows with that of the last, computed backwards: on any line
that cuts the table into an upper left and a lower right part, the largest sum of both is the length. Here the line is
the place of the wave of `core.tables.lcs.kernels` when half of the work is done: a stair that rises from strip to
strip. So one wave comes from each end, both end at the same time, each with half of the launches, without earlier
communication. With a row in the middle each wave would have half of the rows but all strips to pass, which is half of
the time of a table that one GPU computes easily.

Half of the ranks share each wave: columns in strips, carries from rank to rank.
"""

from __future__ import annotations

from bisect import bisect_left
from math import lcm
from typing import NamedTuple

import numpy as np

from core.ranks import Ranks, gather_on_all
from core.tables.engine.recurrences import TableAnswer
from core.tables.engine.table_search import TableRun
from core.tables.lcs.kernels import COLUMNS, ROWS
from core.tables.lcs.strategies import LcsInput, LcsStrategy
from core.tables.lcs.table import (
    LAUNCHES_PER_STRIP,
    CarryRanks,
    LcsBlock,
    LcsLaunchShape,
    LcsTable,
    LcsTableLayout,
    shape_for,
)


class Stair(NamedTuple):
    """Line between the cells of the wave from the upper left and those of the wave from the lower right.

    There are ``batches`` of rows and ``strips`` of columns. The first wave computes the first ``reach - s * slope``
    batches of strip s, or none or all of them.
    """

    strips: int
    words: int
    batches: int
    reach: int
    slope: int

    @property
    def ends(self) -> np.ndarray:
        """Batches of each strip that the first wave computes: (strips,), i64, not increasing."""
        return np.clip(self.reach - self.slope * np.arange(self.strips), 0, self.batches)

    def from_end(self) -> Stair:
        """Return the same line for the other wave, which numbers strips and batches from the end."""
        return self._replace(reach=self.batches - self.reach + self.slope * (self.strips - 1))

    @classmethod
    def partition(cls, strips: int, words: int, batches: int, slope: int, first: int, second: int) -> Stair:
        """Return the line that divides the work as ``first`` to ``second``."""
        work = strips * batches * first

        def is_enough(reach: int) -> bool:
            return int(cls(strips, words, batches, reach, slope).ends.sum()) * (first + second) >= work

        reach = bisect_left(range(batches + slope * (strips - 1)), True, key=is_enough)
        return cls(strips, words, batches, reach, slope)


class WavePart(NamedTuple):
    """Strips of a rank, as its own wave numbers them, and the neighbouring ranks in the wave, or None."""

    from_end: bool
    first: int
    end: int
    left: int | None
    right: int | None

    def words(self, stair: Stair) -> slice:
        """Return the words of these strips, counted from the left end of the table."""
        first, end = (stair.strips - self.end, stair.strips - self.first) if self.from_end else (self.first, self.end)
        return slice(first * stair.words, end * stair.words)


def wave_part(rank: int, size: int, strips: int) -> WavePart | None:
    """Return the part of a rank among at least two; None if it has no strip."""
    forward = size - size // 2
    from_end = rank >= forward
    begin, used_ranks = (forward, size - forward) if from_end else (0, forward)
    used_ranks = min(used_ranks, strips)
    k = rank - begin
    if k >= used_ranks:
        return None
    first, end = (strips * (k + side) // used_ranks for side in range(2))
    return WavePart(from_end, first, end, rank - 1 if k > 0 else None, rank + 1 if k < used_ranks - 1 else None)


class LcsFromBothEnds(LcsStrategy):
    """The length alone, by at least two ranks."""

    def __init__(self, given: LcsInput, ranks: Ranks) -> None:
        super().__init__(given, ranks)
        self.ranks = ranks
        backend, shape = given.backend, given.shape
        words, batches = -(-given.b.size // COLUMNS), -(-given.a.size // ROWS)
        forward, backward = ranks.size - ranks.size // 2, ranks.size // 2
        if shape is None:
            # Strips that both halves of the ranks can share evenly, up to a limit.
            strips = min(lcm(forward, backward), LAUNCHES_PER_STRIP * forward)
            shape = shape_for(backend.capabilities, words, batches, strips=strips)
        width = shape.lanes * shape.words
        shapes = gather_on_all(ranks, (width, shape.delay * shape.steps))
        self.alike = len(set(shapes)) == 1
        # Strips of unlike devices do not fit each other: there the line is a row.
        width, slope = shapes[0] if self.alike else (1, 0)
        self.stair = Stair.partition(-(-words // width), width, batches, slope, forward, backward)
        self.places = StairPieces(self.stair)
        self.part = part = wave_part(ranks.rank, ranks.size, self.stair.strips)
        self.line = self.stair.from_end() if part and part.from_end else self.stair
        layout = LcsTableLayout(shape, batches) if part is None else self.own_layout(part, shape)
        self.neighbours: CarryRanks | None = None
        if ranks.size > 2:  # else this rank has no neighbour in its wave
            neighbours = (None, None) if part is None else (part.left, part.right)
            self.neighbours = CarryRanks.of(backend, ranks, layout, *neighbours)
        self.table: LcsTable | None = None
        if part is not None:
            own = part.words(self.stair)
            b = given.b[own.start * COLUMNS : own.stop * COLUMNS]
            self.table = LcsTable(backend, given.alphabet, LcsBlock(given.a, b, from_end=part.from_end), layout)

    def serves(self, ranks: Ranks) -> bool:
        return ranks is self.ranks

    def own_layout(self, part: WavePart, shape: LcsLaunchShape) -> LcsTableLayout:
        _, words, batches, reach, slope = self.line
        count = part.end - part.first
        if self.alike:
            shape = shape._replace(strips=count)
        else:
            shape = shape_for(self.given.backend.capabilities, count * words, batches, ranks=self.ranks.size)
        return LcsTableLayout(shape, batches, reach - slope * part.first, slope)

    def compute(self, run: TableRun) -> TableAnswer:
        pieces = np.zeros((2, self.places.count), np.uint64)
        if self.table is not None and self.part is not None:
            self.table.compute(run.progress, self.neighbours)
            self.lay_out(self.table, self.part, pieces)
        self.ranks.reduce(pieces, "sum")
        return TableAnswer(self.places.largest_sum(*pieces), method="length only")

    def lay_out(self, table: LcsTable, part: WavePart, pieces: np.ndarray) -> None:
        """Write this rank's part of the line, along which its table grows."""
        places, stair = self.places, self.stair
        of_words, of_rises = pieces[::-1] if part.from_end else pieces
        words, row = places.words[part.words(stair)], ~table.row()
        of_words[words] = (reverse_bits(row) if part.from_end else row)[: words.size]
        last = min(part.end, stair.strips - 1)
        low, high = (int(self.line.ends[strip]) for strip in (last, part.first))
        if low == high:
            return
        rises, top = table.rises(last - part.first)[low:high], int(stair.ends[0])
        if part.from_end:
            of_rises[places.rises[top - stair.batches + low : top - stair.batches + high]] = rises
        else:
            of_rises[places.rises[top - high : top - low]] = reverse_bits(rises)


class StairPieces:
    """The pieces of a stair from its lower left end to its upper right one: words of columns, and batches of rows.

    To the right, the sum grows with the first table's row, and shrinks with the other's; upwards the reverse. ``words``
    has the places of all words from the left, and ``rises`` those of the batches between the ends of neighbouring
    strips, from below.
    """

    def __init__(self, stair: Stair) -> None:
        ends = stair.ends
        strips = np.arange(stair.strips)
        before = (ends[0] - ends).repeat(stair.words)
        self.words = np.arange(before.size) + before
        left_of = (strips[1:] * stair.words).repeat(ends[:-1] - ends[1:])
        self.rises = left_of + np.arange(left_of.size)
        self.count = self.words.size + self.rises.size

    def largest_sum(self, more: np.ndarray, fewer: np.ndarray) -> int:
        """Return the largest sum of both tables at any point of the line.

        The sum grows by 1 at the bits of ``more``, and shrinks at those of ``fewer``; both (count,), u64: a bit for
        each column or row of a piece.
        """
        up, down = (np.bitwise_count(bits).astype(np.int64) for bits in (more, fewer))
        after = np.cumsum(up - down)
        # At the right end the other table is empty, and so is the first one at the left end.
        end = int(up[self.words].sum() - down[self.rises].sum())
        begin = end - int(after[-1])
        before = begin + np.concatenate([[0], after[:-1]])
        best = max(begin, begin + int(after.max()))
        near = np.flatnonzero(before + up > best)
        if near.size == 0:
            return best
        steps = [np.unpackbits(bits[near].view(np.uint8), bitorder="little").astype(np.int8) for bits in (more, fewer)]
        within = np.cumsum((steps[0] - steps[1]).reshape(near.size, COLUMNS), axis=1, dtype=np.int64)
        return max(best, int((before[near, None] + within).max()))


def reverse_bits(words: np.ndarray) -> np.ndarray:
    swapped = np.packbits(np.unpackbits(words.view(np.uint8), bitorder="little"), bitorder="big")
    return np.ascontiguousarray(swapped[::-1]).view(words.dtype)
