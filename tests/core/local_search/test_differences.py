"""Costs of neighbours by a problem's functions and by rescoring, at the start of a walk and later."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from backends.python import PythonBackend
from cluster import Solo
from core import tours as tsp
from core.local_search import (
    NEIGHBOURHOODS,
    HillClimbing,
    IteratedLocalSearch,
    Iterations,
    LocalSearch,
    SimulatedAnnealing,
    TabuSearch,
)
from core.local_search.kernels.moves import NEVER
from core.tours.problem import TspTour
from tests.core.instances.drawn import MAKES
from tests.core.local_search.neighbours import differences, rescored

ALGORITHMS = (TabuSearch(), IteratedLocalSearch(), SimulatedAnnealing(plateau=5), HillClimbing(first=True))


def rows():
    """Every evaluation of every neighbourhood of every problem; two of a problem's first one are quick."""
    for make in MAKES:
        problem, _ = MAKES[make](np.random.default_rng(1))
        names = problem.neighbourhood_names()
        for name in names:
            for place, evaluation in enumerate(problem.evaluations(name)):
                quick = name == names[0] and place < 2
                yield pytest.param(make, name, evaluation, marks=() if quick else pytest.mark.slow)


def algorithm_of(*row):
    """An algorithm for a row: steps to the best, steps to the first, shakes, and moves uphill in turn."""
    return ALGORITHMS[len("".join(row)) % len(ALGORITHMS)]


@pytest.mark.parametrize(("make", "name", "evaluation"), list(rows()))
@settings(max_examples=12)
@given(seed=st.integers(0, 2**31 - 1), iterations=st.sampled_from([0, 1, 2, 12]))
def test_every_difference_is_that_of_rescoring(cpu, make, name, evaluation, seed, iterations):
    problem, _ = MAKES[make](np.random.default_rng(seed))
    assume(evaluation in problem.evaluations(name) and NEIGHBOURHOODS[name].size(problem.encoding))
    algorithm = algorithm_of(make, name, evaluation)
    search = LocalSearch(cpu, Solo(), problem, algorithm, name, evaluation=evaluation, seed=seed)
    computed, solution = differences(search, iterations)
    assert computed == [rescored(problem, name, solution)] * len(computed)


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKES)
def test_in_plain_python_every_difference_is_that_of_rescoring_too(make):
    python = PythonBackend(PythonBackend.devices()[0])
    problem, _ = MAKES[make](np.random.default_rng(3))
    for name in problem.neighbourhood_names():
        for evaluation in problem.evaluations(name):
            search = LocalSearch(python, Solo(), problem, TabuSearch(), name, evaluation=evaluation)
            computed, solution = differences(search, 2)
            assert computed == [rescored(problem, name, solution)] * len(computed)
            if problem.evaluations(name)[evaluation].partial is not None:
                how = {"evaluation": evaluation, "level": "solution"}
                in_parts = LocalSearch(python, Solo(), problem, HillClimbing(), name, **how).run(Iterations(1))
                assert in_parts.cost == problem.cost(in_parts.solution)


def line(n):
    """Cities with gaps that are powers of two, so that tours with different edges differ in length."""
    return TspTour(tsp.TspInstance("line", coordinates=np.array([(2.0**k, 0.0) for k in range(n)])))


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_adjacent_positions_and_the_wrap_count_each_edge_once(cpu, n):
    start = np.random.default_rng(n).permutation(n)
    search = LocalSearch(cpu, Solo(), line(n), TabuSearch(), "2opt", evaluation="coordinates")
    (computed,), _ = differences(search, 0, start)
    assert computed == rescored(line(n), "2opt", start)
    assert computed.count(NEVER) == n
    outcome = LocalSearch(cpu, Solo(), line(n), HillClimbing(), "2opt").run(Iterations(99))
    assert outcome.cost == line(n).cost(outcome.solution)
