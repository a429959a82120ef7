"""Permutation flow shops: Taillard's instances number for number, makespans by hand and brute force, heads and tails."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.cpu import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core.problems import flow_shops
from core.problems.errors import InstanceError
from core.problems.flow_shop import FlowShop
from core.search.local_search import (
    IteratedLocalSearch,
    Iterations,
    LocalSearch,
    SimulatedAnnealing,
    TabuSearch,
    Target,
    check,
)
from tests.core.problems.neighbours import after_a_walk, by_kernels, rescored

EVALUATIONS = ("ends", "value")


@pytest.fixture(scope="module", params=[CpuBackend, PythonBackend])
def device(request):
    return request.param(request.param.devices()[0])


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


@st.composite
def shops(draw):
    n, m = draw(st.integers(2, 6)), draw(st.integers(1, 4))
    times = draw(st.lists(st.integers(0, 20), min_size=n * m, max_size=n * m))
    return np.array(times).reshape(n, m), draw(st.permutations(range(n)))


def makespan(times, order):
    """The longest path through the schedule's operations, by recursion."""
    done = {}
    for p, machine in itertools.product(range(len(order)), range(times.shape[1])):
        before = max(done.get((p - 1, machine), 0), done.get((p, machine - 1), 0))
        done[p, machine] = before + int(times[order[p], machine])
    return done[len(order) - 1, times.shape[1] - 1]


@given(shops())
def test_cost_is_the_longest_path(drawn):
    times, order = drawn
    assert FlowShop(flow_shops.FlowShopInstance("drawn", times)).cost(np.array(order)) == makespan(times, order)


@pytest.mark.parametrize("evaluation", EVALUATIONS)
@pytest.mark.parametrize("name", ["insert", "exchange3"])
@settings(max_examples=15, deadline=None)
@given(drawn=shops())
def test_every_difference_is_that_of_rescoring(device, name, evaluation, drawn):
    times, order = drawn
    problem = FlowShop(flow_shops.FlowShopInstance("drawn", times))
    assert by_kernels(device, problem, name, evaluation, order) == rescored(problem, name, order)


def test_every_evaluation_of_every_neighbourhood_passes_the_check():
    check(FlowShop("taillard:5:3:seed=5"), moves=4)


@pytest.mark.parametrize(
    ("algorithm", "name"),
    [(TabuSearch(), "insert"), (SimulatedAnnealing(plateau=5), "reverse")],
    ids=["tabu", "annealing"],
)
def test_heads_and_tails_stay_right_behind_a_walk(cpu, algorithm, name):
    problem = FlowShop("taillard:9:4:seed=3")
    search = LocalSearch(cpu, Solo(), problem, algorithm, name, evaluation="ends", seed=5)
    for length in (1, 2, 30):
        search.run(Iterations(length))
        found, solution = after_a_walk(search)
        assert found == rescored(problem, name, solution)


def test_search_finds_the_best_of_all_orders_of_seven_jobs(cpu):
    problem = FlowShop("taillard:7:4:seed=2")
    least = problem.costs(np.array(list(itertools.permutations(range(7))))).min()
    search = LocalSearch(cpu, Solo(), problem, IteratedLocalSearch(2), "insert", level="algorithm", walks=8)
    outcome = search.run(Iterations(60) | Target(int(least)))
    assert outcome.cost == least == problem.cost(outcome.solution)


@pytest.mark.parametrize(("name", "optimum"), [("ta001", 1278), ("ta002", 1359), ("ta003", 1081), ("ta011", 1582)])
def test_a_search_comes_close_to_the_published_optimum_and_not_below(cpu, name, optimum):
    problem = FlowShop(name)
    assert problem.optimum == optimum
    search = LocalSearch(cpu, Solo(), problem, IteratedLocalSearch(2), "insert", level="algorithm", walks=24)
    cost = search.run(Iterations(150) | Target(optimum)).cost
    assert optimum <= cost <= 1.02 * optimum


# --- instances ---


def test_taillard_s_first_instance_comes_out_number_for_number():
    times = flow_shops.load("ta001").times
    assert times.shape == (20, 5)
    first = "54 83 15 71 77 36 53 38 27 87 76 91 14 29 12 77 32 87 68 94"
    last = "58 56 20 85 53 35 53 41 69 13 86 72 8 49 47 87 58 18 68 28"
    assert [times[:, 0].tolist(), times[:, 4].tolist()] == [[*map(int, row.split())] for row in (first, last)]


def test_all_hundred_and_twenty_are_there_in_their_sizes():
    assert list(flow_shops.PUBLISHED) == [f"ta{k:03d}" for k in range(1, 121)]
    shapes = [flow_shops.load(f"ta{k:03d}").times.shape for k in range(1, 121, 10)]
    assert shapes == list(flow_shops.SEEDS) and len({*flow_shops.PUBLISHED.values()}) == 120
    assert flow_shops.load("ta120").times.shape == (500, 20)


@pytest.mark.parametrize("name", [f"ta{k:03d}" for k in (*range(1, 51), *range(61, 81))])
def test_no_published_optimum_is_outside_the_bounds(name):
    instance = flow_shops.load(name)
    least, most = instance.bounds
    assert least <= instance.optimum < most
    assert instance.optimum <= instance.makespans(np.arange(instance.jobs)[None])[0]


def test_any_other_size_and_seed_is_an_instance_too():
    mine, again = flow_shops.load("taillard:20:5:seed=873654221"), flow_shops.load("ta001")
    assert (mine.sha256, mine.optimum, mine.name) == (again.sha256, None, "taillard:20:5:seed=873654221")
    assert flow_shops.load("taillard:9:2").name == "taillard:9:2:seed=1"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("ta000", "no such instance, expected ta001 to ta120"),
        ("ta121", "no such instance"),
        ("taillard:0:5", "jobs '0', expected an integer from 1 to 10000"),
        ("taillard:5", r"no machines, expected taillard:JOBS:MACHINES:\[seed=VALUE\]"),
        ("taillard:5:65", "machines '65', expected an integer from 1 to 64"),
        ("taillard:5:5:seed=0", "seed '0', expected an integer from 1 to 2147483646"),
    ],
)
def test_what_names_no_shop_is_refused(spec, words):
    with pytest.raises(InstanceError, match=words):
        FlowShop(spec)


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (np.ones(3, int), "times of shape"),
        (np.ones((2, 65), int), "expected 1 to 10000 rows, a job each, of 1 to 64 machines"),
        (np.ones((2, 2)), "times of float64, expected integers"),
        (np.array([[1, -1]]), "times from -1 on"),
        (np.array([[2**31 - 1, 1]]), "sum up to 2147483648"),
    ],
)
def test_what_is_no_shop_is_refused(times, words):
    with pytest.raises(InstanceError, match=words):
        flow_shops.FlowShopInstance("wrong", times)
