"""The permuted perceptron for local search: every neighbour's cost against rescoring, and the paper's 73-73."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.cpu import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core.problems import perceptron
from core.problems.ppp import Ppp
from core.search.local_search import (
    IteratedLocalSearch,
    Iterations,
    LocalSearch,
    TabuSearch,
    Target,
    VariableNeighbourhoodSearch,
)
from tests.core.search.local_search.scans import rescored, seen_after

NAMES = ("flip1", "flip2", "flip3")
WAYS = [(name, way) for name in NAMES for way in ("words", "linear")]
WEIGHTS = [(30, 1), (1, 30), (0, 1), (7, 0), (1000, 3)]


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


@pytest.fixture(scope="module")
def python():
    return PythonBackend(PythonBackend.devices()[0])


def check(search, iterations, start=None):
    by_delta, by_quick, solution = seen_after(search, iterations, start)
    expected = rescored(search.problem, search.neighbourhoods[0].name, solution)
    assert by_delta == expected
    assert by_quick == expected


@pytest.mark.parametrize(("name", "way"), WAYS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_every_difference_is_that_of_rescoring_on_the_way(cpu, name, way, data):
    """Up to 80 rows, so that groups of equal products take up to three words."""
    n = data.draw(st.integers(int(name[-1]), 8), "n")
    m = data.draw(st.sampled_from([1, 2, 5, 31, 32, 33, 65, 80]), "m")
    instance = perceptron.generate(m, n, data.draw(st.integers(0, 2**40), "seed"), *data.draw(st.sampled_from(WEIGHTS)))
    search = LocalSearch(
        cpu, Solo(), Ppp(instance), TabuSearch(), name, evaluation=way, seed=data.draw(st.integers(0, 99))
    )
    start = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n), "start")
    for iterations in (0, 1, data.draw(st.integers(2, 30), "iterations")):
        check(search, iterations, start)


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("way", ["words", "linear"])
def test_every_difference_of_the_smallest_instances(cpu, m, n, way):
    for name in NAMES[:n]:
        search = LocalSearch(cpu, Solo(), Ppp.load(f"{m}-{n}"), TabuSearch(), name, evaluation=way)
        for iterations in (0, 1, 5):
            check(search, iterations)


@pytest.mark.parametrize("way", ["words", "linear"])
def test_rows_that_are_all_equal_share_one_group(cpu, way):
    instance = perceptron.PerceptronInstance("equal", [[1, -1, 1, 1, 1]] * 70, [5] * 70)
    search = LocalSearch(cpu, Solo(), Ppp(instance), TabuSearch(), "flip2", evaluation=way)
    for start in ([1, 0, 1, 1, 1], [0, 1, 0, 0, 0], [1, 1, 0, 0, 1]):
        check(search, 0, start)
        check(search, 6, start)


@pytest.mark.parametrize("names", ["flip1", "flip1+flip2+flip3"])
@pytest.mark.parametrize("algorithm", [IteratedLocalSearch(), VariableNeighbourhoodSearch(4)], ids=lambda one: one.name)
def test_kept_products_outlast_shakes_and_changes_of_neighbourhood(cpu, algorithm, names):
    search = LocalSearch(cpu, Solo(), Ppp.load("40-9"), algorithm, names.split("+"), evaluation="words", seed=1)
    for iterations in range(1, 25):
        control = search.run(Iterations(iterations)) and cpu.download(search.controls)
        if control[5] == 0:  # planes are kept for the first neighbourhood, when its turn comes
            check(search, iterations)


@pytest.mark.parametrize(
    ("in_one_team", "teams", "team_size"), [(True, 1, 3), (True, 1, 40), (False, 4, 1), (False, 3, 5)]
)
def test_any_workers_keep_the_same_products(python, in_one_team, teams, team_size):
    search = LocalSearch(python, Solo(), Ppp.load("35-5"), TabuSearch(), "flip2", evaluation="words")
    search.in_one_team, search.teams, search.team_size = in_one_team, teams, team_size
    search.step_size = min(team_size, 7)
    for iterations in (0, 1, 4):
        check(search, iterations)


@pytest.mark.slow
def test_tabu_search_solves_73_73(cpu):
    """At least one of 20 searches of 2,000 iterations finds a vector with the histogram."""
    problem = Ppp.load("73-73")
    search = LocalSearch(cpu, Solo(), problem, TabuSearch(), "flip2")
    for search.seed in range(20):
        outcome = search.run(Iterations(2000) | Target(0))
        assert problem.cost(outcome.solution) == outcome.cost
        if outcome.cost == 0:
            return
    pytest.fail("none of 20 seeds")
