"""Of many equal solutions the same is reported, or the digest covers what all of them share: memory, shapes, backends."""

import numpy as np
import pytest

from backends.cpu import CpuBackend
from backends.python import PythonBackend
from backends.threads import ThreadsBackend
from cluster import Solo
from core.problems.knapsack import Knapsack
from core.search.dp.held_karp import HeldKarp
from core.search.dp.knapsack import KnapsackSearch
from core.search.dp.restricted import RestrictedTour
from core.search.exact import ExactSearch

BACKENDS = [kind(kind.devices()[0]) for kind in (CpuBackend, ThreadsBackend, PythonBackend)]


@pytest.mark.parametrize("seed", range(3))
def test_the_selection_is_one_of_many_in_any_memory_and_shape(seed, tmp_path):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, 20)
    instance = Knapsack("ties", weights, weights * 3, int(weights.sum()) // 2)
    ways = [
        {},
        {"room": 600},
        {"room": 600, "folder": str(tmp_path)},
        {"tiling": "none"},
        {"tiling": "none", "room": 600},
    ]
    cpu, _, python = BACKENDS
    runs = [KnapsackSearch(backend, Solo(), instance, **way).run() for backend in BACKENDS[:2] for way in ways]
    runs += [KnapsackSearch(python, Solo(), instance, team_size=size, room=600).run() for size in (1, 2)]
    assert {run.digest for run in runs} == {runs[0].digest}
    assert all(np.array_equal(run.chosen, runs[0].chosen) for run in runs)
    assert any(run.streamed_bytes for run in runs)


def equal_distances(n, seed):
    """Few different lengths, so that many tours are shortest."""
    lengths = np.triu(np.random.default_rng(seed).integers(1, 3, (n, n)), 1)
    return lengths + lengths.T


@pytest.mark.parametrize("tiling", ["auto", "none"])
def test_the_restricted_tour_is_one_of_many_in_any_memory_and_shape(tiling):
    distances = equal_distances(13, 1)
    found = []
    for backend in BACKENDS[:2]:
        for rotations in (1, 4):
            for room in (None, 1, 100):
                search = RestrictedTour(
                    backend, Solo(), distances, 4, np.arange(13), rotations=rotations, tiling=tiling, room=room
                )
                found.append((rotations, search.run().tour.tolist()))
    for rotations in (1, 4):
        assert len({tuple(tour) for many, tour in found if many == rotations}) == 1


def test_the_shortest_tour_is_one_of_many_on_every_backend():
    distances = equal_distances(8, 2)
    tours = {tuple(HeldKarp(backend, Solo(), distances).run().tour) for backend in BACKENDS}
    assert len(tours) == 1
    engine = HeldKarp(BACKENDS[0], Solo(), distances, tiling="none").run()
    assert engine.digest == HeldKarp(BACKENDS[0], Solo(), distances).run().digest  # of the length alone


def test_a_proof_is_the_same_whichever_of_many_tours_is_found():
    distances = equal_distances(8, 3)
    ways = (
        {"bound": "one-tree"},
        {"bound": "edges"},
        {"bound": "none"},
        {"bound": "none", "enumerate": "permutations"},
    )
    proofs = {
        ExactSearch(backend, Solo(), distances, count=True, **way).run().digest
        for backend in BACKENDS[:2]
        for way in ways
    }
    assert len(proofs) == 1
