"""Neighbourhoods of a user's own: what they look like, what is refused, and that they are searched like the others."""

import itertools

import numpy as np
import pytest

from backends.cpu import CpuBackend
from cluster import Solo
from core.errors import UserError
from core.kernels import moves
from core.lang import Array, KernelError, function, i32, lane, u32
from core.problems.encodings import Permutation
from core.search.local_search import (
    HillClimbing,
    Iterations,
    LocalSearch,
    Move,
    Neighbourhood,
    ProblemError,
    TabuSearch,
    VariableNeighbourhoodSearch,
    check,
)
from tests.core.search.local_search.scored import (
    ADJACENT,
    BLOCKS,
    Ordering,
    Spins,
    block_begin,
    block_middle,
    clashes,
    exchange_blocks,
    left_one,
    neighbours_by_blocks,
    right_one,
)
from tests.core.search.local_search.table import found


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


def sizes(encoding):
    return encoding.n - 1


# --- what they are ---


@pytest.mark.parametrize("n", [2, 3, 6])
def test_the_host_lists_the_moves_that_the_functions_say(n):
    order = np.random.default_rng(n).permutation(n)
    places = list(itertools.combinations(range(n + 1), 3))
    assert BLOCKS.size(Permutation(n)) == len(places)
    assert [tuple(one) for one in BLOCKS.listed(0, len(places), Permutation(n), order).tolist()] == places
    assert BLOCKS.listed(len(places) - 1, len(places), Permutation(n), order).tolist() == [list(places[-1])]


@pytest.mark.parametrize("name", ["blocks", "adjacent"])
def test_the_check_holds_own_moves_to_the_scorer(name):
    check(Ordering(6), name, moves=10)


@pytest.mark.parametrize("name", ["blocks", "adjacent"])
def test_hill_climbing_ends_where_no_neighbour_is_better(cpu, name):
    problem = Ordering(7)
    outcome = LocalSearch(cpu, Solo(), problem, HillClimbing(), name, seed=5).run(Iterations(500))
    order = outcome.solution.tolist()
    every = list(neighbours_by_blocks(order))
    if name == "adjacent":
        every = [[*order[:i], order[i + 1], order[i], *order[i + 2 :]] for i in range(6)]
    assert problem.cost(order) == outcome.cost == min(problem.cost(one) for one in [order, *every])


def test_the_best_neighbour_of_a_start_is_the_first_move(cpu):
    problem, start = Ordering(6), np.arange(6)
    costs = [problem.cost(one) for one in neighbours_by_blocks(range(6))]
    outcome = LocalSearch(cpu, Solo(), problem, HillClimbing(), [BLOCKS]).run(Iterations(1), start=start)
    expected = list(neighbours_by_blocks(range(6)))[costs.index(min(costs))]
    assert outcome.solution.tolist() == expected


