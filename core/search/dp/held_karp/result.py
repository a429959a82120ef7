"""Result of Held and Karp's recursion."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.search.protocol import hex_digest


class HeldKarpAnswer(NamedTuple):
    """Length of a shortest tour, and the tour from city 0 in either direction; None if it was not traced."""

    length: int
    tour: np.ndarray | None
    streamed_bytes: int = 0


class ShortestTour(NamedTuple):
    """A shortest tour.

    Attributes
    ----------
    length : int
    tour : ndarray, shape (n,), int64, or None
        From city 0; of symmetric distances in the direction in which the second city is smaller than the last. None
        if it was not traced.
    transitions : int
        Steps from a shorter path to a longer one, and of paths to tours, over all ranks; those of tracing not counted.
    start_length : int
        Length of the heuristic's tour, which decides the bits of a length.
    digest : int
        64-bit digest of the length.
    streamed_bytes : int
        Cells that left the device for the host, by the paper's mapping.

    """

    length: int
    tour: np.ndarray | None
    transitions: int
    start_length: int
    digest: int
    streamed_bytes: int = 0

    @property
    def cost(self) -> int:
        return self.length

    @property
    def solution(self) -> np.ndarray | None:
        return self.tour

    @property
    def evaluations(self) -> int:
        return self.transitions

    @property
    def hash(self) -> str:
        return hex_digest(self.digest)

    @property
    def history(self) -> None:
        """None: nothing is known before the end."""

    @property
    def finished(self) -> bool:
        return True
