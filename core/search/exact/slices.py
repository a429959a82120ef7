"""Searches over numbered items: slices of them, a launch or a few each, which ranks take from one counter."""

from __future__ import annotations

import time
from math import prod

import numpy as np

from core.errors import UserError
from core.kernels.city_sets import ROW
from core.kernels.tour_enumeration import END
from core.kernels.tour_search import BestTour, Search
from core.search.exact.solution import Method, Report

NOTHING = np.iinfo(np.int32).max
MOST_LENGTH = END >> 5
"""An edge and its city share 31 bits."""
MOST_ITEMS = 1 << 60
"""The counter of all ranks has 63 bits, and each may ask it once too often, for more than before."""


class ItemSearch(Method):
    """What searches over items share.

    Attributes
    ----------
    items : int
        How many there are.
    depth : int
        Cities in an item, city 0 included.
    permutations : bool
        Items are whole tours.
    bounded : bool
        Whether a bound cuts branches.
    first_slice, least_slice, most_slice : int
        Items in the first slice, and the least and the most in a later one.
    slice_seconds : float
        About how long a slice takes, so that ranks can share and progress can show.

    """

    items: int
    depth: int
    permutations: bool
    bounded: bool
    first_slice: int
    least_slice: int
    most_slice: int
    slice_seconds: float

    def make_room(self, lanes: int) -> None:
        """Allocate what lanes share, and a best tour for each of so many."""
        allocate = self.backend.allocate
        self.shared = Search(allocate(1, np.int32), allocate(ROW, np.uint64), allocate(1, np.uint64))
        self.best = self.backend.rows(BestTour(), lanes)
        self.nodes = np.zeros(self.n + 1, np.int64)

    @property
    def work(self) -> int | None:
        """Nodes of a search without a bound; None with one, since nobody can tell how many it leaves."""
        if self.bounded:
            return None
        return self.items if self.permutations else sum(items_of(self.n, k) for k in range(self.depth, self.n - 2))

    def count(self, length: int, report: Report | None) -> int:
        """See `Method`; the search meets every tour in both directions."""
        return super().count(length, report) // 2

    def begin(self, limit: int) -> None:
        """Set the counters."""
        write = self.backend.write
        write(self.shared.limit, np.array([limit], np.int32))
        write(self.shared.nodes, np.zeros(ROW, np.uint64))
        write(self.shared.counted, np.zeros(1, np.uint64))
        write(self.best.length, np.full(self.best.count, NOTHING, np.int32))

    def explore(self, begin: int, end: int, counting: bool) -> None:
        """Queue all that explores the items from ``begin`` to ``end`` - 1."""
        raise NotImplementedError

    def search(self, limit: int, counting: bool, report: Report | None) -> None:
        """See `Method`: explore all items in slices; over ranks each takes the next when it has time."""
        ranks = self.communicator
        self.begin(limit)
        counter, least = ranks.counter(), ranks.least(limit)
        some = min(self.items, self.first_slice)
        while (first := counter.take(some)) < self.items:
            began = time.perf_counter()
            self.explore(first, min(first + some, self.items), counting)
            limit = int(self.backend.download(self.shared.limit)[0])
            spent = time.perf_counter() - began
            later = min(int(some * self.slice_seconds / max(spent, 1e-6)), 8 * some, self.most_slice)
            some = max(self.least_slice, later)
            if not counting and ranks.size > 1:
                limit = least.lower(limit)
                self.backend.write(self.shared.limit, np.array([limit], np.int32))
            if report is not None:
                report(int(self.backend.download(self.shared.nodes).sum()), limit, self.root_bound)
        ranks.barrier()
        counter.close()
        least.close()
        self.nodes = ranks.sum(self.backend.download(self.shared.nodes)[: self.n + 1].astype(np.int64))
        if self.permutations:
            self.nodes[self.n] = self.items


def items_of(n: int, depth: int) -> int:
    """How many sequences of ``depth`` cities begin with city 0."""
    return prod(range(n - depth + 1, n))


def check_items(n: int, depth: int, items: int) -> None:
    """Refuse more items than can be counted.

    Raises
    ------
    UserError
        Names a depth at which they can.

    """
    if items > MOST_ITEMS:
        most = max(cities for cities in range(1, depth) if items_of(n, cities) <= MOST_ITEMS)
        raise UserError(
            f"{n} cities have {items} items of {depth} cities: expected at most {MOST_ITEMS}, "
            f"which is a depth of {most}"
        )
