"""Launches of climbs on one device: random start tours, and 2-opt from each to its local optimum."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.kernels.two_opt import climbs as two_opt_climbs
from core.kernels.two_opt.climbs import CountedClimbs
from core.kernels.two_opt.start_tours import start_tours
from core.search.hill_climbing.scans import Scan

NOTHING = np.iinfo(np.uint64).max
BATCH = 1 << 17
"""Climbers whose tours lie in the device's memory at a time, if the scan does not need more."""


class ClimbLauncher:
    """Launches climbs, as many at a time as the device's memory has room for.

    Parameters
    ----------
    backend
        A `backends.launch.Backend`.
    scan
        Scan for the best 2-opt move.
    n
        Number of cities.
    start, seed
        See `core.search.hill_climbing.search.HillClimbing`.

    Attributes
    ----------
    notes : list of str
        Messages about batches that did not fit the device's memory.

    """

    def __init__(self, backend: Any, scan: Scan, n: int, *, start: str, seed: int) -> None:
        self.backend, self.scan, self.n, self.start, self.seed = backend, scan, n, start, seed
        self.ticket = backend.allocate(1, np.uint32)
        self.best = backend.allocate(1, np.uint64)
        self.counted = backend.allocate(two_opt_climbs.TOTALS, np.uint64)
        self.tours: Any = None
        self.notes: list[str] = []
        self.room = (2**31 - 1) // n
        """Climbers of a launch at most: tours with indices of 31 bits, in memory that could be allocated."""

    def reset(self) -> None:
        """Set the totals to zero."""
        self.backend.write(self.counted, np.zeros(two_opt_climbs.TOTALS, np.uint64))

    def climb(self, first: int, end: int) -> tuple[int, int]:
        """Climb as the climbers from ``first`` to ``end - 1``. Return the shortest length, and the first with it."""
        shortest = (int(NOTHING), 0)
        while first < end:
            count = self.make_room(end - first)
            self.launch(first, count)
            key = int(self.backend.download(self.best)[0])
            shortest = min(shortest, (key >> 32, first + (key & 0xFFFFFFFF)))
            first += count
        return shortest

    def totals(self) -> np.ndarray:
        """Return the sums over all climbs since `reset`, as `core.kernels.two_opt.climbs` counts them."""
        totals = self.backend.download(self.counted)
        totals[two_opt_climbs.EVALUATIONS] += totals[two_opt_climbs.STEPS] * np.uint64(self.scan.evaluations_per_step)
        return totals

    def tour_of(self, climber: int) -> np.ndarray:
        """Climb again as one climber. Return its local optimum from city 0: shape (n,), int64."""
        self.make_room(1)
        self.launch(climber, 1)
        return self.backend.download(self.tours)[: self.n].astype(np.int64)

    def fewest_climbers(self) -> int:
        """Return the climbers of the smallest launch that keeps the device busy."""
        return max(self.scan.fewest_climbers(), self.scan.climbers_at_a_time())

    def make_room(self, climbers: int) -> int:
        """Allocate the tours of a launch. Return its number of climbers, halved until the tours fit the memory."""
        part = max(1, min(climbers, self.room, max(BATCH, self.scan.fewest_climbers())))
        while self.tours is None or self.tours.size < part * self.n:
            try:
                self.tours = self.backend.allocate(part * self.n, np.uint16)
            except MemoryError as error:
                if part == 1:
                    raise
                self.room = part = part // 2
                self.notes.append(f"{error}: {part} climbers at a time")
        return part

    def launch(self, first: int, count: int) -> None:
        """Queue the climbs of climbers ``first`` to ``first + count - 1``."""
        backend = self.backend
        backend.write(self.ticket, np.zeros(1, np.uint32))
        backend.write(self.best, np.full(1, NOTHING))
        lanes = min(64, backend.capabilities.max_team_size)
        teams = min(-(-count // lanes), 16 * backend.capabilities.compute_units)
        counter_based = self.start == "philox"
        backend.launch(start_tours, teams, lanes, self.tours, self.n, count, first, self.seed, counter_based)
        self.scan.launch(CountedClimbs(self.n, self.tours, count, self.ticket, first, self.best, self.counted))
