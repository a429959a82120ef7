"""The longest common subsequence as a table of numbers (`oconnell2014`, equation 2), cell by cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.kernels.dp.lcs import LEFT_CELL, MATCH, UP_CELL, Strings, lcs_border, lcs_step
from core.search.dp.engine.grid import Grid

if TYPE_CHECKING:
    from collections.abc import Callable


class LcsGrid(Grid):
    """S(i, j), the length for the first i letters of ``a`` and the first j of ``b``; both 1-D, u8, not empty."""

    choices = 2

    def __init__(self, a: np.ndarray, b: np.ndarray) -> None:
        self.rows, self.columns = a.size, b.size
        self.data = Strings(a, b)
        self.step, self.border = lcs_step, lcs_border

    def edge(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """An empty string has nothing in common with any."""
        return np.zeros_like(i)

    def pairs(self, choice: Callable[[int, int], int]) -> np.ndarray:
        """Matched positions from the choices, (length, 2), i64."""
        i, j, found = self.rows, self.columns, []
        while i > 0 and j > 0:
            chosen = choice(i, j)
            if chosen == MATCH:
                found.append((i - 1, j - 1))
            i -= chosen != LEFT_CELL
            j -= chosen != UP_CELL
        return np.array(found[::-1], np.int64).reshape(-1, 2)
