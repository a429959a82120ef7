"""User-defined neighbourhoods: their form, refusals, and searches with them."""

import itertools
import re

import numpy as np
import pytest

from cluster import Solo
from core.errors import UserError
from core.lang import Array, KernelError, function, i32, lane, u32
from core.local_search import (
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
from tests.core.local_search import scored
from tests.core.local_search.scored import ADJACENT, BLOCKS, Colours, Ordering, Spins, left_one, right_one
from tests.core.local_search.table import result_of


def own(decode, apply, size=30):
    return Neighbourhood.custom("mine", size if callable(size) else lambda encoding: size, decode, apply)


def with_own(*neighbourhoods, base=Ordering, **functions):
    more = (3,) if base is Colours else ()
    return type("Mine", (base,), {"neighbourhoods": neighbourhoods, **functions})(6, *more)


# --- what they are ---


@function
def last_to_first(index: u32, n: i32) -> i32:
    return n - 1 - i32(index)


@function
def one_before(index: u32, i: i32, n: i32) -> i32:
    return i - 1


@function
def two_before_every_other(index: u32, i: i32, j: i32, n: i32) -> i32:
    return i - 2 if index % 2 == 1 else -1


TWO_AND_THREE = (last_to_first, one_before, two_before_every_other)


@pytest.mark.parametrize(("base", "apply"), [(Ordering, "exchange"), (Spins, "flip")])
def test_moves_may_have_any_elements_in_any_order(cpu, base, apply):
    """They equal those of the published mapping."""
    problem = with_own(own(TWO_AND_THREE, apply, lambda encoding: encoding.n - 2), base=base)
    check(problem)
    native = LocalSearch(cpu, Solo(), problem, TabuSearch(), "mine", seed=2)
    published = LocalSearch(cpu, Solo(), problem, TabuSearch(), "mine", seed=2, mapping="published")
    assert result_of(native) == result_of(published)


def test_moves_that_there_are_stand_in_turn_with_their_own_kind(cpu):
    """Neighbouring exchanges first, then all pairs: the same optimum as by pairs alone."""
    problem = Ordering(8)
    search = LocalSearch(cpu, Solo(), problem, HillClimbing(), [ADJACENT, "exchange2"], seed=2)
    order = search.run(Iterations(500)).solution
    for i, j in itertools.combinations(range(8), 2):
        other = order.copy()
        other[[i, j]] = order[[j, i]]
        assert problem.cost(other) >= problem.cost(order)
    assert search.plan.sizes == (7, 28)


def test_a_neighbourhood_enters_the_digest_of_what_is_searched():
    other_moves = BLOCKS._replace(decode=(*BLOCKS.decode[:2], BLOCKS.decode[1]))
    others = [(), (other_moves,), (BLOCKS._replace(apply=swap_ends),), (BLOCKS._replace(own_size=len),)]
    digests = {with_own("insert", *more).sha256 for more in ((BLOCKS,), *others)}
    assert len(digests) == 5 and with_own("insert", BLOCKS).sha256 in digests


# --- refusals ---


@function
def swap_ends(order: Array[i32], move: Move, n: i32):
    if lane() == 0:
        order[move.i], order[move.j] = order[move.j], order[move.i]


@function
def of_one_number(index: u32) -> i32:
    return i32(index)


@function
def racing(order: Array[i32], move: Move, n: i32):
    first = order[move.i]
    order[move.i] = order[move.j]
    order[move.j] = first


@pytest.mark.parametrize(
    ("name", "decode", "apply", "words"),
    [
        ("exchange2", left_one, "exchange", "custom neighbourhood 'exchange2': the name is taken: expected another"),
        ("a b", left_one, "exchange", "custom neighbourhood 'a b': the name is no identifier"),
        ("mine", (left_one,) * 4, "exchange", "expected one @function to three"),
        ("mine", left_one, "swap", "`apply` is 'swap': expected a @function or flip, exchange, assign, insert"),
    ],
)
def test_what_is_no_neighbourhood_is_refused(name, decode, apply, words):
    with pytest.raises(UserError, match=words):
        Neighbourhood.custom(name, len, decode, apply)


VNS = VariableNeighbourhoodSearch()


@pytest.mark.parametrize(
    ("problem", "algorithm", "names", "words"),
    [
        (with_own(own(of_one_number, "exchange")), TabuSearch(), "mine",
         r"of_one_number: `decode` of .*mine is \(index: u32\) -> i32: expected a @function \(index: u32, n: i32\) -> i32"),
        (with_own(own(left_one, left_one)), TabuSearch(), "mine",
         r"`apply` of .*mine is .* expected a @function \(solution: Array\[i32\], move: Move, n: i32\)"),
        (with_own("insert", BLOCKS._replace(apply=swap_ends)), TabuSearch(), [BLOCKS],
         "neighbourhood 'blocks': ordering:6 does not list it in its `neighbourhoods`"),
        (with_own("insert"), TabuSearch(), "blocks", "'blocks' for a permutation encoding: expected exchange2"),
        (Ordering(6), VNS, ["insert", "blocks"], "insert, blocks in one search: their moves differ in kind"),
        (Ordering(6), TabuSearch(tabu_memory="attributes"), "adjacent", "attributes of adjacent, which has none: use moves"),
        (with_own(ADJACENT, own(TWO_AND_THREE, "exchange", 4)), VNS, ["adjacent", "mine"], "mine in one search: expected at most one"),
    ],
)  # fmt: skip
def test_neighbourhoods_that_do_not_fit_are_refused(cpu, problem, algorithm, names, words):
    with pytest.raises((KernelError, UserError), match=words):
        LocalSearch(cpu, Solo(), problem, algorithm, names)


@pytest.mark.parametrize(
    ("apply", "functions", "words"),
    [(racing, {}, "mine|lanes"), (scored.exchange_blocks, {"value": scored.clashes}, "moved makes no custom moves")],
)
def test_the_check_finds_changes_that_are_wrong(apply, functions, words):
    with pytest.raises(ProblemError, match=words):
        check(with_own(own((left_one, right_one), apply, 5), **functions), "mine")


# --- moves that would become indices outside of the solution, before a kernel reads or writes with them ---


@function
def seldom_beyond(index: u32, i: i32, n: i32) -> i32:
    return n if index == 29 else n - 1


@function
def index_modulo_n(index: u32, n: i32) -> i32:
    return i32(index) % n


@function
def index_as_value(index: u32, i: i32, n: i32) -> i32:
    return i32(index)


@function
def by_zero(index: u32, n: i32) -> i32:
    return i32(index) // (n - 6)


# Problem, functions, change, number of moves, what is said of them, and the function that is named.
WRONG = [
    (Ordering, left_one, "reverse", 30, "move 0 has j = -1: expected 0 to 5 (no function of `decode` returns j)", None),
    (Ordering, (index_modulo_n, seldom_beyond), "exchange", 30, "move 29 has j = 6: expected 0 to 5 ", seldom_beyond),
    (Colours, (index_modulo_n, index_as_value), "assign", 30, "move 3 has j = 3: expected 0 to 2 ", index_as_value),
]


def test_moves_out_of_the_solution_are_refused_on_every_device(backend):
    for base, decode, apply, size, words, named in WRONG:
        problem = with_own(own(decode, apply, size), base=base)
        source = f"({named.path}:{named.first_line}: {named.name})" if named else ""
        with pytest.raises(UserError, match="^neighbourhood mine: .*" + re.escape(words)) as raised:
            LocalSearch(backend, Solo(), problem, HillClimbing(), "mine")
        assert source in str(raised.value)
        with pytest.raises(UserError, match=re.escape(words)):
            problem.neighbourhood("mine").listed(0, size, problem.encoding, np.zeros(6, np.int32))
        with pytest.raises(UserError, match=re.escape(words)):
            check(problem)
    problem = with_own(own((by_zero, right_one), "exchange", 2**31))
    with pytest.raises(KernelError, match="by_zero: integer division or modulo by zero"):
        LocalSearch(backend, Solo(), problem, HillClimbing(), "mine")


def broken(encoding):
    return encoding.n // (encoding.n - 6)


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (broken, "`size` raised ZeroDivisionError: integer division or modulo by zero ({file}:{line}: broken)"),
        (
            lambda encoding: float("nan"),
            "mine on 6 elements has nan neighbours: expected an integer from 1 to 42949672",
        ),
        (lambda encoding: 0, "has 0 neighbours: expected an integer"),
        (lambda encoding: 2**40, "has 1099511627776 neighbours: expected an integer"),
    ],
)
def test_a_size_that_is_none_names_the_function(size, words):
    problem = with_own(own((left_one, right_one), "exchange", size))
    words = words.format(file=__file__, line=broken.__code__.co_firstlineno + 1)
    with pytest.raises(UserError, match=re.escape(words)) as raised:
        check(problem)
    assert f"({__file__}:" in str(raised.value)
    with pytest.raises(UserError, match="neighbours|raised"):
        problem.sha256  # noqa: B018
