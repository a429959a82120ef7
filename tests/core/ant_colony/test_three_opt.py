"""Moves of three edges as local search of ants: local optima by a plain check, one trajectory everywhere."""

import numpy as np

from backends.python import PythonBackend
from cluster import Solo
from core import tours as tsp
from core.ant_colony import AntColony, Settings
from core.run.stop import Iterations
from core.tours.small_tours import held_karp
from tests.core.hill_climbing.near_climbs import winning_moves
from tests.thread_ranks import on_ranks, twin

WAYS = {"variant": "mmas", "candidates": 5, "local_search": "3opt"}


def colony(backend, n, ranks=None, **changes):
    distances = tsp.load(f"uniform:{n}:seed=3").distances
    team = (4, 1) if backend.is_reference else None
    return AntColony(backend, ranks or Solo(), distances, Settings(**{**WAYS, **changes}), seed=9, team=team)


def run_colony(backend, n, iterations, lanes=None, ranks=None, **changes):
    search = colony(backend, n, ranks, **changes)
    for one in search.colonies:
        one.walking_lanes = lanes or one.walking_lanes
    outcome = search.run(Iterations(iterations))
    return outcome.length, outcome.ant, outcome.iteration, outcome.digest, outcome.tour.tolist()


def test_tours_become_optima_of_moves_by_the_lists(cpu):
    n, ants = 60, 40
    search = colony(cpu, n, ants=ants)
    (colony_,) = search.colonies
    rng, ground = np.random.default_rng(5), colony_.instance
    tours = np.array([rng.permutation(n) for _ in range(ants)], np.uint16)
    cpu.write(colony_.ants.tour, tours.reshape(-1))
    colony_.climb()
    distances = cpu.download(ground.distances).reshape(n, n).astype(int)
    lists = cpu.download(ground.cities.near).reshape(n, -1).tolist()
    improved = cpu.download(colony_.ants.tour).reshape(ants, n).tolist()
    before, after = (
        [distances[tour, np.roll(tour, -1)].sum() for tour in map(list, some)] for some in (tours, improved)
    )
    assert all(sorted(tour) == list(range(n)) for tour in improved)
    assert np.mean(after) < 0.3 * np.mean(before)
    # Only ends of removed edges are queued again, so a winning move may remain, as after `climb_queue`.
    left = [tour for tour in improved if any(winning_moves(distances, lists, tour, range(n)))]
    assert len(left) <= ants // 10


def test_few_ants_find_shortest_tours_of_few_cities(cpu):
    shortest = held_karp(tsp.load("uniform:12:seed=3").distances).length
    assert run_colony(cpu, 12, 30, ants=4)[0] == shortest


def test_same_tours_on_every_backend_team_size_and_order_of_lanes(backend, cpu, request):
    if backend.is_reference:
        request.getfixturevalue("few_update_lanes")
    n, iterations, ants = (7, 1, 1) if backend.is_reference else (60, 6, 7)
    expected = run_colony(cpu, n, iterations, ants=ants)
    devices = [backend, PythonBackend(backend.device, reverse=True)] if backend.is_reference else [backend]
    most = backend.capabilities.max_team_size
    for device in devices:
        for lanes in (size for size in ((1, 3) if backend.is_reference else (1, 3, 32)) if size <= most):
            assert run_colony(device, n, iterations, lanes, ants=ants) == expected, lanes


def test_same_tours_on_several_ranks(cpu):
    expected = run_colony(cpu, 60, 4, ants=5)
    assert on_ranks(3, lambda ranks: run_colony(twin(cpu), 60, 4, ranks=ranks, ants=5)) == [expected] * 3
