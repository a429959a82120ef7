"""Shortest tours by NumPy, against each other, against plain Python, and against published optima."""

import itertools
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.tours import tour_length
from core.tours.small_tours import enumerate_tours, greedy_edge_tour, held_karp, improve_by_2opt
from tests.core.instances.drawn import symmetric

LARGEST = 2**31 - 1
KINDS = {"uniform": (1, 10_000), "ties": (1, 4), "zeros": (0, 2), "all equal": (7, 8), "31 bits": (LARGEST - 3, 2**31)}


def by_plain_python(distances):
    """Length, first tour and number of shortest tours, as sets of edges without direction, order or NumPy."""
    n, table = len(distances), distances.tolist()
    tours = {}
    for others in itertools.permutations(range(1, n)):
        tour = (0, *others)
        edges = frozenset(frozenset(edge) for edge in zip(tour, tour[1:] + tour[:1], strict=True))
        tours.setdefault(edges, (sum(table[a][b] for a, b in zip(tour, tour[1:] + tour[:1], strict=True)), tour))
    if n == 1:
        return 0, [0], 1
    length, tour = min(tours.values())
    return length, list(tour), sum(found == length for found, _ in tours.values())


def plain_greedy(distances):
    n = len(distances)
    degree, paths, edges = [0] * n, [{city} for city in range(n)], set()
    for _, i, j in sorted((int(distances[pair]), *pair) for pair in itertools.combinations(range(n), 2)):
        first, second = (next(path for path in paths if city in path) for city in (i, j))
        if degree[i] < 2 and degree[j] < 2 and first is not second:
            degree[i], degree[j] = degree[i] + 1, degree[j] + 1
            paths = [path for path in paths if path not in (first, second)] + [first | second]
            edges.add(frozenset((i, j)))
    if n > 2:
        edges.add(frozenset(city for city in range(n) if degree[city] == 1))
    return edges


def plain_2opt(distances, tour):
    """Apply shorter reversals until there is none, scoring every tour."""
    tour = list(tour)
    while True:
        length = tour_length(distances, np.array(tour))
        best = (0, 0, 0, tour)
        for i, j in itertools.combinations(range(len(tour)), 2):
            changed = tour[: i + 1] + tour[i + 1 : j + 1][::-1] + tour[j + 1 :]
            best = min(best, (tour_length(distances, np.array(changed)) - length, i, j, changed))
        if best[0] == 0:
            return tour
        tour = best[3]


def edges_of(tour):
    return {frozenset(edge) for edge in zip(tour.tolist(), np.roll(tour, -1).tolist(), strict=True)}


def plainly(solution):
    return solution.length, solution.tour.tolist(), solution.optimal_tours


@pytest.mark.parametrize("kind", KINDS)
def test_both_searches_find_what_plain_python_finds(kind):
    for n in range(1, 8):
        dice = np.random.default_rng([n, *kind.encode()])
        for _ in range(1 if n == 7 else 4):
            distances = symmetric(dice, n, *KINDS[kind])
            tour = held_karp(distances)
            assert plainly(tour) == plainly(enumerate_tours(distances)) == by_plain_python(distances)
            assert tour_length(distances, tour.tour) == tour.length


