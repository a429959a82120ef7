"""Capacities of one knapsack table that ranks share, and the cells that they send each other before each pass.

A pass of items of weights w1 and w2 reads the cells c, c - w1, c - w2 and c - w1 - w2 of the row before it. If ranks
have neighbouring parts of the capacities, a rank gets w1 + w2 cells from its left before each pass. If the capacities
are cut into periods of (w1 + w2) / 2 cells, and each rank has the same part of every period, it reads almost only cells
of its own: those a period and two periods to the left. As the weights grow from pass to pass, so do the periods, and
ranks pass on a few cells at the ends of their parts. Light items are cheaper in the first way, and heavy ones in the
second.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.ranks import Transfer
from core.tables.knapsack.table import KnapsackPart

MOST_PERIODS = 64
"""Most periods of a row; more parts are more messages."""
PIECE = 1 << 26
"""Cells of a message, at most: communicators count its bytes in 31 bits."""


class PassShares(NamedTuple):
    """Shares of ``ranks`` ranks from ``first_rank`` on in a table.

    Pass p cuts a row into periods of ``ranks`` neighbouring parts of widths[p] blocks of ``block`` cells, one for each
    rank. ``low`` and ``high`` are those of `KnapsackPart.cells_that_matter`. A rank gets about ``received`` cells.
    """

    part: KnapsackPart
    first_rank: int
    ranks: int
    block: int
    widths: np.ndarray
    low: np.ndarray
    high: np.ndarray
    received: int

    @classmethod
    def of(cls, part: KnapsackPart, first_rank: int, ranks: int, padded: int, block: int) -> PassShares:
        """Choose the widths: neighbouring parts up to some pass, periods of the weights from it on."""
        low, high = part.cells_that_matter()
        light, heavy = part.weights[::2], part.weights[1::2]
        period = np.maximum((light + heavy) / 2, 1)
        count = padded / period
        # Every end of a part moves with the number of its period, and the items differ a little from the period.
        periodic = count**2 / 2 * np.abs(np.diff(period, prepend=period[0])) + count * (heavy - light)
        periodic[count > MOST_PERIODS] = padded
        neighbouring = np.minimum(light + heavy, padded)
        before, after = (np.concatenate([[0], np.cumsum(cells)]) for cells in (neighbouring, periodic))
        received = before + after[-1] - after
        first = int(received.argmin())
        widths = np.full(part.passes, -(-padded // (block * ranks)), np.int32)
        widths[first:] = np.maximum(np.rint(period[first:] / (block * ranks)), 1)
        low, high, count = low.astype(np.int64), high.astype(np.int64), int(received[first]) if ranks > 1 else 0
        return cls(part, first_rank, ranks, block, widths, low, high, count)

    @property
    def most_blocks(self) -> int:
        """Most blocks of a rank in a pass."""
        periods = int(self.high.max()) // (self.widths.astype(np.int64) * self.block * self.ranks) + 1
        return int((periods * self.widths).max())

    def owner(self, item: int, cell: int) -> int:
        """Return the place of the rank that decides an item in a cell."""
        step = item >> 1
        return int(min(cell, self.high[step + 1]) // (self.widths[step] * self.block) % self.ranks)

    def own(self, step: int, place: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the first cells of a rank's parts in a pass, and those after their last ones: (parts,), i64, each."""
        width = int(self.widths[step]) * self.block
        low, high, period = self.low[step + 1], self.high[step + 1], width * self.ranks
        starts = np.arange(low // period * period + place * width, high + 1, period)
        first, end = np.maximum(starts, low), np.minimum(starts + width, high + 1)
        return first[first < end], end[first < end]

    def transfers(self, step: int) -> list[Transfer]:
        """Return the cells of the row before a pass that a rank reads and another one has computed."""
        low, high = self.low[step], self.high[step]
        width = int(self.widths[step - 1]) * self.block
        light, heavy = (int(weight) for weight in self.part.weights[2 * step : 2 * step + 2])
        missing: list[Transfer] = []
        for place in range(self.ranks):
            shifts = np.array([[0], [light], [heavy], [light + heavy]])
            first, last = (bound - shifts for bound in self.own(step, place))
            is_read = last > low
            # Cells above the highest one have its value.
            first, last = np.clip(first[is_read], low, high), np.clip(last[is_read] - 1, low, high)
            ends = np.arange(low // width * width, high + 1, width)
            cuts = np.unique(np.concatenate([first, last + 1, ends, [high + 1]]))
            sources = cuts // width % self.ranks
            is_needed = ((first[:, None] <= cuts) & (cuts <= last[:, None])).any(axis=0) & (sources != place)
            for k in np.flatnonzero(is_needed):
                source, to = self.first_rank + int(sources[k]), self.first_rank + place
                start, end = int(cuts[k]), int(cuts[k + 1])
                if missing and missing[-1] == (source, to, start - missing[-1].length, missing[-1].length):
                    start -= missing.pop().length
                missing.append(Transfer(source, to, start, end - start))
        return in_pieces(missing)

    def last_cells(self, to: int) -> list[Transfer]:
        """Return the transfers of the last row, without the cells that a rank has, to this rank."""
        cells = []
        for place in range(self.ranks):
            for first, end in zip(*self.own(self.part.passes - 1, place), strict=True):
                start = max(int(first), self.part.lowest)
                if self.first_rank + place != to and start < end:
                    cells.append(Transfer(self.first_rank + place, to, start, int(end) - start))
        return in_pieces(cells)


def in_pieces(transfers: list[Transfer]) -> list[Transfer]:
    return [
        transfer._replace(start=start, length=min(PIECE, transfer.start + transfer.length - start))
        for transfer in transfers
        for start in range(transfer.start, transfer.start + transfer.length, PIECE)
    ]
