"""A shortest tour, proved: `ExactSearch` checks the problem, starts from a heuristic's tour and chooses the method."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from core.errors import UserError
from core.problems.distances import LARGEST_DISTANCE
from core.problems.tsp import tour_length
from core.search.exact import one_tree
from core.search.exact.enumeration import Enumeration
from core.search.exact.incumbents import Incumbents
from core.search.exact.one_tree import OneTreeSearch
from core.search.exact.published import PublishedSearch
from core.search.exact.slices import MOST_LENGTH, items_of
from core.search.exact.solution import Method, Report, Solution, digest_of, from_city_0
from core.search.start_tours import greedy_tour

BOUNDS = ("one-tree", "edges", "none")
ENUMERATIONS = ("worklist", "permutations")
MAPPINGS = ("suite", "published")
MOST_CITIES = 30
ON_THE_HOST = 7
"""Cities up to which the thesis searches exhaustively on the host."""
FEWEST_CITIES = 5
"""Fewer are searched on the host whatever the bound."""
MOST_PERMUTED = 20
"""Cities whose tours have numbers of 64 bits."""


class ExactSearch:
    """Exact search on one instance and one device per rank, ready to be repeated.

    Parameters
    ----------
    backend
        A `backends.base.Backend`.
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
        With the thesis' bound, or none: ``suite``, or ``published``, the launches that the thesis describes; these
        search up to 7 cities on the host, whatever the bound.
    unrolled
        With the published mapping and a worklist: the last three cities by functions of their own.
    count
        Count all shortest tours.

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
        mapping: str = "suite",
        unrolled: bool = True,
        count: bool = False,
    ) -> None:
        self.backend = backend
        self.communicator = communicator
        self.distances = checked(distances)
        self.n = n = len(self.distances)
        self.count = count
        self.notes: list[str] = []
        if bound not in (None, *BOUNDS):
            raise UserError(f"bound {bound!r}; choose one of {', '.join(BOUNDS)}")
        if enumerate not in ENUMERATIONS:
            raise UserError(f"enumeration {enumerate!r}; choose one of {', '.join(ENUMERATIONS)}")
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
        self.start = greedy_tour(self.distances)
        self.start_length = tour_length(self.distances, self.start)
        if self.start_length >= most:
            raise UserError(f"tours of length {self.start_length} and more: expected below {most}, or a coarser unit")
        few = n < FEWEST_CITIES or ((bound is None or published) and n <= ON_THE_HOST)
        self.bound = "none" if few else bound or "one-tree"
        self.on_host = few
        self.mapping = mapping
        self.method = None if few else self._method(permutations, depth, unrolled)

    def _method(self, permutations: bool, depth: int | None, unrolled: bool) -> Method:
        """What searches on the device."""
        given = self.backend, self.communicator, self.distances
        if self.bound == "one-tree":
            return OneTreeSearch(*given)
        bounded = self.bound == "edges"
        if self.mapping == "suite":
            return Enumeration(*given, bounded=bounded, permutations=permutations, depth=depth)
        return PublishedSearch(*given, bounded=bounded, permutations=permutations, depth=depth, unrolled=unrolled)

    work_unit = "nodes"

    @property
    def work(self) -> int | None:
        """Nodes of a run, those of the count included, which `Solution.nodes` sums up to; None: nobody can tell."""
        if self.method is None:
            return 0
        work = self.method.work
        return work * (2 if self.count else 1) if work is not None else None

    def warm_up(self) -> None:
        """Compile everything; the time counts as the backend's compilation."""
        if self.method is None:
            return
        with self.backend.warming_up():
            self.method.warm_up()

    def run(self, report: Report | None = None, *, history: bool = False, ranks: Any = None) -> Solution:
        """Find a shortest tour and prove that none is shorter.

        Parameters
        ----------
        ranks
            The communicator of those who search together; None: that of the constructor.
        report
            Called now and then with the nodes explored, the incumbent's length and the root's bound, if there is one.
        history
            Whether `Solution.history` says when the incumbent improved.

        """
        began = time.perf_counter()
        ranks = ranks or self.communicator
        if self.method is None:
            return self._exhaustive(ranks, began, history)
        start = greedy_tour(self.distances)
        start_length = tour_length(self.distances, start)
        incumbents = Incumbents(began, start_length, report) if history else None
        length, tour = self.method.find(ranks, start_length, incumbents or report)
        nodes, root_bound = self.method.nodes, self.method.root_bound
        optimal_tours = None
        if self.count:
            optimal_tours = self.method.count(ranks, length, report)
            nodes = summed(nodes, self.method.nodes)
        return Solution(
            length,
            from_city_0(start if tour is None else tour),
            optimal_tours,
            nodes,
            None if root_bound is None else min(root_bound, length),
            start_length,
            digest_of(length, optimal_tours),
            incumbents.history(ranks) if incumbents else None,
        )

    def _exhaustive(self, ranks: Any, began: float, history: bool) -> Solution:
        """All tours, in NumPy."""
        from core.problems.small_tours import all_tours

        incumbents = Incumbents(began, self.start_length, None)
        length, tour, optimal_tours = all_tours(self.distances)
        counted = int(optimal_tours) if self.count else None
        nodes = np.zeros(self.n + 1, np.int64)
        for visited in range(1, self.n + 1):
            nodes[visited] = items_of(self.n, visited)
        # Every rank looks at all tours: they count once.
        incumbents(0 if ranks.rank else int(nodes.sum()), int(length), None)
        return Solution(
            int(length),
            from_city_0(tour),
            counted,
            nodes,
            None,
            self.start_length,
            digest_of(int(length), counted),
            incumbents.history(ranks) if history else None,
        )


def checked(distances: np.ndarray) -> np.ndarray:
    """The distances as integers of 64 bits, the diagonal 0; raises `UserError` if they are no symmetric problem."""
    array = np.asarray(distances)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not len(array):
        raise UserError(f"distances of shape {array.shape}: expected a square matrix")
    n = len(array)
    if n > MOST_CITIES:
        raise UserError(
            f"{n} cities: exact search takes at most {MOST_CITIES}, whose sets fit 32-bit words; "
            "for good tours of more use drivers.aco or drivers.ihc, for a proof Concorde"
        )
    whole = array.astype(np.int64)
    if not np.array_equal(whole, array):
        raise UserError("distances that are not integers: multiply and round them first")
    np.fill_diagonal(whole, 0)
    if not np.array_equal(whole, whole.T):
        i, j = np.argwhere(whole != whole.T)[0]
        raise UserError(f"asymmetric distances: {whole[i, j]} from {i} to {j}, {whole[j, i]} back; expected the same")
    if whole.min(initial=0) < 0 or whole.max(initial=0) > LARGEST_DISTANCE:
        i, j = np.argwhere((whole < 0) | (whole > LARGEST_DISTANCE))[0]
        raise UserError(f"distance {whole[i, j]} from {i} to {j}: expected 0 to {LARGEST_DISTANCE}")
    return whole


def summed(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Sum of two arrays, the shorter filled up with zeros."""
    total = np.zeros(max(len(first), len(second)), np.int64)
    total[: len(first)] += first
    total[: len(second)] += second
    return total