@pytest.mark.parametrize("n", [8, pytest.param(9, marks=pytest.mark.slow)])
def test_both_searches_agree(n):
    dice = np.random.default_rng(n)
    for low, high in KINDS.values():
        for distances in (symmetric(dice, n, low, high), dice.integers(low, high, (n, n))):
            assert plainly(held_karp(distances)) == plainly(enumerate_tours(distances))
    equal = (7 * n, list(range(n)), factorial(n - 1) // 2)
    assert plainly(held_karp(np.full((n, n), 7))) == plainly(enumerate_tours(np.full((n, n), 7))) == equal


def test_a_tour_and_its_reverse_are_two_where_the_way_back_is_another():
    distances = np.array([[0, 1, 2], [3, 0, 2], [1, 1, 0]])
    # 0 1 2 takes 1 + 2 + 1, 0 2 1 takes 2 + 1 + 3
    assert plainly(enumerate_tours(distances)) == plainly(held_karp(distances)) == (4, [0, 1, 2], 1)
    distances[1, 0] = 1
    # now both take 4
    assert plainly(enumerate_tours(distances)) == plainly(held_karp(distances)) == (4, [0, 1, 2], 2)


@pytest.mark.slow
def test_twenty_cities_are_counted_exactly():
    """More than 32 bits or a double can hold."""
    assert held_karp(np.ones((20, 20), int)).optimal_tours == factorial(19) // 2
    ring = np.full((20, 20), 2)
    cities = np.arange(20)
    ring[cities, cities - 1] = ring[cities - 1, cities] = 1
    assert plainly(held_karp(ring)) == (20, cities.tolist(), 1)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_the_greedy_tour_takes_the_edges_that_plain_python_takes(data):
    n = data.draw(st.integers(1, 12))
    distances = symmetric(np.random.default_rng(data.draw(st.integers(0, 2**32))), n, 0, data.draw(st.integers(1, 30)))
    tour = greedy_edge_tour(distances)
    assert sorted(tour) == list(range(n)) and tour[0] == 0
    assert n == 1 or edges_of(tour) == plain_greedy(distances)
    assert n < 3 or tour[1] < tour[-1]


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_2opt_makes_the_moves_that_rescoring_finds_best(data):
    n = data.draw(st.integers(1, 9))
    dice = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    distances = symmetric(dice, n, 0, data.draw(st.integers(1, 30)))
    start = dice.permutation(n)
    tour = improve_by_2opt(distances, start)
    expected = np.array(plain_2opt(distances, start))
    assert tour[0] == 0 and edges_of(tour) == edges_of(expected)
    assert n < 3 or tour[1] < tour[-1]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int32, np.uint32, np.uint64])
def test_narrow_and_unsigned_distances_do_not_wrap_and_the_diagonal_is_ignored(dtype):
    distances = symmetric(np.random.default_rng(4), 7, 60, 127)
    narrow, start = distances.astype(dtype), np.arange(7)
    np.fill_diagonal(narrow, 1)
    assert greedy_edge_tour(narrow).tolist() == greedy_edge_tour(distances).tolist()
    assert improve_by_2opt(narrow, start).tolist() == improve_by_2opt(distances, start).tolist()
    assert start.tolist() == list(range(7))  # the tour that was given is left alone
    assert plainly(enumerate_tours(narrow)) == plainly(held_karp(narrow)) == plainly(held_karp(distances))


NO_MATRICES = [
    (np.zeros((0, 0), int), "square"),
    (np.zeros((3, 4), int), "square"),
    (np.zeros(4, int), "square"),
    (np.full((3, 3), 0.5), "such as 0.5"),
    (-np.ones((3, 3), int), "expected 0 to 2"),
    (np.full((3, 3), 2**31), "expected 0 to 2"),
    (np.full((2, 2), 2**64 - 1, np.uint64), "expected 0 to 2"),
]
REFUSED = [(search, *row) for search in (enumerate_tours, held_karp, greedy_edge_tour) for row in NO_MATRICES] + [
    (enumerate_tours, np.ones((11, 11), int), "11 cities, expected at most 10"),
    (held_karp, np.ones((21, 21), int), "21 cities, expected at most 20"),
    (greedy_edge_tour, np.arange(16).reshape(4, 4), "a symmetric"),
    (lambda table: improve_by_2opt(table, np.arange(4)), np.arange(16).reshape(4, 4), "a symmetric"),
    (lambda table: improve_by_2opt(table, np.array([0, 1, 1])), np.ones((3, 3), int), "repeated"),
]


@pytest.mark.parametrize(("search", "distances", "words"), REFUSED)
def test_what_is_no_matrix_of_distances_is_refused(search, distances, words):
    with pytest.raises(ValueError, match=words):
        search(distances)
