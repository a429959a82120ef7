"""Of many equal solutions the same is reported, or the digest covers what all of them share: memory, shapes, backends."""

import numpy as np
import pytest

from backends.threads import ThreadsBackend
from cluster import Solo
from core.problems.knapsack import Knapsack
from core.search.dp import held_karp, knapsack, restricted
from core.search.exact import ExactSearch


@pytest.fixture(scope="module")
def both(cpu):
    """Two backends of machine code."""
    return cpu, ThreadsBackend(ThreadsBackend.devices()[0])


def test_the_selection_is_one_of_many_in_any_memory_and_shape(both, python, tmp_path):
    weights = np.random.default_rng(0).integers(1, 4, 20)
    instance = Knapsack("ties", weights, weights * 3, int(weights.sum()) // 2)
    small = {"room": 600}
    ways = ({}, small, {**small, "folder": str(tmp_path)}, {"tiling": "none"}, {"tiling": "none", **small})
    runs = [knapsack.KnapsackSearch(backend, Solo(), instance, **way).run() for backend in both for way in ways]
    runs += [knapsack.KnapsackSearch(python, Solo(), instance, team_size=size, room=600).run() for size in (1, 2)]
    assert {run.digest for run in runs} == {runs[0].digest}
    assert all(np.array_equal(run.chosen, runs[0].chosen) for run in runs)
    assert any(run.streamed_bytes for run in runs)


def equal_distances(n, seed):
    """Few different lengths, so that many tours are shortest."""
    lengths = np.triu(np.random.default_rng(seed).integers(1, 3, (n, n)), 1)
    return lengths + lengths.T


@pytest.mark.parametrize("tiling", ["auto", "none"])
@pytest.mark.parametrize("rotations", [1, 4])
def test_the_restricted_tour_is_one_of_many_in_any_memory_and_shape(tiling, rotations, both):
    problem, how = (equal_distances(13, 1), 4, np.arange(13)), {"rotations": rotations, "tiling": tiling}
    tours = {
        tuple(restricted.RestrictedTour(backend, Solo(), *problem, room=room, **how).run().tour)
        for backend in both
        for room in (None, 1, 100)
    }
    assert len(tours) == 1


def test_the_shortest_tour_is_one_of_many_on_every_backend(both, python):
    distances = equal_distances(8, 2)
    found = [held_karp.HeldKarp(backend, Solo(), distances).run() for backend in (*both, python)]
    assert len({tuple(one.tour) for one in found}) == 1
    engine = held_karp.HeldKarp(both[0], Solo(), distances, tiling="none").run()
    assert engine.digest == found[0].digest  # of the length alone


def test_a_proof_is_the_same_whichever_of_many_tours_is_found(both):
    distances = equal_distances(8, 3)
    ways = [{"bound": bound} for bound in ("one-tree", "edges", "none")]
    ways.append({"bound": "none", "enumerate": "permutations"})
    runs = [ExactSearch(backend, Solo(), distances, count=True, **way).run() for backend in both for way in ways]
    assert len({run.digest for run in runs}) == 1
