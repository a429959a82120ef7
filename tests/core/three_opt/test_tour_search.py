"""Iterated local search of tours: one trajectory everywhere, lengths of the plain scorer, lists by brute force."""

import numpy as np
import pytest

from backends.python import PythonBackend
from cluster import Solo
from core import tours as tsp
from core.errors import UserError
from core.run.stop import Iterations, Stop, Target
from core.three_opt import IteratedThreeOpt
from core.three_opt.kernels.three_opt import improve_given_tours
from core.tours.neighbour_lists import city_order
from core.tours.small_tours import held_karp
from tests.thread_ranks import on_ranks

MATRIX = np.random.default_rng(3).integers(1, 40, (30, 30))
INSTANCES = {
    "uniform": tsp.load("uniform:150:seed=3"),
    "clustered": tsp.load("clustered:120:seed=1"),
    "many equal distances": tsp.load("grid:100:seed=2"),
    "matrix": tsp.TspInstance("random", distances=np.triu(MATRIX, 1) + np.triu(MATRIX, 1).T),
    "five cities": tsp.load("uniform:5:seed=1"),
}


def solve(backend, instance, iterations, ranks=None, **settings):
    outcome = IteratedThreeOpt(backend, ranks or Solo(), instance, **settings).run(Iterations(iterations))
    return outcome.cost, outcome.walk, outcome.found_at, outcome.hash, outcome.solution.tolist()


@pytest.mark.parametrize("name", INSTANCES)
def test_lengths_are_those_of_the_plain_scorer_and_descend(name, cpu):
    instance = INSTANCES[name]
    lengths = []
    for iterations in (1, 10, 300, 3000):
        cost, _, _, _, tour = solve(cpu, instance, iterations, walks=2)
        assert sorted(tour) == list(range(instance.n))
        assert instance.tour_length(tour) == cost
        lengths.append(cost)
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] <= instance.tour_length(city_order(instance))


@pytest.mark.parametrize("spec", ["uniform:9:seed=1", "uniform:12:seed=4", "clustered:12:seed=2"])
def test_small_tours_become_shortest_ones(spec, cpu):
    instance = tsp.load(spec)
    shortest = held_karp(instance.distances).length
    assert solve(cpu, instance, 500)[0] == shortest


def test_same_walks_on_every_backend_team_size_and_order_of_lanes(backend, cpu):
    n, iterations = (12, 4) if backend.name == "python" else (60, 150)
    instance = tsp.load(f"uniform:{n}:seed=7")
    expected = solve(cpu, instance, iterations, walks=3, seed=5)
    backwards = [PythonBackend(backend.device, reverse=True)] if backend.name == "python" else []
    most = backend.capabilities.max_team_size
    for device in (backend, *backwards):
        for team_size in (size for size in ((1, 3) if device.is_reference else (1, 3, 32)) if size <= most):
            assert solve(device, instance, iterations, walks=3, seed=5, team_size=team_size) == expected, team_size


@pytest.mark.parametrize("size", [2, 3])
def test_same_walks_on_several_ranks(size, cpu):
    instance = INSTANCES["uniform"]
    expected = solve(cpu, instance, 200, walks=5)
    assert on_ranks(size, lambda ranks: solve(cpu, instance, 200, ranks, walks=5)) == [expected] * size


def test_coordinates_and_table_give_the_same_walks(cpu, monkeypatch):
    instance = INSTANCES["uniform"]
    expected = solve(cpu, instance, 500)
    monkeypatch.setattr("core.three_opt.search.LARGEST_TABLE", 0)
    assert solve(cpu, instance, 500) == expected


def test_digest_tells_unequal_work_apart(cpu):
    instance = INSTANCES["uniform"]
    runs = [solve(cpu, instance, n, seed=seed, walks=w) for n, seed, w in ((9, 1, 1), (10, 1, 1), (9, 2, 1), (9, 1, 2))]
    assert len({run[3] for run in runs}) == len(runs)


def test_search_ends_at_its_target(cpu):
    instance = INSTANCES["uniform"]
    best = solve(cpu, instance, 3000)[0]
    outcome = IteratedThreeOpt(cpu, Solo(), instance).run(Target(best + 100))
    assert best <= outcome.cost <= best + 100
    assert outcome.iterations <= 3000


def test_descents_by_chains_end_at_shorter_tours_than_those_by_three_edges(cpu):
    instance = tsp.load("uniform:400:seed=2")
    search = IteratedThreeOpt(cpu, Solo(), instance, lists=6)
    by_chains, by_three = [], []
    for search.seed in range(5):
        search.start()
        tours = cpu.upload(cpu.download(search.rows.tour).astype(np.uint16))
        search.improve(0, Stop())
        by_chains.append(search.best_here()[0])
        cpu.launch(improve_given_tours, 1, search.team_size, tours, 1, search.rows, search.cities)
        by_three.append(instance.tour_length(search.order[cpu.download(tours)]))
    assert np.mean(by_chains) < 0.99 * np.mean(by_three)


def test_too_few_cities_are_refused(cpu):
    with pytest.raises(UserError, match="at least 5"):
        IteratedThreeOpt(cpu, Solo(), tsp.load("uniform:4:seed=1"))
