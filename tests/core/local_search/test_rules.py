"""Rules of acceptance, what a search refuses, initial solutions of walks, and texts of problems and criteria."""

import dataclasses
import pickle
import re

import numpy as np
import pytest

from cluster import Solo
from core import local_search as ls
from core.errors import UserError
from core.lang import KernelError, boolean, function, i32
from core.local_search import encodings
from core.local_search.algorithms import ALGORITHMS
from core.local_search.checks.problem_errors import WrongNumber, WrongSubscript, WrongWrite
from core.local_search.encodings import NEIGHBOURHOODS
from core.qap.problem import Qap
from core.weierstrass.problem import Weierstrass
from tests.core.local_search import rules

LATE = ls.Rule(rules.late, lag=3)


@function
def costly(draw: ls.Draw) -> i32:
    return draw.new


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: ls.Rule(costly), KernelError, r"test_rules.py:.*costly: `accepts` of a rule is .*-> i32: expected"),
        (
            lambda: ls.Rule(rules.below_threshold),
            KernelError,
            r"rules.py:.*: expected a @function .draw: Draw. -> bool",
        ),
        (lambda: ls.Rule(rules.late, rules.Threshold(np.zeros(3, np.int32), 1)), KernelError, "parameters: Threshold"),
        (lambda: ls.Rule(lambda draw: True), UserError, "is a lambda: expected a @function"),
        (lambda: ls.Rule(rules.below_threshold, 3), UserError, "data are 3: expected a @bundle"),
        (lambda: ls.Rule(rules.late, lag=-1), UserError, "lag=-1: expected an integer from 0 to"),
        (lambda: ls.Rule(rules.late, batch=0), UserError, "batch=0: expected an integer from 1 to"),
        (lambda: ls.TabuSearch(restart=-1), UserError, "restart=-1: expected an integer from 0 to"),
        (lambda: ls.HillClimbing(restart=2), UserError, "restart=2: expected an integer from 0 to 1"),
    ],
)
def test_a_wrong_rule_or_restart_is_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


@function
def by_the_best(draw: ls.Draw) -> boolean:
    return draw.new // (draw.best - draw.best) > 1


@function
def writes(draw: ls.Draw, by: rules.Threshold) -> boolean:
    by.steps[0] = draw.new
    return draw.new < draw.cost


