"""A good tour of many cities: the best of a neighbourhood of exponential size, found exactly by dynamic programming.

Balas and Simonetti's neighbourhood of a start tour: city i stays ahead of city j whenever i + k <= j. The tour is
optimal among those, and never reported as more. See `core.kernels.dp.restricted_tour`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.errors import UserError
from core.kernels.dp.restricted_tour import FAR
from core.kernels.two_opt import climbs as two_opt_climbs
from core.problems.permutations import check_tour
from core.problems.tsp import tour_length
from core.problems.tsp.distance_matrices import square_matrix
from core.search.checkpoint import Checkpoint, Checkpointer
from core.search.dp.engine.table_search import WithoutCheckpoints, refuse_checkpoints
from core.search.dp.held_karp.neighbourhood import RestrictedSettings, TourNeighbourhood
from core.search.hill_climbing.start_tours import greedy_tour, nearest_neighbour_tour
from core.search.progress import refuse_history
from core.search.protocol import Callback, alias
from core.search.run import Step, SynchronousRun, execute
from core.search.stop import BatchSizes, Stop

MOST_CITIES = 65_535
"""Tours are kept in 16 bits."""
HOST_CITIES = 300
"""Cities up to which a start tour is improved by NumPy."""
NO_LENGTH = (1 << 64) - 1
"""Length of a rank without rotations."""


@dataclass(frozen=True)
class NeighbourhoodTour:
    """A tour that is shortest in its neighbourhood: (n,), uint16, from city 0, in the direction in which it was found.

    ``length`` is at most ``start_length``, that of the start tour. The network has ``layers``, the cities, of
    ``states``. ``cells`` counts transitions between states, over all passes and rotations, and ``passes`` the
    neighbourhoods searched one after the other. ``finished`` is False if the callback ended the search; True if the
    stop criteria or the last pass in vain did.
    """

    length: int
    tour: np.ndarray
    start_length: int
    layers: int
    states: int
    cells: int
    passes: int
    finished: bool = True

    cost, solution, evaluations, history = alias("length"), alias("tour"), alias("cells"), None

    @property
    def hash(self) -> str:
        return hashlib.blake2b(f"{self.length} {self.tour.tolist()}".encode(), digest_size=8).hexdigest()


class BalasSimonettiSearch(WithoutCheckpoints):
    """The best tour in the neighbourhood of a start tour, ready to be repeated; ranks share the rotations.

    Raises `UserError` for a k that is too small or needs too much memory, an invalid input, or too long tours.

    Parameters
    ----------
    distances : ndarray, shape (n, n), integers
        From row to column, at least 0, symmetric or not; the diagonal is not read. At most 65,535 cities, or 46,340 if
        distances are symmetric and there is no ``start``.
    start : ndarray, shape (n,), optional
        Start tour. None: greedy edge matching and 2-opt, or, if distances are asymmetric, nearest neighbours.
    name
        Of the instance, for messages.
    """

    work_unit = "transitions"

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        distances: np.ndarray,
        settings: RestrictedSettings,
        start: np.ndarray | None = None,
        *,
        name: str = "the instance",
    ) -> None:
        self.backend, self.communicator, self.settings = backend, communicator, settings
        self.distances = nonnegative_integers(distances)
        self.n = n = len(self.distances)
        settings.check(n, name)
        self.start = start_tour(backend, self.distances, name) if start is None else checked_start(start, n)
        self.start_length = tour_length(self.distances, self.start) if n > 1 else 0
        if self.start_length >= FAR:
            raise UserError(f"a start tour of length {self.start_length}: expected below {FAR}, or a coarser unit")
        rank, size, rotations = communicator.rank, communicator.size, settings.rotations
        self.share = range(rotations * rank // size, rotations * (rank + 1) // size)
        self.near = TourNeighbourhood(backend, self.distances, settings, len(self.share))

    @property
    def work(self) -> int:
        """Transitions between states in one pass, over all ranks, without those of tracing."""
        return self.settings.rotations * self.near.transitions

    def warm_up(self) -> None:
        with self.backend.warming_up():
            self.near.warm_up(self.start)

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Any = None,
        checkpointer: Checkpointer | None = None,
    ) -> NeighbourhoodTour:
        """Find the shortest tour of the neighbourhood; see `core.search.protocol.Search.run`.

        A search that continues from the best tour stops by passes (its iterations), the time or a target, checked
        between passes. The callback's steps are passes.
        """
        stop = (stop or Stop()).only("the restricted search", "iterations", "seconds", "target")
        stop.check()
        refuse_history(history, "the restricted search")
        improve = self.settings.improve
        refuse_checkpoints(checkpointer, "a restricted tour")
        run = SynchronousRun(
            self.communicator if ranks is None else ranks, stop, callback, total=None if improve else 1,
            sizes=BatchSizes(growth=1),
        )  # fmt: skip
        return execute(self, run)

    def begin(self, run: SynchronousRun, checkpoint: Checkpoint | None) -> None:
        self.tour, self.length, self.idle = self.start, self.start_length, 0

    def step(self, run: SynchronousRun) -> Step:
        run.budget()
        n, rotations = self.n, self.settings.rotations
        halfway = run.done % 2 * (n // (2 * rotations))
        turns = (np.arange(rotations) * n // rotations + halfway) % n
        self.near.move_to(self.tour)
        least, winner = NO_LENGTH, 0
        if self.share:
            least, index = self.near.shortest(turns[self.share.start : self.share.stop])
            winner = self.share[index]
        least, winner = run.ranks.minloc(least, winner)
        self.idle += 1
        if least < self.length:
            tour = self.near.shortest_tour(int(turns[winner])) if winner in self.share else np.zeros(n, np.int64)
            self.length, self.tour, self.idle = least, run.ranks.sum(tour), 0
        passes = run.done + 1
        if run.is_report_due:
            run.report(passes, self.length, passes * self.work)
        is_ended = not self.settings.improve or self.length <= run.stop.target
        return Step(1, undone=int(self.idle < 2), is_ended=is_ended, is_divisible=True)

    def result(self, run: SynchronousRun) -> NeighbourhoodTour:
        passes, cells = run.done, run.done * self.work
        run.end(passes, self.length, cells)
        from_0 = np.roll(self.tour, -int(np.argmin(self.tour))).astype(np.uint16)
        return NeighbourhoodTour(
            self.length, from_0, self.start_length, self.n, self.near.net.states, cells, passes,
            finished=not run.is_interrupted or not self.settings.improve or self.idle == 2,
        )  # fmt: skip


def nonnegative_integers(distances: np.ndarray) -> np.ndarray:
    array = square_matrix(distances, check_cities)
    if array.dtype.kind not in "iu":
        raise UserError(f"distances of {array.dtype}: expected integers")
    negative = array < 0
    np.fill_diagonal(negative, False)
    if negative.any():
        i, j = np.argwhere(negative)[0]
        raise UserError(f"distance {array[i, j]} from {i} to {j}: expected at least 0")
    return array


def check_cities(n: int) -> None:
    if n > MOST_CITIES:
        raise UserError(f"{n} cities: at most {MOST_CITIES}")


def checked_start(tour: np.ndarray, n: int) -> np.ndarray:
    try:
        return check_tour(tour, n)
    except ValueError as error:
        raise UserError(f"start tour: {error}") from error


def check_start(n: int, longest: int, name: str) -> None:
    """Raise `UserError` if 2-opt finds no start tour: its indices and lengths have 31 bits."""
    if n > two_opt_climbs.MOST_CITIES:
        raise UserError(f"{name} has {n} cities: 2-opt improves a start tour of at most {two_opt_climbs.MOST_CITIES}")
    if n * longest >= 2**31:
        raise UserError(f"{name}: distances up to {longest}: tours of {n} cities do not fit 31 bits")


def start_tour(backend: Any, distances: np.ndarray, name: str = "the instance") -> np.ndarray:
    """Return greedy edge matching and 2-opt, or nearest neighbours if asymmetric; shape (n,), int64."""
    from core.problems.tsp.small_tours import greedy_edge_tour
    from core.search.hill_climbing.scans import scan_for

    n = len(distances)
    if n < 4:
        return np.arange(n)
    lengths = distances.copy()
    np.fill_diagonal(lengths, 0)
    if not np.array_equal(lengths, lengths.T):
        return nearest_neighbour_tour(lengths)
    check_start(n, int(lengths.max()), name)
    if n <= HOST_CITIES:
        return greedy_tour(lengths)
    greedy = greedy_edge_tour(lengths)
    scan = scan_for("pruned", backend, lengths.astype(np.uint16 if lengths.max() < 2**16 else np.uint32))
    ticket, extremes = np.zeros(1, np.uint32), np.full(two_opt_climbs.EXTREMES, NO_LENGTH, np.uint64)
    totals = np.zeros(two_opt_climbs.TOTALS, np.uint64)
    climbs = backend.load(two_opt_climbs.CountedClimbs(n, greedy.astype(np.uint16), 1, ticket, 0, extremes, totals))
    scan.launch(climbs)
    return np.asarray(backend.download(climbs.tours), np.int64)
