"""The cost of a solution: by plain loops, of many solutions together, and within the range that a problem states."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.local_search.checks.cost import random_solution
from core.ppp.perceptron import VECTOR_BLOCK
from core.qap.problem import PAIR_BLOCK, Qap
from tests.core.instances.drawn import MAKES, solutions
from tests.core.local_search.table import PROBLEMS


@pytest.mark.parametrize("name", MAKES)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_a_cost_is_what_loops_sum_up(name, seed):
    dice = np.random.default_rng(seed)
    problem, plain = MAKES[name](dice)
    for solution in [random_solution(problem.encoding, dice) for _ in range(4)]:
        assert problem.cost(solution) == plain(solution)


@pytest.mark.parametrize("name", MAKES)
def test_no_solution_costs_less_or_more_than_the_range_says(name):
    for seed in range(2):
        problem, _ = MAKES[name](np.random.default_rng(seed))
        costs = problem.costs(np.array(solutions(problem.encoding))[:5040])
        least, most = problem.cost_range()
        assert least <= costs.min() <= costs.max() <= most
        assert most - least < 40 * max(1, costs.max() - costs.min())


@pytest.mark.parametrize("name", sorted(PROBLEMS.keys() - {"order"}))
def test_solutions_scored_together_cost_what_each_costs(name):
    problem = PROBLEMS[name]()
    random = np.random.default_rng(4)
    for count in (0, 1, VECTOR_BLOCK + 1):
        drawn = np.empty((count, problem.encoding.n), problem.encoding.dtype)
        for row in drawn:
            row[:] = random_solution(problem.encoding, random)
        costs = problem.costs(drawn)
        assert (costs.shape, costs.dtype) == ((count,), np.int64)
        assert costs.tolist() == [problem.cost(one) for one in drawn]


def test_more_solutions_than_a_cache_holds_are_scored():
    problem = Qap.load("taillard:40:seeds=1,2")
    random = np.random.default_rng(5)
    drawn = np.array([random_solution(problem.encoding, random) for _ in range(PAIR_BLOCK // 1600 + 2)])
    assert problem.costs(drawn).tolist() == [problem.cost(one) for one in drawn]