@function
def by_number(draw: ls.Draw, by: rules.Threshold) -> boolean:
    return draw.new - draw.cost <= by.steps[draw.iteration // by.plateau]


@function
def grows(draw: ls.Draw) -> boolean:
    return draw.new * 100_000_000 > draw.cost


@function
def counts(draw: ls.Draw) -> boolean:
    return draw.new - draw.cost


THREE = rules.Threshold(np.zeros(3, np.int32), 7)


@pytest.mark.parametrize(
    ("rule", "error", "words"),
    [
        (ls.Rule(by_the_best), WrongNumber, r"by_the_best: .*by zero, for Draw\(cost="),
        (ls.Rule(writes, THREE), WrongWrite, r"writes: .*read-only"),
        (ls.Rule(by_number, THREE), WrongSubscript, r"by_number: .*3.*, for Draw\(.* iteration=21"),
        (ls.Rule(grows), WrongNumber, r"grows: "),
        (ls.Rule(counts), KernelError, r"counts: "),
    ],
)
def test_a_faulty_rule_is_refused_before_a_device_calls_it(rule, error, words, cpu):
    def run(iterations):
        search = ls.LocalSearch(cpu, Solo(), Qap.load("taillard:6:seeds=1,2"), rule, "exchange2")
        return search.run(ls.Iterations(iterations))

    with pytest.raises(error, match=rf"^{__file__}:\d+: {words}") as refusal:
        run(22)
    assert "\n" not in str(refusal.value)
    assert rule.accepts is not by_number or run(21).iterations == 21


def test_a_record_names_the_rule_its_digest_and_parameters():
    parameters = ls.Rule(
        rules.below_threshold, rules.Threshold(np.zeros(3, np.int32), 7), restart=5
    ).recorded_parameters
    assert parameters["rule"] == "below_threshold" and len(parameters["rule_digest"]) == 16
    assert parameters["parameter_plateau"] == 7 and parameters["restart"] == 5
    assert parameters["rule_digest"] != LATE.recorded_parameters["rule_digest"]


def test_a_record_tells_the_first_better_neighbour_from_the_best():
    best, first = (ls.IteratedLocalSearch(4, first=one).recorded_parameters for one in (False, True))
    assert best == {"algorithm": "ils", "strength": 4} and first == best | {"first": True}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithms_are_frozen_comparable_and_serialisable(name):
    one = ALGORITHMS[name]
    assert one.name == name and pickle.loads(pickle.dumps(one)) == one == dataclasses.replace(one)
    assert dataclasses.replace(one, restart=1) != one
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.restart = 1


@pytest.mark.parametrize(
    ("instance", "text"),
    [
        (ls.TabuSearch(tenure=9), "TabuSearch(tenure=9)"),
        (ls.HillClimbing(first=True, restart=1), "HillClimbing(first=True, restart=1)"),
        (ls.SimulatedAnnealing(), "SimulatedAnnealing()"),
        (LATE, "Rule(late, lag=3)"),
        (ls.Seconds(5) | ls.Target(0), "Seconds(5) | Target(0)"),
        (NEIGHBOURHOODS["insert"], "Neighbourhood('insert')"),
        (Qap.load("taillard:6:seeds=1,2"), "Qap('taillard:6:seeds=1,2', n=6)"),
    ],
)
def test_objects_are_written_as_a_user_writes_them(instance, text):
    assert repr(instance) == text


@pytest.fixture
def search(cpu):
    return ls.LocalSearch(cpu, Solo(), Qap.load("taillard:6:seeds=1,2"), LATE, "exchange2", level="algorithm", walks=3)


def test_every_walk_begins_at_its_own_initial_solution(search):
    starts = [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [1, 0, 3, 2, 5, 4]]
    costs = [search.plan.problem.cost(np.array(one)) for one in starts]
    outcome = search.run(ls.Target(max(costs)), initial=starts)
    assert (outcome.cost, outcome.solution.tolist()) == (min(costs), starts[costs.index(min(costs))])
    assert search.run(ls.Target(costs[1]), initial=starts[1]).solution.tolist() == starts[1]


@pytest.mark.parametrize(
    ("initial", "words"),
    [
        ([[0, 1, 2, 3, 4, 5]] * 2, r"start solutions of shape \(2, 6\): expected \(6,\), or \(3, 6\)"),
        ([[0, 1, 2, 3, 4, 4]] * 3, "a start solution that has 4 twice"),
        (np.zeros(5, int), r"shape \(5,\): expected \(6,\)"),
    ],
)
def test_other_initial_solutions_are_refused(search, initial, words):
    with pytest.raises(UserError, match=words):
        search.run(ls.Iterations(1), initial=initial)


TABU = ls.TabuSearch()


@pytest.mark.parametrize(
    ("algorithm", "names", "how", "words"),
    [
        (TABU, "flip1", {}, "'flip1' for a permutation encoding: expected exchange2, exchange3, insert, reverse, 2opt"),
        (TABU, [], {}, "expected a neighbourhood, or 1 to 3"),
        (ls.TabuSearch(tenure=15), "exchange2", {}, "a tenure of up to 15 iterations .* 15 neighbours"),
        (ls.TabuSearch(tabu_memory="attributes"), "2opt", {}, "'2opt'"),
        (TABU, "exchange2", {"evaluation": "guess"}, "evaluation 'guess': .* has incremental, linear"),
        (TABU, "exchange2", {"level": "solution", "evaluation": "incremental"}, "evaluates a neighbour in one piece"),
        (TABU, "exchange2", {"seed": -1}, "seed=-1: expected an integer from 0 to 2147483647"),
        (TABU, "exchange2", {"select": "nowhere"}, "select='nowhere': expected one of device, host"),
        (TABU, "exchange2", {"generate": "host"}, "on the host: expected mapping published"),
        (TABU, "exchange2", {"data_memory": "paper"}, "data_memory='paper': expected one of global"),
        (TABU, "exchange2", {"generate": "host", "mapping": "published"}, "expected select host too"),
    ],
)
def test_what_does_not_fit_is_refused(cpu, algorithm, names, how, words):
    with pytest.raises(UserError, match=words):
        ls.LocalSearch(cpu, Solo(), Qap.load("taillard:6:seeds=1,2"), algorithm, names, **how)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ls.TabuSearch(tenure=-1), "tenure=-1: expected an integer from 0 to 2147483647"),
        (lambda: ls.IteratedLocalSearch(strength=0), "strength=0: expected an integer from 1 to 255"),
        (lambda: ls.SimulatedAnnealing(cooling=0), "cooling=0: expected a number above 0, at most 1"),
        (lambda: ls.SimulatedAnnealing(temperature=float("nan")), "temperature=nan: expected a number"),
        (lambda: ls.SimulatedAnnealing(plateau=2**40), "plateau=1099511627776: expected an integer from 1 to"),
        (lambda: Weierstrass.load("3", dtype="float16"), "precision 'float16': expected float32 or"),
        (lambda: encodings.Values(5, 1), "choices=1: expected an integer from 2 to 2147483647"),
        (lambda: encodings.Values(5, "3"), "choices='3': expected an integer from 2"),
        (lambda: encodings.Reals(5, "int8"), "dtype='int8': expected one of float32, float64"),
        (lambda: ls.Iterations(2**40).check(), "iterations=1099511627776: expected an integer from 1 to"),
        (lambda: ls.Target(-(2**31)).check(), "target=-2147483648: expected an integer from -2147483647"),
    ],
)
def test_bad_numbers_are_refused(make, words):
    with pytest.raises(UserError, match=words):
        make()


