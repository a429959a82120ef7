"""The travelling salesman problem for local search: swaps of two or three cities, and 2-opt, each in O(1).

The neighbourhood of `luong2013`, section 6.4, is the swap. Distances come from a table, or from the coordinates,
rounded in integers exactly as TSPLIB's EUC_2D demands: the largest instance of the paper has a table of 70 MB.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from core import tours as tsp
from core.arguments import Matrix, loaded_instance
from core.errors import UserError
from core.hill_climbing.kernels.climbs import MOST_CITIES
from core.lang import Array, Function, Generic, Row, barrier, bundle, f32, function, i32, lane, sqrt, team_size
from core.local_search.encodings import Permutation
from core.local_search.kernels.hooks import Evaluation
from core.local_search.kernels.moves import EXCHANGE, NEVER, REVERSE, change, exchanged, source_of
from core.local_search.kernels.walks import Move
from core.local_search.problem import Problem
from core.tours.distances import distance_bound, is_symmetric

T = Generic("T")

LARGEST_TABLE = 32 << 20
"""Most bytes of distances for which the table is preferred."""


@bundle
class DistanceTable:
    """Square matrix of the distances of all cities."""

    distances: Array[T]
    cities: i32


@bundle
class CityPlane:
    """Coordinates of the cities, and rows of a walk: coordinates and edges in the order of its tour.

    Neighbouring lanes then read neighbouring words.
    """

    x: Array[i32]
    y: Array[i32]
    cities: i32
    tour_x: Array[i32] = Row("cities")
    tour_y: Array[i32] = Row("cities")
    edges: Array[i32] = Row("cities")


@function
def rounded_distance(dx: i32, dy: i32) -> i32:
    """Return the root of dx^2 + dy^2 < 2^31 to the nearest integer, as TSPLIB's EUC_2D defines it.

    The root of 32 bits may lose the last unit; d is right when d (d - 1) < dx^2 + dy^2 <= d (d + 1).
    """
    square = dx * dx + dy * dy
    d = i32(sqrt(f32(square)))
    if square > d * (d + 1):
        d += 1
    return d


# --- from the table, by the tour ---


@function
def table_distance(a: i32, b: i32, table: DistanceTable) -> i32:
    return i32(table.distances[a * table.cities + b])


@function
def table_edge(solution: Array[i32], p: i32, move: Move, table: DistanceTable) -> i32:
    """Return the change of the edge after position p by an exchange."""
    after = p + 1 if p + 1 < table.cities else 0
    new = table_distance(exchanged(solution, p, move), exchanged(solution, after, move), table)
    return new - table_distance(solution[p], solution[after], table)


@function
def table_swap(solution: Array[i32], move: Move, table: DistanceTable) -> i32:
    """Return the change of cost by an exchange of two or three cities: up to six edges, each counted once."""
    i, j, k = move.i, move.j, move.k
    before_i = i - 1 if i > 0 else table.cities - 1
    added = table_edge(solution, before_i, move, table)
    added += table_edge(solution, i, move, table)
    if j - 1 != i:
        added += table_edge(solution, j - 1, move, table)
    if j != before_i:
        added += table_edge(solution, j, move, table)
    if k >= 0:
        if k - 1 != j:
            added += table_edge(solution, k - 1, move, table)
        if k != before_i:
            added += table_edge(solution, k, move, table)
    return added


@function
def table_reversal(solution: Array[i32], move: Move, table: DistanceTable) -> i32:
    """Return the change of cost by a reversal of positions i + 1 to j: two edges, if they are not neighbours."""
    i, j, cities = move.i, move.j, table.cities
    if j == i + 1 or (i == 0 and j == cities - 1):
        return NEVER
    a, b = solution[i], solution[i + 1]
    c, d = solution[j], solution[j + 1 if j + 1 < cities else 0]
    removed = table_distance(a, b, table) + table_distance(c, d, table)
    return table_distance(a, c, table) + table_distance(b, d, table) - removed


# --- the whole tour: lanes share its edges (the solution level) ---


@function
def swapped_edges(worker: i32, workers: i32, solution: Array[i32], move: Move, table: DistanceTable) -> i32:
    """Return a worker's part of the whole tour's length after an exchange, less its part of the length before."""
    added = 0
    for p in range(worker, table.cities, workers):
        added += table_edge(solution, p, move, table)
    return added


@function
def swapped_tour(solution: Array[i32], move: Move, table: DistanceTable) -> i32:
    """Return the whole tour's length after an exchange, less that before."""
    added = swapped_edges(0, 1, solution, move, table)
    return added


