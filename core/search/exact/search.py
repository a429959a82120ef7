"""A shortest tour, proved: `ExactSearch` checks the problem, starts from a heuristic's tour and chooses the method."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from core.errors import UserError
from core.problems.tsp import tour_length
from core.problems.tsp.distance_matrices import checked_distances
from core.search.checkpoint import Checkpointer
from core.search.exact import one_tree
from core.search.exact.enumeration import Enumeration
from core.search.exact.item_search import MOST_LENGTH, count_items
from core.search.exact.one_tree import OneTreeSearch
from core.search.exact.proof import Proof
from core.search.exact.published import PublishedSearch
from core.search.exact.solution import ExactMethod, Solution, canonical_tour, digest_of
from core.search.hill_climbing.start_tours import greedy_tour
from core.search.progress import ProgressMonitor, ProgressSamples
from core.search.protocol import Callback
from core.search.run import AsynchronousRun, execute
from core.search.stop import Stop

BOUNDS = ("one-tree", "edges", "none")
ENUMERATIONS = ("worklist", "permutations")
MAPPINGS = ("native", "published")
STARTS = ("greedy", "order")
MOST_CITIES = 30
ON_THE_HOST = 7
"""Cities up to which the thesis searches exhaustively on the host."""
FEWEST_CITIES = 5
"""Least cities for a device; fewer are searched on the host with any bound."""
MOST_PERMUTED = 20
"""Most cities for which numbers of tours fit 64 bits."""


class ExactSearch:
    """Exact search on one instance and one device per rank, ready to be repeated.

    Parameters
    ----------
    backend
        A `backends.launch.Backend`.
    communicator
        A `cluster.Communicator`, or a rehearsal of one; every rank constructs and calls the same.
    distances : ndarray, shape (n, n)
        Symmetric integers from 0 to 2**31 - 1; 1 to 30 cities. The diagonal is not read.
    bound
        ``one-tree``: Held and Karp's; ``edges``: the thesis', length so far and the shortest edge of each city ahead;
        ``none``: all tours. None: exhaustive on the host up to 7 cities, then ``one-tree``.
    enumerate
        Without a bound: ``worklist`` or ``permutations``, the thesis' two forms.
    depth
        Cities in an item of the worklist; None: chosen for the device, or 7 as in the thesis with its mapping.
    mapping
        With the thesis' bound, or none: ``native``, or ``published``, the launches that the thesis describes; these
        search up to 7 cities on the host, whatever the bound.
    unrolled
        With the published mapping and a worklist: the last three cities by functions of their own.
    count
        Count all shortest tours.
    start
        Tour from which the search begins: ``greedy``, by greedy edges and 2-opt, or ``order``, the cities in the order
        of their numbers, for a search without a heuristic.

    Raises
    ------
    UserError
        Too many cities, asymmetric, negative or too large distances, an unknown bound, a depth that is none, or the
        published mapping of 1-trees.
    """

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        distances: np.ndarray,
        *,
        bound: str | None = None,
        enumerate: str = "worklist",
        depth: int | None = None,
        mapping: str = "native",
        unrolled: bool = True,
        count: bool = False,
        start: str = "greedy",
    ) -> None:
        self.backend = backend
        self.communicator = communicator
        self.distances = checked_distances(distances, check_cities, symmetric=True)
        self.n = n = len(self.distances)
        self.count = count
        self.notes: list[str] = []
        if bound not in (None, *BOUNDS):
            raise UserError(f"bound {bound!r}; choose one of {', '.join(BOUNDS)}")
        if enumerate not in ENUMERATIONS:
            raise UserError(f"enumeration {enumerate!r}; choose one of {', '.join(ENUMERATIONS)}")
        if start not in STARTS:
            raise UserError(f"start {start!r}; choose one of {', '.join(STARTS)}")
        published = mapping == "published"
        if mapping not in MAPPINGS:
            raise UserError(f"mapping {mapping!r}; choose one of {', '.join(MAPPINGS)}")
        if published and bound in (None, "one-tree"):
            raise UserError("mapping published: the thesis has no 1-trees; expected with bound edges or none")
        permutations = bound == "none" and enumerate == "permutations"
        if permutations and n > MOST_PERMUTED:
            raise UserError(
                f"tours of {n} cities have no numbers of 64 bits: at most {MOST_PERMUTED} cities, or worklist"
            )
        if depth is not None and not 1 <= depth <= max(1, n - 4):
            raise UserError(f"items of {depth} cities: expected 1 to {max(1, n - 4)} of {n}")
        most = one_tree.MOST_LENGTH if bound in (None, "one-tree") else MOST_LENGTH
        self.start = greedy_tour(self.distances) if start == "greedy" else np.arange(n)
        self.start_length = tour_length(self.distances, self.start)
        if self.start_length >= most:
            raise UserError(f"tours of length {self.start_length} and more: expected below {most}, or a coarser unit")
        few = n < FEWEST_CITIES or ((bound is None or published) and n <= ON_THE_HOST)
        self.bound = "none" if few else bound or "one-tree"
        self.on_host = few
        self.mapping = mapping
        self.method = None if few else self._method(permutations, depth, unrolled)

    def _method(self, permutations: bool, depth: int | None, unrolled: bool) -> ExactMethod:
        """Return the method of search on the device."""
        given = self.backend, self.communicator, self.distances
        if self.bound == "one-tree":
            return OneTreeSearch(*given)
        bounded = self.bound == "edges"
        if self.mapping == "native":
            return Enumeration(*given, bounded=bounded, permutations=permutations, depth=depth)
        return PublishedSearch(*given, bounded=bounded, permutations=permutations, depth=depth, unrolled=unrolled)

    work_unit = "nodes"

    @property
    def work(self) -> int | None:
        """Nodes of a run, as `Solution.nodes` sums up to, those of counting included; None if not known before."""
        if self.method is None:
            return 0
        work = self.method.work
        return work * (2 if self.count else 1) if work is not None else None

    def warm_up(self) -> None:
        """Compile everything; the time counts as the backend's compilation."""
        if self.method is None:
            return
        with self.backend.warming_up():
            self.method.warm_up(self.count)

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Any = None,
        checkpointer: Checkpointer | None = None,
    ) -> Solution:
        """Find a shortest tour and prove that none is shorter.

        Raises `UserError` for an invalid criterion, or a state of another bound, of other items or of another number of
        cities.

        Parameters
        ----------
        stop
            Gives up, with the best tour so far, when the time is over or a tour is as short as the target, as soon as
            the launches under way are done; None: when it is proved. Iterations and patience are refused: how many
            nodes there are, and when the incumbent improves, differs from run to run.
        history
            True to record in `Solution.history` when the incumbent improved.
        callback
            See `core.search.protocol.Callback`. Its steps are nodes that this rank has explored, its bound the root's.
        ranks
            The communicator; by default that of the constructor.
        checkpointer
            See `core.search.protocol.Search.run`. A state is what is explored, and what is left; all tours on the host
            have none.
        """
        stop = (stop or Stop()).only("exact search", "seconds", "target")
        stop.check()
        ranks = ranks or self.communicator
        if self.method is None:
            return self._exhaustive(ranks, history, callback)
        proof = Proof(
            self.method, self.distances, self.start, self.start_length, bound=self.bound, is_counted=self.count
        )
        given = {"total": self.work, "checkpointer": checkpointer, "history": history}
        return execute(proof, AsynchronousRun(ranks, stop, callback, **given))

    def _exhaustive(self, ranks: Any, history: bool, callback: Callback | None) -> Solution:
        """Search all tours in NumPy; stop criteria do not apply."""
        from core.problems.tsp.small_tours import enumerate_tours

        samples = ProgressSamples(time.perf_counter(), self.start_length)
        length, tour, optimal_tours = enumerate_tours(self.distances)
        counted = int(optimal_tours) if self.count else None
        nodes = np.zeros(self.n + 1, np.int64)
        for visited in range(1, self.n + 1):
            nodes[visited] = count_items(self.n, visited)
        explored = int(nodes.sum())
        # Every rank looks at all tours: they count once.
        samples.see(int(length), 0 if ranks.rank else explored)
        ProgressMonitor(Stop(), callback, explored).report_end(explored, int(length), explored)
        return Solution(
            int(length),
            canonical_tour(tour),
            counted,
            nodes,
            None,
            self.start_length,
            digest_of(int(length), counted),
            samples.history(ranks, numbered=True) if history else None,
        )


def check_cities(n: int) -> None:
    """Raise `UserError` if a set of ``n`` cities does not fit a word."""
    if n > MOST_CITIES:
        raise UserError(
            f"{n} cities: exact search takes at most {MOST_CITIES}, since sets are 32-bit words; "
            "for good tours of more use drivers.aco or drivers.ihc, for a proof Concorde"
        )