@function
def first_of_both(index: u32, n: i32) -> i32:
    return i32(index // 2)


@function
def second_of_both(index: u32, i: i32, n: i32) -> i32:
    return i + 1


@function
def third_of_every_other(index: u32, i: i32, j: i32, n: i32) -> i32:
    return i + 2 if index % 2 == 1 else -1


@function
def last_to_first(index: u32, n: i32) -> i32:
    return n - 1 - i32(index)


@function
def one_before(index: u32, i: i32, n: i32) -> i32:
    return i - 1


@function
def two_before(index: u32, i: i32, j: i32, n: i32) -> i32:
    return i - 2


@pytest.mark.parametrize(
    ("apply", "decode"),
    [
        ("exchange", (first_of_both, second_of_both, third_of_every_other)),
        ("flip", (first_of_both, second_of_both, third_of_every_other)),
        ("exchange", (last_to_first, one_before, two_before)),
    ],
    ids=["exchanges of two and three", "flips of two and three", "exchanges from right to left"],
)
def test_moves_may_have_any_elements_in_any_order(cpu, apply, decode):
    """Those of a host that lists them are the same."""
    mixed = Neighbourhood.custom("mixed", lambda encoding: encoding.n - 2, decode, apply)

    class Order(Ordering):
        neighbourhoods = (mixed,)

    class Signs(Spins):
        neighbourhoods = (mixed,)

    problem = Order(6) if apply == "exchange" else Signs(6)
    check(problem)
    host = {"mapping": "published", "select": "host", "generate": "host"}
    on_device, on_host = (LocalSearch(cpu, Solo(), problem, TabuSearch(), "mixed", seed=2, **how) for how in ({}, host))
    assert not on_host.copies_solutions
    assert found(on_device) == found(on_host)


def test_a_neighbourhood_is_given_by_itself_or_by_name(cpu):
    by_name = LocalSearch(cpu, Solo(), Ordering(5), TabuSearch(), "blocks", seed=1)
    by_itself = LocalSearch(cpu, Solo(), Ordering(5), TabuSearch(), BLOCKS, seed=1)
    assert found(by_name) == found(by_itself)
    assert by_itself.parameters["neighbourhood"] == "blocks"


def test_tabu_search_remembers_moves(cpu):
    one = LocalSearch(cpu, Solo(), Ordering(5), TabuSearch(), "blocks")
    assert one.memory_kind == moves.MOVES and one.memory_words == 20
    for name in ("blocks", "adjacent"):
        with pytest.raises(UserError, match=f"remembers attributes of {name}, which has none: use moves"):
            LocalSearch(cpu, Solo(), Ordering(5), TabuSearch(remember="attributes"), name)


def test_moves_that_there_are_stand_in_turn_with_their_own_kind(cpu):
    """A descent by neighbours that stand side by side, and by all pairs where those end: the same optimum as by pairs."""
    problem = Ordering(8)
    one = LocalSearch(cpu, Solo(), problem, HillClimbing(), [ADJACENT, "exchange2"], seed=2)
    order = one.run(Iterations(500)).solution
    for i, j in itertools.combinations(range(8), 2):
        other = order.copy()
        other[[i, j]] = order[[j, i]]
        assert problem.cost(other) >= problem.cost(order)
    assert one.sizes == [7, 28]


# --- digests ---


def test_a_neighbourhood_enters_the_digest_of_what_is_searched():
    class Fewer(Ordering):
        neighbourhoods = ("insert",)

    class Same(Ordering):
        neighbourhoods = ("insert", BLOCKS)

    class OtherMoves(Ordering):
        neighbourhoods = ("insert", BLOCKS._replace(decode=(block_begin, block_middle, block_middle)))

    class OtherChange(Ordering):
        neighbourhoods = ("insert", BLOCKS._replace(apply=swap_ends))

    class OtherSize(Ordering):
        neighbourhoods = ("insert", BLOCKS._replace(own_size=sizes))

    digests = [one(4).sha256 for one in (Fewer, Same, OtherMoves, OtherChange, OtherSize)]
    assert len(set(digests)) == len(digests)
    assert Same(4).sha256 == Same(4).sha256


# --- refusals ---


@function
def swap_ends(order: Array[i32], move: Move, n: i32):
    if lane() == 0:
        order[move.i], order[move.j] = order[move.j], order[move.i]


@function
def beyond(order: Array[i32], move: Move, n: i32):
    if lane() == 0:
        order[n] = 0


@function
def of_one_number(index: u32) -> i32:
    return i32(index)


@function
def from_the_end(index: u32, n: i32) -> i32:
    return n - 2 - i32(index)


@function
def racing(order: Array[i32], move: Move, n: i32):
    """Every lane exchanges the same two."""
    first = order[move.i]
    order[move.i] = order[move.j]
    order[move.j] = first


@pytest.mark.parametrize(
    ("name", "decode", "apply", "words"),
    [
        ("exchange2", left_one, "exchange", "by the name 'exchange2', which is taken: expected another"),
        ("a b", left_one, "exchange", "by the name 'a b', which is no identifier"),
        ("mine", (), "exchange", r"neighbourhood mine: `decode` is \(\): expected one @function to three"),
        ("mine", (left_one,) * 4, "exchange", "expected one @function to three"),
        ("mine", len, "exchange", "expected one @function to three"),
        (
            "mine",
            left_one,
            "swap",
            "`apply` is 'swap': expected a @function or flip, exchange, assign, insert, reverse",
        ),
        ("mine", left_one, len, "`apply` is <built-in function len>: expected a @function or flip"),
    ],
)
def test_what_is_no_neighbourhood_is_refused(name, decode, apply, words):
    with pytest.raises(UserError, match=words):
        Neighbourhood.custom(name, sizes, decode, apply)


def with_own(*own):
    class Mine(Ordering):
        neighbourhoods = own

    return Mine(5)


@pytest.mark.parametrize(
    ("decode", "apply", "words"),
    [
        (of_one_number, "exchange", r"of_one_number: `decode` of .*mine is \(index: u32\) -> i32: expected a @function "
                                    r"\(index: u32, n: i32\) -> i32"),
        ((left_one, left_one), "exchange", r"expected a @function \(index: u32, i: i32, n: i32\) -> i32"),
        (left_one, left_one, r"`apply` of .*mine is .* expected a @function \(solution: Array\[i32\], move: Move, n: i32\)"),
    ],
)  # fmt: skip
def test_functions_of_other_parameters_are_refused(cpu, decode, apply, words):
    problem = with_own(Neighbourhood.custom("mine", sizes, decode, apply))
    with pytest.raises(KernelError, match=words):
        LocalSearch(cpu, Solo(), problem, TabuSearch(), "mine")


def test_a_neighbourhood_that_the_problem_does_not_list_is_refused(cpu):
    for problem in (with_own("insert"), with_own("insert", BLOCKS._replace(apply=swap_ends))):
        with pytest.raises(
            UserError, match="neighbourhood 'blocks': ordering:5 does not list it in its `neighbourhoods`"
        ):
            LocalSearch(cpu, Solo(), problem, TabuSearch(), [BLOCKS])
    with pytest.raises(UserError, match="neighbourhood 'blocks' for a permutation encoding: expected exchange2"):
        LocalSearch(cpu, Solo(), with_own("insert"), TabuSearch(), "blocks")


def test_kinds_of_moves_do_not_mix(cpu):
    vns = VariableNeighbourhoodSearch()
    with pytest.raises(UserError, match="neighbourhoods insert, blocks in one search: their moves differ in kind"):
        LocalSearch(cpu, Solo(), Ordering(5), vns, ["insert", "blocks"])
    other = Neighbourhood.custom("near", sizes, (from_the_end, right_one), "exchange")
    with pytest.raises(UserError, match="adjacent, near in one search: expected at most one that is your own"):
        LocalSearch(cpu, Solo(), with_own(ADJACENT, other), vns, ["adjacent", "near"])


def test_a_neighbourhood_of_no_size_or_beyond_32_bits_is_refused(cpu):
    for size in (0, 2**32):
        one = Neighbourhood.custom("mine", lambda encoding, size=size: size, (left_one, right_one), "exchange")
        with pytest.raises(
            UserError, match=f"mine on 5 elements has {size} neighbours: expected an integer from 1 to 4"
        ):
            LocalSearch(cpu, Solo(), with_own(one), TabuSearch(), "mine")


def test_the_check_finds_moves_outside_of_the_solution_and_lanes_that_race():
    outside = Neighbourhood.custom("mine", sizes, (left_one, right_one), beyond)
    with pytest.raises(ProblemError, match="beyond"):
        check(with_own(outside), "mine")
    race = Neighbourhood.custom("mine", sizes, (left_one, right_one), racing)
    with pytest.raises(ProblemError):
        check(with_own(race), "mine")


def test_moved_does_not_know_moves_of_ones_own(cpu):
    class Mine(Ordering):
        neighbourhoods = (Neighbourhood.custom("mine", sizes, (left_one, right_one), exchange_blocks),)
        value = clashes

    with pytest.raises(ProblemError, match="moved knows no moves of your own"):
        check(Mine(5), "mine")
