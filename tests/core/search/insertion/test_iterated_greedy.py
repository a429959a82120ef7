"""Iterated greedy search: the walks of a plain model, on every backend, and costs of insertions of new problems."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import onekernel as ok
from backends.python import PythonBackend
from cluster import Solo
from core.errors import UserError
from core.kernels.insertion.iterated_greedy import tolerance
from core.lang import Array, bundle, function, i32, kernel, lane, team_size, u32
from core.problems.insertion import Insertion
from core.problems.more.flow_shop.problem import FlowShop
from core.problems.more.linear_ordering.problem import LinearOrdering
from core.problems.problem import Problem
from core.search.insertion import IteratedGreedySearch, check_insertions
from core.search.local_search import IteratedGreedy, Iterations, Permutation, Target, WrongDelta, WrongLanes
from tests.core.search.insertion.greedy_model import GreedyModel
from tests.thread_ranks import on_ranks

ROOT = Path(__file__).parents[4]
IN_SIMULATOR = """
from backends import create
from tests.core.search.insertion.test_iterated_greedy import PROBLEMS, run_search
print([run_search(create("cuda"), PROBLEMS[name], 2, walks=2, team_size=size) for name in ("shop", "matrix") for size in (1, 4)])
"""
PROBLEMS = {
    "shop": FlowShop("taillard:7:3"),
    "one machine": FlowShop("taillard:6:1"),
    "one job": FlowShop("taillard:1:2"),
    "two jobs": FlowShop("taillard:2:3:seed=5"),
    "matrix": LinearOrdering("random:8:seed=3"),
    "many equal losses": LinearOrdering("random:7:largest=1:seed=2"),
}
SETTINGS = ((2, 0.0), (3, 40.0), (1, 0.3), (99, 5.0))


def run_search(backend, problem, iterations, ranks=None, removed=2, temperature=3.0, initial=None, **settings):
    algorithm = IteratedGreedy(removed, temperature)
    search = IteratedGreedySearch(backend, ranks or Solo(), problem, algorithm, **settings)
    outcome = search.run(Iterations(iterations), initial=initial)
    return outcome.cost, outcome.walk, outcome.found_at, outcome.evaluations, outcome.hash, outcome.solution.tolist()


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(("removed", "temperature"), SETTINGS)
def test_walks_are_those_of_a_plain_model(name, removed, temperature, cpu):
    problem, walks = PROBLEMS[name], []
    n = problem.encoding.n
    for walk in range(2):
        model = GreedyModel(problem, walk, 5, min(n, removed), temperature)
        for step in range(6):
            model.round(step)
        walks.append(model)
    costs = [problem.cost(np.array(one.best)) for one in walks]
    best = int(np.argmin(costs))
    cost, walk, found_at, _, _, solution = run_search(cpu, problem, 6, None, removed, temperature, seed=5, walks=2)
    assert (cost, walk, found_at, solution) == (costs[best], best, walks[best].best_at, walks[best].best)


def test_a_given_start_is_improved_as_in_the_model(cpu):
    problem = PROBLEMS["shop"]
    start = [6, 5, 4, 3, 2, 1, 0]
    model = GreedyModel(problem, 0, 1, 2, 3.0, start)
    model.round(0)
    assert run_search(cpu, problem, 1, seed=1, initial=start)[5] == model.best
    by_name = run_search(cpu, problem, 1, initial="neh")
    assert by_name == run_search(cpu, problem, 1, initial=problem.start_solution("neh"))


@pytest.mark.parametrize("kind", ["shop", "matrix"])
def test_same_walks_on_every_backend_team_size_and_order_of_lanes(kind, backend, cpu):
    problem, iterations, sizes = (
        (FlowShop("ta001") if kind == "shop" else LinearOrdering("random:40:seed=1")),
        20,
        (1, 3, 32),
    )
    if backend.name == "python":
        problem, iterations, sizes = (
            (FlowShop("taillard:4:2") if kind == "shop" else LinearOrdering("random:4")),
            1,
            (1, 3),
        )
    expected = run_search(cpu, problem, iterations, walks=2, seed=5)
    backwards = [PythonBackend(backend.device, reverse=True)] if backend.name == "python" else []
    most = backend.capabilities.max_team_size
    for device in (backend, *backwards):
        for lanes in (size for size in sizes if size <= most):
            assert run_search(device, problem, iterations, walks=2, seed=5, team_size=lanes) == expected, lanes


@pytest.mark.slow
def test_simulator_of_cuda_makes_the_same_walks(cpu):
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", IN_SIMULATOR]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    expected = [run_search(cpu, PROBLEMS[name], 2, walks=2) for name in ("shop", "shop", "matrix", "matrix")]
    assert done.stdout.strip() == str(expected)


@pytest.mark.parametrize("size", [2, 3])
def test_same_walks_on_several_ranks(size, cpu):
    problem = FlowShop("ta001")
    expected = run_search(cpu, problem, 10, walks=5)
    assert on_ranks(size, lambda ranks: run_search(cpu, problem, 10, ranks, walks=5)) == [expected] * size


def test_digest_tells_unequal_work_apart(cpu):
    runs = [
        run_search(cpu, FlowShop("ta001"), n, seed=seed, walks=w)
        for n, seed, w in ((9, 1, 1), (10, 1, 1), (9, 2, 1), (9, 1, 2))
    ]
    assert len({run[4] for run in runs}) == len(runs)


def test_search_ends_at_its_target(cpu):
    problem = FlowShop("ta001")
    outcome = IteratedGreedySearch(cpu, Solo(), problem).run(Target(1278))
    assert outcome.cost == problem.cost(outcome.solution) == problem.optimum == 1278


def test_acceptance_has_the_probability_of_simulated_annealing(python):
    @kernel
    def ask(words: Array[u32], slack: i32, said: Array[i32]):
        for k in range(1000):
            said[k] = tolerance(words[k], slack)

    # Evenly spaced words are a sample of the uniform distribution without noise.
    words = ((np.arange(1000) + 0.5) / 1000 * 2**32).astype(np.uint32)
    temperature = 50.0
    said = python.allocate(1000, np.int32)
    python.launch(ask, 1, 1, python.upload(words), round(64 * temperature * math.log(2)), said)
    tolerated = python.download(said)
    for added in (1, 10, 50, 100, 200):
        assert abs((tolerated >= added).mean() - math.exp(-added / temperature)) < 0.04
    python.launch(ask, 1, 1, python.upload(words), 0, said)
    assert not python.download(said).any()


# --- problems of a user ---


@bundle
class Weighted:
    weights: Array[i32]
    n: i32


@function
def later_costs(order: Array[i32], count: i32, element: i32, changes: Array[i32], data: Weighted):
    """Each element costs its weight times its position; one lane a position."""
    for p in range(lane(), count + 1, team_size()):
        total = data.weights[element] * p
        for q in range(p, count):
            total += data.weights[order[q]]
        changes[p] = total


@function
def one_too_late(order: Array[i32], count: i32, element: i32, changes: Array[i32], data: Weighted):
    for p in range(lane(), count + 1, team_size()):
        total = data.weights[element] * p
        for q in range(p + 1, count):
            total += data.weights[order[q]]
        changes[p] = total


@function
def by_one_lane(order: Array[i32], count: i32, element: i32, changes: Array[i32], data: Weighted):
    for p in range(lane(), count + 1, 4):
        total = data.weights[element] * p
        for q in range(p, count):
            total += data.weights[order[q]]
        changes[p] = total
    if team_size() == 1:
        for p in range(count + 1):
            total = data.weights[element] * p
            for q in range(p, count):
                total += data.weights[order[q]]
            changes[p] = total


@function
def too_far(order: Array[i32], count: i32, element: i32, changes: Array[i32], data: Weighted):
    changes[count + 1] = 0


class Positions(Problem):
    def __init__(self, costs):
        self.weights = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.int32)
        self.costs_of_insertions = costs
        super().__init__("positions", Permutation(8), Weighted(self.weights, 8))

    def cost(self, solution):
        return int(self.weights[solution] @ np.arange(8))

    def insertion(self):
        return Insertion(self.costs_of_insertions, self.data, removed=3)


def test_a_problem_of_a_user_offers_its_costs_of_insertions(cpu):
    problem = Positions(later_costs)
    assert check_insertions(problem, [cpu]) > 30
    result = ok.minimize(problem, ok.IteratedGreedy(), iterations=3, backend="cpu")
    assert result.cost == (np.sort(problem.weights)[::-1] * np.arange(8)).sum()


@pytest.mark.parametrize(
    ("costs", "error", "said"),
    [
        (one_too_late, WrongDelta, "the costs of insertions say that .* but cost says"),
        (by_one_lane, WrongLanes, "with 3 lanes"),
        (too_far, ok.WrongSubscript, "too_far: index"),
    ],
    ids=["wrong", "several lanes", "outside"],
)
def test_wrong_costs_of_insertions_are_found_before_a_search(costs, error, said, cpu):
    with pytest.raises(error, match=said):
        IteratedGreedySearch(cpu, Solo(), Positions(costs)).run(Iterations(1))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ok.minimize(ok.Labs(9), ok.IteratedGreedy(), backend="cpu"), "expected a method `insertion` of Labs"),
        (lambda: IteratedGreedy(removed=0), "removed=0: expected an integer from 1 to"),
        (lambda: IteratedGreedy(temperature=-1.0), "temperature=-1.0: expected a number from 0 to"),
        (lambda: ok.minimize(PROBLEMS["shop"], ok.IteratedGreedy(), patience=3, backend="cpu"), "--patience"),
    ],
)
def test_what_iterated_greedy_search_cannot_do_is_refused(make, said):
    with pytest.raises(UserError, match=said):
        make()
