"""The longest common subsequence as a table of numbers (`oconnell2014`, equation 2), on the generic engine."""

from __future__ import annotations

import numpy as np

from core.errors import UserError
from core.lang import Function
from core.tables.engine.kernels.diagonals import LETTERS, PaddedStrings, common_length, common_length_of_packed
from core.tables.engine.recurrences import Diagonals, HostCells, TableAnswer, WaveResult, WaveRing

DOWN_PADDING, ACROSS_PADDING = 256, 257
"""Letters of the padding, unequal to all letters and to each other."""
MOST_PACKED = 254
"""Different letters of packed strings: two of the 256 values of a byte are the padding's."""


class LcsDiagonals(Diagonals):
    """Lengths for all prefixes of two strings, 1-D, u8, not empty; a lane for each letter of the shorter one."""

    lookback = 2
    cell: Function = common_length

    def __init__(self, a: np.ndarray, b: np.ndarray) -> None:
        self.lane_is_b = b.size <= a.size
        self.across, self.down = (b, a) if self.lane_is_b else (a, b)

    def sides(self) -> tuple[int, int]:
        return self.across.size, self.down.size

    def padded(self, ring: WaveRing) -> tuple[np.ndarray, np.ndarray, int]:
        """Pad the strings, since lanes read letters before they enter the table and after they leave it."""
        across = np.full(ring.lanes, ACROSS_PADDING, np.uint16)
        across[: self.across.size] = self.across
        start = ring.lanes - 1
        down = np.full(start + self.waves(), DOWN_PADDING, np.uint16)
        down[start : start + self.down.size] = self.down
        return across, down, start

    def lie(self, ring: WaveRing) -> None:
        self.data = PaddedStrings(*self.padded(ring))

    def answer(self, result: WaveResult) -> TableAnswer:
        """Return the length and, if cells were kept, matched positions."""
        if result.cells is None:
            return TableAnswer(result.value, method="by diagonals")
        pairs, method = self.pairs(result.cells), "by diagonals, cells on the host"
        return TableAnswer(result.value, pairs, result.streamed_bytes, method)

    def pairs(self, cells: HostCells) -> np.ndarray:
        """Trace the matched positions: go left if that keeps the length, else up, else both."""
        lanes, length = self.sides()

        def length_of(i: int, j: int) -> int:
            return cells.at(i + j - 2, (j if self.lane_is_b else i) - 1) if i and j else 0

        i, j = (length, lanes) if self.lane_is_b else (lanes, length)
        remaining, pairs = length_of(i, j), []
        while remaining:
            if length_of(i, j - 1) == remaining:
                j -= 1
            elif length_of(i - 1, j) == remaining:
                i -= 1
            else:
                i, j, remaining = i - 1, j - 1, remaining - 1
                pairs.append((i, j))
        return np.array(pairs[::-1], np.int64).reshape(-1, 2)


class PackedLcsDiagonals(LcsDiagonals):
    """The same with several letters in a word, as the paper packs its texture memory (section IV).

    Raises `UserError` if the strings have more different letters than `MOST_PACKED`.
    """

    cell = common_length_of_packed

    def __init__(self, a: np.ndarray, b: np.ndarray) -> None:
        letters = np.unique(np.concatenate([a, b]))
        if letters.size > MOST_PACKED:
            raise UserError(f"--packed: found {letters.size} different letters, expected at most {MOST_PACKED}")
        super().__init__(*(np.searchsorted(letters, string).astype(np.uint8) for string in (a, b)))

    def lie(self, ring: WaveRing) -> None:
        """Pad the strings, with the last two values of a byte, to whole words."""
        across, down, start = self.padded(ring)
        self.data = PaddedStrings(packed_words(across), packed_words(down), start)


def diagonals_of(a: np.ndarray, b: np.ndarray, packed: bool, data_memory: str) -> LcsDiagonals:
    problem = (PackedLcsDiagonals if packed else LcsDiagonals)(a, b)
    problem.data_memory = data_memory
    return problem


def packed_words(letters: np.ndarray) -> np.ndarray:
    """Return letters as bytes of words, those of the padding as 254 and 255."""
    narrow = np.where(letters >= DOWN_PADDING, letters - DOWN_PADDING + MOST_PACKED, letters).astype(np.uint32)
    words = np.zeros((-(-letters.size // LETTERS), LETTERS), np.uint32)
    words.reshape(-1)[: letters.size] = narrow
    return np.bitwise_or.reduce(words << (8 * np.arange(LETTERS, dtype=np.uint32)), axis=1)
