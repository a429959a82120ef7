"""Restricted dynamic programming finds the best of all tours that its rule allows."""

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.cpu.single_core import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core.errors import UserError
from core.tables.held_karp import balas_simonetti
from core.tables.held_karp.balas_simonetti import BalasSimonettiSearch, start_tour
from core.tables.held_karp.kernels.restricted_tour import network, states_of
from core.tours.small_tours import greedy_edge_tour, held_karp, improve_by_2opt
from core.tours.start_tours import nearest_neighbour_tour

CPU = CpuBackend(CpuBackend.devices()[0])
OVER_TEAMS = CpuBackend(CpuBackend.devices()[0])
"""A device whose teams have no memory for two layers: every layer is a launch."""
OVER_TEAMS.capabilities = OVER_TEAMS.capabilities._replace(shared_bytes=0)


@cache
def allowed(n, k):
    """All orders of the positions 0 to n - 1 from 0 in which i comes before j whenever i + k <= j."""
    orders = np.array([(0, *rest) for rest in itertools.permutations(range(1, n))])
    places = np.argsort(orders, axis=1)
    keeps = np.ones(len(orders), bool)
    for i in range(n):
        for j in range(i + k, n):
            keeps &= places[:, i] < places[:, j]
    return orders[keeps]


def lengths_of(distances, tours):
    """Lengths of closed tours, one a row; 0 for a single city."""
    lengths = distances[tours, np.roll(tours, -1, axis=1)].sum(axis=1)
    return lengths if tours.shape[1] > 1 else 0 * lengths


def solve(distances, k, start, backend=CPU, **options):
    result = BalasSimonettiSearch(backend, Solo(), distances, k, start, **options).run()
    assert result.tour.dtype == np.uint16
    assert result.tour[0] == 0
    assert sorted(result.tour) == list(range(len(distances)))
    assert lengths_of(distances, result.tour[None].astype(int))[0] == result.length <= result.start_length
    return result


def case(seed, n, high, symmetric=False):
    rng = np.random.default_rng([seed, n, high])
    distances = rng.integers(0, high, (n, n))
    return distances + distances.T if symmetric else distances, rng.permutation(n)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(1, 8),
    st.integers(2, 8),
    st.sampled_from((1, 2, 4, 1000, 1 << 26)),
    st.booleans(),
    st.sampled_from((CPU, OVER_TEAMS)),
    st.integers(0, 10**6),
)
def test_the_shortest_of_all_tours_that_the_rule_allows(n, k, high, symmetric, backend, seed):
    distances, start = case(seed, n, high, symmetric)
    tours = start[allowed(n, k)]
    result = solve(distances, k, start, backend)
    assert result.length == lengths_of(distances, tours).min()
    assert result.start_length == lengths_of(distances, start[None])[0]
    from_0 = {tuple(np.roll(tour, -int(tour.argmin()))) for tour in tours}
    assert tuple(result.tour) in from_0


@pytest.mark.parametrize("k", range(2, 12))
def test_a_layer_has_the_papers_number_of_states(k):
    net = network(k)
    assert net.states == states_of(k) == (k + 1) * 2 ** (k - 2)
    assert net.transitions <= k * net.states


@pytest.mark.parametrize(("n", "k", "high", "shared"), [(6, 3, 3, False), (9, 4, 1000, True), (12, 2, 50, True)])
def test_the_same_tour_on_every_backend(backend, monkeypatch, n, k, high, shared):
    if not shared:
        monkeypatch.setattr(backend, "capabilities", backend.capabilities._replace(shared_bytes=0))
    distances, start = case(5, n, high)
    expected = solve(distances, k, start)
    one = solve(distances, k, start, backend)
    assert one.tour.tolist() == expected.tour.tolist()
    assert replace(one, tour=None) == replace(expected, tour=None)


@pytest.mark.parametrize(("lanes", "shared"), [(7, 1 << 20), (4, 0), (32, 1 << 20)])
def test_lanes_in_either_order_find_the_same(in_order, lanes, shared):
    distances, start = case(7, 9, 4)
    expected = solve(distances, 4, start)
    in_order.capabilities = in_order.capabilities._replace(max_team_size=lanes, shared_bytes=shared)
    one = solve(distances, 4, start, in_order)
    assert one.tour.tolist() == expected.tour.tolist()
    assert replace(one, tour=None) == replace(expected, tour=None)


