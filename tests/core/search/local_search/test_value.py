"""A problem that is scored as a whole makes the search that its delta makes, in every way that a search may go."""

import numpy as np
import pytest

from cluster import Solo
from core.errors import UserError
from core.kernels.moves import ATTRIBUTES, MOVES, NEVER
from core.lang import Array, KernelError, function, i32
from core.search import local_search
from core.search.local_search.plan import Plan
from tests.core.search.local_search.scored import Colours, Gains, Ordering, Spins, clashes, lost
from tests.core.search.local_search.table import found


def searched(backend, problem, algorithm, names, iterations=25, **how):
    return found(
        local_search.LocalSearch(backend, Solo(), problem, algorithm, names, seed=3, **how),
        local_search.Iterations(iterations),
    )


MAKES = {
    "flip1": lambda: Spins(9),
    "flip2": lambda: Spins(7),
    "flip3": lambda: Spins(6),
    "assign": lambda: Colours(6, 3),
    "exchange2": lambda: Ordering(6, both=True),
    "exchange3": lambda: Ordering(5, both=True),
    "insert": lambda: Ordering(5, both=True),
    "reverse": lambda: Ordering(6, both=True),
    "blocks": lambda: Ordering(5, both=True),
}
ALGORITHMS = (
    local_search.TabuSearch(),
    local_search.HillClimbing(first=True),
    local_search.IteratedLocalSearch(strength=2),
    local_search.SimulatedAnnealing(plateau=7, batch=5),
)


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [
        pytest.param(name, ALGORITHMS[k % 4], marks=pytest.mark.slow if k % 4 != k // 2 else ())
        for k, name in enumerate(MAKES)
    ],
    ids=lambda one: getattr(one, "name", one),
)
def test_a_value_makes_the_search_that_a_delta_makes(cpu, name, algorithm):
    problem = MAKES[name]()
    assert list(problem.evaluations(name)) == ["plain", "value"]
    by_delta = searched(cpu, problem, algorithm, name)
    assert by_delta == searched(cpu, problem, algorithm, name, evaluation="plain")
    assert by_delta == searched(cpu, problem, algorithm, name, evaluation="value")


@pytest.mark.parametrize("name", ["flip1", "assign", "exchange3", "insert", "blocks"])
def test_a_value_agrees_with_a_delta_and_the_scorer(name):
    local_search.check(MAKES[name](), name, moves=8)


@pytest.mark.parametrize("names", [["exchange2", "exchange3"], ["insert"], ["adjacent", "exchange2"]], ids="+".join)
def test_neighbourhoods_in_turn_take_one_value(cpu, names):
    algorithm = local_search.VariableNeighbourhoodSearch(strength=3)
    by_delta = searched(cpu, Ordering(5, both=True), algorithm, names)
    assert by_delta == searched(cpu, Ordering(5), algorithm, names)


@pytest.mark.parametrize(
    "how",
    [{"select": "host", "generate": "host"}, {"mapping": "published"}, {"mapping": "published", "select": "host"}],
)
def test_a_loop_on_the_host_is_the_same_search(cpu, how):
    expected = searched(cpu, Ordering(6), local_search.TabuSearch(), "insert")
    assert searched(cpu, Ordering(6), local_search.TabuSearch(), "insert", **how) == expected


def test_walks_that_meet_go_on_by_value(cpu):
    several = {"level": "algorithm", "walks": 4, "exchange": 5}
    by_delta = searched(cpu, Ordering(6, both=True), local_search.TabuSearch(), "reverse", **several)
    assert by_delta == searched(cpu, Ordering(6), local_search.TabuSearch(), "reverse", **several)


# --- costs near the ends of 32 bits ---


@function
def lost_shifted(order: Array[i32], move: local_search.AnyMove, data: Gains) -> i32:
    total = data.gains[0]
    for p in range(data.n):
        for q in range(p + 1, data.n):
            total += data.gains[local_search.moved(order, q, move) * data.n + local_search.moved(order, p, move)]
    return total


class Far(Ordering):
    """Costs that use most of 32 bits, from below zero on."""

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
    total = int(Ordering(4).gains.sum())
    factor = (2**31 - 2) // total
    for device in (cpu, python):
        plain = searched(device, Far(1, 0), local_search.TabuSearch(tenure=2), "insert", iterations=9)
        far = searched(device, Far(factor, shift), local_search.TabuSearch(tenure=2), "insert", iterations=9)
        assert (far[0] - shift, *far[1:5], far[6]) == (plain[0] * factor, *plain[1:5], plain[6])


# --- what a problem offers, and what is wrong ---


