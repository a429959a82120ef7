"""The engine on one core makes the iterations of the plain reference, one by one."""

import functools
import itertools

import numpy as np
import pytest

from cluster import Solo
from core import local_search
from core.ppp.problem import Ppp
from core.qap.problem import Qap
from tests.core.local_search import rules
from tests.core.local_search.reference import Annealing, Descent, Ruled, Tabu, random_start
from tests.core.local_search.scored import Ordering

# Settings of the search, and the corresponding ones of the reference.
ALGORITHMS = {
    "hill": (local_search.HillClimbing(), Descent, {}),
    "first": (local_search.HillClimbing(first=True), Descent, {"first": True}),
    "tabu": (local_search.TabuSearch(2, 3), Tabu, {"tenure": 2, "span": 3}),
    "tabu-long": (local_search.TabuSearch(8), Tabu, {"tenure": 8, "span": 0}),
    "tabu-moves": (local_search.TabuSearch(4, 4, "moves"), Tabu, {"tenure": 4, "span": 4, "moves": True}),
    "ils": (local_search.IteratedLocalSearch(), Descent, {"shakes": 3}),
    "ils-first": (local_search.IteratedLocalSearch(1, first=True), Descent, {"shakes": 1, "first": True}),
    "vns": (local_search.VariableNeighbourhoodSearch(3), Descent, {"shakes": 3, "growing": True}),
    "annealing": (local_search.SimulatedAnnealing(plateau=7, batch=5), Annealing,
                  {"temperature": 0, "cooling": 0.98, "plateau": 7}),
    "annealing-cold": (local_search.SimulatedAnnealing(20, 0.9, 10, 64), Annealing,
                       {"temperature": 20, "cooling": 0.9, "plateau": 10}),
}  # fmt: skip
THRESHOLD = rules.Threshold(np.array([30, 10, 0], np.int32), 9)
BY_RULES = {
    "threshold": (local_search.Rule(rules.below_threshold, THRESHOLD), Ruled, {"accepts": rules.PLAIN["threshold"]}),
    "late": (local_search.Rule(rules.late, lag=7, batch=5), Ruled, {"accepts": rules.PLAIN["late"], "lag": 7}),
    "late-long": (local_search.Rule(rules.late, lag=3), Ruled, {"accepts": rules.PLAIN["late"], "lag": 3}),
    "random": (local_search.Rule(rules.near_the_best), Ruled, {"accepts": rules.PLAIN["near the best"]}),
}
RESTARTING = {
    "hill-again": (local_search.HillClimbing(restart=1), Descent, {"again": True}),
    "first-again": (local_search.HillClimbing(first=True, restart=1), Descent, {"first": True, "again": True}),
    "tabu-again": (local_search.TabuSearch(2, 3, restart=6), Tabu, {"tenure": 2, "span": 3, "restart": 6}),
    "ils-again": (local_search.IteratedLocalSearch(restart=7), Descent, {"shakes": 3, "restart": 7}),
    "vns-again": (local_search.VariableNeighbourhoodSearch(3, restart=1), Descent,
                  {"shakes": 3, "growing": True, "restart": 1}),
    "annealing-again": (local_search.SimulatedAnnealing(plateau=7, batch=5, restart=9), Annealing,
                        {"temperature": 0, "cooling": 0.98, "plateau": 7, "restart": 9}),
    "late-again": (local_search.Rule(rules.late, lag=4, batch=5, restart=11), Ruled,
                   {"accepts": rules.PLAIN["late"], "lag": 4, "restart": 11}),
}  # fmt: skip
PROBLEMS = {
    "qap5": lambda: Qap.load("taillard:5:seeds=3,4"),
    "qap6": lambda: Qap.load("taillard:6:seeds=1,2"),
    "order5": lambda: Ordering(5),
    "ppp9-11": lambda: Ppp.load("9-11"),
    "ppp6-9": lambda: Ppp.load("6-9:seed=5"),
}
CASES = [
    *(("qap6", "exchange2", algorithm) for algorithm in ALGORITHMS),
    ("qap5", "exchange3", "tabu"),
    ("qap6", "exchange3", "ils"),
    ("qap6", "exchange2+exchange3", "vns"),
    *(("ppp9-11", "flip2", algorithm) for algorithm in ("first", "tabu", "ils", "annealing")),
    *(("order5", "insert", algorithm) for algorithm in ("tabu", "vns")),
    ("order5", "reverse", "tabu-moves"),
    ("ppp6-9", "flip1", "vns"),
    ("ppp6-9", "flip3", "tabu-moves"),
    ("ppp9-11", "flip1+flip2+flip3", "hill"),
    ("ppp9-11", "flip1+flip2+flip3", "vns"),
    *(("qap6", "exchange2", algorithm) for algorithm in (*BY_RULES, *RESTARTING)),
    *(("ppp6-9", "flip2", algorithm) for algorithm in ("late", "tabu-again", "ils-again")),
]
CROSS = [
    pytest.param(*row, marks=pytest.mark.slow)
    for row in itertools.product(("qap6", "order5", "ppp6-9"), ("exchange3", "insert", "flip1"), ALGORITHMS)
    if row[:2] in (("qap6", "exchange3"), ("order5", "insert"), ("ppp6-9", "flip1")) and row not in CASES
]
HORIZONS = (1, 2, 3, 8, 25, 80)


def scorer(problem):
    return functools.cache(lambda solution: problem.cost(list(solution)))


def seen(search, outcome):
    """The engine's values for `reference.Walk.seen`."""
    current = search.backend.download(search.launcher.memory.walkers.solution).tolist()
    solution = tuple(outcome.solution.tolist())
    return outcome.cost, solution, outcome.found_at, outcome.iterations, outcome.evaluations, tuple(current)


@pytest.mark.parametrize(("name", "names", "algorithm"), CASES + CROSS, ids=lambda one: one)
def test_a_walk_is_the_plain_walk(cpu, name, names, algorithm):
    problem, (asked, kind, numbers) = PROBLEMS[name](), (ALGORITHMS | BY_RULES | RESTARTING)[algorithm]
    encoding, score = problem.encoding, scorer(problem)
    for seed in (3, 2**31 - 1):
        search = local_search.LocalSearch(cpu, Solo(), problem, asked, names.split("+"), seed=seed)
        start = random_start(encoding.name, encoding.n, seed, 0)
        walk = kind(score, names.split("+"), start, seed=seed, **numbers)
        for horizon in HORIZONS:
            assert seen(search, search.run(local_search.Iterations(horizon))) == walk.run(horizon).seen, (
                f"{seed=} {horizon=}"
            )
