"""Neighbourhoods of a user's own: what they look like, what is refused, and that they are searched like the others."""

import itertools
import re

import numpy as np
import pytest

from cluster import Solo
from core.errors import UserError
from core.kernels import moves
from core.lang import Array, KernelError, function, i32, lane, u32
from core.problems.encodings import Permutation
from core.search import local_search
from tests.core.search.local_search import scored
from tests.core.search.local_search.table import found


def sizes(encoding):
    return encoding.n - 1


# --- what they are ---


@pytest.mark.parametrize("n", [2, 6])
def test_the_host_lists_the_moves_that_the_functions_say(n):
    order = np.random.default_rng(n).permutation(n)
    places = list(itertools.combinations(range(n + 1), 3))
    assert scored.BLOCKS.size(Permutation(n)) == len(places)
    assert [tuple(one) for one in scored.BLOCKS.listed(0, len(places), Permutation(n), order).tolist()] == places
    assert scored.BLOCKS.listed(len(places) - 1, len(places), Permutation(n), order).tolist() == [list(places[-1])]


def test_the_best_neighbour_of_a_start_is_the_first_move(cpu):
    problem = scored.Ordering(6)
    every = list(scored.neighbours_by_blocks(range(6)))
    outcome = local_search.LocalSearch(cpu, Solo(), problem, local_search.HillClimbing(), [scored.BLOCKS]).run(
        local_search.Iterations(1), start=np.arange(6)
    )
    assert outcome.solution.tolist() == min(every, key=problem.cost)


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
    mixed = local_search.Neighbourhood.custom("mixed", lambda encoding: encoding.n - 2, decode, apply)
    base = scored.Ordering if apply == "exchange" else scored.Spins
    problem = type("Mixed", (base,), {"neighbourhoods": (mixed,)})(6)
    local_search.check(problem)
    host = {"mapping": "published", "select": "host", "generate": "host"}
    on_device, on_host = (
        local_search.LocalSearch(cpu, Solo(), problem, local_search.TabuSearch(), "mixed", seed=2, **how)
        for how in ({}, host)
    )
    assert not on_host.copies_solutions
    assert found(on_device) == found(on_host)


def test_a_neighbourhood_is_given_by_itself_or_by_name(cpu):
    by_name = local_search.LocalSearch(cpu, Solo(), scored.Ordering(5), local_search.TabuSearch(), "blocks", seed=1)
    by_itself = local_search.LocalSearch(
        cpu, Solo(), scored.Ordering(5), local_search.TabuSearch(), scored.BLOCKS, seed=1
    )
    assert found(by_name) == found(by_itself)
    assert by_itself.parameters["neighbourhood"] == "blocks"


def test_tabu_search_remembers_moves(cpu):
    one = local_search.LocalSearch(cpu, Solo(), scored.Ordering(5), local_search.TabuSearch(), "blocks")
    assert one.memory_kind == moves.MOVES and one.memory_words == 20
    for name in ("blocks", "adjacent"):
        with pytest.raises(UserError, match=f"remembers attributes of {name}, which has none: use moves"):
            local_search.LocalSearch(
                cpu, Solo(), scored.Ordering(5), local_search.TabuSearch(remember="attributes"), name
            )


def test_moves_that_there_are_stand_in_turn_with_their_own_kind(cpu):
    """A descent by neighbours that stand side by side, and by all pairs where those end: the same optimum as by pairs."""
    problem = scored.Ordering(8)
    one = local_search.LocalSearch(
        cpu, Solo(), problem, local_search.HillClimbing(), [scored.ADJACENT, "exchange2"], seed=2
    )
    order = one.run(local_search.Iterations(500)).solution
    for i, j in itertools.combinations(range(8), 2):
        other = order.copy()
        other[[i, j]] = order[[j, i]]
        assert problem.cost(other) >= problem.cost(order)
    assert one.sizes == [7, 28]


# --- digests ---


def test_a_neighbourhood_enters_the_digest_of_what_is_searched():
    def digest(*own):
        return type("Mine", (scored.Ordering,), {"neighbourhoods": ("insert", *own)})(4).sha256

    other_moves = scored.BLOCKS._replace(decode=(scored.block_begin, scored.block_middle, scored.block_middle))
    others = [(), (other_moves,), (scored.BLOCKS._replace(apply=swap_ends),), (scored.BLOCKS._replace(own_size=sizes),)]
    digests = {digest(scored.BLOCKS), *(digest(*own) for own in others)}
    assert len(digests) == 5 and digest(scored.BLOCKS) in digests


# --- refusals ---


@function
def swap_ends(order: Array[i32], move: local_search.Move, n: i32):
    if lane() == 0:
        order[move.i], order[move.j] = order[move.j], order[move.i]


@function
def beyond(order: Array[i32], move: local_search.Move, n: i32):
    if lane() == 0:
        order[n] = 0


