"""Branch and bound with 1-trees: a worklist of subproblems, explored by lanes, shared out over ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.kernels.one_tree import CHILDREN, ROW, branch_and_bound
from core.search.exact.solution import Report, Way

NOTHING = np.iinfo(np.int32).max
MOST_LENGTH = 1 << 24
"""Costs with their multipliers stay below 2^26, sums over 30 edges below 2^31."""
MOST_SCALE = 1 << 10
ROOT_STEPS = 200
STEPS = 20
TEAM_SIZE = 32
ITEMS_PER_LANE = 4
DEPTHS = ROW * ROW
LARGEST_INDEX = 2**31 - 1
SHARES = 16
"""Parts per rank into which items are cut, so that ranks that finish early take over."""


class Items:
    """Nodes of the tree, as the kernel reads them."""

    def __init__(self, multipliers: np.ndarray, included: np.ndarray, excluded: np.ndarray, levels: np.ndarray) -> None:
        self.fields = (multipliers, included, excluded, levels)

    def __len__(self) -> int:
        return len(self.fields[-1])

    def some(self, chosen: Any) -> Items:
        """Those of a mask or slice."""
        return Items(*(field[chosen] for field in self.fields))


def root() -> Items:
    """The problem as it stands: nothing demanded, nothing forbidden."""
    words = np.zeros((1, ROW), np.uint32)
    return Items(np.zeros((1, ROW), np.int32), words, words, np.zeros(1, np.int32))


class OneTreeSearch(Way):
    """See `core.kernels.one_tree`.

    Parameters
    ----------
    backend, communicator
        As `ExactSearch` takes them.
    distances : ndarray, shape (n, n)
        Symmetric integers; 5 to 30 cities.

    """

    def __init__(self, backend: Any, communicator: Any, distances: np.ndarray) -> None:
        self.backend = backend
        self.communicator = communicator
        self.distances = distances
        self.n = n = len(distances)
        limits = backend.capabilities
        self.wide = limits.lanes_resident > 1
        self.team_size = min(TEAM_SIZE, limits.max_team_size) if self.wide else 1
        self.capacity = n * (n - 1) + CHILDREN
        # The words of all lanes' stacks, and those of all items' children, have indices of 31 bits.
        most_teams = LARGEST_INDEX // (ROW * self.capacity * self.team_size)
        self.teams = min(limits.compute_units * (4 if self.wide else 1), most_teams)
        self.lanes = self.teams * self.team_size
        alone = self.lanes == 1 and communicator.size == 1
        most_items = LARGEST_INDEX // (ROW * CHILDREN)
        self.wanted = 1 if alone else min(ITEMS_PER_LANE * self.lanes * communicator.size, most_items)
        allocate = backend.allocate
        self.costs = allocate(n * ROW, np.int32)
        self.stacks = self._fields(self.lanes * self.capacity)
        self.ticket = allocate(1, np.int32)
        self.limit = allocate(1, np.int32)
        self.bound = allocate(1, np.int32)
        self.explored = allocate(DEPTHS, np.uint64)
        self.found = allocate(1, np.uint64)
        self.lengths = allocate(self.lanes, np.int32)
        self.tours = allocate(self.lanes * ROW, np.uint8)
        self.scale = 1
        self.room = 0
        self._make_room(1)
        self.nodes = np.zeros(0, np.int64)

    def warm_up(self) -> None:
        """Compile what a search launches, by launches without items."""
        self._begin(MOST_LENGTH)
        for counting in (0, 1):
            if self.wanted > 1:
                self._launch(root().some(slice(0, 0)), self.children, deep=0, counting=counting)
            self._launch(root().some(slice(0, 0)), self.stacks, deep=1, counting=counting)

    def _begin(self, limit: int) -> None:
        """Set costs and counters for tours shorter than ``limit``; no such tour has an edge of that length."""
        self.scale = max(1, min(MOST_SCALE, MOST_LENGTH // max(limit, 1)))
        costs = np.zeros((self.n, ROW), np.int32)
        costs[:, : self.n] = np.minimum(self.distances, limit) * self.scale
        write = self.backend.write
        write(self.costs, costs.reshape(-1))
        write(self.limit, np.array([limit], np.int32))
        write(self.bound, np.zeros(1, np.int32))
        write(self.explored, np.zeros(DEPTHS, np.uint64))
        write(self.found, np.zeros(1, np.uint64))
        write(self.lengths, np.full(self.lanes, NOTHING, np.int32))

    def search(self, limit: int, counting: int, report: Report | None) -> None:
        """See `Way`: branch until there are items for all lanes of all ranks, then explore them."""
        ranks = self.communicator
        self._begin(limit)
        items = root()
        if ranks.rank == 0:
            while 0 < len(items) < self.wanted and items.fields[-1][0] < DEPTHS - 1:
                items = self._branched(items, counting)
                self._tell(report)
        if ranks.size > 1:
            items = Items(*(ranks.bcast(field) for field in items.fields))
            least = int(ranks.bcast(int(self.backend.download(self.limit)[0])))
            self.backend.write(self.limit, np.array([least], np.int32))
        self._explore(items, counting, report)
        explored = ranks.sum(self.backend.download(self.explored).astype(np.int64))
        self.nodes = np.trim_zeros(explored, "b")
        bound = int(ranks.sum(int(self.backend.download(self.bound)[0])))
        self.root_bound = -(-min(bound, (limit + 1) * self.scale) // self.scale)

    def _branched(self, items: Items, counting: int) -> Items:
        """Branch every item once."""
        self._make_room(len(items))
        self._launch(items, self.children, deep=0, counting=counting)
        multipliers, included, excluded, levels = (self.backend.download(child) for child in self.children)
        born = Items(multipliers.reshape(-1, ROW), included.reshape(-1, ROW), excluded.reshape(-1, ROW), levels)
        written = np.arange(len(levels)) < CHILDREN * len(items)
        return born.some(written & (levels >= 0))

    def _make_room(self, items: int) -> None:
        """Have memory for so many items and their children."""
        if items > self.room:
            self.room = max(items, 2 * self.room)
            self.given, self.children = (self._fields(count) for count in (self.room, CHILDREN * self.room))

    def _fields(self, count: int) -> tuple[Any, ...]:
        """Memory for the fields of so many nodes of the tree."""
        kinds = (np.int32, np.uint32, np.uint32)
        return (*(self.backend.allocate(count * ROW, kind) for kind in kinds), self.backend.allocate(count, np.int32))

    def _explore(self, items: Items, counting: int, report: Report | None) -> None:
        """Explore all below the items; over ranks in parts that each rank takes when it has time."""
        ranks = self.communicator
        if ranks.size == 1:
            if len(items):
                self._launch(items, self.stacks, deep=1, counting=counting)
            self._tell(report)
            return
        counter, least = ranks.counter(), ranks.least(int(self.backend.download(self.limit)[0]))
        part = max(1, len(items) // (SHARES * ranks.size))
        while (first := counter.take(part)) < len(items):
            some = items.some(slice(first, first + part))
            self._launch(some, self.stacks, deep=1, counting=counting)
            known = int(self.backend.download(self.limit)[0])
            if counting == 0:
                self.backend.write(self.limit, np.array([least.lower(known)], np.int32))
            self._tell(report)
        ranks.barrier()
        counter.close()
        least.close()

    def _launch(self, items: Items, rooms: tuple[Any, ...], *, deep: int, counting: int) -> None:
        """Queue one launch over the items."""
        backend = self.backend
        backend.write(self.ticket, np.zeros(1, np.int32))
        self._make_room(len(items))
        for buffer, field in zip(self.given, items.fields, strict=True):
            words = np.zeros(buffer.size, buffer.dtype)
            words[: field.size] = field.reshape(-1)
            backend.write(buffer, words)
        teams = max(1, min(self.teams, -(-len(items) // self.team_size)))
        backend.launch(
            branch_and_bound,
            teams,
            self.team_size,
            *(self.costs, self.n, self.scale, ROOT_STEPS, STEPS, len(items), self.capacity, deep, counting),
            *self.given,
            *rooms,
            *(self.ticket, self.limit, self.bound, self.explored, self.found, self.lengths, self.tours),
        )

    def _tell(self, report: Report | None) -> None:
        if report is not None:
            nodes = int(self.backend.download(self.explored).sum())
            report(nodes, int(self.backend.download(self.limit)[0]), self.root_bound)
