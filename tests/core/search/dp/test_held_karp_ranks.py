"""Held and Karp's recursion over ranks: parts of layers, their places, and the same tour for any distribution."""

import json
from math import comb
from types import SimpleNamespace

import numpy as np
import pytest

from backends.device import Buffer
from cluster import Solo
from core.errors import UserError
from core.search.dp.held_karp import layers
from core.search.dp.held_karp.layers import HeldKarpLayers, bytes_of_rank
from core.search.dp.held_karp.plan import (
    ALL,
    WITH_0,
    WITHOUT_0,
    HeldKarpPlan,
    SubsetRows,
    bytes_needed,
    part_boundaries,
)
from core.search.dp.held_karp.search import RESERVE, HeldKarp
from tests.core.search.dp.tables import random_distances

H200 = 139 << 30


# --- shares ---


def test_borders_are_the_first_sets_with_other_highest_elements():
    assert part_boundaries(5, 2, 4) == [comb(3, 2), comb(4, 2), comb(4, 2) + comb(3, 1)]
    assert part_boundaries(5, 2, 3) == [3, 6]  # no half of three ranks


@pytest.mark.parametrize("ranks", [1, 2, 3, 8, 200])
@pytest.mark.parametrize("at_elements", [False, True])
def test_shares_are_every_set_once(ranks, at_elements):
    for elements, size in ((1, 1), (5, 1), (5, 5), (9, 4)):
        for numbering in (ALL, WITH_0, WITHOUT_0):
            end = comb(elements - numbering.least, size - numbering.held)
            for rows in (
                SubsetRows(elements, size, numbering, 0, end),
                SubsetRows(elements, size, numbering, end // 3, end // 2),
            ):
                bounds = rows.bounds(ranks, at_elements)
                assert len(bounds) == ranks + 1
                assert (bounds[0], bounds[-1], bounds) == (rows.first, rows.end, sorted(bounds))


# --- several ranks in one process ---


class InTurn:
    """Collectives of ranks that compute one after the other in one memory."""

    is_silent = False

    def __init__(self, backend, rank, size, arrays, is_one_memory):
        self.backend, self.rank, self.size, self.is_one_memory = backend, rank, size, is_one_memory
        self.arrays, self.made = arrays, 0
        self.gathered = []

    def common(self, size, dtype, bounds):
        assert self.is_one_memory
        assert len(bounds) == self.size + 1 and bounds == sorted(bounds) and (bounds[0], bounds[-1]) == (0, size)
        if self.rank == 0:
            self.arrays.append((self.backend.upload(np.zeros(size, dtype)), bounds))
        self.made += 1
        buffer, same = self.arrays[self.made - 1]
        assert (buffer.size, buffer.dtype, same) == (size, dtype, bounds)
        return Buffer(buffer.handle, buffer.shape, buffer.dtype)

    def gather(self, buffer, bounds):
        assert len(bounds) == self.size + 1 and bounds == sorted(bounds) and 0 <= bounds[0] <= bounds[-1] <= buffer.size
        self.gathered.append(bounds)

    def barrier(self):
        pass

    def reduce(self, buffer, operation):
        assert operation == "least"


def in_turn(backend, distances, ranks, is_one_memory=True, at_elements=False):
    """Least key of tours of several ranks, each step by one rank after the other."""
    arrays, ranks_halves = [], []
    for rank in range(ranks):
        search = HeldKarp(backend, SimpleNamespace(rank=rank, size=ranks), distances)
        halves = search.halves
        together = InTurn(backend, rank, ranks, arrays, is_one_memory)
        halves.layers = HeldKarpLayers(halves.plan, halves.launches, together, halves.firsts, at_elements)
        backend.write(halves.launches.best, np.array([2**64 - 1], np.uint64))
        ranks_halves.append(halves)
        assert bool(search.notes) == (halves.layers.is_alone or not is_one_memory)
        assert halves.layers.steps[-1][1] == halves.plan.size + 1
    for steps in zip(*(one.layers.steps for one in ranks_halves), strict=True):
        for sequence, *_ in steps:
            sequence.replay()
    assert len({json.dumps(one.layers.together.gathered) for one in ranks_halves}) == 1
    return min(int(backend.download(one.launches.best)[0]) for one in ranks_halves)


def alone(backend, distances):
    search = HeldKarp(backend, Solo(), distances)
    search.run(trace=False)
    return int(backend.download(search.halves.launches.best)[0])


@pytest.mark.parametrize("at_elements", [False, True])
@pytest.mark.parametrize(
    ("ranks", "least"),
    [
        (2, 0),
        (3, 200),
        (4, 0),
        *(pytest.param(ranks, least, marks=pytest.mark.slow) for ranks in (7, 40) for least in (0, 200)),
    ],
)
def test_shares_of_ranks_make_the_whole_layers(cpu, monkeypatch, ranks, at_elements, least):
    monkeypatch.setattr(layers, "SMALL_OF_A_CORE", least)
    for n, most, directed in (
        (4, 9, False),
        (5, 9, True),
        (6, 5, False),
        (9, 2, False),
        (10, 60, True),
        (11, 60, False),
    ):
        distances = random_distances(n, 8, most, directed)
        assert in_turn(cpu, distances, ranks, at_elements=at_elements) == alone(cpu, distances)


@pytest.mark.parametrize(("n", "directed", "is_one_memory"), [(7, True, False), (7, True, True), (8, False, True)])
def test_lanes_of_several_ranks_do_not_race(cpu, in_order, monkeypatch, n, directed, is_one_memory):
    monkeypatch.setattr(layers, "TEAM_SIZE", 4)
    monkeypatch.setattr(layers, "SMALL", 0)
    distances = random_distances(n, 5, 5, directed)
    assert in_turn(in_order, distances, 2, is_one_memory, at_elements=True) == alone(cpu, distances)


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


def test_ranks_that_do_not_share_memory_hold_everything():
    plan, needed = HeldKarpPlan(20, True), bytes_needed(21, 2, True)
    assert bytes_of_rank(plan, launches_of(True), together_of(1), 0, False) == needed
    apart = together_of(3, is_one_memory=False, is_apart=True, groups=[0, 1, 2])
    assert bytes_of_rank(plan, launches_of(True), apart, 2, True) == needed
    assert bytes_of_rank(plan, launches_of(False), together_of(3), 1, False) == needed