@function
def of_one_number(index: u32) -> i32:
    return i32(index)


@function
def from_the_end(index: u32, n: i32) -> i32:
    return n - 2 - i32(index)


@function
def racing(order: Array[i32], move: local_search.Move, n: i32):
    """Every lane exchanges the same two."""
    first = order[move.i]
    order[move.i] = order[move.j]
    order[move.j] = first


@pytest.mark.parametrize(
    ("name", "decode", "apply", "words"),
    [
        ("exchange2", scored.left_one, "exchange", "by the name 'exchange2', which is taken: expected another"),
        ("a b", scored.left_one, "exchange", "by the name 'a b', which is no identifier"),
        ("mine", (scored.left_one,) * 4, "exchange", "expected one @function to three"),
        ("mine", len, "exchange", "expected one @function to three"),
        (
            "mine",
            scored.left_one,
            "swap",
            "`apply` is 'swap': expected a @function or flip, exchange, assign, insert, reverse",
        ),
        ("mine", scored.left_one, len, "`apply` is <built-in function len>: expected a @function or flip"),
    ],
)
def test_what_is_no_neighbourhood_is_refused(name, decode, apply, words):
    with pytest.raises(UserError, match=words):
        local_search.Neighbourhood.custom(name, sizes, decode, apply)


def with_own(*own):
    class Mine(scored.Ordering):
        neighbourhoods = own

    return Mine(5)


@pytest.mark.parametrize(
    ("decode", "apply", "words"),
    [
        (of_one_number, "exchange", r"of_one_number: `decode` of .*mine is \(index: u32\) -> i32: expected a @function "
                                    r"\(index: u32, n: i32\) -> i32"),
        ((scored.left_one, scored.left_one), "exchange", r"expected a @function \(index: u32, i: i32, n: i32\) -> i32"),
        (scored.left_one, scored.left_one, r"`apply` of .*mine is .* expected a @function \(solution: Array\[i32\], move: Move, n: i32\)"),
    ],
)  # fmt: skip
def test_functions_of_other_parameters_are_refused(cpu, decode, apply, words):
    problem = with_own(local_search.Neighbourhood.custom("mine", sizes, decode, apply))
    with pytest.raises(KernelError, match=words):
        local_search.LocalSearch(cpu, Solo(), problem, local_search.TabuSearch(), "mine")


def test_a_neighbourhood_that_the_problem_does_not_list_is_refused(cpu):
    for problem in (with_own("insert"), with_own("insert", scored.BLOCKS._replace(apply=swap_ends))):
        with pytest.raises(
            UserError, match="neighbourhood 'blocks': ordering:5 does not list it in its `neighbourhoods`"
        ):
            local_search.LocalSearch(cpu, Solo(), problem, local_search.TabuSearch(), [scored.BLOCKS])
    with pytest.raises(UserError, match="neighbourhood 'blocks' for a permutation encoding: expected exchange2"):
        local_search.LocalSearch(cpu, Solo(), with_own("insert"), local_search.TabuSearch(), "blocks")


def test_kinds_of_moves_do_not_mix(cpu):
    vns = local_search.VariableNeighbourhoodSearch()
    with pytest.raises(UserError, match="neighbourhoods insert, blocks in one search: their moves differ in kind"):
        local_search.LocalSearch(cpu, Solo(), scored.Ordering(5), vns, ["insert", "blocks"])
    other = local_search.Neighbourhood.custom("near", sizes, (from_the_end, scored.right_one), "exchange")
    with pytest.raises(UserError, match="adjacent, near in one search: expected at most one that is your own"):
        local_search.LocalSearch(cpu, Solo(), with_own(scored.ADJACENT, other), vns, ["adjacent", "near"])


def test_the_check_finds_moves_outside_of_the_solution_and_lanes_that_race():
    outside = local_search.Neighbourhood.custom("mine", sizes, (scored.left_one, scored.right_one), beyond)
    with pytest.raises(local_search.ProblemError, match="beyond"):
        local_search.check(with_own(outside), "mine")
    race = local_search.Neighbourhood.custom("mine", sizes, (scored.left_one, scored.right_one), racing)
    with pytest.raises(local_search.ProblemError):
        local_search.check(with_own(race), "mine")


def test_moved_does_not_know_moves_of_ones_own():
    own = local_search.Neighbourhood.custom("mine", sizes, (scored.left_one, scored.right_one), scored.exchange_blocks)
    mine = type("Mine", (scored.Ordering,), {"neighbourhoods": (own,), "value": scored.clashes})
    with pytest.raises(local_search.ProblemError, match="moved knows no moves of your own"):
        local_search.check(mine(5), "mine")


# --- moves that would become indices outside of the solution, before a kernel reads or writes with them ---

FAR = 2**31 - 1


@function
def one_before_all(index: u32, n: i32) -> i32:
    return i32(index) - 1


