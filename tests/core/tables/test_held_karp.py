"""Held and Karp's recursion, met in the middle: against all permutations, dynamic programming in Python, TSPLIB, and over ranks."""

import itertools
from math import comb
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.cpu.host_memory import host_buffer
from backends.device import OutOfMemory
from cluster import Solo
from cluster.mpi.proxies import Rehearsal
from core.errors import UserError
from core.instances import tsplib
from core.tables.held_karp import layers
from core.tables.held_karp.halves import HeldKarpHalves
from core.tables.held_karp.layers import bytes_of_rank
from core.tables.held_karp.plan import HeldKarpPlan, bytes_needed
from core.tables.held_karp.search import LONGEST, MOST_CITIES, RESERVE, HeldKarp
from core.tours import tour_length
from tests.core.tables.tables import by_permutations, random_distances
from tests.thread_ranks import on_ranks, twin

OPTIMA = {"gr17": 2085, "gr21": 2707, "gr24": 1272, "ulysses16": 6859, "burma14": 3323}


def checked(backend, distances, **options):
    result = HeldKarp(backend, Solo(), distances, **options).run()
    tour = result.tour.tolist()
    assert sorted(tour) == list(range(len(distances))) and tour[0] == 0
    assert tour_length(distances, result.tour) == result.length
    if np.array_equal(distances, distances.T) and len(tour) > 2:
        assert tour[1] < tour[-1]
    return result


LARGE = (0, 1, 9, 1_000, 70_000, 2**24)


@st.composite
def problems(draw, fewest, most):
    """Small matrices with ties, zeros, equal lengths, some or all too long for 16 bits."""
    n = draw(st.integers(fewest, most))
    largest = draw(st.sampled_from(LARGE))
    some = st.integers(0, largest) if draw(st.booleans()) else st.sampled_from([0, 1, largest])
    table = np.array(draw(st.lists(some, min_size=n * n, max_size=n * n))).reshape(n, n)
    if draw(st.booleans()):
        table = np.triu(table, 1) + np.triu(table, 1).T
    np.fill_diagonal(table, 0)
    return table


@settings(max_examples=100, deadline=None)
@given(distances=problems(1, 8))
def test_the_length_is_that_of_the_best_permutation(cpu, distances):
    assert checked(cpu, distances).length == by_permutations(distances)


@pytest.mark.parametrize("directed", [False, True])
def test_same_tour_on_every_backend(backend, cpu, directed):
    sizes = ((1, 9), (2, 9), (3, 9), (4, 3), (5, 70_000), (6, 2), (8, 2), (9, 50))
    for n, most in sizes[: 5 if backend.name == "python" else 8]:
        distances = random_distances(n, 3, most, directed)
        tour, expected = checked(backend, distances), checked(cpu, distances)
        assert (tour.length, tour.tour.tolist()) == (expected.length, expected.tour.tolist())
        assert tour.length == by_permutations(distances)


@pytest.mark.parametrize(("n", "directed", "lanes"), [(7, False, 4), (8, True, 4), (7, True, 1)])
def test_lanes_of_a_team_do_not_race_and_a_single_one_goes_through_runs_of_sets(
    cpu, in_order, monkeypatch, n, directed, lanes
):
    monkeypatch.setattr(layers, "TEAM_SIZE", 4)
    if lanes == 1:
        in_order.capabilities = in_order.capabilities._replace(lanes_resident=1)
    distances = random_distances(n, 5, 5, directed)
    search = HeldKarp(in_order, Solo(), distances)
    assert search.strategy.launches.team_size == lanes
    assert search.run().tour.tolist() == checked(cpu, distances).tour.tolist()


@pytest.mark.parametrize(("run", "n", "directed"), [(1, 11, True), (3, 12, False)])
def test_few_teams_and_short_runs_of_sets_change_nothing(cpu, monkeypatch, run, n, directed):
    distances = random_distances(n, 2, 300, directed)
    expected = checked(cpu, distances)
    monkeypatch.setattr(layers, "RUN_OF_A_CORE", run)
    monkeypatch.setattr(layers, "TEAMS_OF_A_CORE", 2)
    assert checked(cpu, distances).tour.tolist() == expected.tour.tolist()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "gr24" else name for name in OPTIMA]
)
def test_tsplib_optima(cpu, shared_data, name):
    distances = tsplib.load(shared_data / "tsplib" / f"{name}.tsp").distances
    assert checked(cpu, distances).length == OPTIMA[name]


# --- how wide lengths are ---


def test_edges_beyond_16_bits_are_left_out_where_no_shortest_tour_has_them(cpu):
    n = 9
    distances = np.full((n, n), 3_000_000)
    for city in range(n):
        distances[city, (city + 1) % n] = distances[(city + 1) % n, city] = 7
    np.fill_diagonal(distances, 0)
    search = HeldKarp(cpu, Solo(), distances)
    assert search.dtype == np.uint16
    assert search.run().tour.tolist() == list(range(n))


