"""A good tour of many cities: the best of a neighbourhood of exponential size, found exactly by dynamic programming.

Balas and Simonetti's neighbourhood of a start tour: city i stays ahead of city j whenever i + k <= j. The tour is
optimal among those, and never reported as more. See `core.tables.held_karp.kernels.restricted_tour`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.errors import UserError
from core.hill_climbing.kernels import climbs as two_opt_climbs
from core.permutations import check_tour
from core.run.devices import ComputeDevice, Ranks
from core.run.protocol import alias
from core.tables.engine.recurrences import TableAnswer
from core.tables.engine.table_search import TableSearch, digest
from core.tables.held_karp.kernels.restricted_tour import FAR
from core.tables.held_karp.neighbourhood import TourNeighbourhood, check_k
from core.tours import tour_length
from core.tours.distance_matrices import square_matrix
from core.tours.start_tours import greedy_tour, nearest_neighbour_tour

MOST_CITIES = 65_535
"""Tours are kept in 16 bits."""
HOST_CITIES = 300
"""Cities up to which a start tour is improved by NumPy."""
NO_LENGTH = (1 << 64) - 1
"""Length before any is found."""


@dataclass(frozen=True)
class NeighbourhoodTour:
    """A tour that is shortest in its neighbourhood: (n,), uint16, from city 0, in the direction in which it was found.

    ``length`` is at most ``start_length``, that of the start tour. The network has ``layers``, the cities, of
    ``states``. ``cells`` counts transitions between states.
    """

    length: int
    tour: np.ndarray
    start_length: int
    layers: int
    states: int
    cells: int

    cost, solution, evaluations = alias("length"), alias("tour"), alias("cells")
    history, finished = None, True

    @property
    def hash(self) -> str:
        return digest(self.length, f" {self.tour.tolist()}".encode())


class BalasSimonettiSearch(TableSearch[NeighbourhoodTour]):
    """The best tour in the neighbourhood of a start tour, ready to be repeated; of several ranks the first searches.

    Raises `UserError` for a k that is too small or needs too much memory, an invalid input, or too long tours.

    Parameters
    ----------
    distances : ndarray, shape (n, n), integers
        From row to column, at least 0, symmetric or not; the diagonal is not read. At most 65,535 cities, or 46,340 if
        distances are symmetric and there is no ``start``.
    k
        City i stays ahead of city j if i + k <= j in the start tour; 2 to 14. From n - 1 on that restricts nothing, and
        the tour is a shortest one. Tracing keeps (n - 1) (k + 1) 2^(k - 2) bytes on the host: of 4,461 cities 2.6 MB
        with k = 8, 12.6 MB with 10, 59 MB with 12.
    start : ndarray, shape (n,), optional
        Start tour. None: greedy edge matching and 2-opt, or, if distances are asymmetric, nearest neighbours.
    room
        Bytes of device memory for choices; None: half of the device's.
    name
        Of the instance, for messages.
    """

    subject = "a restricted tour"
    unit = "transitions"
    strategy: TourNeighbourhood

    def __init__(
        self,
        backend: ComputeDevice,
        communicator: Ranks,
        distances: np.ndarray,
        k: int,
        start: np.ndarray | None = None,
        *,
        room: int | None = None,
        name: str = "the instance",
    ) -> None:
        self.backend, self.communicator = backend, communicator
        self.distances = nonnegative_integers(distances)
        n = len(self.distances)
        check_k(k, n, name)
        try:
            self.start = start_tour(backend, self.distances, name) if start is None else check_tour(start, n)
        except ValueError as error:
            raise UserError(f"start tour: {error}") from error
        self.start_length = tour_length(self.distances, self.start) if n > 1 else 0
        if self.start_length >= FAR:
            raise UserError(f"a start tour of length {self.start_length}: expected below {FAR}, or a coarser unit")
        self.strategy = TourNeighbourhood(backend, self.distances, self.start, k, room)

    def result(self, answer: TableAnswer) -> NeighbourhoodTour:
        tour, length = self.start, self.start_length
        if answer.solution is not None and answer.value < length:
            tour, length = answer.solution, answer.value
        from_0 = np.roll(tour, -int(np.argmin(tour))).astype(np.uint16)
        near = self.strategy
        return NeighbourhoodTour(length, from_0, self.start_length, near.n, near.net.states, self.work)


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


def check_start(n: int, longest: int, name: str) -> None:
    """Raise `UserError` if 2-opt finds no start tour: its indices and lengths have 31 bits."""
    if n > two_opt_climbs.MOST_CITIES:
        raise UserError(f"{name} has {n} cities: 2-opt improves a start tour of at most {two_opt_climbs.MOST_CITIES}")
    if n * longest >= 2**31:
        raise UserError(f"{name}: distances up to {longest}: tours of {n} cities do not fit 31 bits")


def start_tour(backend: ComputeDevice, distances: np.ndarray, name: str = "the instance") -> np.ndarray:
    """Return greedy edge matching and 2-opt, or nearest neighbours if asymmetric; shape (n,), int64."""
    from core.hill_climbing.scans import scan_for
    from core.tours.small_tours import greedy_edge_tour

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