@function
def seldom_beyond(index: u32, i: i32, n: i32) -> i32:
    return n if index == 29 else n - 1


@function
def very_far(index: u32, i: i32, j: i32, n: i32) -> i32:
    return FAR


@function
def two_before(index: u32, i: i32, n: i32) -> i32:
    return -2


@function
def index_modulo_n(index: u32, n: i32) -> i32:
    return i32(index) % n


@function
def index_as_value(index: u32, i: i32, n: i32) -> i32:
    return i32(index)


WRONG = {
    "before": (one_before_all, "insert", "move 0 has i = -1: expected 0 to 5 ", one_before_all),
    "no j": (
        scored.left_one,
        "reverse",
        "move 0 has j = -1: expected 0 to 5 (no function of `decode` returns j)",
        None,
    ),
    "one of 30": ((index_modulo_n, seldom_beyond), "exchange", "move 29 has j = 6: expected 0 to 5 ", seldom_beyond),
    "far": ((scored.left_one, scored.right_one, very_far), "exchange", f"k = {FAR}: expected -1 to 5 ", very_far),
    "flip": ((index_modulo_n, two_before), "flip", "move 0 has j = -2: expected -1 to 5 ", two_before),
    "value": ((index_modulo_n, index_as_value), "assign", "move 3 has j = 3: expected 0 to 2 ", index_as_value),
}
"""Functions, change, what is said of them, and the function that is named."""


def with_moves(decode, apply, size=lambda encoding: 30):
    """A problem of six elements with this neighbourhood alone."""
    own = local_search.Neighbourhood.custom("mine", size, decode, apply)
    base, more = {"flip": (scored.Spins, ()), "assign": (scored.Colours, (3,))}.get(apply, (scored.Ordering, ()))

    class Mine(base):
        neighbourhoods = (own,)

    return Mine(6, *more)


def test_moves_out_of_the_solution_are_refused_on_every_device(backend):
    """Before the first iteration, with the move's number and the function that returned the index."""
    for name, (decode, apply, words, named) in WRONG.items():
        source = f"({named.path}:{named.first_line}: {named.name})" if named else ""
        size = 4 if name == "far" else 30
        with pytest.raises(UserError, match=re.escape(words)) as raised:
            local_search.LocalSearch(
                backend,
                Solo(),
                with_moves(decode, apply, lambda encoding, n=size: n),
                local_search.HillClimbing(),
                "mine",
            )
        assert str(raised.value).startswith("neighbourhood mine: move ") and source in str(raised.value)


@pytest.mark.parametrize("name", ["before", "no j", "flip", "value"])
def test_the_check_and_a_host_that_lists_moves_refuse_it_too(name):
    decode, apply, words, _ = WRONG[name]
    problem = with_moves(decode, apply)
    with pytest.raises(UserError, match=re.escape(words)):
        local_search.check(problem)
    with pytest.raises(UserError, match=re.escape(words)):
        problem.neighbourhood("mine").listed(0, 30, problem.encoding, np.zeros(6, np.int32))


@function
def by_zero(index: u32, n: i32) -> i32:
    return i32(index) // (n - 6)


@function
def overflowing(index: u32, n: i32) -> i32:
    return (i32(index) + 1) * 1_000_000_000


def test_arithmetic_that_ends_a_process_is_refused_before_the_device_has_it(backend):
    for decode, words in (
        (by_zero, "by_zero: integer division or modulo by zero"),
        (overflowing, "signed overflow in *"),
    ):
        problem = with_moves((decode, scored.right_one), "exchange", lambda encoding: 2**31)
        with pytest.raises(KernelError, match=re.escape(words)):
            local_search.LocalSearch(backend, Solo(), problem, local_search.HillClimbing(), "mine")


def broken(encoding):
    length = encoding.n
    return length // (length - 6)


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (broken, "`size` raised ZeroDivisionError: integer division or modulo by zero ({file}:{line}: broken)"),
        (lambda: 3, "`size` raised TypeError: "),
        (lambda encoding: float("nan"), "mine on 6 elements has nan neighbours: expected an integer from 1 to 4294967295"),
        (lambda encoding: "6", "has '6' neighbours: expected an integer"),
        (lambda encoding: 0, "has 0 neighbours: expected an integer"),
        (lambda encoding: 2**40, "has 1099511627776 neighbours: expected an integer"),
    ],
)  # fmt: skip
def test_a_size_that_is_none_names_the_function(size, words):
    problem = with_moves((scored.left_one, scored.right_one), "exchange", size)
    line = broken.__code__.co_firstlineno + 2
    with pytest.raises(UserError, match=re.escape(words.format(file=__file__, line=line))) as raised:
        local_search.check(problem)
    assert f"({__file__}:" in str(raised.value)
    with pytest.raises(UserError, match="neighbours|raised"):
        problem.sha256  # noqa: B018
