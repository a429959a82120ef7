"""Held and Karp's recursion by the paper's own mapping (`oconnell2014`, section IV.C.3): all layers go to the host.

Each launch computes the sets of one size in "a new vector", the device keeps the vector before it, and a tour is traced
through the layers on the host. Of equal tours it finds the one of `core.search.dp.held_karp.waves`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from core.errors import UserError
from core.search.dp.engine.cells import CellEngine, CellWaves, HostCells
from core.search.dp.held_karp.subset_ranks import layer_transitions, rank_of
from core.search.dp.held_karp.waves import SubsetWaves


class SubsetCellWaves(SubsetWaves, CellWaves):
    """The subsets of all sizes; a lane behind the last one computes the last set again."""


class HeldKarpOnHost:
    """Find a shortest tour, with all its cells on the host.

    Parameters
    ----------
    backend, communicator, folder, team_size
        See `core.search.dp.engine.cells.CellEngine`, which refuses several ranks.
    distances : ndarray, shape (n, n), integers
        At least two cities.

    Raises
    ------
    UserError
        More cities than 32-bit indices or the device have room for, or too long distances.

    """

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        distances: np.ndarray,
        folder: str | None = None,
        team_size: int | None = None,
    ) -> None:
        n = len(distances)
        if n * int(distances.max()) >= 2**31:
            raise UserError(f"--mapping published: {n} distances of {int(distances.max())} have no sum of 31 bits")
        self.backend, self.communicator, self.distances, self.team_size = backend, communicator, distances, team_size
        self.engine = CellEngine(backend, communicator, SubsetCellWaves(distances), folder, team_size)
        self.steps = n - 1
        self.transitions = sum(layer_transitions(n - 1, size) for size in range(2, n)) + n - 1
        self.streamed_bytes = 0

    def make_room(self) -> None:
        """See `CellEngine.make_room`."""
        self.engine.make_room()

    def warm_up(self) -> None:
        """Compile what a run launches, by a run with one city beside the first."""
        two = SubsetCellWaves(self.distances[:2, :2])
        CellEngine(self.backend, self.communicator, two, team_size=self.team_size).run(keep=False)

    def find(self, trace: bool, report: Callable[[int, str], None] | None) -> tuple[int, np.ndarray | None]:
        """Length and cities of a shortest tour; None for the tour if it is not traced."""
        told = None if report is None else lambda done, layers: report(1, f"layer {done} of {layers}")
        last = self.engine.run(trace, told).astype(np.int64)
        length = int((last + self.distances[1:, 0]).min())
        cells = self.engine.cells
        if not trace or cells is None:
            self.streamed_bytes = 0
            return length, None
        self.streamed_bytes = cells.streamed_bytes
        return length, self._tour(cells)

    def _tour(self, cells: HostCells) -> np.ndarray:
        """Which city comes last, which one before it among the rest, and so on; of equal ones the smallest."""
        left, following, tour = list(range(len(self.distances) - 1)), 0, [0]
        while left:
            size = len(left)
            row = rank_of(left) * size
            lengths = cells.wave(size - 1)[row : row + size] + self.distances[[e + 1 for e in left], following]
            following = left.pop(int(lengths.argmin())) + 1
            tour.insert(1, following)
        return np.array(tour, np.int64)
