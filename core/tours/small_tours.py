"""Shortest tours of a few cities by plain NumPy: a heuristic's tour to start from, and two searches for checks.

The searches share nothing with the kernels: all tours, and the dynamic programming of M. Held, R. Karp, "A dynamic
programming approach to sequencing problems", Journal of SIAM 10 (1962). Both find the first shortest tour in
lexicographic order from city 0, and the number of shortest tours.

All functions take distances of shape (n, n), integers from 0 to 2**31 - 1, and ignore their diagonal. They return tours
as int64 of shape (n,), and raise `ValueError` for another matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from core.permutations import check_tour
from core.tours.distance_matrices import checked_distances
from core.tours.instance import MOST_CITIES, canonical_tour

MOST_CITIES_ALL_TOURS = 10
MOST_CITIES_HELD_KARP = 20


class ShortestTours(NamedTuple):
    """Result of a full search.

    Attributes
    ----------
    length
        Length of a shortest tour.
    tour : ndarray, shape (n,), int64
        The lexicographically first shortest tour from city 0; with symmetric distances and n > 2 its second city
        is smaller than its last.
    optimal_tours
        Number of shortest tours. Symmetric distances: Hamiltonian cycles without direction, so 1 for n <= 3.
        Otherwise a cycle and its reverse are two tours.
    """

    length: int
    tour: np.ndarray
    optimal_tours: int


def greedy_edge_tour(distances: np.ndarray) -> np.ndarray:
    """Join the shortest edges that still leave a tour possible; distances are symmetric.

    Edges come by ascending (length, i, j); one is taken if both its ends have fewer than two edges and lie in different
    paths. The last path's ends are joined. The tour begins at city 0, its second city is smaller than the last.
    """
    table = _checked(distances, symmetric=True)
    n = len(table)
    first, second = np.triu_indices(n, 1)
    by_length = np.argsort(table[first, second], kind="stable")
    neighbours: list[list[int]] = [[] for _ in range(n)]
    root = list(range(n))

    def path_of(city: int) -> int:
        while root[city] != city:
            root[city] = root[root[city]]
            city = root[city]
        return city

    missing = n - 1
    for i, j in zip(first[by_length].tolist(), second[by_length].tolist(), strict=True):
        if len(neighbours[i]) < 2 and len(neighbours[j]) < 2 and path_of(i) != path_of(j):
            root[path_of(i)] = path_of(j)
            neighbours[i].append(j)
            neighbours[j].append(i)
            missing -= 1
            if missing == 0:
                break
    return canonical_tour(_along(neighbours))


def improve_by_2opt(distances: np.ndarray, tour: np.ndarray) -> np.ndarray:
    """Replace two edges by two shorter ones, the best pair first, until no pair gains; distances are symmetric.

    The move (i, j), i < j, reverses the cities at positions i + 1 to j; of equal gains the smallest i wins, then the
    smallest j. The tour then begins at city 0, its second city is smaller than the last. Raises `ValueError` if the
    given tour is not a permutation of 0 to n - 1.
    """
    table = _checked(distances, symmetric=True)
    n = len(table)
    order = check_tour(tour, n).copy()
    pairs = np.triu(np.ones((n, n), bool), 1)
    following = np.arange(1, n + 1) % n
    while True:
        between = table[order[:, None], order]
        beyond = between.take(following, 0)
        edges = beyond.diagonal()
        gains = np.where(pairs, edges[:, None] + edges - between - beyond.take(following, 1), 0)
        i, j = divmod(int(gains.argmax()), n)
        if gains[i, j] <= 0:
            return canonical_tour(order)
        order[i + 1 : j + 1] = order[i + 1 : j + 1][::-1].copy()


def enumerate_tours(distances: np.ndarray) -> ShortestTours:
    """Measure every tour; n <= 10, distances symmetric or not."""
    table = _checked(distances, MOST_CITIES_ALL_TOURS)
    n = len(table)
    tours = np.pad(_permutations(n - 1) + 1, ((0, 0), (1, 0)))
    lengths = np.zeros(len(tours), np.int64)
    if n > 1:
        for position in range(n):
            lengths += table[tours[:, position - 1], tours[:, position]]
    best = int(lengths.argmin())
    directed = int((lengths == lengths[best]).sum())
    return ShortestTours(int(lengths[best]), tours[best].astype(np.int64), _without_direction(directed, table))


def held_karp(distances: np.ndarray) -> ShortestTours:
    """Find the shortest tours by dynamic programming over subsets of cities; n <= 20, distances symmetric or not.

    rest[S, j] is the length of a shortest path that starts at city j of S, visits all of S and ends at city 0: d(j, 0)
    if S = {j}, otherwise the least d(j, k) + rest[S - {j}, k] of all k in S - {j}. All subsets of one size are computed
    at once.

    Time is of the order of n**2 * 2**n; memory is 2**(n - 1) * (n - 1) * 4 bytes, twice that if lengths may reach
    2**30, and as much again for n = 20 while it counts.
    """
    table = _checked(distances, MOST_CITIES_HELD_KARP)
    n = len(table)
    if n == 1:
        return ShortestTours(0, np.zeros(1, np.int64), 1)
    number = np.int32 if n * int(table.max()) < 2**30 else np.int64
    never = np.iinfo(number).max // 2 + 1
    others = n - 1
    # bit j and column j mean city j + 1
    home, steps = table[1:, 0], table[1:, 1:].astype(number)
    subsets = np.arange(2**others)
    sizes = np.bitwise_count(subsets)
    rest = np.full((2**others, others), never, number)
    singles = np.arange(others)
    rest[1 << singles, singles] = home
    # number of shortest paths for subsets of the size before; the row of a subset is its rank within its size
    rank = np.zeros(2**others, np.int64)
    rank[1 << singles] = singles
    counts = np.eye(others, dtype=np.int64)
    for size in range(2, n):
        layer = subsets[sizes == size]
        rank[layer] = np.arange(len(layer))
        longer_counts = np.zeros((len(layer), others), np.int64)
        for j in range(others):
            holding = layer[layer >> j & 1 == 1]
            without = holding ^ (1 << j)
            lengths = rest[without] + steps[j]
            least = lengths.min(axis=1)
            rest[holding, j] = least
            longer_counts[rank[holding], j] = np.where(lengths == least[:, None], counts[rank[without]], 0).sum(axis=1)
        counts = longer_counts
    full = rest[-1] + table[0, 1:]
    directed = int(counts[0][full == full.min()].sum())
    return ShortestTours(int(full.min()), _first_tour(rest, table), _without_direction(directed, table))


def _first_tour(rest: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Follow the shortest paths of `held_karp` from city 0 to the lexicographically first shortest tour."""
    subset, city, tour = len(rest) - 1, 0, [0]
    while subset:
        city = int((rest[subset] + table[city, 1:]).argmin()) + 1
        tour.append(city)
        subset ^= 1 << (city - 1)
    return np.array(tour, np.int64)


