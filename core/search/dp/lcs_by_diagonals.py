"""The longest common subsequence as the paper computes it (`oconnell2014`, equation 2): one launch per diagonal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from core.kernels.lcs import LEFT_CELL, MATCH, UP_CELL, diagonal_cell
from core.search.dp.waves import Decisions, WaveEngine, Waves

if TYPE_CHECKING:
    from collections.abc import Callable

class Diagonals(Waves):
    """The table of two strings, by diagonals i + j."""

    lookback = 2
    choices = 2

    def __init__(self, a: np.ndarray, b: np.ndarray) -> None:
        self.rows, self.columns = a.size, b.size
        self.data = {"a": a, "b": b, "columns": b.size}
        self.cell = diagonal_cell

    def waves(self) -> int:
        """Diagonals 0 to rows + columns."""
        return self.rows + self.columns + 1

    def first(self, wave: int) -> int:
        """The smallest i of a diagonal."""
        return max(0, wave - self.columns)

    def cells(self, wave: int) -> int:
        """Cells of a diagonal."""
        return min(wave, self.rows) - self.first(wave) + 1

    def width(self) -> int:
        """The longest diagonal."""
        return min(self.rows, self.columns) + 1

    def traced(self, decisions: Decisions) -> np.ndarray:
        """Matched pairs, from the choices."""
        i, j, pairs = self.rows, self.columns, []
        while i > 0 and j > 0:
            choice = decisions.at(i + j, i - self.first(i + j))
            if choice == MATCH:
                pairs.append((i - 1, j - 1))
            i -= choice != LEFT_CELL
            j -= choice != UP_CELL
        return np.array(pairs[::-1], np.int64).reshape(-1, 2)


def by_diagonals(
    backend: Any,
    communicator: Any,
    a: np.ndarray,
    b: np.ndarray,
    trace: bool,
    room: int | None = None,
    folder: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[int, np.ndarray | None, int]:
    """Length, matched pairs (or None) and bytes streamed; see `core.search.dp.lcs`."""
    problem = Diagonals(a, b)
    engine = WaveEngine(backend, communicator, problem, room, folder)
    found = engine.run(trace, progress)
    if found.decisions is None:
        return int(found.last[0]), None, 0
    return int(found.last[0]), problem.traced(found.decisions), found.decisions.rows.streamed_bytes
