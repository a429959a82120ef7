"""The length of a longest common subsequence, by ranks that come from both ends of the strings and meet in the middle.

Hirschberg (CACM 18(6), 1975) joins the table of the first rows with that of the last, computed backwards: on any line
that cuts the table into an upper left and a lower right part, the largest sum of both is the length. For two ranks the
line is the place of the wave of `core.tables.lcs.kernels` when half of the work is done: a stair that rises from strip
to strip. So one wave comes from each end, both end at the same time, each with half of the launches, without earlier
communication. With a row in the middle each wave would have half of the rows but all strips to pass, which is half of
the time of a table that one GPU computes easily.

Half of the ranks share each wave: columns in strips, carries from rank to rank. A rank waits until the wave has passed
the strips to its left, so all ranks but the last of each wave have few columns with all of their rows. Between them,
the last ranks of both waves meet on such a stair.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from core.ranks import Ranks, gather_on_all
from core.tables.engine.recurrences import TableAnswer
from core.tables.engine.table_search import TableRun
from core.tables.lcs.kernels import COLUMNS, ROWS
from core.tables.lcs.strategies import LcsInput, LcsStrategy
from core.tables.lcs.table import CarryRanks, LcsBlock, LcsLaunchShape, LcsTable, LcsTableLayout, shape_for

STRIPS_PER_RANK = 2
"""Strips of a core's wave for each of more than two ranks; parts of the ranks are whole strips."""


class Stair(NamedTuple):
    """Line between the cells of the wave from the upper left and those of the wave from the lower right.

    There are ``batches`` of rows and ``strips`` of columns. The first wave computes all batches of the first ``left``
    strips and none of the last ``right`` ones. Of strip s between them it computes the first ``reach - s * slope``
    batches, limited to 0 to ``batches``.
    """

    strips: int
    words: int
    batches: int
    reach: int
    slope: int
    left: int = 0
    right: int = 0

    @property
    def ends(self) -> np.ndarray:
        """Batches of each strip that the first wave computes: (strips,), i64, not increasing."""
        between = np.arange(self.strips - self.left - self.right)
        ends = np.clip(self.reach - self.slope * between, 0, self.batches)
        return np.pad(np.pad(ends, (self.left, 0), constant_values=self.batches), (0, self.right))

    def from_end(self) -> Stair:
        """Return the same line for the other wave, which numbers strips and batches from the end."""
        _, _, batches, reach, slope, left, right = self
        reach = batches - reach + slope * (self.strips - left - right - 1)
        return self._replace(reach=reach, left=right, right=left)

    @classmethod
    def partition(
        cls, strips: int, words: int, batches: int, slope: int, first: int, second: int, left: int = 0, right: int = 0
    ) -> Stair:
        """Return the line that divides the work of the strips between as ``first`` to ``second``."""
        between = strips - left - right
        work = between * batches * first

        def is_enough(reach: int) -> bool:
            return int(cls(between, words, batches, reach, slope).ends.sum()) * (first + second) >= work

        reach = bisect_left(range(batches + slope * (between - 1)), True, key=is_enough)
        return cls(strips, words, batches, reach, slope, left, right)


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


def share_waves(size: int, strips: int, words: int, batches: int, slope: int) -> tuple[Stair, list[WavePart]]:
    """Return the line, and the parts of up to ``size`` ranks, at least two, which end at about the same time.

    The last ranks of both waves share the columns in the middle. Every other rank has all rows of its columns, so that
    its neighbour waits for few strips. Times are counted in batches of one strip: while a wave passes k strips, each
    ``slope`` batches behind the one to its left, their device computes about ``slope * k**2 / 2`` batches.
    """
    used = min(size, strips + 1)
    ranks = used - used // 2, used // 2

    def divided(time: int) -> tuple[list[list[int]], list[int], int]:
        """Return the strips of both waves' ranks but the last, the time that is left to it, and the middle's strips."""
        spare, waves, left = strips - used + 1, [], []
        for count in ranks:
            widths, begin = [], 0
            for _ in range(count - 1):
                width = 1 + min(spare, max(0, (time - begin) // batches - 1))
                spare -= width - 1
                begin += slope * width * width // 2
                widths.append(width)
            waves.append(widths)
            left.append(max(1, time - begin))
        return waves, left, spare + 1

    def is_enough(time: int) -> bool:
        _, left, middle = divided(time)
        return middle * batches <= sum(left)

    waves, left, middle = divided(bisect_left(range(strips * (batches + slope * strips)), True, key=is_enough))
    stair = Stair.partition(strips, words, batches, slope, *left, *map(sum, waves))
    parts: list[WavePart] = []
    for widths in waves:
        bounds = np.cumsum([0, *widths, middle]).tolist()
        for k in range(len(widths) + 1):
            rank = len(parts)
            neighbours = rank - 1 if k > 0 else None, rank + 1 if k < len(widths) else None
            parts.append(WavePart(widths is waves[1], bounds[k], bounds[k + 1], *neighbours))
    return stair, parts


class LcsFromBothEnds(LcsStrategy):
    """The length alone, by at least two ranks."""

    def __init__(self, given: LcsInput, ranks: Ranks) -> None:
        super().__init__(given, ranks)
        self.ranks = ranks
        backend, shape = given.backend, given.shape
        words, batches = -(-given.b.size // COLUMNS), -(-given.a.size // ROWS)
        if shape is None:
            strips = 1 if ranks.size == 2 else STRIPS_PER_RANK * ranks.size
            shape = shape_for(backend.capabilities, words, batches, strips=strips)
        width = shape.lanes * shape.words
        shapes = gather_on_all(ranks, (width, shape.delay * shape.steps))
        self.alike = len(set(shapes)) == 1
        # Strips of unlike devices do not fit each other: there the line is a row.
        width, slope = shapes[0] if self.alike else (1, 0)
        self.stair, parts = share_waves(ranks.size, -(-words // width), width, batches, slope)
        self.places = StairPieces(self.stair)
        self.part = part = parts[ranks.rank] if ranks.rank < len(parts) else None
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
        words, batches, count = self.line.words, self.line.batches, part.end - part.first
        if self.alike:
            shape = shape._replace(strips=count)
        else:
            shape = shape_for(self.given.backend.capabilities, count * words, batches, ranks=self.ranks.size)
        is_last = part.right is None
        return LcsTableLayout(shape, batches, *((self.line.reach, self.line.slope) if is_last else ()))

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
        after = min(part.end, stair.strips - 1)
        low, end, high = (int(self.line.ends[strip]) for strip in (after, part.end - 1, part.first))
        if low == high:
            return
        strips, top = table.layout.shape.strips, int(stair.ends[0])
        rises = np.concatenate([table.entering(strips)[low:end], table.rises(strips - 1)[end:high]])
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
