"""A problem scored as a whole has the same search as with its delta, with all settings."""

import numpy as np
import pytest

from cluster import Solo
from core import local_search
from core.errors import UserError
from core.lang import Array, KernelError, function, i32
from core.local_search import AnyMove, HillClimbing, Iterations, LocalSearch, Move, TabuSearch, exchanged, moved
from core.local_search.kernels.moves import ATTRIBUTES, MOVES, NEVER
from core.local_search.plan import Plan
from tests.core.local_search.scored import Colours, Gains, Ordering, Spins, clashes, lost
from tests.core.local_search.table import result_of

pytestmark = pytest.mark.usefixtures("little_is_tried")


def searched(backend, problem, algorithm, names, iterations=25, **how):
    return result_of(LocalSearch(backend, Solo(), problem, algorithm, names, seed=3, **how), Iterations(iterations))


MAKES = {
    "flip1": lambda: Spins(9),
    "assign": lambda: Colours(6, 3),
    "exchange3": lambda: Ordering(5, both=True),
    "insert": lambda: Ordering(5, both=True),
    "flip2": lambda: Spins(7),
    "flip3": lambda: Spins(6),
    "exchange2": lambda: Ordering(6, both=True),
    "reverse": lambda: Ordering(6, both=True),
    "blocks": lambda: Ordering(5, both=True),
}
ALGORITHMS = [TabuSearch(), local_search.SimulatedAnnealing(plateau=7, batch=5)]
ALGORITHMS += [local_search.IteratedLocalSearch(strength=2), HillClimbing(first=True)]


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [pytest.param(name, ALGORITHMS[k % 4], marks=pytest.mark.slow if k > 3 else ()) for k, name in enumerate(MAKES)],
    ids=lambda one: getattr(one, "name", one),
)
def test_a_value_makes_the_search_that_a_delta_makes_and_agrees_with_the_scorer(cpu, name, algorithm):
    problem = MAKES[name]()
    assert list(problem.evaluations(name)) == ["delta", "value"]
    by_delta = searched(cpu, problem, algorithm, name)
    assert by_delta == searched(cpu, problem, algorithm, name, evaluation="delta")
    assert by_delta == searched(cpu, problem, algorithm, name, evaluation="value")
    local_search.check(problem, name, moves=8)


# --- costs near the ends of 32 bits ---


@function
def lost_shifted(order: Array[i32], move: AnyMove, data: Gains) -> i32:
    total = data.gains[0]
    for p in range(data.n):
        for q in range(p + 1, data.n):
            total += data.gains[moved(order, q, move) * data.n + moved(order, p, move)]
    return total


class Far(Ordering):
    value = lost_shifted

    def __init__(self, factor, shift):
        super().__init__(4, factor=factor)
        self.shift = shift
        self.gains[np.diag_indices(4)] = shift

    def cost(self, order):
        return super().cost(order) + self.shift

    def cost_range(self):
        top = int(np.maximum(self.gains - np.diag(np.diag(self.gains)), 0).sum()) + self.shift
        return self.shift, top


@pytest.mark.parametrize("shift", [0, -(2**31 - 2) // 2, -(2**31 - 2)])
def test_differences_of_costs_that_fill_32_bits_are_exact(cpu, python, shift):
    factor = (2**31 - 2) // int(Ordering(4).gains.sum())
    for device in (cpu, python):
        plain = searched(device, Far(1, 0), TabuSearch(tenure=2), "insert", iterations=9)
        far = searched(device, Far(factor, shift), TabuSearch(tenure=2), "insert", iterations=9)
        assert (far[0] - shift, *far[1:5], far[6]) == (plain[0] * factor, *plain[1:5], plain[6])


# --- what a problem offers, and what is wrong ---


def test_a_value_knows_all_neighbourhoods_and_a_delta_alone_those_that_it_was_written_for():
    class Plain(Ordering):
        neighbourhoods = ()

    assert Plain(4).neighbourhood_names() == ["exchange2", "exchange3", "insert", "reverse"]
    both = Plain(4, both=True)
    assert list(both.evaluations("exchange2")) == ["delta", "value"]
    assert list(both.evaluations("insert")) == list(both.evaluations("exchange3")) == ["value"]
    both.value = None
    assert both.neighbourhood_names() == ["exchange2"]
    both.encoding = local_search.Bits(4)
    assert both.neighbourhood_names() == ["flip1", "flip2"]
    assert len({Ordering(4).sha256, Ordering(4, both=True).sha256, Ordering(5).sha256}) == 3


def test_insertions_are_forbidden_for_the_tenures_of_permutations():
    plan = Plan.make(Ordering(20), TabuSearch(), "insert")
    assert plan.tabu == (ATTRIBUTES, 400, 18, 4)
    plan = Plan.make(Ordering(20), TabuSearch(), "reverse")
    assert plan.tabu[:3] == (MOVES, 190, 31)


class Wrong(Ordering):
    neighbourhoods = ()

    def __init__(self, value):
        self.value = value
        super().__init__(5)


@function
def one_too_many(order: Array[i32], move: AnyMove, data: Gains) -> i32:
    return lost(order, move, data) + (1 if move.i == 0 else 0)


@function
def in_the_old_way(order: Array[i32], move: Move, data: Gains) -> i32:
    return moved(order, 0, move)


@function
def by_exchanges(order: Array[i32], move: Move, data: Gains) -> i32:
    total = 0
    for p in range(data.n):
        for q in range(p + 1, data.n):
            total += data.gains[exchanged(order, q, move) * data.n + exchanged(order, p, move)]
    return total


@pytest.mark.parametrize(
    ("value", "how", "words"),
    [
        (one_too_many, {}, "exchange2 .*value"),
        (in_the_old_way, {}, "in_the_old_way: argument move of moved is a AnyMove, not a Move"),
        (None, {}, r"ordering:5: its `delta` is missing: expected a @function \(solution"),
        (lost, {"level": "solution"}, r"level solution: ordering:5 evaluates a neighbour in one piece \(value\)"),
    ],
)
def test_a_wrong_value_is_refused(cpu, value, how, words):
    with pytest.raises((KernelError, UserError), match=words):
        LocalSearch(cpu, Solo(), Wrong(value), TabuSearch(), "exchange2", **how).run(Iterations(3))


def test_a_value_for_one_kind_of_neighbourhood_may_take_a_plain_move(cpu):
    problem = Wrong(by_exchanges)
    local_search.check(problem, "exchange3")
    assert searched(cpu, problem, TabuSearch(), "exchange2") == searched(cpu, Ordering(5), TabuSearch(), "exchange2")
    with pytest.raises(local_search.ProblemError, match=r"insert.*value"):
        local_search.check(problem, "insert")


@function
def clashes_but_of_the_first(values: Array[i32], move: AnyMove, data: Gains) -> i32:
    return clashes(values, move, data) if move.i != 0 else NEVER


class Fixed(Colours):
    """The first vertex keeps its colour: other colours of it are no neighbours."""

    value, delta = clashes_but_of_the_first, None


@pytest.mark.parametrize("algorithm", ALGORITHMS[:2], ids=["tabu", "annealing"])
def test_a_value_may_say_that_there_is_no_neighbour(cpu, algorithm):
    local_search.check(Fixed(5, 3))
    start = np.zeros(5, np.int32)
    search = LocalSearch(cpu, Solo(), Fixed(5, 3), algorithm, "assign", seed=3)
    assert search.run(Iterations(30), initial=start).solution[0] == 0
    assert search.run(Iterations(30), initial=start).cost < search.plan.problem.cost(start)
