"""Enumeration of all tours, or of those that the thesis' bound leaves: items by number, explored by lanes and ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from core.exact.item_search import MOST_LENGTH, ItemSearch, count_items
from core.exact.kernels.city_sets import ROW
from core.exact.kernels.enumeration import END, LEVEL, PLACE, ReducedDistances, Worklist, explore
from core.run.batches import Batches
from core.run.devices import ComputeDevice, Ranks
from core.run.partition import equal_part, parts_by_speed

MOST_IMBALANCE = 1.5
"""Records are moved if the busiest rank needs more than this multiple of the time with equal parts."""


class PendingWork(NamedTuple):
    """Pending work of a rank, as records (parts of items). ``room`` is the largest number of records that it can store.

    ``speed`` has the same unit on all ranks; 0 if unknown. ``is_over`` is 1 if the rank has stopped exploring.
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


def plan_transfers(ranks: Sequence[PendingWork]) -> list[WorkTransfer]:
    """Plan the transfers of records after which all ranks need about equal time; the plan is the same on all ranks.

    The work of a record is unknown, so all count the same. If no lane has more than one record, only a rank slower than
    half the average gives records away, since many lanes of others may wait for its last one. The plan is empty if the
    ranks have about equal work.
    """
    known_speeds = [work.speed for work in ranks if work.speed]
    typical_speed = max(1, sum(known_speeds) // len(known_speeds)) if known_speeds else 1
    speeds = [work.speed or typical_speed for work in ranks]
    records, total_speed = sum(work.records for work in ranks), sum(speeds)
    waited_for = [
        work.records / speed
        for work, speed in zip(ranks, speeds, strict=True)
        if work.records > work.lanes or 2 * speed * len(ranks) < total_speed
    ]
    if max(waited_for, default=0.0) < MOST_IMBALANCE * records / total_speed:
        return []
    targets = [min(count, work.room) for count, work in zip(parts_by_speed(records, speeds), ranks, strict=True)]
    surpluses = [work.records - count for work, count in zip(ranks, targets, strict=True)]
    donors = [[rank, surplus] for rank, surplus in enumerate(surpluses) if surplus > 0]
    transfers = []
    for to, missing in enumerate(-surplus for surplus in surpluses):
        while missing > 0 and donors:
            source, surplus = donors[-1]
            count = min(missing, surplus)
            transfers.append(WorkTransfer(source, to, count))
            missing -= count
            donors[-1][1] -= count
            if not donors[-1][1]:
                donors.pop()
    return transfers


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
    """Search of numbered items by a worklist (`core.exact.kernels.enumeration`).

    ``distances`` are symmetric integers, (n, n), of 5 to 30 cities. If ``bounded``, what the bound proves useless is
    left out. An item has ``depth`` cities, 1 to n - 4, by default as many as fill the device. Raises `UserError` if
    there are more items than can be counted.
    """

    def __init__(
        self, backend: ComputeDevice, communicator: Ranks, distances: np.ndarray, *, bounded: bool, depth: int | None
    ) -> None:
        self.backend = backend
        self.n = len(distances)
        self.bounded = bounded
        capabilities = backend.capabilities
        is_wide = capabilities.lanes_resident > 1
        self.team_size = min(TEAM_SIZE, capabilities.max_team_size) if is_wide else 1
        self.teams = capabilities.compute_units * max(1, capabilities.lanes_resident // self.team_size)
        # Every lane has ROW records of ROW bytes.
        self.teams = min(self.teams, LARGEST_INDEX // (ROW * ROW * self.team_size))
        self.lanes = self.teams * self.team_size
        self.given_depth = depth
        self.wanted = (ITEMS_PER_LANE if is_wide else ITEMS_PER_CORE) * self.lanes
        self.ranks = communicator.size
        self.choose_depth(self.wanted * communicator.size)
        self.agreed: Ranks | None = None
        self.wide = is_wide
        self.least_slice = self.lanes if is_wide else 1
        self.slice_seconds = SLICE_SECONDS if is_wide else SLICE_SECONDS_OF_CORES
        self.reduced = backend.load(reduced_by_shortest(distances))
        self.make_room(self.lanes)
        allocate = backend.allocate
        self.patience = STEPS_BETWEEN_CHECKS if is_wide else CORE_STEPS_BETWEEN_CHECKS
        self.patience_kept = STEPS_BETWEEN_CHECKS if is_wide else CHECKPOINT_STEPS_BETWEEN_CHECKS
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
            self.root_bound = self.reduced.shortest

    def choose_depth(self, least_items: int) -> None:
        """Take the given depth, or the least, at most n - 4, that makes at least ``least_items`` items."""
        fitting = (depth for depth in range(1, self.n - 4) if count_items(self.n, depth) >= least_items)
        self.chosen_depth = self.given_depth or next(fitting, self.n - 4)
        self.number(self.chosen_depth)

    def number(self, depth: int) -> None:
        super().number(depth)
        # Slices of small items are limited by their speed alone. Of larger ones each lane gets one item, so that the
        # launch ends soon if a checkpoint or a time limit waits for it.
        is_short = self.is_kept and not self.wide and self.n - depth > CITIES_OF_SMALL
        self.most_slice = self.lanes if is_short else self.items
        self.first_slice = max(self.lanes, min(self.lanes * CHUNK, self.items // (FIRST_SLICES * self.ranks)))

    def agree(self, ranks: Ranks) -> None:
        """Number the same items on devices of all sizes."""
        if self.agreed is not ranks:
            self.ranks = ranks.size
            self.choose_depth(ranks.sum(self.wanted))
            self.agreed = ranks

    def reset(self, limit: int) -> None:
        super().reset(limit)
        self.records = 0
        self.waiting = self.waiting[:0]

    def launch(self, begin: int, end: int, counting: bool) -> None:
        backend = self.backend
        self.fetch()
        if self.is_kept and not self.wide:
            self.hold_back()
        backend.write(self.ticket, np.zeros(1, np.uint64))
        backend.write(self.hands, np.zeros(1, np.uint32))
        self.lists.reverse()
        source, target = self.lists
        count = self.records + end - begin
        chunk = max(1, min(CHUNK, (end - begin) // self.lanes))
        worklist = Worklist(
            ticket=self.ticket,
            end=count,
            chunk=chunk,
            records=self.records,
            first=begin,
            depth=self.depth,
            stored=source,
            unfinished=target,
            unfinished_count=self.hands,
            room=self.room,
            patience=self.patience_kept if self.is_kept else self.patience,
            rounds_to_count=self.rounds_to_count,
        )
        shape = max(1, min(self.teams, -(-count // (chunk * self.team_size)))), self.team_size
        backend.launch(explore, *shape, self.reduced, worklist, self.shared, self.best, self.bounded, counting)
        self.records = int(backend.download(self.hands)[0])

    def explore_rest(
        self, ranks: Ranks, batches: Batches, finish_launch: Callable[[], bool], counting: bool, is_over: bool
    ) -> None:
        totals = np.zeros((ranks.size, len(PendingWork._fields)), np.int64)
        while True:
            if not is_over:
                self.fetch()
            totals[:] = 0
            totals[ranks.rank] = PendingWork(self.records, self.lanes, self.room, batches.shared_speed, is_over)
            ranks.reduce(totals, "sum")
            all_work = [PendingWork(*map(int, row)) for row in totals]
            if not any(work.records for work in all_work) or any(work.is_over for work in all_work):
                return
            self.share_records(ranks, plan_transfers(all_work))
            if self.records:
                self.launch(0, 0, counting)
            is_over = finish_launch()

    # --- records that wait on the host ---

    def pending(self) -> int:
        return self.records + len(self.waiting)

    def take_up(self, ranks: Ranks, records: np.ndarray) -> None:
        self.waiting = records[slice(*equal_part(len(records), ranks.rank, ranks.size))]

    def faulty_records(self, records: np.ndarray) -> str | None:
        """Check that a record has different cities, city 0 first, and a place in the last one's row."""
        cities = records[:, LEVEL].astype(np.int64)
        is_used = np.arange(ROW) < cities[:, None]
        seen = np.bitwise_or.reduce(np.where(is_used & (records < self.n), 1 << (records & 31).astype(np.int64), 0), 1)
        fits = (cities >= 1) & (cities <= self.n - 4) & (records[:, PLACE] < self.n) & (records[:, 0] == 0)
        wrong = np.flatnonzero(~fits | (np.bitwise_count(seen) != cities))
        return f"found row {wrong[0]} that is no part of an item, expected different cities" if wrong.size else None

    def records_left(self, ranks: Ranks) -> np.ndarray:
        on_device = self.backend.read(self.lists[1], 0, self.records * ROW) if self.records else self.waiting[:0]
        records = np.concatenate([self.waiting.reshape(-1), on_device.reshape(-1)])
        return ranks.join(records).reshape(-1, ROW)

    def fetch(self) -> None:
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
        most_small = SMALL_PER_LANE * self.lanes
        chosen = np.concatenate([small[-most_small:], large[-self.lanes :]])
        self.waiting = np.concatenate([self.waiting, large[: -self.lanes], small[:-most_small]])
        self.records = len(chosen)
        self.backend.put(self.lists[1], 0, chosen.reshape(-1))

    def share_records(self, ranks: Ranks, plan: list[WorkTransfer]) -> None:
        """Transfer records between ranks as planned, through host memory."""
        backend, records = self.backend, self.lists[1]
        messages, arrivals = [], []
        for source, to, count in plan:
            if source == ranks.rank:
                self.records -= count
                messages.append((backend.read(records, self.records * ROW, count * ROW), source, to))
            elif to == ranks.rank:
                items = np.empty(count * ROW, np.uint8)
                messages.append((items, source, to))
                arrivals.append((self.records, items))
                self.records += count
        if plan:
            ranks.transfer(messages)
        for first, items in arrivals:
            backend.put(records, first * ROW, items)


def reduced_by_shortest(distances: np.ndarray) -> ReducedDistances:
    """Return the distances minus the shortest edges, on the host."""
    n = len(distances)
    # No tour below the limit has a longer edge, and 30 edges of this length still have a sum of 31 bits.
    distances = np.minimum(distances.astype(np.int64), MOST_LENGTH)
    shortest = (distances + np.diag(np.full(n, END, np.int64))).min(axis=1)
    lengths = np.zeros((n, ROW), np.int32)
    lengths[:, :n] = distances - shortest
    np.fill_diagonal(lengths, 0)
    ordered = np.full((n, ROW), END, np.int32)
    for city in range(n):
        following = [j for j in range(1, n) if j != city]
        ordered[city, : len(following)] = np.sort((lengths[city, following] << 5) | np.array(following))
    return ReducedDistances(lengths, ordered, n, int(shortest.sum()))