def test_a_value_knows_all_neighbourhoods_and_a_delta_alone_those_that_it_was_written_for():
    class Plain(Ordering):
        neighbourhoods = ()

    assert Plain(4).neighbourhood_names() == ["exchange2", "exchange3", "insert", "reverse"]
    both = Plain(4, both=True)
    assert list(both.evaluations("exchange2")) == ["plain", "value"]
    assert list(both.evaluations("insert")) == ["value"]
    both.value = None
    assert both.neighbourhood_names() == ["exchange2", "exchange3"]
    assert list(Ordering(4, both=True).evaluations("insert")) == ["plain", "value"]


def test_insertions_are_forbidden_for_the_tenures_of_permutations():
    plan = Plan(Ordering(20), local_search.TabuSearch(), "insert")
    assert (plan.memory_kind, plan.memory_words, plan.tenure, plan.tenure_span) == (ATTRIBUTES, 400, 18, 4)
    plan = Plan(Ordering(20), local_search.TabuSearch(), "reverse")
    assert (plan.memory_kind, plan.memory_words, plan.tenure) == (MOVES, 190, 31)


class Wrong(local_search.Problem):
    """The ordering problem with another value."""

    def __init__(self, value, **how):
        right = Ordering(5, **how)
        self.cost = right.cost
        self.value = value
        super().__init__("wrong", right.encoding, right.data)


@function
def one_too_many(order: Array[i32], move: local_search.AnyMove, data: Gains) -> i32:
    total = lost(order, move, data)
    if move.i == 0:
        total += 1
    return total


@function
def in_the_old_way(order: Array[i32], move: local_search.Move, data: Gains) -> i32:
    return local_search.moved(order, 0, move)


@function
def by_exchanges(order: Array[i32], move: local_search.Move, data: Gains) -> i32:
    total = 0
    for p in range(data.n):
        for q in range(p + 1, data.n):
            total += data.gains[
                local_search.exchanged(order, q, move) * data.n + local_search.exchanged(order, p, move)
            ]
    return total


@function
def of_reals(order: Array[i32], move: local_search.AnyMove, data: Gains) -> i32:
    return local_search.moved(order, move.i, data)


def test_a_wrong_value_is_named(cpu):
    with pytest.raises(local_search.ProblemError, match=r"exchange2.*value"):
        local_search.check(Wrong(one_too_many))
    with pytest.raises(local_search.ProblemError, match="value"):
        local_search.LocalSearch(cpu, Solo(), Wrong(one_too_many), local_search.TabuSearch(), "insert").run(
            local_search.Iterations(3)
        )


def test_moved_asks_for_a_move_that_says_what_it_does(cpu):
    with pytest.raises(KernelError, match="in_the_old_way: argument move of moved is a AnyMove, not a Move"):
        local_search.LocalSearch(cpu, Solo(), Wrong(in_the_old_way), local_search.TabuSearch(), "insert")


def test_a_value_for_one_kind_of_neighbourhood_may_take_a_plain_move(cpu):
    problem = Wrong(by_exchanges)
    local_search.check(problem, "exchange3")
    assert searched(cpu, problem, local_search.TabuSearch(), "exchange2") == searched(
        cpu, Ordering(5), local_search.TabuSearch(), "exchange2"
    )
    with pytest.raises(local_search.ProblemError, match=r"insert.*value"):
        local_search.check(problem, "insert")


def test_a_problem_with_neither_function_is_refused(cpu):
    with pytest.raises(UserError, match=r"wrong: its `delta` is missing: expected a @function \(solution"):
        local_search.LocalSearch(cpu, Solo(), Wrong(None), local_search.TabuSearch(), "exchange2")


@function
def clashes_but_of_the_first(values: Array[i32], move: local_search.AnyMove, data: Gains) -> i32:
    total = NEVER
    if move.i != 0:
        total = clashes(values, move, data)
    return total


class Fixed(Colours):
    """The first vertex keeps its colour: what would change it is no neighbour."""

    value, delta = clashes_but_of_the_first, None


@pytest.mark.parametrize(
    "algorithm", [local_search.TabuSearch(), local_search.SimulatedAnnealing()], ids=["tabu", "annealing"]
)
def test_a_value_may_say_that_there_is_no_neighbour(cpu, algorithm):
    local_search.check(Fixed(5, 3))
    start = np.zeros(5, np.int32)
    one = local_search.LocalSearch(cpu, Solo(), Fixed(5, 3), algorithm, "assign", seed=3)
    assert one.run(local_search.Iterations(30), start=start).solution[0] == 0
    assert one.run(local_search.Iterations(30), start=start).cost < one.problem.cost(start)
