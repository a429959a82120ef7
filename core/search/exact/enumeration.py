"""Enumeration of all tours, or of those that the thesis' bound leaves: items by number, explored by lanes and ranks."""

from __future__ import annotations

import time
from math import factorial, prod
from typing import Any

import numpy as np

from core.errors import UserError
from core.kernels.tour_enumeration import END, ROW, explore, permute
from core.search.exact.solution import Report, Way

NOTHING = np.iinfo(np.int32).max
MOST_LENGTH = END >> 5
"""A way and its city share 31 bits."""
TEAM_SIZE = 256
ITEMS_PER_LANE = 8
ITEMS_PER_CORE = 1024
"""More than per lane of a wide device: cores do not hand on what is left of an item."""
CHUNK = 4
"""Items that a lane takes at a time."""
PATIENCE = 2_000
"""Steps after which a lane of a wide device looks whether others wait for work."""
MOST_STEPS = 1 << 30
"""Steps after which a lane adds its counts, words of 32 bits, to those of the search."""
MOST_ITEMS = 1 << 60
"""The counter of all ranks has 63 bits, and each may ask it once too often, for more than before."""
LARGEST_INDEX = 2**31 - 1
SLICE_SECONDS = 0.5
"""About how long a launch takes, so that ranks can share and progress can show."""


