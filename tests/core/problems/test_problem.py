"""What every problem of local search says of itself: which costs it can have, and a digest of what is searched."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.errors import UserError
from core.problems import tsp
from core.problems.encodings import Bits, Permutation, Values
from core.problems.graphs import GraphInstance
from core.problems.max_k_cut import MaxKCut
from core.problems.perceptron import PerceptronInstance
from core.problems.ppp import Ppp
from core.problems.problem import Evaluation, Problem
from core.problems.qap import Qap
from core.problems.qaplib import QapInstance
from core.problems.tsp_moves import TspTour
from core.problems.weierstrass import Weierstrass
from core.search.local_search.algorithms import HillClimbing, SimulatedAnnealing, TabuSearch
from core.search.local_search.plan import Plan
from tests.core.search.local_search import weighted
from tests.core.search.local_search.weighted import Weighted

ROOT = Path(__file__).parents[3]
WEIGHTS = [3, 1, 4, 1, 5]


def symmetric(n, low, high, seed):
    half = np.triu(np.random.default_rng(seed).integers(low, high, (n, n)), 1)
    return half + half.T


def qap(low):
    rng = np.random.default_rng(1)
    return Qap(QapInstance("drawn", rng.integers(low, 9, (5, 5)), rng.integers(low, 9, (5, 5))))


SMALL = {
    "qap": lambda: qap(0),
    "qap of either sign": lambda: qap(-9),
    "ppp": lambda: Ppp(PerceptronInstance("one", np.ones((4, 3)), [3, 3, 3, 3])),
    "tour by table": lambda: TspTour(tsp.Instance("drawn", distances=symmetric(5, 0, 99, 2))),
    "tour in the plane": lambda: TspTour.load("uniform:5:seed=1"),
    "cut": lambda: MaxKCut(GraphInstance("drawn", symmetric(5, -9, 9, 3), 3)),
}


def solutions(encoding):
    if encoding.name == "permutation":
        return itertools.permutations(range(encoding.n))
    return itertools.product(range(encoding.choices), repeat=encoding.n)


@pytest.mark.parametrize("name", SMALL)
def test_no_solution_costs_less_or_more_than_the_range_says(name):
    problem = SMALL[name]()
    costs = [problem.cost(np.array(one)) for one in solutions(problem.encoding)]
    least, most = problem.cost_range()
    assert least <= min(costs) <= max(costs) <= most
    assert most - least < 40 * max(1, max(costs) - min(costs))


def test_the_range_of_the_largest_weierstrass_function_holds_its_values():
    problem = Weierstrass.load("341")
    least, most = problem.cost_range()
    assert most - least < 2**31 - 1
    point = np.full(341, 0.58)  # near the largest value of one coordinate
    assert least < problem.cost(-point) < 0 < problem.cost(point) < most


# --- costs beyond 32 bits ---


def far_apart(n, largest):
    distances = symmetric(n, 1, largest + 1, 7)
    distances[0, 1] = distances[1, 0] = largest
    return TspTour(tsp.Instance("far", distances=distances))


def test_tours_that_may_pass_31_bits_are_refused_before_the_search():
    with pytest.raises(UserError, match=r"far: costs from 0 to \d{10} are possible: expected .* below 2147483647"):
        Plan(far_apart(14, 357_000_000), HillClimbing(), "exchange2", 1)
    Plan(far_apart(14, 153_391_689), HillClimbing(), "exchange2", 1)  # 14 times that is just below


def test_so_are_tours_in_the_plane():
    """65,000 cities up to 46,340 apart, whose table nobody computes."""
    points = np.random.default_rng(4).integers(0, 32_000, (65_000, 2)).astype(float)
    problem = TspTour(tsp.Instance("wide", coordinates=points))
    with pytest.raises(UserError, match=r"wide: costs from 0 to 29\d{8} are possible"):
        Plan(problem, HillClimbing(), "2opt", 1, evaluation="plane")
    assert problem.instance._distances is None


def test_a_graph_at_the_limit_is_refused():
    weights = np.zeros((3, 3), np.int64)
    weights[0, 1] = weights[1, 0] = 2**31 - 1
    with pytest.raises(UserError, match="heavy: costs from 0 to 2147483647 are possible"):
        Plan(MaxKCut(GraphInstance("heavy", weights, 2)), HillClimbing(), "assign", 1)


# --- digests ---


class Satisfied(Problem):
    """Clauses as data, as a user's 3-SAT would have them."""

    delta = weighted.added

    def __init__(self, name, seed, encoding=None, **more):
        clauses = np.random.default_rng(seed).integers(0, 20, (30, 3)).astype(np.int32)
        super().__init__(name, encoding or Bits(20), {"clauses": clauses, **more})


