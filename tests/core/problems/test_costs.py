"""Many solutions scored together cost what each costs by itself."""

import numpy as np
import pytest

from core.problems import tsp
from core.problems.flow_shop import FlowShop
from core.problems.labs import Labs
from core.problems.linear_ordering import LinearOrdering
from core.problems.max_cut import MaxCut
from core.problems.max_k_cut import MaxKCut
from core.problems.max_sat import MaxSat
from core.problems.perceptron import AT_A_TIME
from core.problems.ppp import Ppp
from core.problems.qap import CACHED, Qap
from core.problems.tsp_moves import TspTour
from core.problems.weierstrass import Weierstrass
from core.search.local_search import ProblemError, check
from core.search.local_search.cost_trials import random_solution


def by_coordinates():
    return TspTour(tsp.load("uniform:23:seed=3"))


def by_distances():
    distances = np.random.default_rng(1).integers(1, 2000, (17, 17))
    return TspTour(tsp.Instance("random", distances=np.triu(distances, 1) + np.triu(distances, 1).T))


PROBLEMS = {
    "qap": lambda: Qap.load("taillard:9:seeds=1,2"),
    "qap of 60": lambda: Qap.load("taillard:60:seeds=1,2"),
    "ppp": lambda: Ppp.load("15-17:seed=1"),
    "tsp by coordinates": by_coordinates,
    "tsp by distances": by_distances,
    "weierstrass": lambda: Weierstrass.load("5"),
    "labs": lambda: Labs(13),
    "max sat": lambda: MaxSat("random:12:ratio=4"),
    "flow shop": lambda: FlowShop("taillard:9:4"),
    "linear ordering": lambda: LinearOrdering("random:12"),
    "max cut": lambda: MaxCut("random:12:weights=-9..9"),
    "max k cut": lambda: MaxKCut.load("maxcut:12:3:seed=1"),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("count", [0, 1, 2, AT_A_TIME + 1])
def test_solutions_scored_together_cost_what_each_costs(name, count):
    problem = PROBLEMS[name]()
    random = np.random.default_rng(count)
    n = problem.encoding.n
    solutions = np.array([random_solution(problem.encoding, random) for _ in range(count)]).reshape(count, n)
    solutions = solutions.astype(problem.encoding.dtype)
    found = problem.costs(solutions)
    assert (found.shape, found.dtype) == ((count,), np.int64)
    assert found.tolist() == [problem.cost(one) for one in solutions]


def test_more_solutions_than_a_cache_holds_are_scored():
    problem = Qap.load("taillard:40:seeds=1,2")
    random = np.random.default_rng(5)
    solutions = np.array([random_solution(problem.encoding, random) for _ in range(CACHED // 1600 + 2)])
    assert problem.costs(solutions).tolist() == [problem.cost(one) for one in solutions]


class Halved(Qap):
    """Another cost, but what its parent says of many solutions."""

    def cost(self, solution):
        return super().cost(solution) // 2


def test_check_tells_where_many_solutions_cost_something_else():
    with pytest.raises(ProblemError, match="`costs` says [0-9]+ of a solution: expected [0-9]+, as `cost` says"):
        check(Halved.load("taillard:6:seeds=1,2"))
