"""Numbers of a user's that would become array indices: each is refused before a kernel reads or writes with it."""

import re

import numpy as np
import pytest

from cluster import Solo
from core.errors import UserError
from core.lang import KernelError, function, i32, u32
from core.problems.encodings import Bits, Permutation, Reals, Values
from core.search.local_search import HillClimbing, Iterations, LocalSearch, Neighbourhood, TabuSearch, check
from tests.core.search.local_search.scored import Colours, Ordering, Spins, left_one, right_one

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
    "no j": (left_one, "reverse", "move 0 has j = -1: expected 0 to 5 (no function of `decode` returns j)", None),
    "one of 30": ((index_modulo_n, seldom_beyond), "exchange", "move 29 has j = 6: expected 0 to 5 ", seldom_beyond),
    "far": ((left_one, right_one, very_far), "exchange", f"k = {FAR}: expected -1 to 5 ", very_far),
    "flip": ((index_modulo_n, two_before), "flip", "move 0 has j = -2: expected -1 to 5 ", two_before),
    "value": ((index_modulo_n, index_as_value), "assign", "move 3 has j = 3: expected 0 to 2 ", index_as_value),
}
"""Functions, change, what is said of them, and the function that is named."""


def with_moves(decode, apply, size=lambda encoding: 30):
    """A problem of six elements with this neighbourhood alone."""
    own = Neighbourhood.custom("mine", size, decode, apply)
    base, more = {"flip": (Spins, ()), "assign": (Colours, (3,))}.get(apply, (Ordering, ()))

    class Mine(base):
        neighbourhoods = (own,)

    return Mine(6, *more)


@pytest.mark.parametrize("name", WRONG)
def test_a_move_out_of_the_solution_is_refused_on_every_device(name, backend):
    """Before the first iteration, with the move's number and the function that returned the index."""
    decode, apply, words, named = WRONG[name]
    source = f"({named.path}:{named.first_line}: {named.name})" if named else ""
    size = 4 if name == "far" else 30
    with pytest.raises(UserError, match=re.escape(words)) as raised:
        LocalSearch(backend, Solo(), with_moves(decode, apply, lambda encoding: size), HillClimbing(), "mine")
    assert str(raised.value).startswith("neighbourhood mine: move ") and source in str(raised.value)


@pytest.mark.parametrize("name", ["before", "no j", "flip", "value"])
def test_the_check_and_a_host_that_lists_moves_refuse_it_too(name):
    decode, apply, words, _ = WRONG[name]
    problem = with_moves(decode, apply)
    with pytest.raises(UserError, match=re.escape(words)):
        check(problem)
    with pytest.raises(UserError, match=re.escape(words)):
        problem.neighbourhood("mine").listed(0, 30, problem.encoding, np.zeros(6, np.int32))


@function
def by_zero(index: u32, n: i32) -> i32:
    return i32(index) // (n - 6)


@function
def overflowing(index: u32, n: i32) -> i32:
    return (i32(index) + 1) * 1_000_000_000


@pytest.mark.parametrize(
    ("decode", "words"),
    [(by_zero, "by_zero: integer division or modulo by zero"), (overflowing, "signed overflow in *: 3000000000 does not")],
)  # fmt: skip
def test_arithmetic_that_ends_a_process_is_refused_before_the_device_has_it(decode, words, backend):
    problem = with_moves((decode, right_one), "exchange", lambda encoding: 2**31)
    with pytest.raises(KernelError, match=re.escape(words)):
        LocalSearch(backend, Solo(), problem, HillClimbing(), "mine")