@function
def reversed_city(solution: Array[i32], p: i32, move: Move) -> i32:
    """Return city ``p`` of the tour with positions i + 1 to j reversed."""
    source = p
    if p > move.i and p <= move.j:
        source = move.i + 1 + move.j - p
    return solution[source]


@function
def reversed_edges(worker: i32, workers: i32, solution: Array[i32], move: Move, table: DistanceTable) -> i32:
    """Return a worker's part as `swapped_edges`, but after a reversal; `NEVER` if it gives the same tour."""
    i, j, cities = move.i, move.j, table.cities
    added = 0
    if j == i + 1 or (i == 0 and j == cities - 1):
        if worker == 0:
            added = NEVER
        return added
    for p in range(worker, cities, workers):
        after = p + 1 if p + 1 < cities else 0
        new = table_distance(reversed_city(solution, p, move), reversed_city(solution, after, move), table)
        added += new - table_distance(solution[p], solution[after], table)
    return added


@function
def reversed_tour(solution: Array[i32], move: Move, table: DistanceTable) -> i32:
    """Return the whole tour's length after a reversal, less that before."""
    added = reversed_edges(0, 1, solution, move, table)
    return added


# --- from coordinates ---


@function
def position_distance(p: i32, q: i32, plane: CityPlane) -> i32:
    return rounded_distance(plane.tour_x[p] - plane.tour_x[q], plane.tour_y[p] - plane.tour_y[q])


@function
def place_cities(solution: Array[i32], plane: CityPlane):
    """Store coordinates and edges in the order of the tour."""
    barrier()
    for p in range(lane(), plane.cities, team_size()):
        after = solution[p + 1 if p + 1 < plane.cities else 0]
        city = solution[p]
        plane.tour_x[p] = plane.x[city]
        plane.tour_y[p] = plane.y[city]
        plane.edges[p] = rounded_distance(plane.x[city] - plane.x[after], plane.y[city] - plane.y[after])


@function
def swap_cities(solution: Array[i32], move: Move, plane: CityPlane):
    change(EXCHANGE, solution, move)
    place_cities(solution, plane)


@function
def reverse_cities(solution: Array[i32], move: Move, plane: CityPlane):
    change(REVERSE, solution, move)
    place_cities(solution, plane)


@function
def plane_edge(p: i32, move: Move, plane: CityPlane) -> i32:
    """Return the change of the edge after position p by an exchange."""
    after = p + 1 if p + 1 < plane.cities else 0
    return position_distance(source_of(p, move), source_of(after, move), plane) - plane.edges[p]


@function
def plane_swap(solution: Array[i32], move: Move, plane: CityPlane) -> i32:
    """Return the change of cost by an exchange of two or three cities."""
    i, j, k = move.i, move.j, move.k
    before_i = i - 1 if i > 0 else plane.cities - 1
    after_j = j + 1 if j + 1 < plane.cities else 0
    if k < 0 and i + 1 < j and before_i != j:  # four edges, none of them shared
        added = position_distance(before_i, j, plane) + position_distance(j, i + 1, plane)
        added += position_distance(j - 1, i, plane) + position_distance(i, after_j, plane)
        return added - plane.edges[before_i] - plane.edges[i] - plane.edges[j - 1] - plane.edges[j]
    added = plane_edge(before_i, move, plane)
    added += plane_edge(i, move, plane)
    if j - 1 != i:
        added += plane_edge(j - 1, move, plane)
    if j != before_i:
        added += plane_edge(j, move, plane)
    if k >= 0:
        if k - 1 != j:
            added += plane_edge(k - 1, move, plane)
        if k != before_i:
            added += plane_edge(k, move, plane)
    return added


@function
def plane_reversal(solution: Array[i32], move: Move, plane: CityPlane) -> i32:
    """Return the change of cost by a reversal of positions i + 1 to j."""
    i, j = move.i, move.j
    if j == i + 1 or (i == 0 and j == plane.cities - 1):
        return NEVER
    after = j + 1 if j + 1 < plane.cities else 0
    return position_distance(i, j, plane) + position_distance(i + 1, after, plane) - plane.edges[i] - plane.edges[j]


def evaluation(by_swap: Function, by_reversal: Function, neighbourhood: str, **more: object) -> Evaluation:
    return Evaluation(by_reversal if neighbourhood == "2opt" else by_swap, **more)  # type: ignore[arg-type]


