"""Held and Karp's recursion on the generic engine: a launch for every size of sets, up to all cities, as in the paper.

The paper's mapping (`oconnell2014`, section IV.C.3) computes "a new vector" in each launch, and all of them go to the
host.
"""

from __future__ import annotations

import numpy as np

from core.errors import NoRoom, UserError
from core.tables.engine.recurrences import MOST_CELLS, AnsweringWaves, HostCells, TableAnswer, WaveResult
from core.tables.held_karp.kernels.layers import ELEMENTS, ROW, Cities, path_value
from core.tables.held_karp.plan import binomials, layer_cells, layer_transitions, rank_of


class SubsetWaves(AnsweringWaves):
    """Paths from city 0 through sets of cities, a wave for every size: see `core.tables.held_karp.kernels.layers`.

    In whole teams a lane after the last one computes the last set again. There are 2 to 35 cities, and no path may be
    longer than 2**31 - 1.

    A tour is traced from its last city on, of equal ones the smallest, by the lengths of paths through the remaining
    cities, which are cells on the host.
    """

    cell = path_value

    def __init__(self, distances: np.ndarray) -> None:
        n, longest = len(distances), int(distances.max())
        if n * longest >= 2**31:
            raise UserError(f"--mapping published: {n} distances of {longest} have no sum of 31 bits")
        self.distances, self.elements = distances, n - 1
        if self.elements > ELEMENTS:
            raise NoRoom(f"{n} cities: layers of all sizes are computed of at most {ELEMENTS + 1}")
        steps = np.zeros((ELEMENTS, ROW), np.int32)
        steps[: self.elements, : self.elements] = distances[1:, 1:].T
        steps[: self.elements, ELEMENTS] = distances[0, 1:]
        choose = np.minimum(binomials(ELEMENTS, ROW), MOST_CELLS).astype(np.int32)
        self.data = Cities(self.elements, steps, choose)

    def waves(self) -> int:
        return self.elements

    def cells(self, wave: int) -> int:
        return layer_cells(self.elements, wave + 1)

    def work(self) -> int:
        """Return the number of transitions."""
        return sum(layer_transitions(self.elements, size) for size in range(2, self.elements + 1)) + self.elements

    def answer(self, result: WaveResult) -> TableAnswer:
        last = result.last.astype(np.int64)
        length = int((last + self.distances[1:, 0]).min())
        if result.cells is None:
            return TableAnswer(length)
        cities, next_city, tour = list(range(1, self.elements + 1)), 0, [0]
        while cities:
            if next_city:
                last = path_lengths(result.cells, cities)
            next_city = cities.pop(int((last + self.distances[cities, next_city]).argmin()))
            tour.insert(1, next_city)
        return TableAnswer(length, np.array(tour, np.int64), result.streamed_bytes)


def path_lengths(cells: HostCells, cities: list[int]) -> np.ndarray:
    """Return the lengths of the shortest paths from city 0 through these cities to each of them."""
    start = rank_of([city - 1 for city in cities]) * len(cities)
    return cells.wave(len(cities) - 1)[start : start + len(cities)].astype(np.int64)