def test_a_team_that_needs_too_many_registers_is_smaller():
    distances, start = case(7, 9, 4)
    oracle = PythonBackend(PythonBackend.devices()[0])
    oracle.most_lanes = lambda program: 8 if program.kernel.name == "layers_in_team" else 1024
    assert solve(distances, 4, start, oracle).tour.tolist() == solve(distances, 4, start).tour.tolist()


@pytest.mark.parametrize("backend", [CPU, OVER_TEAMS])
def test_choices_of_a_few_layers_at_a_time_give_the_same_tour(backend):
    distances, start = case(9, 100, 1000)
    expected = solve(distances, 5, start)
    for room in (1, 7 * 48, 50 * 48):
        one = solve(distances, 5, start, backend, room=room)
        assert one.tour.tolist() == expected.tour.tolist()


def test_many_layers_follow_the_recurrence_in_plain_python():
    n, k = 60, 4
    distances, start = case(11, n, 100)
    table = distances[start][:, start]
    ways = {(frozenset([0]), 0): 0}
    for _ in range(n - 1):
        longer = {}
        for (placed, last), length in ways.items():
            missing = min(set(range(n)) - placed)
            for city in range(missing, min(missing + k, n)):
                if city not in placed:
                    key = (placed | {city}, city)
                    longer[key] = min(longer.get(key, 1 << 60), length + int(table[last, city]))
        ways = longer
        assert len(ways) <= states_of(k)
    assert solve(distances, k, start).length == min(length + int(table[last, 0]) for (_, last), length in ways.items())


def test_the_start_tour_is_greedy_and_2opt_on_the_host_and_on_the_device(monkeypatch):
    for high in (1000, 1 << 20):
        distances, _ = case(17, 40, high, symmetric=True)
        np.fill_diagonal(distances, 9999)
        expected = improve_by_2opt(distances, greedy_edge_tour(distances))
        assert start_tour(CPU, distances).tolist() == expected.tolist()
        with monkeypatch.context() as patch:
            patch.setattr(balas_simonetti, "HOST_CITIES", 10)
            device = start_tour(CPU, distances)
        device = np.roll(device, -int(device.argmin()))
        assert expected.tolist() in (device.tolist(), [0, *device[:0:-1].tolist()])
        assert solve(distances, 6, None).start_length == lengths_of(distances, expected[None])[0]


def test_asymmetric_distances_start_from_nearest_neighbours():
    distances, _ = case(19, 20, 1000)
    one = solve(distances, 6, None)
    assert one.start_length == lengths_of(distances, nearest_neighbour_tour(distances)[None])[0] > one.length


def test_a_few_cities_and_any_diagonal():
    for n in range(1, 6):
        distances, start = case(21, n, 100)
        np.fill_diagonal(distances, -5)
        expected = held_karp(distances).length
        assert solve(distances, 9, start).length == solve(distances, 9, None).length == expected


def test_what_cannot_be_solved_is_refused_in_one_line():
    far, ones = np.full((5, 5), 1 << 28), np.ones((5, 5), int)
    for distances, k, options, message in (
        (np.ones((2, 3), int), 3, {}, "expected a square matrix"),
        (np.ones((5, 5)), 3, {}, "distances of float64: expected integers"),
        (np.array([[0, -1], [3, 0]]), 3, {}, "distance -1 from 0 to 1: expected at least 0"),
        (ones, 1, {}, "k = 1: at least 2"),
        (ones, 3, {"start": [0, 1, 2, 3, 3]}, "start tour: found city 3 repeated and 4 missing"),
        (far, 3, {"start": range(5)}, "start tour of length 1342177280: expected below 1073741823"),
        (2 * far, 3, {}, "tours of 5 cities do not fit 31 bits"),
    ):
        with pytest.raises(UserError, match=message) as refusal:
            BalasSimonettiSearch(CPU, Solo(), distances, k, **options)
        assert "\n" not in str(refusal.value)
