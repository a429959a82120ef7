"""Enumeration of all tours, or of those that the thesis' bound leaves: items by number, explored by lanes and ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from core.kernels.exact.city_sets import ROW
from core.kernels.exact.enumeration import END, LEVEL, PLACE, ReducedDistances, Worklist, explore, permute
from core.search.batches import Batches
from core.search.exact.item_search import MOST_LENGTH, ItemSearch, count_items
from core.search.partition import equal_part, parts_by_speed

MOST_IMBALANCE = 1.5
"""Records are moved if the busiest rank needs more than this multiple of the time with equal parts."""


class PendingWork(NamedTuple):
    """Pending work of a rank: parts of items that its launches left.

    Attributes
    ----------
    records, room
        Number of records, and the most that the rank can hold.
    lanes
        Lanes of its device.
    speed
        Speed of the rank, in the same unit on all ranks; 0 if not known.
    is_over
        1 if the rank has stopped exploring, else 0.
    """

    records: int
    lanes: int
    room: int
    speed: int
    is_over: int = 0


class WorkTransfer(NamedTuple):
    """Records that one rank gives to another."""

    source: int
    to: int
    records: int


def plan_transfers(every: Sequence[PendingWork]) -> list[WorkTransfer]:
    """Plan the transfers of records after which all ranks need about equal time; the plan is the same on all ranks.

    The work of a record is unknown, so all count the same. If no lane has more than one record, only a rank slower than
    half the average gives records away, since many lanes of others may wait for its last one. Returns None if the ranks
    have about equal work.

    Parameters
    ----------
    every
        Pending work of every rank.
    """
    told = [one.speed for one in every if one.speed]
    usual = max(1, sum(told) // len(told)) if told else 1
    speeds = [one.speed or usual for one in every]
    total, together = sum(one.records for one in every), sum(speeds)
    waited_for = [
        one.records / speed
        for one, speed in zip(every, speeds, strict=True)
        if one.records > one.lanes or 2 * speed * len(every) < together
    ]
    if max(waited_for, default=0.0) < MOST_IMBALANCE * total / together:
        return []
    wanted = [min(count, one.room) for count, one in zip(parts_by_speed(total, speeds), every, strict=True)]
    more = [one.records - count for one, count in zip(every, wanted, strict=True)]
    givers = [[rank, surplus] for rank, surplus in enumerate(more) if surplus > 0]
    found = []
    for to, lacking in enumerate(-surplus for surplus in more):
        while lacking > 0 and givers:
            source, surplus = givers[-1]
            count = min(lacking, surplus)
            found.append(WorkTransfer(source, to, count))
            lacking -= count
            givers[-1][1] -= count
            if not givers[-1][1]:
                givers.pop()
    return found


TEAM_SIZE = 256
ITEMS_PER_LANE = 8
ITEMS_PER_CORE = 1024
"""Items per lane on cores. A wide device gets fewer per lane, since its launches are large anyway."""
CHUNK = 4
"""Items that a lane takes at a time, if there are enough."""
FIRST_SLICES = 8
"""A rank's first slice is at most this part of its share of the items: its incumbent serves the others."""
STEPS_BETWEEN_CHECKS, CORE_STEPS_BETWEEN_CHECKS = 2_000, 1 << 17
"""Steps between a lane's checks for idle lanes: about a millisecond on a GPU, and on a core."""
CHECKPOINT_STEPS_BETWEEN_CHECKS = 1 << 22
"""The same on a core with checkpoints, which then wait for some tens of milliseconds."""
CITIES_OF_SMALL, SMALL_PER_LANE = 9, 64
"""Cities left in a small item, which takes a core a few milliseconds at most; and small items per lane of a launch."""
MOST_STEPS = 1 << 30
"""Steps after which a lane adds its counts, words of 32 bits, to those of the search."""
LARGEST_INDEX = 2**31 - 1
SLICE_SECONDS, SLICE_SECONDS_OF_CORES = 0.5, 0.1
"""Approximate duration of a launch in seconds, for work sharing and progress: on a wide device, and on cores.

Ranks exchange incumbents between launches. The last items of a launch leave a wide device half idle for a moment.
"""
FEWEST_RECORDS = 1 << 12
"""Least capacity for records, since a device of few lanes may get some from a wide one."""


