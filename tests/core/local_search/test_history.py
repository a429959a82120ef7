"""The history of a local search: every improvement of the best of all walks, as in plain walks, on any device."""

import functools

import numpy as np
import pytest

from backends.tuning import ShapeTuner
from cluster import Solo
from core.local_search import Iterations, LocalSearch, NoImprovement, Seconds, Target, memory
from core.local_search import history as module
from tests.core.local_search.reference import random_start
from tests.core.local_search.test_against_the_reference import ALGORITHMS, PROBLEMS

ITERATIONS = 60
SEED = 3
ONE_TEAM, MANY_TEAMS = {"in_one_team": True}, {"in_one_team": False}
CASES = [
    *(("qap6", "exchange2", algorithm) for algorithm in ALGORITHMS),
    *(("ppp9-11", "flip2", algorithm) for algorithm in ("first", "tabu", "ils-first", "annealing")),
    ("ppp9-11", "flip1+flip2+flip3", "vns"),
]
WALKS = [  # problem, neighbourhood, algorithm, walks, exchange
    ("qap6", "exchange2", "tabu", 5, 0),
    ("qap6", "exchange2", "tabu", 5, 7),
    ("qap6", "exchange2", "hill", 4, 0),
    ("ppp9-11", "flip1", "hill", 6, 3),  # walks wait at local optima and continue
    ("ppp9-11", "flip1", "ils", 5, 9),
    ("qap6", "exchange2", "annealing-cold", 5, 0),
]  # of several walks the first alone settles a temperature that is not given, which plain walks do not know


@functools.cache
def make_problem(name):
    problem = PROBLEMS[name]()
    return problem, functools.cache(lambda solution: problem.cost(list(solution)))


def searching(backend, name, names, algorithm, launch=None, ranks=None, **how):
    """Return a search that records a history, with special launch settings."""
    problem, _ = make_problem(name)
    asked = ALGORITHMS[algorithm][0]
    search = LocalSearch(backend, ranks or Solo(), problem, asked, names.split("+"), seed=SEED, history=True, **how)
    for field, value in (launch or {}).items():
        setattr(search, field, value)
    return search


def plain_walk(name, names, algorithm, number=0):
    problem, score = make_problem(name)
    _, kind, numbers = ALGORITHMS[algorithm]
    start = random_start(problem.encoding.name, problem.encoding.n, SEED, number)
    return kind(score, names.split("+"), start, number=number, seed=SEED, **numbers)


def plain_history(walk, iterations=ITERATIONS):
    rows = [[0, 0, walk.cost]]
    for iteration in range(1, iterations + 1):
        walk.run(iteration)
        if walk.best_cost < rows[-1][2]:
            rows.append([walk.best_at, walk.evaluations, walk.best_cost])
    return rows


def plain_history_together(walks, iterations, exchange):
    """The same of several walks, which wait for the furthest one where they exchange.

    Evaluations are those of the walk that has improved, times the number of walks, but not more than in the end.
    """
    clocks = [0] * len(walks)
    known = [[(0, 0, walk.cost)] for walk in walks]  # of every walk: clock, evaluations, best cost
    for done in range(1, iterations + 1):
        for k, walk in enumerate(walks):
            before = walk.iteration
            if before < iterations and not walk.at_optimum:
                walk.run(before + 1)
            clocks[k] += walk.iteration - before
            known[k].append((clocks[k], walk.evaluations, walk.best_cost))
        if exchange and done % exchange == 0:
            clocks = [max(clocks)] * len(walks)
            leader = min(walks, key=lambda walk: walk.best_cost)
            for walk in walks:
                if walk.cost > leader.best_cost:
                    walk.current, walk.cost = leader.best, leader.best_cost
                    walk.level, walk.at_optimum = 0, False
    rows = []
    for clock in range(max(clocks) + 1):
        latest = [[one for one in every if one[0] <= clock][-1] for every in known]
        cost, evaluations = min((one[2], one[1]) for one in latest)
        if not rows or cost < rows[-1][2]:
            most = sum(walk.evaluations for walk in walks)
            rows.append([clock, min(most, max([len(walks) * evaluations, *(row[1] for row in rows)])), cost])
    return rows


def without_seconds(outcome):
    seconds = [row[2] for row in outcome.history]
    assert seconds == sorted(seconds) and seconds[0] > 0
    return [[iteration, evaluations, cost] for iteration, evaluations, _, cost in outcome.history]


# --- one walk ---


