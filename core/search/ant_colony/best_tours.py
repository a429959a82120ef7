"""Best tours of a colony, read from its memory on the device."""

from __future__ import annotations

from typing import Any

import numpy as np


class BestTours:
    """Reads the best tours of a colony; each method waits for the device.

    Parameters
    ----------
    backend
    memory : core.kernels.ant_colony.ants.ColonyState
    first, count
        The ants of this rank.

    """

    def __init__(self, backend: Any, memory: Any, first: int, count: int) -> None:
        self.backend, self.memory = backend, memory
        self.ants = range(first, first + count)

    def best(self) -> tuple[int, int, int]:
        """Return length, iteration and ant of the best tour so far."""
        _, length, iteration, ant = (int(word) for word in self.backend.download(self.memory.state))
        return length, iteration, ant

    def lengths(self, iterations: int) -> np.ndarray:
        """Return the length of each iteration's best tour: shape (iterations,), uint32."""
        lengths: np.ndarray = self.backend.download(self.memory.curve)
        return lengths[:iterations]

    def is_here(self) -> bool:
        """Return True if an ant of this rank has made the best tour."""
        return self.best()[2] in self.ants

    def tour(self) -> np.ndarray:
        """Return the best tour if an ant of this rank has made it, else zeros: shape (n,), int64."""
        tour: np.ndarray = self.backend.download(self.memory.best).astype(np.int64) * self.is_here()
        return tour
