"""Max-k-cut for local search: every neighbour's cost against NumPy's, on fresh state and behind a walk."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.cpu import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core.problems import graphs
from core.problems.max_k_cut import MaxKCut
from core.search.local_search import (
    HillClimbing,
    IteratedLocalSearch,
    Iterations,
    LocalSearch,
    SimulatedAnnealing,
    TabuSearch,
)
from tests.core.problems.neighbours import after_a_walk, by_kernels, rescored

EVALUATIONS = ("ties", "linear")


@pytest.fixture(scope="module", params=[CpuBackend, PythonBackend])
def device(request):
    return request.param(request.param.devices()[0])


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


@st.composite
def cuts(draw):
    n, k = draw(st.integers(1, 9)), draw(st.integers(2, 5))
    weights = np.zeros((n, n), dtype=np.int64)
    for i, j in itertools.combinations(range(n), 2):
        weights[i, j] = weights[j, i] = draw(st.integers(-50, 50))
    return MaxKCut(graphs.GraphInstance("drawn", weights, k)), draw(
        st.lists(st.integers(0, k - 1), min_size=n, max_size=n)
    )


@pytest.mark.parametrize("evaluation", EVALUATIONS)
@settings(max_examples=25, deadline=None)
@given(cut=cuts())
def test_every_difference_is_that_of_rescoring(device, evaluation, cut):
    problem, solution = cut
    assert by_kernels(device, problem, "assign", evaluation, solution) == rescored(problem, "assign", solution)


@pytest.mark.parametrize("evaluation", EVALUATIONS)
def test_weights_up_to_31_bits_are_added_exactly(cpu, evaluation):
    half = 2**30 - 1
    weights = np.array([[0, half, -half], [half, 0, 0], [-half, 0, 0]])
    problem = MaxKCut(graphs.GraphInstance("large", weights, 2))
    for solution in itertools.product((0, 1), repeat=3):
        assert by_kernels(cpu, problem, "assign", evaluation, solution) == rescored(problem, "assign", solution)


@pytest.mark.parametrize("evaluation", EVALUATIONS)
@pytest.mark.parametrize(
    "algorithm",
    [TabuSearch(), HillClimbing(first=True), IteratedLocalSearch(), SimulatedAnnealing(plateau=5)],
    ids=lambda one: one.name,
)
def test_differences_stay_right_behind_a_walk(cpu, algorithm, evaluation):
    problem = MaxKCut.load("maxcut:14:3:seed=7:weights=-9..9")
    search = LocalSearch(cpu, Solo(), problem, algorithm, "assign", evaluation=evaluation, seed=5)
    for length in (1, 2, 30):
        search.run(Iterations(length))
        found, solution = after_a_walk(search)
        assert found == rescored(problem, "assign", solution)


@pytest.mark.parametrize("evaluation", EVALUATIONS)
def test_tabu_search_finds_the_best_of_all_cuts(cpu, evaluation):
    problem = MaxKCut.load("maxcut:9:3:seed=2:weights=-9..9")
    least = min(problem.cost(np.array(one)) for one in itertools.product(range(3), repeat=9) if one[0] == 0)
    algorithm = TabuSearch(tenure=3, tenure_span=5)
    outcome = LocalSearch(cpu, Solo(), problem, algorithm, "assign", evaluation=evaluation).run(Iterations(300))
    assert outcome.cost == least == problem.cost(outcome.solution)
