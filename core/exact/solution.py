"""Result of an exact search, and the interface of its methods."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.exact.kernels.city_sets import ROW
from core.exact.kernels.tour_search import TourSearch
from core.lang.bundles import Rows
from core.ranks import LeastNumber, Ranks
from core.run.checkpoint import Checkpoint, CheckpointArray
from core.run.devices import ComputeDevice
from core.run.loop import AsynchronousRun
from core.run.protocol import Digested, alias

NOTHING = np.iinfo(np.int32).max
"""Initial length of each lane's best tour."""
NodeCallback = Callable[[int, int, "int | None"], bool]
"""Called with the nodes explored so far, the incumbent's length and perhaps a lower bound; returns True to end."""


@dataclass(frozen=True)
class Solution(Digested):
    """A shortest tour: (n,), int64, from city 0, in the direction in which the second city is smaller than the last.

    Attributes
    ----------
    optimal_tours
        Number of tours of this length, both directions of a tour as one; None if they were not counted.
    nodes : ndarray, int64
        Nodes explored of each depth: cities visited, or branchings of 1-trees.
    root_bound
        A lower bound for all tours at the root, rounded up.
    start_length
        Length of the heuristic's tour, from which the search began.
    digest
        64-bit digest of length and count, equal for equal proofs.
    history
        Rows [number of the incumbent, nodes, seconds, length], the start's first (`core.run.progress`), if recorded.
    proved, finished
        True if no tour is shorter; True if the proof, and the count if requested, are complete.
    """

    length: int
    tour: np.ndarray
    optimal_tours: int | None
    nodes: np.ndarray
    root_bound: int | None
    start_length: int
    digest: int
    history: list[list[Any]] | None = None
    proved: bool = True
    finished: bool = True

    cost, solution = alias("length"), alias("tour")

    @property
    def evaluations(self) -> int:
        """Nodes of all depths; their number depends on the times at which the incumbent improved."""
        return int(self.nodes.sum())


class ExactMethod:
    """A method of search, on one device of each rank, for ``n`` cities.

    Lanes share the data in ``shared``, and have a ``best`` tour each, if they met one. ``nodes`` counts those of each
    depth in the last search, over all ranks, by ``depths`` counters. Launches end soon if ``is_kept``, because of a
    checkpoint or a time limit. ``undone`` is the unexplored work that this rank knows of, in the unit of the search. A
    search visits each tour in one or both ``directions``. ``written_limit`` was written to this rank's lanes last.

    ``has_tours`` is True if lanes may have written tours since the lengths in ``best`` were reset. A GPU may have a
    million of them: they are neither reset nor copied unless a lane has met a shorter tour.
    """

    is_kept = False
    depths = ROW
    undone = 0
    directions = 1
    written_limit = NOTHING
    has_tours = True
    backend: ComputeDevice
    n: int
    shared: TourSearch
    best: Rows
    nodes: np.ndarray
    root_bound: int | None = None

    @property
    def work(self) -> int | None:
        return None

    def warm_up(self, count: bool) -> None:
        """Compile all kernels of a search; ``count`` includes those that count all shortest tours."""
        raise NotImplementedError

    def prepare(self, ranks: Ranks, limit: int, shortest: int, rest: Checkpoint | None) -> None:
        """Prepare the search for tours shorter than ``limit``, together with all ranks.

        ``shortest`` is the length of the shortest tour that is known, or ``limit`` if none is or all are counted.
        ``rest`` is a checkpoint's unexplored rest, as `layout` declares it; without one, nothing is explored.
        """
        raise NotImplementedError

    def explore(self, run: AsynchronousRun, counting: bool, report: NodeCallback | None) -> None:
        """Explore the rest, for a shorter tour or to count tours, until it is done or the report ends it.

        All ranks call this until nothing is left. Launches are short if the run reports progress.
        """
        raise NotImplementedError

    def left(self, ranks: Ranks) -> Checkpoint:
        """Return the unexplored rest of all ranks, in a form that any number of ranks and any device can resume."""
        raise NotImplementedError

    def layout(self, state: Checkpoint) -> Iterable[CheckpointArray]:
        raise NotImplementedError

    def reset(self, limit: int) -> None:
        write, shared = self.backend.write, self.shared
        self.set_limit(limit)
        write(shared.nodes, np.zeros(self.depths, np.uint64))
        write(shared.counted, np.zeros(1, np.uint64))
        if self.has_tours:
            write(self.best.length, np.full(self.best.count, NOTHING, np.int32))
            self.has_tours = False

    def exchange(self, least: LeastNumber, counting: bool) -> int:
        """Wait for the launch and return the length that a tour must beat.

        Unless the length is known (``counting``), exchange incumbents by ``least``, the least length of all ranks.
        """
        limit = self.limit_here()
        shortest = limit if counting else int(least.lower(limit))
        if shortest < limit:
            self.set_limit(shortest)
        return shortest

    def report(self, callback: NodeCallback | None, shortest: int) -> bool:
        if callback is None:
            return False
        return callback(int(self.backend.download(self.shared.nodes).sum()), shortest, self.root_bound)

    def best_tour(self, ranks: Ranks, limit: int) -> tuple[int, np.ndarray | None]:
        """Return length and cities of the shortest tour that was met below ``limit``; (limit, None) if none was."""
        self.limit_here()
        length, tour = best_of_lanes(self.backend, self.best, self.n) if self.has_tours else (limit, None)
        length, holder = ranks.minloc(min(length, limit), ranks.rank)
        if length == limit:
            return limit, None
        return length, ranks.sum(np.zeros(self.n, np.int64) if tour is None or holder != ranks.rank else tour)

    def counted(self, ranks: Ranks) -> int:
        """Return the number of tours shorter than the limit that were found since `prepare`."""
        return int(ranks.sum(int(self.backend.download(self.shared.counted)[0])))

    def limit_here(self) -> int:
        """Return the length that a tour must beat on this rank; a lane that meets a shorter tour lowers it."""
        limit = int(self.backend.download(self.shared.limit)[0])
        self.has_tours |= limit < self.written_limit
        return limit

    def set_limit(self, limit: int) -> None:
        self.written_limit = limit
        self.backend.write(self.shared.limit, np.array([limit], np.int32))


def digest_of(length: int, optimal_tours: int | None) -> int:
    return int.from_bytes(hashlib.blake2b(f"{length} {optimal_tours or 0}".encode(), digest_size=8).digest(), "big")


def best_of_lanes(backend: ComputeDevice, best: Rows, n: int) -> tuple[int, np.ndarray]:
    lengths = backend.download(best.length)
    lane = int(lengths.argmin())
    return int(lengths[lane]), backend.read(best.tour, lane * ROW, n).astype(np.int64)
