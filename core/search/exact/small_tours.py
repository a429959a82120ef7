"""Shortest tours of many instances of 5 to 15 cities at once, each proved by one lane of a device."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import UserError
from core.kernels.exact.branch_and_bound import OpenNode, stack_room
from core.kernels.exact.city_sets import ROW
from core.kernels.exact.small_tours import MOST_CITIES, InstanceNumbers, SmallTour, prove_all
from core.problems.tsp.distance_matrices import checked_distances
from core.search.exact.one_tree import LARGEST_INDEX, MOST_LENGTH, MOST_SCALE, TEAM_SIZE
from core.search.exact.solution import Solution, digest_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

FEWEST_CITIES = 5
AT_ONCE = 1 << 14
"""Most instances of a launch."""


class SmallTours:
    """Exact search of many small instances on one device, ready to be repeated."""

    def __init__(self, backend: Any) -> None:
        self.backend = backend
        capabilities = backend.capabilities
        is_wide = capabilities.lanes_resident > 1
        self.team_size = min(TEAM_SIZE, capabilities.max_team_size) if is_wide else 1
        self.room = stack_room(MOST_CITIES)
        most_teams = LARGEST_INDEX // (ROW * self.room * self.team_size)
        self.teams = min(capabilities.compute_units * (4 if is_wide else 1), most_teams)
        self.stacks = backend.rows(OpenNode(), self.team_size * self.room)
        self.ticket = backend.allocate(1, np.int32)

    def run(self, instances: Iterable[ArrayLike]) -> list[Solution]:
        """Prove a shortest tour of each instance, in their order.

        An instance is a matrix, (n, n), 5 <= n <= 15, of symmetric integers from 0 to 2**31 - 1; the diagonal is not
        read. Raises `UserError` for others, and for tours of length 2**24 and more.
        """
        matrices = [checked_distances(np.asarray(instance), check_cities, symmetric=True) for instance in instances]
        solutions: list[Solution] = []
        for begin in range(0, len(matrices), AT_ONCE):
            solutions += self._prove(matrices[begin : begin + AT_ONCE])
        return solutions

    def _prove(self, matrices: Sequence[np.ndarray]) -> list[Solution]:
        backend, count = self.backend, len(matrices)
        costs, numbers, tours = tables_of(matrices)
        starts = numbers[:, InstanceNumbers.length].tolist()
        rows = backend.rows(SmallTour(), count)
        for buffer, table in ((rows.costs, costs), (rows.numbers, numbers), (rows.tour, tours)):
            backend.write(buffer, table)
        backend.write(self.ticket, np.zeros(1, np.int32))
        teams = min(self.teams, -(-count // self.team_size))
        open_nodes = teams * self.team_size * self.room
        if self.stacks.count < open_nodes:
            self.stacks = backend.rows(OpenNode(), open_nodes)
        backend.launch(prove_all, teams, self.team_size, rows, count, self.ticket, self.stacks, self.room)
        numbers = backend.download(rows.numbers).reshape(count, -1)
        tours = canonical_tours(backend.download(rows.tour).reshape(count, ROW), numbers[:, InstanceNumbers.cities])
        return [
            Solution(length, tour[:n], None, np.array([nodes]), None, start, digest_of(length, None))
            for (n, _, length, nodes), tour, start in zip(numbers.tolist(), tours, starts, strict=True)
        ]


def tables_of(matrices: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return costs, numbers and tours of `core.kernels.exact.small_tours.SmallTour` for all instances."""
    count = len(matrices)
    cities = np.array([len(matrix) for matrix in matrices])
    distances = np.zeros((count, MOST_CITIES, ROW), np.int64)
    for n in np.unique(cities):
        same_size = np.flatnonzero(cities == n)
        distances[same_size, :n, :n] = np.stack([matrices[k] for k in same_size.tolist()])
    tours, lengths = nearest_neighbour_tours(distances, cities)
    if lengths.max() >= MOST_LENGTH:
        raise UserError(f"tours of length {lengths.max()}: expected below {MOST_LENGTH}, or a coarser unit")
    scales = np.clip(MOST_LENGTH // np.maximum(lengths, 1), 1, MOST_SCALE)
    costs = np.minimum(distances, lengths[:, None, None]) * scales[:, None, None]
    numbers = np.zeros((count, 4), np.int32)
    columns = (InstanceNumbers.cities, InstanceNumbers.scale, InstanceNumbers.length)
    for column, values in zip(columns, (cities, scales, lengths), strict=True):
        numbers[:, column] = values
    return costs.astype(np.int32), numbers, tours


def nearest_neighbour_tours(distances: np.ndarray, cities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest-neighbour tour of each instance from city 0, and the lengths."""
    rows, far = np.arange(len(cities)), np.iinfo(np.int64).max
    tours = np.zeros((len(cities), ROW), np.uint8)
    visited = np.arange(ROW) >= cities[:, None]
    city, lengths = np.zeros(len(cities), np.int64), np.zeros(len(cities), np.int64)
    for place in range(1, MOST_CITIES):
        visited[rows, city] = True
        nearest = np.where(visited, far, distances[rows, city]).argmin(axis=1)
        is_open = place < cities
        lengths += np.where(is_open, distances[rows, city, nearest], 0)
        city = np.where(is_open, nearest, city)
        tours[:, place] = np.where(is_open, city, 0)
    return tours, lengths + distances[rows, city, 0]


def canonical_tours(tours: np.ndarray, cities: np.ndarray) -> np.ndarray:
    """Return tours from city 0 in the direction in which the second city is smaller than the last: int64."""
    places = np.arange(ROW)
    reverse = np.where((places > 0) & (places < cities[:, None]), cities[:, None] - places, places)
    last = tours[np.arange(len(cities)), cities - 1]
    turned = np.where((tours[:, 1] > last)[:, None], np.take_along_axis(tours, reverse, axis=1), tours)
    return turned.astype(np.int64)


def check_cities(n: int) -> None:
    if not FEWEST_CITIES <= n <= MOST_CITIES:
        raise UserError(f"{n} cities: expected {FEWEST_CITIES} to {MOST_CITIES} in each of many instances")
