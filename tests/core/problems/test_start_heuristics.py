"""Start heuristics of problems: every insertion scored from scratch, and refusals."""

import numpy as np
import pytest

from core.errors import UserError
from core.problems.more.flow_shop import shops
from core.problems.more.flow_shop.neh import insertion_makespans, neh
from core.problems.more.flow_shop.problem import FlowShop
from core.problems.more.linear_ordering.problem import LinearOrdering
from core.problems.qap.problem import Qap


def inserted_one_by_one(elements, costs):
    """Insert elements in order, each at its first position of least cost; `costs` scores many orders."""
    order = []
    for element in elements:
        tried = [[*order[:p], int(element), *order[p:]] for p in range(len(order) + 1)]
        order = tried[int(np.argmin(costs(np.array(tried))))]
    return order


@pytest.mark.parametrize("spec", ["ta001", "taillard:30:1", "taillard:1:4", "taillard:2:9:seed=5", "taillard:12:64"])
def test_neh_inserts_each_job_at_its_first_best_position(spec):
    shop = shops.load(spec)
    totals = shop.times.sum(axis=1)
    jobs = sorted(range(shop.jobs), key=lambda job: (-totals[job], job))
    assert neh(shop.times).tolist() == inserted_one_by_one(jobs, shop.makespans)


def test_neh_is_within_two_percent_of_the_optimum_of_many_jobs_on_few_machines():
    for name, best_known in (("ta031", 2724), ("ta061", 5493)):
        problem = FlowShop(name)
        assert best_known <= problem.cost(problem.start_solution("neh")) < 1.02 * best_known


def test_makespans_of_insertions_are_those_of_the_scorer():
    shop = shops.load("taillard:9:7:seed=3")
    order, job = np.array([4, 2, 8, 0]), 6
    tried = np.array([np.insert(order, p, job) for p in range(5)])
    assert insertion_makespans(shop.times[order].astype(np.int64), shop.times[job]).tolist() == (
        shop.makespans(tried).tolist()
    )


@pytest.mark.parametrize("spec", ["random:1", "random:2:seed=4", "random:30:seed=2", "random:12:largest=1:seed=3"])
def test_best_insertion_places_each_element_where_it_costs_least(spec):
    problem = LinearOrdering(spec)
    weights = problem.instance.weights.astype(np.int64)
    falling = (weights - weights.T).sum(axis=1)
    elements = sorted(range(problem.encoding.n), key=lambda one: (-falling[one], one))

    def costs(orders):
        return [-sum(weights[a, b] for k, a in enumerate(order) for b in order[k + 1 :]) for order in orders]

    assert problem.start_solution("best-insertion").tolist() == inserted_one_by_one(elements, costs)


def test_a_heuristic_that_a_problem_does_not_offer_is_refused():
    for problem, offered in ((FlowShop("ta001"), "neh"), (Qap.load("taillard:9:seeds=1,2"), "none")):
        with pytest.raises(UserError, match=f"start heuristic 'random': expected one of the problem's: {offered}$"):
            problem.start_solution("random")


def test_a_heuristic_that_returns_no_solution_is_refused():
    class Wrong(FlowShop):
        def start_heuristics(self):
            return {"wrong": lambda: [0] * self.encoding.n}

    with pytest.raises(UserError, match="has 0 twice"):
        Wrong("ta001").start_solution("wrong")