@pytest.mark.parametrize(
    ("name", "names", "algorithm"),
    [pytest.param(*case, marks=pytest.mark.slow) if number % 2 else case for number, case in enumerate(CASES)],
)
def test_the_history_has_every_improvement_of_the_plain_walk(cpu, name, names, algorithm):
    outcome = searching(cpu, name, names, algorithm, ONE_TEAM).run(Iterations(ITERATIONS))
    assert without_seconds(outcome) == plain_history(plain_walk(name, names, algorithm))


@pytest.mark.parametrize("how", [{"mapping": "published", "select": "host"}, {"tune": True}], ids=str)
def test_hosts_that_select_or_tune_leave_the_history_as_it_is(cpu, monkeypatch, how):
    if "tune" in how:
        how = {"tune": lambda kernel, n, size: ShapeTuner(cpu.capabilities, n, size, 2)}
    expected = plain_history(plain_walk("qap6", "exchange2", "tabu"))
    for places in (1, 4096):
        monkeypatch.setattr(memory, "MOST_PLACES", places)
        outcome = searching(cpu, "qap6", "exchange2", "tabu", **how).run(Iterations(ITERATIONS))
        assert without_seconds(outcome) == expected


# --- little memory ---


@pytest.mark.parametrize(
    ("launch", "places", "case"),
    [
        (ONE_TEAM, 1, ("qap6", "exchange2", "tabu")),
        (MANY_TEAMS, 2, ("ppp9-11", "flip1+flip2+flip3", "vns")),
        pytest.param(MANY_TEAMS, 3, ("qap6", "exchange2", "annealing"), marks=pytest.mark.slow),
    ],
)
def test_a_walk_without_room_for_a_note_rests_and_loses_none(cpu, monkeypatch, launch, places, case):
    monkeypatch.setattr(memory, "MOST_PLACES", places)
    search = searching(cpu, *case, launch)
    iterated = []
    monkeypatch.setattr(search, "iterate", lambda count: iterated.append(count) or LocalSearch.iterate(search, count))
    expected = plain_history(plain_walk(*case))
    assert without_seconds(search.run(Iterations(ITERATIONS))) == expected
    assert len(iterated) >= (len(expected) - 1) / places


# --- several walks ---


@pytest.mark.parametrize(("name", "names", "algorithm", "walks", "exchange"), WALKS)
def test_several_walks_have_the_history_of_the_best_of_them(cpu, monkeypatch, name, names, algorithm, walks, exchange):
    together = [plain_walk(name, names, algorithm, number) for number in range(walks)]
    expected = plain_history_together(together, ITERATIONS, exchange)
    for places in (1, 4096):
        monkeypatch.setattr(memory, "MOST_PLACES", places)
        how = {"level": "algorithm", "walks": walks, "exchange": exchange}
        outcome = searching(cpu, name, names, algorithm, **how).run(Iterations(ITERATIONS))
        assert without_seconds(outcome) == expected


def test_several_walks_have_the_same_history_on_every_backend(backend):
    how = {"level": "algorithm", "walks": 3, "exchange": 4}
    together = [plain_walk("qap6", "exchange2", "tabu", number) for number in range(3)]
    outcome = searching(backend, "qap6", "exchange2", "tabu", **how).run(Iterations(10))
    assert without_seconds(outcome) == plain_history_together(together, 10, 4)


# --- stops, and repetitions ---


@pytest.mark.parametrize("stop", [NoImprovement(5), Target(0) | Iterations(50), Seconds(0.05)])
def test_a_history_ends_with_what_the_search_found(cpu, stop):
    search = searching(cpu, "ppp9-11", "flip2", "tabu")
    for _ in range(2):
        outcome = search.run(stop)
        assert outcome.history[-1][3] == outcome.cost
        assert outcome.history[-1][0] == outcome.found_at
        assert outcome.history[0][:2] == [0, 0]


# --- the sums behind it ---


def test_a_front_has_what_is_better_than_all_before():
    rows = [[3, 5, 0.1, 9], [0, 9, 0.0, 0], [3, 4, 0.1, 8], [3, 4, 0.2, 7], [2, 5, 0.5, 8], [7, 4, 0.3, 9]]
    front = module.front_of(np.array(rows, float))
    assert front.tolist() == [[0, 9, 0.0, 0], [2, 5, 0.5, 8], [3, 4, 0.2, 7]]
    assert module.rows_of(front) == [[0, 0, 0.0, 9], [2, 8, 0.5, 5], [3, 8, 0.5, 4]]
