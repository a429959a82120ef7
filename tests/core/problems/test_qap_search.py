"""Quadratic assignment for local search: every neighbour's cost against rescoring, and Taillard's tai30a."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.cpu import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core.problems.qap import Qap
from core.problems.qaplib import QapInstance
from core.search.local_search import (
    IteratedLocalSearch,
    Iterations,
    LocalSearch,
    TabuSearch,
    Target,
    VariableNeighbourhoodSearch,
)
from tests.core.search.local_search.scans import rescored, seen_after

WAYS = [(name, way) for name in ("exchange2", "exchange3") for way in ("kept", "linear")]


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


@pytest.fixture(scope="module")
def python():
    return PythonBackend(PythonBackend.devices()[0])


def problem_of(n, symmetric, seed, largest=60):
    """Random matrices with diagonals, negative entries and ties."""
    rng = np.random.default_rng(seed)
    flows, distances = rng.integers(-largest // 3, largest + 1, (2, n, n))
    if symmetric:
        flows, distances = flows + flows.T, distances + distances.T
    return Qap(QapInstance("random", flows, distances))


def check(search, iterations, start=None):
    by_delta, by_quick, solution = seen_after(search, iterations, start)
    expected = rescored(search.problem, search.neighbourhoods[0].name, solution)
    assert by_delta == expected
    assert by_quick == expected


@pytest.mark.parametrize("symmetric", [False, True], ids=["asymmetric", "symmetric"])
@pytest.mark.parametrize(("name", "way"), WAYS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_every_difference_is_that_of_rescoring_on_the_way(cpu, name, way, symmetric, data):
    n = data.draw(st.integers(int(name[-1]), 7), "n")
    problem = problem_of(n, symmetric, data.draw(st.integers(0, 2**32), "seed"), data.draw(st.sampled_from([2, 9999])))
    search = LocalSearch(cpu, Solo(), problem, TabuSearch(), name, evaluation=way, seed=data.draw(st.integers(0, 99)))
    start = data.draw(st.permutations(range(n)), "start")
    for iterations in (0, 1, 2, data.draw(st.integers(3, 40), "iterations")):
        check(search, iterations, np.array(start))


@pytest.mark.parametrize("symmetric", [False, True], ids=["asymmetric", "symmetric"])
@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize(("name", "way"), WAYS)
def test_every_difference_of_the_smallest_instances(cpu, n, name, way, symmetric):
    if n >= int(name[-1]):
        search = LocalSearch(cpu, Solo(), problem_of(n, symmetric, n), TabuSearch(), name, evaluation=way)
        for iterations in (0, 1, 5):
            check(search, iterations)


@pytest.mark.parametrize("names", ["exchange2", "exchange2+exchange3"])
@pytest.mark.parametrize("algorithm", [IteratedLocalSearch(), VariableNeighbourhoodSearch(4)], ids=lambda one: one.name)
def test_kept_differences_outlast_shakes_and_exchanges_of_three(cpu, algorithm, names):
    for symmetric in (False, True):
        problem = problem_of(7, symmetric, 11)
        search = LocalSearch(cpu, Solo(), problem, algorithm, names.split("+"), evaluation="kept", seed=1)
        for iterations in range(1, 25):
            check(search, iterations)


@pytest.mark.parametrize("symmetric", [False, True], ids=["asymmetric", "symmetric"])
@pytest.mark.parametrize(
    ("in_one_team", "teams", "team_size"),
    # fewer lanes than facilities, rows of 32 with lanes left over, and several shares for every pair
    [(True, 1, 3), (True, 1, 40), (False, 1, 1), (False, 4, 1), (False, 3, 5), (False, 2, 48)],
)
def test_any_workers_keep_the_same_differences(python, symmetric, in_one_team, teams, team_size):
    search = LocalSearch(python, Solo(), problem_of(5, symmetric, 8), TabuSearch(), "exchange2", evaluation="kept")
    search.in_one_team, search.teams, search.team_size = in_one_team, teams, team_size
    search.step_size = min(team_size, 7)
    for iterations in (0, 1, 4):
        check(search, iterations)


def test_differences_of_large_entries_are_exact(cpu):
    largest = QapInstance("large", [[0, 16_000], [7_000, 0]], [[0, 30_000], [65_000, 0]])
    check(LocalSearch(cpu, Solo(), Qap(largest), TabuSearch(), "exchange2", evaluation="kept"), 0)
    check(LocalSearch(cpu, Solo(), Qap(largest), TabuSearch(), "exchange2", evaluation="linear"), 0)


@pytest.mark.slow
def test_tabu_search_finds_the_best_known_value_of_tai30a(cpu):
    """Robust tabu search does in 2 of 3 runs of 200,000 iterations."""
    problem = Qap.load("tai30a")
    search = LocalSearch(cpu, Solo(), problem, TabuSearch(), "exchange2", evaluation="kept")
    costs = []
    for search.seed in range(3):
        outcome = search.run(Iterations(200_000) | Target(1_818_146))
        assert problem.cost(outcome.solution) == outcome.cost
        costs.append(outcome.cost)
    assert min(costs) == 1_818_146 == problem.optimum
