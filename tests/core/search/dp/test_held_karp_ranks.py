"""Held and Karp's recursion over ranks: parts of layers, their places, and the same tour for any distribution."""

from math import comb
from types import SimpleNamespace

import numpy as np
import pytest

from cluster import Solo
from cluster.mpi.proxies import Rehearsal
from core.errors import UserError
from core.search.dp.held_karp import layers
from core.search.dp.held_karp.halves import HeldKarpHalves
from core.search.dp.held_karp.layers import bytes_of_rank
from core.search.dp.held_karp.plan import HeldKarpPlan, bytes_needed
from core.search.dp.held_karp.search import RESERVE, HeldKarp
from tests.core.search.dp.tables import random_distances
from tests.thread_ranks import on_ranks, twin

H200 = 139 << 30


# --- several ranks in one process ---


def over_ranks(backend, size, distances, hosts=1):
    """Length and tour, equal on all ranks and in a second run."""

    def run(ranks):
        search = HeldKarp(twin(backend), Rehearsal(ranks), distances)
        search.warm_up()
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
    monkeypatch.setattr(HeldKarpHalves, "cut_at_elements", lambda self, together: at_elements)
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
    monkeypatch.setattr(HeldKarpHalves, "cut_at_elements", lambda self, together: True)
    distances = random_distances(n, 5, 5, directed)
    assert over_ranks(in_order, 2, distances, hosts) == alone(cpu, distances)


def test_a_byte_too_little_for_one_rank_is_an_error_on_all(cpu):
    needed = bytes_needed(13, 2, False)

    def run(ranks):
        search = HeldKarp(twin(cpu), ranks, random_distances(13, 6, 9, False), room=needed)
        search.halves.room -= ranks.rank == 1
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
    halves = search.halves
    halves.launches.is_wide = True
    sizes = {
        at_elements: [bytes_of_rank(halves.plan, halves.launches, together_of(2), rank, at_elements) for rank in (0, 1)]
        for at_elements in (False, True)
    }
    assert max(sizes[True]) > max(sizes[False])
    for room, expected in ((max(sizes[True]), True), (max(sizes[True]) - 1, False), (max(sizes[False]), False)):
        halves.room = room
        for rank in (0, 1):
            assert halves.cut_at_elements(together_in(room, sizes, rank)) == expected
    halves.room = max(sizes[False]) - 1
    refusal = f"need {max(sizes[False])} bytes of rank .'s device, and {halves.room} are there"
    with pytest.raises(UserError, match=refusal):
        halves.cut_at_elements(together_in(halves.room, sizes, 0))