def _permutations(items: int) -> np.ndarray:
    """Return all permutations of 0 to items - 1 in lexicographic order: (items!, items) int8."""
    orders = np.zeros((1, 0), np.int8)
    for size in range(1, items + 1):
        first = np.repeat(np.arange(size, dtype=np.int8), len(orders))[:, None]
        others = np.tile(orders, (size, 1))
        orders = np.hstack([first, others + (others >= first)])
    return orders


def _without_direction(directed: int, table: np.ndarray) -> int:
    """Count a tour and its different reverse of equal length once."""
    return directed // 2 if len(table) > 2 and np.array_equal(table, table.T) else directed


def _along(neighbours: list[list[int]]) -> np.ndarray:
    """Return the cities of a path in the order of visits."""
    city = next(city for city, ends in enumerate(neighbours) if len(ends) < 2)
    order, before = [city], -1
    while len(order) < len(neighbours):
        before, city = city, next(other for other in neighbours[city] if other != before)
        order.append(city)
    return np.array(order, np.int64)


def _checked(distances: np.ndarray, most_cities: int = MOST_CITIES, *, symmetric: bool = False) -> np.ndarray:
    """Return checked distances as int64, the diagonal 0."""

    def check_cities(n: int) -> None:
        if n > most_cities:
            raise ValueError(f"found {n} cities, expected at most {most_cities}")

    return checked_distances(distances, check_cities, symmetric=symmetric)