def broken(encoding):
    length = encoding.n
    return length // (length - 6)


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (broken, "`size` raised ZeroDivisionError: integer division or modulo by zero ({file}:{line}: broken)"),
        (lambda: 3, "`size` raised TypeError: "),
        (lambda encoding: float("nan"), "mine on 6 elements has nan neighbours: expected an integer from 1 to 4294967295"),
        (lambda encoding: 2.5, "has 2.5 neighbours: expected an integer"),
        (lambda encoding: "6", "has '6' neighbours: expected an integer"),
        (lambda encoding: None, "has None neighbours: expected an integer"),
        (lambda encoding: -1, "has -1 neighbours: expected an integer"),
        (lambda encoding: 2**40, "has 1099511627776 neighbours: expected an integer"),
    ],
)  # fmt: skip
def test_a_size_that_is_none_names_the_function(size, words):
    problem = with_moves((left_one, right_one), "exchange", size)
    line = broken.__code__.co_firstlineno + 2
    with pytest.raises(UserError, match=re.escape(words.format(file=__file__, line=line))) as raised:
        check(problem)
    assert f"({__file__}:" in str(raised.value)
    with pytest.raises(UserError, match="neighbours|raised"):
        problem.sha256  # noqa: B018


@pytest.mark.parametrize(
    ("encoding", "start", "words"),
    [
        (Bits(3), [0.5, 0, 1], "with 0.5 at 0: expected integers"),
        (Bits(3), [0, 1, np.nan], "with nan at 2: expected 0 to 1"),
        (Bits(3), [0, -1, 1], "with -1 at 1: expected 0 to 1"),
        (Bits(3), [0, 2**31, 1], "with 2147483648 at 1: expected 0 to 1"),
        (Bits(3), np.array([2**32, 0, 1]), "with 4294967296 at 0: expected 0 to 1"),
        (Bits(3), [2**70, 0, 1], "that is [1180591620717411303424, 0, 1]: expected 3 numbers"),
        (Bits(3), "101", "that is '101': expected 3 numbers"),
        (Bits(3), [[1], [0, 1], 1], "that is [[1], [0, 1], 1]: expected 3 numbers"),
        (Bits(3), {}, "that is {}: expected 3 numbers"),
        (Values(3, 4), [0, 4, 1], "with 4 at 1: expected 0 to 3"),
        (Permutation(3), np.array([0, 1, 2**32 + 2]), "with 4294967298 at 2: expected 0 to 2"),
        (Permutation(3), [0.0, 1.0, 1.0], "that has 1 twice: expected a permutation of 0 to 2"),
        (Reals(3), [0, np.inf, 1], "with inf at 1: expected -1 to 1"),
    ],
)
def test_a_start_that_is_no_solution_is_refused(encoding, start, words):
    with pytest.raises(UserError, match=re.escape(f"a start solution {words}")):
        encoding.check(start)


def test_a_start_in_other_types_is_the_same_solution():
    for start in ([1, 0, 1], (True, False, True), np.array([1, 0, 1], np.uint64), [1.0, 0.0, 1.0]):
        found = Bits(3).check(start)
        assert found.dtype == np.int32 and found.tolist() == [1, 0, 1]
    assert Reals(2).check([1, -0.1]).dtype == np.float32


def test_a_search_refuses_a_start_before_it_reaches_the_device(backend):
    search = LocalSearch(backend, Solo(), Spins(6), TabuSearch(), "flip1", seed=1)
    for start in ([0, 1, 2**32, 0, 0, 0], [0.5] * 6, ["a"] * 6):
        with pytest.raises(UserError, match="a start solution"):
            search.run(Iterations(2), start=start)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Values(5, 2**31), "a vector over 2147483648 values; expected 2 to 2147483647"),
        (lambda: Values(5, 1), "a vector over 1 values; expected 2 to 2147483647"),
        (lambda: Values(5, "3"), "a solution of '3' values; expected an integer"),
        (lambda: Reals(5, "int8"), "a vector of reals of type 'int8'; expected 'float32' or 'float64'"),
        (lambda: Permutation(2**31), "a solution of 2147483648 elements; expected 1 to 65535"),
        (lambda: Bits(float("nan")), "a solution of nan elements; expected an integer"),
    ],
)
def test_sizes_of_an_encoding_that_no_search_has_are_refused(make, words):
    with pytest.raises(UserError, match=re.escape(words)):
        make()