class Enumeration(ItemSearch):
    """See `core.kernels.exact.enumeration`.

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
        self.n = len(distances)
        self.bounded = bounded
        self.permutations = permutations
        limits = backend.capabilities
        wide = limits.lanes_resident > 1
        self.team_size = min(TEAM_SIZE, limits.max_team_size) if wide else 1
        self.teams = limits.compute_units * max(1, limits.lanes_resident // self.team_size)
        # Every lane has ROW records of ROW bytes.
        self.teams = min(self.teams, LARGEST_INDEX // (ROW * ROW * self.team_size))
        self.lanes = self.teams * self.team_size
        self.given_depth = depth
        self.wanted = (ITEMS_PER_LANE if wide else ITEMS_PER_CORE) * self.lanes
        self.ranks = communicator.size
        self.choose_depth(self.wanted * communicator.size)
        self.agreed: Any = None
        self.wide = wide
        self.least_slice = self.lanes if wide else 1
        self.slice_seconds = SLICE_SECONDS if wide else SLICE_SECONDS_OF_CORES
        self.reduced = backend.load(reduced_by_shortest(distances))
        self.make_room(self.lanes)
        allocate = backend.allocate
        self.patience = STEPS_BETWEEN_CHECKS if wide else CORE_STEPS_BETWEEN_CHECKS
        self.patience_kept = STEPS_BETWEEN_CHECKS if wide else CHECKPOINT_STEPS_BETWEEN_CHECKS
        self.rounds_to_count = MOST_STEPS // max(self.patience, self.patience_kept)
        self.ticket = allocate(1, np.uint64)
        self.hands = allocate(1, np.uint32)
        self.records = 0
        """Number of records that the last launch left."""
        self.room = max(FEWEST_RECORDS, self.lanes * ROW)
        self.lists = [allocate(self.room * ROW, np.uint8) for _ in range(2)]
        self.waiting = np.zeros((0, ROW), np.uint8)
        """Records that wait on the host."""
        if bounded:
            self.root_bound = int(self.reduced.shortest + distances[0][1:].min())

    def choose_depth(self, wanted: int) -> None:
        """Choose the number of cities of an item, so that there are enough items for all ranks."""
        self.chosen_depth = self.given_depth or fitting_depth(self.n, wanted)
        self.number(self.chosen_depth)

    def number(self, depth: int) -> None:
        """See `ItemSearch`."""
        super().number(depth)
        # A slice of small items is as large as their speed allows; where somebody waits for it, of others a lane has
        # one, so that it looks up soon.
        few = self.is_kept and not self.wide and self.n - depth > CITIES_OF_SMALL and not self.permutations
        self.most_slice = self.lanes if few else self.items
        self.first_slice = max(self.lanes, min(self.lanes * CHUNK, self.items // (FIRST_SLICES * self.ranks)))

    def agree(self, ranks: Any) -> None:
        """See `ItemSearch`: devices of all sizes number the same items."""
        if self.agreed is not ranks:
            self.ranks = ranks.size
            self.choose_depth(ranks.sum(self.wanted))
            self.agreed = ranks

    def reset(self, limit: int) -> None:
        super().reset(limit)
        self.records = 0
        self.waiting = self.waiting[:0]

    def launch(self, begin: int, end: int, counting: bool) -> None:
        """See `ItemSearch`: the records that the last launch left, then the items."""
        backend = self.backend
        if self.permutations:
            shape = self.teams, self.team_size
            backend.launch(permute, *shape, self.reduced, begin, end, self.shared, self.best, counting)
            return
        self.fetch()
        if self.is_kept and not self.wide:
            self.hold_back()
        backend.write(self.ticket, np.zeros(1, np.uint64))
        backend.write(self.hands, np.zeros(1, np.uint32))
        self.lists.reverse()
        given, handed = self.lists
        count = self.records + end - begin
        chunk = max(1, min(CHUNK, (end - begin) // self.lanes))
        worklist = Worklist(
            ticket=self.ticket,
            end=count,
            chunk=chunk,
            records=self.records,
            first=begin,
            depth=self.depth,
            stored=given,
            unfinished=handed,
            unfinished_count=self.hands,
            room=self.room,
            patience=self.patience_kept if self.is_kept else self.patience,
            rounds_to_count=self.rounds_to_count,
        )
        shape = max(1, min(self.teams, -(-count // (chunk * self.team_size)))), self.team_size
        backend.launch(explore, *shape, self.reduced, worklist, self.shared, self.best, self.bounded, counting)
        self.records = int(backend.download(self.hands)[0])

    def explore_rest(
        self, ranks: Any, batches: Batches, told: Callable[[], bool], counting: bool, is_over: bool
    ) -> None:
        """See `ItemSearch`: launch the remaining records until no rank has any."""
        own = np.zeros((ranks.size, len(PendingWork._fields)), np.int64)
        while True:
            if not is_over:
                self.fetch()
            own[:] = 0
            own[ranks.rank] = PendingWork(self.records, self.lanes, self.room, batches.told, is_over)
            ranks.reduce(own, "sum")
            every = [PendingWork(*map(int, row)) for row in own]
            if not any(one.records for one in every) or any(one.is_over for one in every):
                return
            self.share_records(ranks, plan_transfers(every))
            if self.records:
                self.launch(0, 0, counting)
            is_over = told()

    # --- records that wait on the host ---

    def pending(self) -> int:
        return self.records + len(self.waiting)

    def take_up(self, ranks: Any, records: np.ndarray) -> None:
        self.waiting = records[slice(*equal_part(len(records), ranks.rank, ranks.size))]

    def faulty_records(self, records: np.ndarray) -> str | None:
        """See `ItemSearch`: a record has different cities, city 0 first, and a place in the last one's row."""
        if self.permutations:
            return super().faulty_records(records)
        cities = records[:, LEVEL].astype(np.int64)
        used = np.arange(ROW) < cities[:, None]
        named = np.bitwise_or.reduce(np.where(used & (records < self.n), 1 << (records & 31).astype(np.int64), 0), 1)
        fits = (cities >= 1) & (cities <= self.n - 4) & (records[:, PLACE] < self.n) & (records[:, 0] == 0)
        wrong = np.flatnonzero(~fits | (np.bitwise_count(named) != cities))
        return f"found row {wrong[0]} that is no part of an item, expected different cities" if wrong.size else None

    def records_left(self, ranks: Any) -> np.ndarray:
        """See `ItemSearch`."""
        handed = self.backend.read(self.lists[1], 0, self.records * ROW) if self.records else self.waiting[:0]
        own = np.concatenate([self.waiting.reshape(-1), handed.reshape(-1)])
        joined: np.ndarray = ranks.join(own).reshape(-1, ROW)
        return joined

    def fetch(self) -> None:
        """Copy records from the host to the device while it has space for more."""
        count = min(len(self.waiting), self.room - self.records)
        if count:
            self.waiting, fetched = self.waiting[:-count], self.waiting[-count:]
            self.backend.put(self.lists[1], self.records * ROW, fetched.reshape(-1))
            self.records += count

    def hold_back(self) -> None:
        """Move records from the device to the host, so that the next launch ends soon.

        A lane stops when no item is left to take, so each lane gets one large record after some small ones. The newest
        records come first, as in a depth-first search, so few records wait.
        """
        if self.records <= self.lanes:
            return
        records = self.backend.read(self.lists[1], 0, self.records * ROW).reshape(-1, ROW)
        is_small = self.n - records[:, LEVEL].astype(np.int64) <= CITIES_OF_SMALL
        small, large = records[is_small], records[~is_small]
        most = SMALL_PER_LANE * self.lanes
        chosen = np.concatenate([small[-most:], large[-self.lanes :]])
        self.waiting = np.concatenate([self.waiting, large[: -self.lanes], small[:-most]])
        self.records = len(chosen)
        self.backend.put(self.lists[1], 0, chosen.reshape(-1))

    def share_records(self, ranks: Any, plan: list[WorkTransfer]) -> None:
        """Give records to ranks that have few from those that have many, through host memory."""
        backend, handed = self.backend, self.lists[1]
        messages, arrivals = [], []
        for source, to, count in plan:
            if source == ranks.rank:
                self.records -= count
                messages.append((backend.read(handed, self.records * ROW, count * ROW), source, to))
            elif to == ranks.rank:
                items = np.empty(count * ROW, np.uint8)
                messages.append((items, source, to))
                arrivals.append((self.records, items))
                self.records += count
        if plan:
            ranks.transfer(messages)
        for first, items in arrivals:
            backend.put(handed, first * ROW, items)


def fitting_depth(n: int, wanted: int) -> int:
    """Return the least number of cities, at most n - 4, that makes at least ``wanted`` items."""
    return next((depth for depth in range(1, n - 4) if count_items(n, depth) >= wanted), n - 4)


def reduced_by_shortest(distances: np.ndarray) -> ReducedDistances:
    """Return the distances minus the shortest edges, on the host."""
    n = len(distances)
    # No tour below the limit has a longer edge, and 30 edges of this length still have a sum of 31 bits.
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
    return ReducedDistances(lengths, ranked, n, int(shortest[1:].sum()))
