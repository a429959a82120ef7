"""Held and Karp's recursion on the generic engine: a launch for every size of sets, up to all cities, as in the paper.

`HeldKarpByWaves` keeps two layers on the device. `HeldKarpOnHost` is the paper's own mapping (`oconnell2014`, section
IV.C.3): each launch computes "a new vector", and all of them go to the host. Both find the same of equal tours.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from core.errors import UserError
from core.kernels.dp.held_karp import ELEMENTS, ROW, Cities, path_value
from core.lang import i32
from core.search.dp.engine.recurrences import MOST_CELLS, Waves
from core.search.dp.engine.results import HostCells
from core.search.dp.engine.waves import WaveEngine
from core.search.dp.held_karp.subset_ranks import binomials, layer_cells, layer_transitions, rank_of
from core.search.protocol import CountCallback


class SubsetWaves(Waves):
    """Paths from city 0 through sets of cities, a wave for every size: see `core.kernels.dp.held_karp`.

    In whole teams a lane after the last one computes the last set again.

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
    """A shortest tour, with two layers on the device.

    A tour is traced by values: the last wave says which city comes last, and the same problem without that city which
    one comes before. Each problem has half the sets of the one before it.

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
        self.distances, n = distances, len(distances)
        self.steps, self.transitions = steps_of("--tiling none", distances)
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

    def warm_up(self) -> None:
        """Compile what a run launches, by a run with one city besides the first."""
        self._last_wave([1])

    def find(self, trace: bool, report: CountCallback | None) -> tuple[int, np.ndarray | None]:
        """Length and cities of a shortest tour; None for the tour if it is not traced."""
        cities = list(range(1, len(self.distances)))
        lengths = self._last_wave(cities) + self.distances[cities, 0]
        total = int(lengths.min())
        if report is not None:
            report(self.steps, self.steps)
        if not trace:
            return total, None
        tour = [cities.pop(int(lengths.argmin()))]
        while cities:
            lengths = self._last_wave(cities) + self.distances[cities, tour[-1]]
            tour.append(cities.pop(int(lengths.argmin())))
        return total, np.array([0, *tour[::-1]], np.int64)

    def _last_wave(self, cities: list[int]) -> np.ndarray:
        """Lengths of the shortest paths from city 0 through these cities that end at each of them."""
        chosen = [0, *cities]
        self.engine.restate(SubsetWaves(self.distances[np.ix_(chosen, chosen)]))
        return self.engine.run(trace=False).last.astype(np.int64)


class HeldKarpOnHost:
    """A shortest tour, with all layers on the host.

    Parameters
    ----------
    backend, communicator, folder, team_size
        See `core.search.dp.engine.waves.WaveEngine`, which refuses several ranks.
    distances : ndarray, shape (n, n), integers
        At least two cities.

    Attributes
    ----------
    streamed_bytes : int
        Bytes that left the device during the latest run.

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
        self.distances, self.streamed_bytes = distances, 0
        self.steps, self.transitions = steps_of("--mapping published", distances)
        shape = None if team_size is None else (team_size,)
        self.engine, self.two = (
            WaveEngine(backend, communicator, SubsetWaves(these), "published", folder=folder, shape=shape)
            for these in (distances, distances[:2, :2])
        )
        self.make_room = self.engine.make_room

    def warm_up(self) -> None:
        """Compile what a run launches, by a run with one city besides the first."""
        self.two.run(trace=False)

    def find(self, trace: bool, report: CountCallback | None) -> tuple[int, np.ndarray | None]:
        """Length and cities of a shortest tour; None for the tour if it is not traced."""
        found = self.engine.run(trace, report)
        length = int((found.last.astype(np.int64) + self.distances[1:, 0]).min())
        self.streamed_bytes = found.streamed_bytes
        return length, None if found.cells is None else self._tour(found.cells)

    def _tour(self, cells: HostCells) -> np.ndarray:
        """The city that comes last, the one before it among the rest, and so on; of equal ones the smallest."""
        left, following, tour = list(range(len(self.distances) - 1)), 0, [0]
        while left:
            size = len(left)
            row = rank_of(left) * size
            lengths = cells.wave(size - 1)[row : row + size] + self.distances[[e + 1 for e in left], following]
            following = left.pop(int(lengths.argmin())) + 1
            tour.insert(1, following)
        return np.array(tour, np.int64)


def steps_of(option: str, distances: np.ndarray) -> tuple[int, int]:
    """Steps and transitions of a run over all layers; refuses distances whose sums have more than 31 bits."""
    n = len(distances)
    if n * int(distances.max()) >= 2**31:
        raise UserError(f"{option}: {n} distances of {int(distances.max())} have no sum of 31 bits")
    return n - 1, sum(layer_transitions(n - 1, size) for size in range(2, n)) + n - 1


def most_cities() -> int:
    """The largest n of which two layers have indices of 32 bits."""
    n = 4
    while 2 * max(comb(n, size) * size for size in range(1, n + 1)) <= MOST_CELLS:
        n += 1
    return n
