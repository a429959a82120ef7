"""Searches over numbered items: slices of them, a launch each, which ranks take from one counter."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from core.errors import UserError
from core.kernels.city_sets import ROW
from core.kernels.tour_enumeration import END
from core.kernels.tour_search import BestTour, Search
from core.search.batches import Batches
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
        Items in the first slice, and the least and the most in a later one. The first is small: it ends soon, and its
        incumbent is good.
    slice_seconds : float
        About how long a slice takes at most, so that ranks can share and progress can show.
    speed : float
        Items per second of this rank in the last search; 0: not known.

    """

    items: int
    depth: int
    permutations: bool
    bounded: bool
    first_slice: int
    least_slice: int
    most_slice: int
    slice_seconds: float
    speed = 0.0

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

    def count(self, ranks: Any, length: int, report: Report | None) -> int:
        """See `Method`; the search meets every tour in both directions."""
        return super().count(ranks, length, report) // 2

    def begin(self, limit: int) -> None:
        """Set the counters."""
        write = self.backend.write
        write(self.shared.limit, np.array([limit], np.int32))
        write(self.shared.nodes, np.zeros(ROW, np.uint64))
        write(self.shared.counted, np.zeros(1, np.uint64))
        write(self.best.length, np.full(self.best.count, NOTHING, np.int32))

    def agree(self, ranks: Any) -> None:
        """Settle with the other ranks what the items are, and how large slices; all call it, before every search."""

    def explore(self, begin: int, end: int, counting: bool) -> None:
        """Queue what explores the items from ``begin`` to ``end`` - 1."""
        raise NotImplementedError

    def explore_rest(self, ranks: Any, batches: Batches, told: Callable[[], bool], counting: bool) -> None:
        """Explore what launches have left of their items, together with the other ranks; ``told`` ends each launch.

        Where that returns True, this rank explores nothing more.
        """

    def search(self, ranks: Any, limit: int, counting: bool, report: Report | None) -> None:
        """See `Method`: explore all items in slices; over ranks each takes the next when it has time."""
        self.agree(ranks)
        self.begin(limit)
        least = ranks.least(limit)
        slices = Batches(
            ranks,
            self.items,
            self.first_slice,
            least=self.least_slice,
            most=self.most_slice,
            seconds=self.slice_seconds,
            speed=self.speed,
        )

        self.undone = False

        def told() -> bool:
            """Wait for the launch, tell the other ranks of its incumbent, and hear of theirs; whether to end."""
            here = int(self.backend.download(self.shared.limit)[0])
            shortest = limit if counting else least.lower(here)
            if shortest < here:
                self.backend.write(self.shared.limit, np.array([shortest], np.int32))
            if report is None:
                return False
            return report(int(self.backend.download(self.shared.nodes).sum()), shortest, self.root_bound)

        for begin, end in slices:
            self.explore(begin, end, counting)
            if told():
                self.undone = slices.taken() < self.items
                break
        self.explore_rest(ranks, slices, told, counting)
        slices.close()
        least.close()
        self.speed = slices.speed
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
