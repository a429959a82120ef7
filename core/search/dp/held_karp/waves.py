"""Held and Karp's recursion on the generic engine: a launch for every size of sets, up to all cities, as in the paper.

The engine keeps two layers, so a tour is traced by values: the last wave tells which city comes last, and the same
problem without that city which one comes before. Each problem has half the sets of the one before it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np

from core.errors import UserError
from core.kernels.dp.held_karp import ELEMENTS, ROW, Cities, path_value
from core.lang import i32
from core.search.dp.engine.waves import MOST_CELLS, WaveEngine, Waves
from core.search.dp.held_karp.subset_ranks import binomials, layer_cells, layer_transitions


class SubsetWaves(Waves):
    """Paths from city 0 through sets of cities, a wave for every size: see `core.kernels.dp.held_karp`.

    Parameters
    ----------
    distances : ndarray, shape (n, n), integers
        n from 2 to 35; no path may be longer than 2**31 - 1.

    Raises
    ------
    UserError
        More cities.

    """

    value = i32
    lookback = 1
    choices = 0
    cell = path_value

    def __init__(self, distances: np.ndarray) -> None:
        self.elements = len(distances) - 1
        if self.elements > ELEMENTS:
            raise UserError(f"{len(distances)} cities: layers of all sizes are computed of at most {ELEMENTS + 1}")
        steps = np.zeros((ELEMENTS, ROW), np.int32)
        steps[: self.elements, : self.elements] = distances[1:, 1:].T
        steps[: self.elements, ELEMENTS] = distances[0, 1:]
        choose = np.minimum(binomials(ELEMENTS, ROW), MOST_CELLS).astype(np.int32)
        self.data = Cities(self.elements, steps, choose)

    def waves(self) -> int:
        """Sizes of sets."""
        return self.elements

    def cells(self, wave: int) -> int:
        """Sets of this size, times their last elements."""
        return layer_cells(self.elements, wave + 1)


class HeldKarpByWaves:
    """Find a shortest tour on the generic engine.

    Parameters
    ----------
    backend, communicator
        As `core.search.dp.engine.waves.WaveEngine` takes them.
    distances : ndarray, shape (n, n), integers
        At least two cities.
    room
        Bytes of the device that the window may take.

    Raises
    ------
    UserError
        More cities than 32-bit indices or the device have room for, or too long distances.

    """

    def __init__(self, backend: Any, communicator: Any, distances: np.ndarray, room: int) -> None:
        self.distances = distances
        n = len(distances)
        if n * int(distances.max()) >= 2**31:
            raise UserError(f"--tiling none: {n} distances of {int(distances.max())} have no sum of 31 bits")
        problem = SubsetWaves(distances)
        window, width = 2 * problem.width(), problem.width()
        if window > MOST_CELLS:
            raise UserError(
                f"--tiling none: {n} cities have two layers of {width} paths, {4 * window} bytes; expected at "
                f"most {MOST_CELLS} paths, which is {most_cities()} cities (--tiling auto needs half the layers)"
            )
        if 4 * window > room:
            raise UserError(f"--tiling none: two layers need {4 * window} bytes of the device, and {room} are there")
        self.engine = WaveEngine(backend, communicator, problem)
        self.steps = n - 1
        self.transitions = sum(layer_transitions(n - 1, size) for size in range(2, n)) + n - 1

    def warm_up(self) -> None:
        """Compile what a run launches, by a run with one city beside the first."""
        self._last_wave([1])

    def find(self, trace: bool, report: Callable[[int, str], None] | None) -> tuple[int, np.ndarray | None]:
        """Length and cities of a shortest tour; None for the tour if it is not traced."""
        cities = list(range(1, len(self.distances)))
        total = None
        tour: list[int] = []
        following = 0
        while cities and (trace or total is None):
            lengths = self._last_wave(cities) + self.distances[cities, following]
            if total is None:
                total = int(lengths.min())
                if report is not None:
                    report(self.steps, "all layers")
            following = cities.pop(int(lengths.argmin()))
            tour.append(following)
        return int(total or 0), np.array([0, *tour[::-1]], np.int64) if trace else None

    def _last_wave(self, cities: list[int]) -> np.ndarray:
        """Lengths of the shortest paths from city 0 through these cities that end at each of them."""
        chosen = [0, *cities]
        self.engine.restate(SubsetWaves(self.distances[np.ix_(chosen, chosen)]))
        return self.engine.run(trace=False).last.astype(np.int64)


def most_cities() -> int:
    """The largest n of which two layers have indices of 32 bits."""
    n = 4
    while 2 * max(comb(n, size) * size for size in range(1, n + 1)) <= MOST_CELLS:
        n += 1
    return n
