"""Result of a longest common subsequence search, and the limit of its strings."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np

from core.errors import UserError
from core.kernels.dp.lcs import COLUMNS

MOST_LETTERS = 2**31 - COLUMNS - 1
"""Positions, rounded up to whole words, have 31 bits."""


class CommonSubsequence(NamedTuple):
    """Result of a run.

    Attributes
    ----------
    length
        Of a longest common subsequence.
    pairs : None or (length, 2), i64
        The positions of its letters in both strings, ascending.
    method
        Name of the method of the trace.
    cells
        Of the table, len(a) * len(b); a trace in linear space computes some of them again.
    streamed_bytes
        Bits that left the device during the run.

    """

    length: int
    pairs: np.ndarray | None
    method: str
    cells: int
    streamed_bytes: int

    @classmethod
    def of_nothing(cls, trace: bool) -> CommonSubsequence:
        return cls(0, np.empty((0, 2), np.int64) if trace else None, "nothing to do", 0, 0)

    @property
    def cost(self) -> int:
        return self.length

    @property
    def solution(self) -> np.ndarray | None:
        return self.pairs

    @property
    def evaluations(self) -> int:
        return self.cells

    @property
    def hash(self) -> str:
        found = hashlib.blake2b(str(self.length).encode(), digest_size=8)
        if self.pairs is not None:
            found.update(self.pairs.astype("<i8").tobytes())
        return found.hexdigest()

    @property
    def history(self) -> None:
        """None: nothing is known before the end."""

    @property
    def finished(self) -> bool:
        return True


def check_letters(a: int, b: int) -> None:
    if max(a, b) > MOST_LETTERS:
        raise UserError(f"strings of {a} and {b} letters; both must be shorter than 2^31 - {COLUMNS}")