class TspTour(Problem):
    """Find a short closed tour through all cities.

    Parameters
    ----------
    instance : array_like, shape (n, n), or str or core.tours.TspInstance
        Distances: integers from 0, symmetric. Or the name, path or specification of an instance (see
        `core.instances.sources.load`), or an instance.
    coordinates : array_like, shape (n, 2)
        Instead of an instance, places of the cities, with Euclidean distances rounded as TSPLIB's EUC_2D.

    Raises
    ------
    InstanceError
        See `core.tours.TspInstance`.
    """

    neighbourhoods = ("exchange2", "exchange3", "2opt")
    published = "table"
    tested = True

    def __init__(
        self, instance: tsp.TspInstance | str | Matrix | None = None, *, coordinates: Matrix | None = None
    ) -> None:
        if coordinates is not None or isinstance(instance, (np.ndarray, list, tuple)):
            instance = tsp.TspInstance("arrays", coordinates=coordinates, distances=instance)  # type: ignore[arg-type]
        instance = loaded_instance(instance, tsp.TspInstance, tsp.load, "a matrix of distances")
        if instance.coordinates is None and not is_symmetric(instance.distances):
            raise UserError(f"{instance.name} has asymmetric distances, expected equal ones both ways")
        self.instance = instance
        self.plane = plane_coordinates(instance)
        # Searches by neighbour lists take more cities than local search; the limit of local search is in `data_for`.
        super().__init__(instance.name, Permutation(1)._replace(n=instance.n, choices=instance.n), None)
        self.optimum = instance.optimum
        self.sha256 = instance.sha256

    @classmethod
    def load(cls, spec: str, data: str | os.PathLike | None = None, drop: str | Sequence[str] = ()) -> TspTour:
        """Load an instance; see `core.tours.load`."""
        return cls(tsp.load(spec, data, drop=drop))

    def cost(self, solution: np.ndarray) -> int:
        return self.instance.tour_length(solution)

    def costs(self, solutions: np.ndarray) -> np.ndarray:
        return self.instance.tour_lengths(solutions)

    def cost_range(self) -> tuple[int, int]:
        """Return 0 and the sum of the longest distances of all cities; without a table, n times the longest of all.

        The edges that a move adds, or removes, begin at different cities, so no partial sum of a difference is larger.
        """
        instance = self.instance
        if instance.coordinates is None or self.prefers_table:
            return 0, int(instance.distances.max(axis=1).sum(dtype=np.int64))
        return 0, instance.n * int(distance_bound(instance.coordinates, instance.edge_weight_type))

    @property
    def prefers_table(self) -> bool:
        """True if the table of distances is small enough to be faster than coordinates."""
        return self.instance.n**2 * 2 <= LARGEST_TABLE

    def evaluations(self, neighbourhood: str) -> dict[str, Evaluation]:
        """Return ``table`` of distances; ``coordinates``, for EUC_2D with integers; and ``full``.

        ``full`` sums up the whole tour; at the solution level the lanes of a team share its edges.
        """
        tours, edges = (reversed_tour, reversed_edges) if neighbourhood == "2opt" else (swapped_tour, swapped_edges)
        table = {"table": evaluation(table_swap, table_reversal, neighbourhood)}
        full = {"full": Evaluation(tours, partial=edges, work=self.instance.n)}
        if self.plane is None:
            return table | full
        move = reverse_cities if neighbourhood == "2opt" else swap_cities
        plane = {"coordinates": evaluation(plane_swap, plane_reversal, neighbourhood, begin=place_cities, move=move)}
        return (table | plane if self.prefers_table else plane | table) | full

    def data_for(self, evaluation: str) -> DistanceTable | CityPlane:
        """Return the table or the coordinates, as the evaluation reads them.

        Raises `UserError` for more cities than a solution of local search has.
        """
        Permutation(self.instance.n)
        if evaluation != "coordinates":
            if self.instance.n > MOST_CITIES:
                raise UserError(
                    f"{self.name} has {self.instance.n} cities: a table of distances takes at most {MOST_CITIES}"
                )
            return DistanceTable(self.instance.distances, self.instance.n)
        assert self.plane is not None
        return CityPlane(self.plane[:, 0].copy(), self.plane[:, 1].copy(), self.instance.n)


def plane_coordinates(instance: tsp.TspInstance) -> np.ndarray | None:
    """Return integer coordinates with squared distances of at most 31 bits, or None."""
    coordinates = instance.coordinates
    if coordinates is None or instance.edge_weight_type != "EUC_2D" or (coordinates != np.rint(coordinates)).any():
        return None
    shifted = coordinates - coordinates.min(axis=0)
    if (shifted.max(axis=0) ** 2).sum() >= 2**31:
        return None
    return shifted.astype(np.int32)
