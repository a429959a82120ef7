"""A problem's functions that a search could not call are refused by their own place, with what was expected."""

import re

import pytest

from cluster import Solo
from core.errors import UserError
from core.lang import Array, Generic, KernelError, bundle, function, i16, i32, i64, u8, u32
from core.local_search import Bits, Evaluation, Iterations, LocalSearch, Move, Problem, TabuSearch, check

G, D = Generic("G"), Generic("D")


@bundle
class Ones:
    n: i32


@bundle
class Other:
    n: i32


@bundle
class MoreOnes(Ones):
    m: i32


@function
def added(bits: Array[i32], move: Move, data: Ones) -> i32:
    return 1 - 2 * bits[move.i]


@function
def added_short(bits: Array[G], move: Move, data: D) -> i16:
    return i16(1 - 2 * i32(bits[move.i]))


@function
def of_another_class(bits: Array[i32], move: Move, data: Other) -> i32:
    return 1


@function
def of_a_subclass(bits: Array[i32], move: Move, data: MoreOnes) -> i32:
    return 1


@function
def without_data(bits: Array[i32], move: Move) -> i32:
    return 1


@function
def without_result(bits: Array[i32], move: Move, data: Ones):
    bits[0] = 1


@function
def of_64_bits(bits: Array[i32], move: Move, data: Ones) -> i64:
    return i64(1)


@function
def of_bytes(bits: Array[u8], move: Move, data: Ones) -> i32:
    return 1


@function
def with_a_result(bits: Array[i32], data: Ones) -> i32:
    return 1


@function
def with_a_signed_index(bits: Array[i32], index: i32, move: Move, data: Ones) -> i32:
    return 1


@function
def refreshes_by_numbers(worker: i32, workers: i32, first: u32, end: u32, data: Ones):
    return


def plain(bits, move, data):
    return 1


class CountOnes(Problem):
    def __init__(self, delta=added, **others):
        super().__init__("ones", Bits(4), Ones(4))
        self.one = Evaluation(delta, **others, quick_for=("flip1",))

    def cost(self, bits):
        return int(sum(bits))

    def evaluations(self, neighbourhood):
        return {"only": self.one}


EXPECTED = {
    "delta": "(solution: Array[i32], move: Move, data: Ones) -> i32",
    "begin": "(solution: Array[i32], data: Ones)",
    "quick": "(solution: Array[i32], index: u32, move: Move, data: Ones) -> i32",
    "update": "(solution: Array[i32], move: Move, data: Ones)",
    "move": "(solution: Array[i32], move: Move, data: Ones)",
    "refresh": "(share: Share, changed: i32, move: Move, solution: Array[i32], data: Ones)",
    "partial": "(worker: i32, workers: i32, solution: Array[i32], move: Move, data: Ones) -> i32",
}
WRONG = [
    ("delta", of_another_class, "(bits: Array[i32], move: Move, data: Other) -> i32"),
    ("delta", of_a_subclass, "(bits: Array[i32], move: Move, data: MoreOnes) -> i32"),
    ("delta", without_data, "(bits: Array[i32], move: Move) -> i32"),
    ("delta", without_result, "(bits: Array[i32], move: Move, data: Ones)"),
    ("delta", of_64_bits, "(bits: Array[i32], move: Move, data: Ones) -> i64"),
    ("delta", of_bytes, "(bits: Array[u8], move: Move, data: Ones) -> i32"),
    ("begin", with_a_result, "(bits: Array[i32], data: Ones) -> i32"),
    ("quick", with_a_signed_index, "(bits: Array[i32], index: i32, move: Move, data: Ones) -> i32"),
    ("update", with_a_result, "(bits: Array[i32], data: Ones) -> i32"),
    ("move", with_a_result, "(bits: Array[i32], data: Ones) -> i32"),
    ("refresh", refreshes_by_numbers, "(worker: i32, workers: i32, first: u32, end: u32, data: Ones)"),
    ("partial", added, "(bits: Array[i32], move: Move, data: Ones) -> i32"),
]


@pytest.mark.parametrize(("role", "wrong", "has"), WRONG, ids=[f"{one[0]} {one[1].name}" for one in WRONG])
def test_a_function_of_another_signature_is_refused_with_both(python, role, wrong, has):
    words = re.escape(f"{wrong.name}: `{role}` of ones is {has}: expected a @function {EXPECTED[role]}") + "$"
    words = rf"^{re.escape(__file__)}:{wrong.first_line}: {words}"
    for run in (lambda p: check(p, "flip1"), lambda p: LocalSearch(python, Solo(), p, TabuSearch(), "flip1")):
        with pytest.raises(KernelError, match=words):
            run(CountOnes(**{role: wrong}))


@pytest.mark.parametrize(
    ("delta", "found", "advice"),
    [
        (plain, "plain: `delta` of ones is a plain function", "; write @function above def plain"),
        (lambda bits, move, data: 0, "<lambda>: `delta` of ones is a lambda", "; write a def"),
        (None, "ones: its `delta` is missing", ", or `value`"),
        (5, "ones: its `delta` is 5", ", or `value`"),
    ],
    ids=["a plain function", "a lambda", "None", "a number"],
)
def test_a_delta_that_is_no_function_of_the_language_is_refused(python, delta, found, advice):
    words = re.escape(f"{found}: expected a @function {EXPECTED['delta']}{advice}") + "$"
    with pytest.raises(UserError, match=words):
        LocalSearch(python, Solo(), CountOnes(delta), TabuSearch(), "flip1")
    with pytest.raises(UserError, match=words):
        check(CountOnes(delta))


@pytest.mark.parametrize("delta", [added, added_short], ids=lambda one: one.name)
def test_functions_of_wider_signatures_are_taken(python, delta):
    class More(CountOnes):
        def data_for(self, evaluation):
            return MoreOnes(4, 7)

    problem = More(delta)
    assert LocalSearch(python, Solo(), problem, TabuSearch(), "flip1").run(Iterations(6)).cost == 0
    check(problem, "flip1")