class Enumeration(Way):
    """See `core.kernels.tour_enumeration`.

    Parameters
    ----------
    backend, communicator
        As `ExactSearch` takes them.
    distances : ndarray, shape (n, n)
        Symmetric integers; 5 to 30 cities.
    bounded
        Leave out what the bound proves useless.
    permutations
        Decode whole tours by number instead of items.
    depth
        Cities in an item, 1 to n - 4; None: as many as fill the device.

    Raises
    ------
    UserError
        More items than can be counted.

    """

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        distances: np.ndarray,
        *,
        bounded: bool,
        permutations: bool,
        depth: int | None,
    ) -> None:
        self.backend = backend
        self.communicator = communicator
        self.n = n = len(distances)
        self.bounded = bounded
        self.permutations = permutations
        limits = backend.capabilities
        wide = limits.lanes_resident > 1
        self.team_size = min(TEAM_SIZE, limits.max_team_size) if wide else 1
        self.teams = limits.compute_units * max(1, limits.lanes_resident // self.team_size)
        # A lane hands on at most ROW records of ROW bytes.
        self.teams = min(self.teams, LARGEST_INDEX // (ROW * ROW * self.team_size))
        self.lanes = self.teams * self.team_size
        each = ITEMS_PER_LANE if wide else ITEMS_PER_CORE
        self.depth = depth or fitting_depth(n, each * self.lanes * communicator.size)
        self.items = factorial(n - 1) if permutations else items_of(n, self.depth)
        if self.items > MOST_ITEMS:
            most = max(cities for cities in range(1, self.depth) if items_of(n, cities) <= MOST_ITEMS)
            raise UserError(
                f"{n} cities have {self.items} items of {self.depth} cities: expected at most {MOST_ITEMS}, "
                f"which is a depth of {most}"
            )
        ways, ranked, self.shortest = tables(distances)
        self.ways = backend.upload(ways.reshape(-1))
        self.ranked = backend.upload(ranked.reshape(-1))
        allocate = backend.allocate
        self.ticket = allocate(1, np.uint64)
        self.limit = allocate(1, np.int32)
        self.explored = allocate(ROW, np.uint64)
        self.found = allocate(1, np.uint64)
        self.lengths = allocate(self.lanes, np.int32)
        self.tours = allocate(self.lanes * ROW, np.uint8)
        self.handing = int(wide)
        self.patience = PATIENCE if wide else MOST_STEPS
        self.rounds_to_count = MOST_STEPS // self.patience
        self.lists = [allocate(self.lanes * ROW * ROW if wide else 1, np.uint8) for _ in range(2)]
        self.hands = allocate(1, np.uint32)
        self.nodes = np.zeros(n + 1, np.int64)
        if bounded:
            self.root_bound = int(self.shortest + distances[0][1:].min())

    def warm_up(self) -> None:
        """Compile what a search launches, by launches without items."""
        self._begin(MOST_LENGTH)
        for counting in (0, 1):
            self._launch(0, 0, counting)
            if self.handing and not self.permutations:
                self._explore(0, 0, 1, counting, listed=1)

    @property
    def work(self) -> int | None:
        """Nodes of a search without a bound; None with one, since nobody knows how many it leaves."""
        if self.bounded:
            return None
        return self.items if self.permutations else sum(items_of(self.n, k) for k in range(self.depth, self.n - 2))

    def count(self, length: int, report: Report | None) -> int:
        """See `Way`; the search meets every tour in both directions."""
        return super().count(length, report) // 2

    def _begin(self, limit: int) -> None:
        """Set the counters."""
        write = self.backend.write
        write(self.limit, np.array([limit], np.int32))
        write(self.explored, np.zeros(ROW, np.uint64))
        write(self.found, np.zeros(1, np.uint64))
        write(self.hands, np.zeros(1, np.uint32))
        write(self.lengths, np.full(self.lanes, NOTHING, np.int32))

    def search(self, limit: int, counting: int, report: Report | None) -> None:
        """See `Way`: explore all items in slices; over ranks each takes the next when it has time."""
        ranks = self.communicator
        self._begin(limit)
        counter, least = ranks.counter(), ranks.least(limit)
        known = limit
        some = min(self.items, max(1, self.lanes * CHUNK))
        while (first := counter.take(some)) < self.items:
            began = time.perf_counter()
            self._launch(first, min(first + some, self.items), counting)
            self._explore_handed(counting)
            known = int(self.backend.download(self.limit)[0])
            spent = time.perf_counter() - began
            some = max(self.lanes, min(int(some * SLICE_SECONDS / max(spent, 1e-6)), 8 * some, self.items))
            if counting == 0 and ranks.size > 1:
                known = least.lower(known)
                self.backend.write(self.limit, np.array([known], np.int32))
            if report is not None:
                report(int(self.backend.download(self.explored).sum()), known, self.root_bound)
        ranks.barrier()
        counter.close()
        least.close()
        self.nodes = ranks.sum(self.backend.download(self.explored)[: self.n + 1].astype(np.int64))
        if self.permutations:
            self.nodes[self.n] = self.items

    def _launch(self, begin: int, end: int, counting: int) -> None:
        """Queue the items from ``begin`` to ``end`` - 1."""
        backend = self.backend
        if self.permutations:
            work = (self.ways, self.n, self.shortest, begin, end, counting, self.limit)
            backend.launch(permute, self.teams, self.team_size, *work, self.found, self.lengths, self.tours)
            return
        backend.write(self.ticket, np.array([begin], np.uint64))
        self._explore(end - begin, end, CHUNK, counting, listed=0)

    def _explore_handed(self, counting: int) -> None:
        """Go on with what lanes have handed on, until they hand on nothing."""
        while handed := int(self.backend.download(self.hands)[0]):
            self.lists.reverse()
            self.backend.write(self.hands, np.zeros(1, np.uint32))
            self.backend.write(self.ticket, np.zeros(1, np.uint64))
            self._explore(handed, handed, 1, counting, listed=1)

    def _explore(self, items: int, end: int, chunk: int, counting: int, listed: int) -> None:
        """Queue a launch of lanes that take items up to ``end``."""
        given, handed = self.lists
        self.backend.launch(
            explore,
            max(1, min(self.teams, -(-items // (chunk * self.team_size)))),
            self.team_size,
            *(self.ways, self.ranked, self.n, self.shortest, self.depth, end, chunk, int(self.bounded), counting),
            *(listed, self.handing, self.patience, self.rounds_to_count, given, handed, self.hands),
            *(self.ticket, self.limit, self.explored, self.found, self.lengths, self.tours),
        )


def items_of(n: int, depth: int) -> int:
    """How many sequences of ``depth`` cities begin with city 0."""
    return prod(range(n - depth + 1, n))


def fitting_depth(n: int, wanted: int) -> int:
    """The least number of cities that gives so many items, at most n - 4."""
    return next((depth for depth in range(1, n - 4) if items_of(n, depth) >= wanted), n - 4)


def tables(distances: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Ways, sorted ways, and the sum of shortest edges, as `core.kernels.tour_enumeration.explore` takes them."""
    n = len(distances)
    # A longer edge is in no tour that is looked for, and 30 edges of this length still have a sum of 31 bits.
    lengths = np.minimum(distances.astype(np.int64), MOST_LENGTH)
    others = lengths + np.diag(np.full(n, END, np.int64))
    shortest = others.min(axis=1)
    ways = np.zeros((n, ROW), np.int32)
    ways[:, :n] = lengths - shortest
    ways[:, 0] = lengths[:, 0]
    np.fill_diagonal(ways, 0)
    ranked = np.full((n, ROW), END, np.int32)
    for city in range(n):
        ahead = [j for j in range(1, n) if j != city]
        ranked[city, : len(ahead)] = np.sort((ways[city, ahead] << 5) | np.array(ahead))
    return ways, ranked, int(shortest[1:].sum())