@pytest.mark.parametrize(
    ("encoding", "start", "words"),
    [
        (encodings.Bits(3), [0.5, 0, 1], "with 0.5 at 0: expected integers"),
        (encodings.Bits(3), np.array([2**32, 0, 1]), "with 4294967296 at 0: expected 0 to 1"),
        (encodings.Bits(3), [2**70, 0, 1], "that is [1180591620717411303424, 0, 1]: expected 3 numbers"),
        (encodings.Permutation(3), [0.0, 1.0, 1.0], "that has 1 twice: expected a permutation of 0 to 2"),
        (encodings.Permutation(3), np.arange(5), "of shape (5,): expected (3,)"),
        (encodings.Reals(3), [0, np.inf, 1], "with inf at 1: expected -1 to 1"),
    ],
)
def test_a_start_that_is_no_solution_is_refused(encoding, start, words):
    with pytest.raises(UserError, match=re.escape(f"a start solution {words}")):
        encoding.check(start)


def test_a_start_in_other_types_is_the_same_solution():
    for start in ([1, 0, 1], (True, False, True), np.array([1, 0, 1], np.uint64), [1.0, 0.0, 1.0]):
        checked = encodings.Bits(3).check(start)
        assert checked.dtype == np.int32 and checked.tolist() == [1, 0, 1]
    assert encodings.Reals(2).check([1, -0.1]).dtype == np.float32


def test_an_unknown_setting_is_refused_with_the_near_one(cpu):
    with pytest.raises(UserError, match=r"walk=3 \(did you mean walks\?\): found no such option of LocalSearch"):
        ls.LocalSearch(cpu, Solo(), Qap.load("taillard:6:seeds=1,2"), TABU, "exchange2", walk=3)


def test_a_search_refuses_a_start_before_it_reaches_the_device(cpu):
    search = ls.LocalSearch(cpu, Solo(), Qap.load("taillard:6:seeds=1,2"), TABU, "exchange2")
    with pytest.raises(UserError, match=r"a start solution with 6 at 2: expected 0 to 5"):
        search.run(ls.Iterations(3), initial=np.array([0, 1, 6, 3, 4, 5]))