class SatisfiedBy(Satisfied):
    """Another class with a function of its own."""

    delta = weighted.forgets_the_third


def test_other_data_or_functions_are_another_problem():
    problems = [
        Satisfied("3sat", 1),
        Satisfied("3sat", 2),
        Satisfied("3sat", 1, Bits(21)),
        Satisfied("3sat", 1, Values(20, 2)),
        Satisfied("3sat", 1, Permutation(20)),
        Satisfied("3sat", 1, penalty=1),
        Satisfied("3sat", 1, penalty=2),
        Satisfied("3sat", 1, penalty=2.0),
        Satisfied("3sat", 1, fine=1),
        Satisfied("3sat", 1, penalty=np.ones(1, np.int32)),
        Satisfied("3sat", 1, penalty=np.ones(1, np.uint32)),
        Satisfied("3sat", 1, penalty=np.ones((1, 1), np.int32)),
        SatisfiedBy("3sat", 1),
    ]
    digests = [problem.sha256 for problem in problems]
    assert len(set(digests)) == len(digests)
    assert all(len(bytes.fromhex(digest)) == 32 for digest in digests)


def test_equal_content_is_one_problem_whatever_its_name():
    assert Satisfied("3sat:20:30:1", 1, a=1, b=2).sha256 == Satisfied("other", 1, b=2, a=1).sha256
    strided = Satisfied("strided", 1)
    strided.data["clauses"] = np.asfortranarray(strided.data["clauses"]).astype(">i4")
    assert strided.sha256 == Satisfied("3sat", 1).sha256


def test_an_evaluation_s_own_data_and_functions_count():
    right = Weighted(WEIGHTS)
    faster = Weighted(WEIGHTS, plain=Evaluation(weighted.added, partial=weighted.counts_twice))
    assert Weighted(WEIGHTS).sha256 == right.sha256 != faster.sha256
    assert TspTour.load("uniform:5:seed=1").sha256 != TspTour.load("uniform:5:seed=2").sha256


def test_another_process_finds_the_same_digest():
    program = f"from tests.core.search.local_search.weighted import Weighted; print(Weighted({WEIGHTS}).sha256)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env=os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == Weighted(WEIGHTS).sha256


# --- what decides the work, and what the speed ---


def plan(algorithm, name="exchange2", **how):
    return Plan(Qap.load("taillard:6:seeds=1,2"), algorithm, name, 1, **how)


def test_ways_that_change_only_the_speed_are_no_parameters():
    base = plan(TabuSearch())
    for how in ({"evaluation": "linear"}, {"select": "host"}, {"tables": "readonly"}):
        other = plan(TabuSearch(), **how)
        assert other.parameters == base.parameters
        assert other.ways != base.ways
    assert plan(SimulatedAnnealing(batch=8)).parameters == plan(SimulatedAnnealing(batch=9)).parameters
    assert plan(SimulatedAnnealing(batch=8)).ways != plan(SimulatedAnnealing(batch=9)).ways
    assert not base.parameters.keys() & base.ways.keys()


def test_equal_memories_are_equal_parameters_however_they_were_asked_for():
    assert plan(TabuSearch()).parameters == plan(TabuSearch(remember="attributes")).parameters
    assert plan(TabuSearch()).parameters != plan(TabuSearch(remember="moves")).parameters
    assert plan(TabuSearch(2, 1)).parameters["tenure"] == 2