@pytest.mark.parametrize(("length", "bits"), [(65_534, 16), (65_535, 32)])
def test_16_bits_hold_tours_of_up_to_65534(cpu, length, bits):
    n = 6
    distances = np.full((n, n), length // n)
    distances[0] = distances[:, 0] = length // n
    distances[0, 1:] += length % n  # every tour leaves city 0 once
    np.fill_diagonal(distances, 0)
    search = HeldKarp(cpu, Solo(), distances)
    assert search.dtype.itemsize * 8 == bits
    assert search.run().length == length


def test_the_longest_tours_are_found_and_longer_ones_refused(cpu):
    edge = (LONGEST - 1) // 8
    distances = np.full((8, 8), edge)
    assert checked(cpu, distances * (1 - np.eye(8, dtype=int))).length == 8 * edge
    with pytest.raises(UserError, match="expected below 1073741823, a coarser unit"):
        HeldKarp(cpu, Solo(), distances + 1)


# --- sets and sizes ---


@pytest.mark.parametrize(("n", "directed"), [(4, False), (5, True), (8, False), (8, True), (9, False), (9, True)])
def test_transitions_are_those_that_loops_count(cpu, n, directed):
    elements, size = n - 1, (n - 2) // 2
    half = elements - size - 1
    counted = sum(comb(elements, k) * k * (k - 1) for k in range(2, size + 1)) * (2 if directed else 1)
    for a in itertools.combinations(range(elements), half):
        b = [element for element in range(elements) if element not in a]
        for middle in b:
            rest = [element for element in b if element != middle]
            if not directed and (0 in rest or (middle == 0 and (half > size or elements - 1 in a))):
                continue  # the reverse of a tour that counts
            counted += size + half
        if half > size and (directed or 0 in a):
            counted += half * size
    search = HeldKarp(cpu, Solo(), random_distances(n, 1, 9, directed))
    assert search.run().transitions == counted


@pytest.mark.parametrize("n", [4, 5, 6, 12, 13, 14])
@pytest.mark.parametrize("directed", [False, True])
def test_what_the_device_allocates_is_what_was_announced(cpu, n, directed):
    search = HeldKarp(cpu, Solo(), random_distances(n, 1, 9, directed))
    layers = [array.common for buffers in search.strategy.layers.buffers for array in buffers]
    assert sum(buffer.size * buffer.dtype.itemsize for buffer in layers) == bytes_needed(n, 2, directed)


# --- refusals ---


def test_too_many_cities_for_the_device_are_refused_with_the_bytes(cpu):
    room = bytes_needed(16, 2, False)
    small = random_distances(16, 1, 9, False)
    assert HeldKarp(cpu, Solo(), small, room=room).most_cities == 16
    with pytest.raises(
        UserError, match=rf"17 cities: .* need {bytes_needed(17, 2, False)} bytes .* {room} are there: at"
    ):
        HeldKarp(cpu, Solo(), random_distances(17, 1, 9, False), room=room)
    with pytest.raises(UserError, match=f"the layers of 37 would need {bytes_needed(37, 2, False)} bytes"):
        HeldKarp(cpu, Solo(), np.ones((MOST_CITIES + 1, MOST_CITIES + 1), int))


def test_memory_that_is_gone_after_all_is_a_refusal(cpu, monkeypatch):
    def allocate(shape, dtype):
        if int(np.prod(shape)) > 1000:
            raise OutOfMemory(f"{shape} elements do not fit")
        return host_buffer(shape, dtype)

    distances = random_distances(12, 1, 9, False)
    monkeypatch.setattr(cpu, "allocate", allocate)
    with pytest.raises(
        UserError, match=rf"12 cities need {bytes_needed(12, 2, False)} bytes of the device: .* do not fit"
    ):
        HeldKarp(cpu, Solo(), distances)


def test_what_is_no_such_problem_is_refused_in_one_line(cpu):
    for distances, options, message in (
        (np.ones((2, 3), int), {}, "expected a square matrix"),
        (np.full((6, 6), 0.5), {}, "such as 0.5"),
        (np.array([[0, 1, 2], [3, 0, -1], [2, 1, 0]]), {}, r"distance -1 at \[1, 2\], expected 0 to"),
        (np.array([[0, 2**31], [1, 0]]), {}, r"distance 2147483648 at \[0, 1\]"),
        (np.ones((6, 6), int), {"mapping": "tiles"}, "choose one of native, published"),
    ):
        with pytest.raises(UserError, match=message) as refused:
            HeldKarp(cpu, Solo(), distances, **options)
        assert "\n" not in str(refused.value)


H200 = 139 << 30


# --- several ranks in one process ---


def over_ranks(backend, size, distances, hosts=1):
    """Length and tour, equal on all ranks and in a second run."""

    def run(ranks):
        search = HeldKarp(twin(backend), Rehearsal(ranks), distances)
        search.warm_up()
        search.join(ranks)
        first, second = search.run(ranks=ranks), search.run(ranks=ranks)
        assert first.tour.tolist() == second.tour.tolist()
        return first.length, first.tour.tolist()

    outcomes = on_ranks(size, run, hosts=hosts)
    assert outcomes == outcomes[:1] * size
    return outcomes[0]


def alone(backend, distances):
    outcome = HeldKarp(backend, Solo(), distances).run()
    return outcome.length, outcome.tour.tolist()


@pytest.mark.parametrize("at_elements", [False, True])
@pytest.mark.parametrize(
    ("size", "hosts", "least"),
    [
        (2, 1, 0),
        (3, 2, 200),
        (4, 1, 0),
        (7, 3, 30),
        *(pytest.param(40, 1, k, marks=pytest.mark.slow) for k in (0, 200)),
    ],
)
def test_ranks_find_the_tour_of_one(cpu, monkeypatch, size, hosts, at_elements, least):
    monkeypatch.setattr(layers, "SMALL_OF_A_CORE", least)
    monkeypatch.setattr(HeldKarpHalves, "placement", lambda self, together: (at_elements, size > 3))
    for n, most, directed in (
        *((2, 9, True), (4, 9, False), (5, 9, True), (6, 5, False)),
        *((9, 2, False), (10, 60, True), (11, 60, False), (12, 70_000, True)),
    ):
        distances = random_distances(n, 8, most, directed)
        assert over_ranks(cpu, size, distances, hosts) == alone(cpu, distances)


@pytest.mark.parametrize(("n", "directed", "hosts"), [(7, True, 2), (7, True, 1), (8, False, 1)])
def test_lanes_of_several_ranks_do_not_race(cpu, in_order, monkeypatch, n, directed, hosts):
    monkeypatch.setattr(layers, "TEAM_SIZE", 4)
    monkeypatch.setattr(layers, "SMALL", 0)
    distances = random_distances(n, 5, 5, directed)
    for size, separate in ((2, False), (4, True)):
        monkeypatch.setattr(HeldKarpHalves, "placement", lambda self, together: (True, separate))  # noqa: B023
        assert over_ranks(in_order, size, distances, hosts) == alone(cpu, distances)


def test_a_byte_too_little_for_one_rank_is_an_error_on_all(cpu):
    needed = bytes_needed(13, 2, False)

    def run(ranks):
        search = HeldKarp(twin(cpu), ranks, random_distances(13, 6, 9, False), room=needed)
        search.strategy.room -= ranks.rank == 1
        with pytest.raises(UserError) as refusal:
            search.run()
        return str(refusal.value)

    refusal = f"the two largest layers need {needed} bytes of rank 1's device, and {needed - 1} are there"
    assert on_ranks(3, run, hosts=2) == [f"13 cities: {refusal}"] * 3


# --- memory ---


def together_of(size, rank=0, **said):
    facts = {"is_silent": size == 1, "is_one_memory": True, "is_apart": False, "groups": [0] * size, **said}
    return SimpleNamespace(size=size, rank=rank, **facts)


def together_in(room, sizes, rank):
    """One of two ranks with a `minloc` that checks and returns a device's remaining memory."""
    kinds = iter((True, False))

    def minloc(value, index):
        left = [room - size for size in sizes[next(kinds)]]
        assert (value, index) == (left[rank], rank)
        return min(left), int(np.argmin(left))

    return together_of(2, rank, ranks=SimpleNamespace(minloc=minloc))


def launches_of(wide):
    return SimpleNamespace(is_wide=wide, dtype=np.dtype(np.uint16))


@pytest.mark.parametrize("at_elements", [False, True])
def test_36_cities_have_room_in_two_gpus_together_if_shares_are_equal(at_elements):
    plan, launches = HeldKarpPlan(35, False), launches_of(True)
    byte_counts = [bytes_of_rank(plan, launches, together_of(2), rank, at_elements) for rank in range(2)]
    assert sum(byte_counts) == bytes_needed(36, 2, False) == 2 * (comb(35, 17) * 17 + comb(35, 16) * 16)
    assert (max(byte_counts) <= H200 - RESERVE) != at_elements


def test_gpus_share_at_elements_where_all_have_room(cpu):
    search = HeldKarp(cpu, SimpleNamespace(rank=0, size=2), random_distances(17, 6, 9, False))
    halves = search.strategy
    halves.launches.is_wide = True
    sizes = {
        at_elements: [bytes_of_rank(halves.plan, halves.launches, together_of(2), rank, at_elements) for rank in (0, 1)]
        for at_elements in (False, True)
    }
    assert max(sizes[True]) > max(sizes[False])
    for room, expected in ((max(sizes[True]), True), (max(sizes[True]) - 1, False), (max(sizes[False]), False)):
        halves.room = room
        for rank in (0, 1):
            assert halves.placement(together_in(room, sizes, rank)) == (expected, False)
    halves.room = max(sizes[False]) - 1
    refusal = f"need {max(sizes[False])} bytes of rank .'s device, and {halves.room} are there"
    with pytest.raises(UserError, match=refusal):
        halves.placement(together_in(halves.room, sizes, 0))


def test_shares_of_four_gpus_lie_in_their_own_memory_where_all_have_room():
    plan, launches = HeldKarpPlan(33, False), launches_of(True)
    needed = [bytes_of_rank(plan, launches, together_of(4), rank, True, True) for rank in range(4)]
    assert max(needed) < 40 << 30
    assert sum(needed) == 2 * sum(comb(33, size) * size for size in range(2, 17))
