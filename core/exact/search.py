"""A shortest tour, proved: `ExactSearch` checks the problem, starts from a heuristic's tour and chooses the method."""

from __future__ import annotations

import time
from functools import partial
from typing import Unpack

import numpy as np

from core.errors import UserError, check_choice
from core.exact import one_tree
from core.exact.enumeration import Enumeration
from core.exact.item_search import MOST_LENGTH, count_items
from core.exact.one_tree import OneTreeSearch
from core.exact.proof import Proof, ProofState
from core.exact.published import PublishedSearch
from core.exact.solution import ExactMethod, Solution, digest_of
from core.run.devices import ComputeDevice, Ranks
from core.run.loop import AsynchronousRun, execute
from core.run.progress import ProgressMonitor, ProgressSamples
from core.run.protocol import Callback, Search, Watching
from core.run.stop import Stop
from core.tours import tour_length
from core.tours.distance_matrices import checked_distances
from core.tours.instance import canonical_tour
from core.tours.start_tours import greedy_tour

BOUNDS = ("one-tree", "edges", "none")
MAPPINGS = ("native", "published")
STARTS = ("greedy", "order")
MOST_CITIES = 30
ON_THE_HOST = 7
"""Cities up to which the thesis searches exhaustively on the host."""
FEWEST_CITIES = 5
"""Least cities for a device; fewer are searched on the host with any bound."""


class ExactSearch(Search):
    """Exact search on one instance and one device per rank, ready to be repeated.

    Raises `UserError` for invalid distances or settings, too many cities, or the published mapping of 1-trees.

    Parameters
    ----------
    distances : ndarray, shape (n, n)
        Symmetric integers from 0 to 2**31 - 1; 1 to 30 cities. The diagonal is not read.
    bound
        ``one-tree``: Held and Karp's; ``edges``: the thesis', length so far and the shortest edge of each city ahead,
        in the native mapping also city 0's; ``none``: all tours. None: exhaustive on the host up to 7 cities, then
        ``one-tree``.
    depth
        Cities in an item of the worklist; None: chosen for the device, or 7 as in the thesis with its mapping.
    mapping
        With the thesis' bound, or none: ``native``, or ``published``, the launches that the thesis describes; these
        search up to 7 cities on the host, whatever the bound.
    unrolled
        With the published mapping: visit the last three cities by separate functions.
    count
        Count all shortest tours.
    start
        Tour from which the search begins, made again in each run: ``greedy``, by greedy edges and 2-opt, or ``order``,
        the cities in the order of their numbers, for a search without a heuristic.
    """

    unit = "nodes"

    def __init__(
        self,
        backend: ComputeDevice,
        communicator: Ranks,
        distances: np.ndarray,
        *,
        bound: str | None = None,
        depth: int | None = None,
        mapping: str = "native",
        unrolled: bool = True,
        count: bool = False,
        start: str = "greedy",
    ) -> None:
        self.backend, self.communicator, self.count = backend, communicator, count
        self.distances = checked_distances(distances, check_cities, symmetric=True)
        self.n = n = len(self.distances)
        if bound is not None:
            check_choice("bound", bound, BOUNDS)
        check_choice("start", start, STARTS)
        check_choice("mapping", mapping, MAPPINGS)
        is_published = mapping == "published"
        if is_published and bound in (None, "one-tree"):
            raise UserError("mapping published: the thesis has no 1-trees; expected with bound edges or none")
        if depth is not None and not 1 <= depth <= max(1, n - 4):
            raise UserError(f"items of {depth} cities: expected 1 to {max(1, n - 4)} of {n}")
        limit = one_tree.MOST_LENGTH if bound in (None, "one-tree") else MOST_LENGTH
        self.start = partial(greedy_tour, self.distances) if start == "greedy" else partial(np.arange, n)
        self.start_length = tour_length(self.distances, self.start())
        if self.start_length >= limit:
            raise UserError(f"tours of length {self.start_length} and more: expected below {limit}, or a coarser unit")
        self.on_host = n < FEWEST_CITIES or ((bound is None or is_published) and n <= ON_THE_HOST)
        self.bound = "none" if self.on_host else bound or "one-tree"
        self.mapping = mapping
        self.method = None if self.on_host else self._method(depth, unrolled)

    def _method(self, depth: int | None, unrolled: bool) -> ExactMethod:
        common = self.backend, self.communicator, self.distances
        if self.bound == "one-tree":
            return OneTreeSearch(*common)
        bounded = self.bound == "edges"
        if self.mapping == "native":
            return Enumeration(*common, bounded=bounded, depth=depth)
        return PublishedSearch(*common, bounded=bounded, depth=depth, unrolled=unrolled)

    @property
    def work(self) -> int | None:
        """Nodes of a run, those of counting included: the sum of `Solution.nodes`. None if not known before."""
        if self.method is None:
            return 0
        work = self.method.work
        return None if work is None else work * (2 if self.count else 1)

    def warm_up(self) -> None:
        if self.method is not None:
            with self.backend.warming_up():
                self.method.warm_up(self.count)

    def run(self, stop: Stop | None = None, *, ranks: Ranks | None = None, **watching: Unpack[Watching]) -> Solution:
        """Find a shortest tour and prove that none is shorter; see `core.run.protocol.Search.run`.

        A search without ``stop`` ends with the proof. A time limit or a target gives up with the best tour so far, as
        soon as the launches under way are done. Iterations and patience are refused: the number of nodes, and the times
        at which the incumbent improves, differ from run to run. The callback's steps are nodes that this rank has
        explored, its bound the root's. A checkpoint has explored and unexplored work; a search on the host has none.

        Raises `UserError` for an invalid criterion, or a checkpoint of another bound, of other items or of another
        number of cities.
        """
        stop = (stop or Stop()).only("exact search", "seconds", "target")
        stop.check()
        ranks = ranks or self.communicator
        if self.method is None:
            return self._exhaustive(ranks, watching.get("history", False), watching.get("callback"))
        begun = ProofState(self.bound, self.start_length, self.start(), self.count)
        run = AsynchronousRun(ranks, stop, total=self.work, **watching)
        return execute(Proof(self.method, self.distances, begun), run)

    def _exhaustive(self, ranks: Ranks, history: bool, callback: Callback | None) -> Solution:
        """Search all tours in NumPy; stop criteria do not apply."""
        from core.tours.small_tours import enumerate_tours

        samples = ProgressSamples(time.perf_counter(), self.start_length)
        length, tour, optimal_tours = enumerate_tours(self.distances)
        counted = optimal_tours if self.count else None
        nodes = np.array([0, *(count_items(self.n, visited) for visited in range(1, self.n + 1))], np.int64)
        explored = int(nodes.sum())
        # Every rank looks at all tours: they count once.
        samples.see(length, 0 if ranks.rank else explored)
        ProgressMonitor(Stop(), callback, explored).report_end(explored, length, explored)
        improvements = samples.history(ranks, numbered=True) if history else None
        digest = digest_of(length, counted)
        return Solution(length, canonical_tour(tour), counted, nodes, None, self.start_length, digest, improvements)


def check_cities(n: int) -> None:
    if n > MOST_CITIES:
        raise UserError(
            f"{n} cities: exact search takes at most {MOST_CITIES}, since sets are 32-bit words; "
            "for good tours of more use drivers.aco or drivers.ihc, for a proof drivers.heldkarp (36) or Concorde"
        )
