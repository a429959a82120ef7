"""Searches over numbered items: slices of them, a launch each, which ranks take from one counter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

import numpy as np

from core.errors import UserError
from core.exact.kernels.city_sets import ROW
from core.exact.kernels.enumeration import END
from core.exact.kernels.tour_search import BestTour, TourSearch
from core.exact.solution import ExactMethod, NodeCallback
from core.ranks import Ranks
from core.run.batches import Batches
from core.run.checkpoint import Checkpoint, CheckpointArray, interval_array
from core.run.loop import AsynchronousRun
from core.run.partition import Intervals

MOST_LENGTH = END >> 5
"""An edge and its city share 31 bits."""
MOST_ITEMS = 1 << 60
"""The counter of all ranks has 63 bits, and each rank may request a last slice beyond the end."""


class ItemSearch(ExactMethod):
    """Base of the searches over numbered items.

    An item begins with ``depth`` cities, city 0 included; ``chosen_depth`` is used without a checkpoint. The first
    slice has ``first_slice`` items, a later one ``least_slice`` to ``most_slice``, which take about ``slice_seconds``
    at most. The first is small: it ends soon, and its incumbent is good. ``bounded`` is True if a bound prunes
    branches. ``speed`` is in items per second of this rank in the last search, or 0. No rank has taken the
    ``left_items``.
    """

    bounded: bool
    first_slice: int
    least_slice: int
    most_slice: int
    slice_seconds: float
    chosen_depth: int
    speed = 0.0
    directions = 2

    def make_room(self, lanes: int) -> None:
        allocate = self.backend.allocate
        self.shared = TourSearch(allocate(1, np.int32), allocate(ROW, np.uint64), allocate(1, np.uint64))
        self.best = self.backend.rows(BestTour(), lanes)
        self.nodes = np.zeros(self.n + 1, np.int64)

    @property
    def work(self) -> int | None:
        """Number of nodes; None with a bound, since the nodes left are not known before."""
        if self.bounded:
            return None
        return sum(count_items(self.n, k) for k in range(self.depth, self.n - 2))

    def warm_up(self, count: bool) -> None:
        self.reset(MOST_LENGTH)
        for counting in (False, True) if count else (False,):
            self.launch(0, 0, counting)

    def agree(self, ranks: Ranks) -> None:
        """Agree on the items and the size of slices; all ranks call this before every search."""

    def number(self, depth: int) -> None:
        self.depth = depth
        self.items = count_items(self.n, depth)
        if self.items > MOST_ITEMS:
            most = max(cities for cities in range(1, depth) if count_items(self.n, cities) <= MOST_ITEMS)
            raise UserError(
                f"{self.n} cities have {self.items} items of {depth} cities: expected at most {MOST_ITEMS}, "
                f"which is a depth of {most}"
            )

    def launch(self, begin: int, end: int, counting: bool) -> None:
        raise NotImplementedError

    def pending(self) -> int:
        """Return the number of records: parts of items that this rank's launches left."""
        return 0

    def take_up(self, ranks: Ranks, records: np.ndarray) -> None:
        """Take this rank's share of the records of an earlier process."""

    def faulty_records(self, records: np.ndarray) -> str | None:
        return f"found {len(records)} parts of items, which mapping native has, expected none" if len(records) else None

    def records_left(self, ranks: Ranks) -> np.ndarray:
        return np.zeros((0, ROW), np.uint8)

    def explore_rest(
        self, ranks: Ranks, batches: Batches, finish_launch: Callable[[], bool], counting: bool, is_over: bool
    ) -> None:
        """Explore the records of all ranks until none is left, or ``finish_launch`` returns True."""

    def prepare(self, ranks: Ranks, limit: int, shortest: int, rest: Checkpoint | None) -> None:
        self.agree(ranks)
        self.reset(limit)
        self.set_limit(shortest)
        self.number(self.chosen_depth if rest is None else int(rest["depth"]))
        self.left_items = Intervals([(0, self.items)] if rest is None else rest["items"])
        if rest is not None:
            self.take_up(ranks, rest["records"])
        self.undone = self.left_items.count + self.pending()

    def explore(self, run: AsynchronousRun, counting: bool, report: NodeCallback | None) -> None:
        """Explore all items in slices; each idle rank takes the next one."""
        ranks = run.ranks
        least = ranks.least(self.limit_here())
        slices = Batches(
            ranks,
            self.left_items.count,
            self.first_slice,
            least=self.least_slice,
            most=self.most_slice,
            seconds=run.monitor.longest_launch_s(self.slice_seconds),
            speed=self.speed,
        )

        def finish_launch() -> bool:
            """Wait for the launch, exchange incumbents and report. Return True if the search ends."""
            shortest = self.exchange(least, counting)
            if report is not None:
                slices.seconds = run.monitor.longest_launch_s(self.slice_seconds)
            return self.report(report, shortest)

        own_items, is_over = [], False
        for begin, end in slices:
            for start, stop in self.left_items.part(begin, end).pairs:
                self.launch(start, stop, counting)
            own_items.append((begin, end))
            is_over = finish_launch()
            while self.is_kept and self.pending() and not is_over and slices.taken() < slices.every_item:
                self.launch(0, 0, counting)
                is_over = finish_launch()
            if is_over:
                break
        self.explore_rest(ranks, slices, finish_launch, counting, is_over)
        slices.close()
        least.close()
        self.speed = slices.speed
        self.left_items = self.left_items.less_taken(ranks, own_items) if run.is_watched else Intervals([])
        self.undone = self.left_items.count + self.pending()
        self.nodes = ranks.sum(self.backend.download(self.shared.nodes)[: self.n + 1].astype(np.int64))

    def left(self, ranks: Ranks) -> Checkpoint:
        return {"depth": np.array(self.depth), "items": self.left_items.array(), "records": self.records_left(ranks)}

    def layout(self, state: Checkpoint) -> Iterator[CheckpointArray]:
        yield CheckpointArray("depth", np.int64, (), [(1, self.n - 4)])
        yield interval_array("items", 0, min(count_items(self.n, int(state["depth"])), MOST_ITEMS))
        yield CheckpointArray("records", np.uint8, (None, ROW), rule=self.faulty_records)


def count_items(n: int, depth: int) -> int:
    """Return the number of sequences of ``depth`` cities that begin with city 0."""
    return prod(range(n - depth + 1, n))
