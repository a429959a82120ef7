"""Enumeration of all tours, or of those that the thesis' bound leaves: items by number, explored by lanes and ranks."""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from core.kernels.city_sets import ROW
from core.kernels.tour_enumeration import END, Reduced, Worklist, explore, permute
from core.search.exact.slices import MOST_LENGTH, ItemSearch, check_items, items_of

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
LARGEST_INDEX = 2**31 - 1
SLICE_SECONDS = 0.5
"""About how long a launch takes, so that ranks can share and progress can show."""


class Enumeration(ItemSearch):
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
        check_items(n, self.depth, self.items)
        self.first_slice, self.least_slice, self.most_slice = max(1, self.lanes * CHUNK), self.lanes, self.items
        self.slice_seconds = SLICE_SECONDS
        self.reduced = backend.load(reduced_by_shortest(distances))
        self.make_room(self.lanes)
        allocate = backend.allocate
        self.handing = wide
        self.patience = PATIENCE if wide else MOST_STEPS
        self.rounds_to_count = MOST_STEPS // self.patience
        self.ticket = allocate(1, np.uint64)
        self.hands = allocate(1, np.uint32)
        self.lists = [allocate(self.lanes * ROW * ROW if wide else 1, np.uint8) for _ in range(2)]
        if bounded:
            self.root_bound = int(self.reduced.shortest + distances[0][1:].min())

    def warm_up(self) -> None:
        """Compile what a search launches, by launches without items."""
        self.begin(MOST_LENGTH)
        for counting in (False, True):
            self._launch(0, 0, counting)
            if self.handing and not self.permutations:
                self._explore(0, 0, 1, counting, listed=True)

    def begin(self, limit: int) -> None:
        """Set the counters."""
        super().begin(limit)
        self.backend.write(self.hands, np.zeros(1, np.uint32))

    def explore(self, begin: int, end: int, counting: bool) -> None:
        """See `ItemSearch`."""
        self._launch(begin, end, counting)
        self._explore_handed(counting)

    def _launch(self, begin: int, end: int, counting: bool) -> None:
        """Queue the items from ``begin`` to ``end`` - 1."""
        if self.permutations:
            shape = self.teams, self.team_size
            self.backend.launch(permute, *shape, self.reduced, begin, end, self.shared, self.best, counting)
            return
        self.backend.write(self.ticket, np.array([begin], np.uint64))
        self._explore(end - begin, end, CHUNK, counting, listed=False)

    def _explore_handed(self, counting: bool) -> None:
        """Go on with what lanes have handed on, until they hand on nothing."""
        while handed := int(self.backend.download(self.hands)[0]):
            self.lists.reverse()
            self.backend.write(self.hands, np.zeros(1, np.uint32))
            self.backend.write(self.ticket, np.zeros(1, np.uint64))
            self._explore(handed, handed, 1, counting, listed=True)

    def _explore(self, items: int, end: int, chunk: int, counting: bool, listed: bool) -> None:
        """Queue a launch of lanes that take items up to ``end``."""
        given, handed = self.lists
        worklist = Worklist(
            ticket=self.ticket,
            end=end,
            chunk=chunk,
            depth=self.depth,
            given=given,
            handed=handed,
            hands=self.hands,
            patience=self.patience,
            rounds_to_count=self.rounds_to_count,
        )
        shape = max(1, min(self.teams, -(-items // (chunk * self.team_size)))), self.team_size
        constants = self.bounded, counting, listed, self.handing
        self.backend.launch(explore, *shape, self.reduced, worklist, self.shared, self.best, *constants)


def fitting_depth(n: int, wanted: int) -> int:
    """The least number of cities that gives so many items, at most n - 4."""
    return next((depth for depth in range(1, n - 4) if items_of(n, depth) >= wanted), n - 4)


def reduced_by_shortest(distances: np.ndarray) -> Reduced:
    """Distances less shortest edges, on the host."""
    n = len(distances)
    # A longer edge is in no tour that is looked for, and 30 edges of this length still have a sum of 31 bits.
    distances = np.minimum(distances.astype(np.int64), MOST_LENGTH)
    shortest = (distances + np.diag(np.full(n, END, np.int64))).min(axis=1)
    lengths = np.zeros((n, ROW), np.int32)
    lengths[:, :n] = distances - shortest
    lengths[:, 0] = distances[:, 0]
    np.fill_diagonal(lengths, 0)
    ranked = np.full((n, ROW), END, np.int32)
    for city in range(n):
        ahead = [j for j in range(1, n) if j != city]
        ranked[city, : len(ahead)] = np.sort((lengths[city, ahead] << 5) | np.array(ahead))
    return Reduced(lengths, ranked, n, int(shortest[1:].sum()))
