"""Typical errors in a user-defined problem: one message with the user's line and the correction."""

import re
import subprocess
import sys

import numpy as np
import pytest

import onekernel as ok
from onekernel import Array, Bits, Move, Problem, bundle, function, i32

HERE = re.escape(__file__) + r":\d+: "


@bundle
class Numbers:
    numbers: Array[i32]
    n: i32


class NoBundle:
    numbers: Array[i32]

    def __init__(self, numbers):
        self.numbers = numbers


NUMBERS = Numbers(np.arange(5, dtype=np.int32), 5)


@function
def added(bits: Array[i32], move: Move, data: Numbers) -> i32:
    return data.numbers[move.i] if bits[move.i] == 0 else -data.numbers[move.i]


@function
def of_no_bundle(bits: Array[i32], move: Move, data: NoBundle) -> i32:
    return data.numbers[move.i]


@function
def with_self(self, bits: Array[i32], move: Move, data: Numbers) -> i32:
    return data.numbers[move.i]


@function
def by_root(bits: Array[i32], move: Move, data: Numbers) -> i32:
    return i32(np.sqrt(data.numbers[move.i]))


@function
def by_numpy(bits: Array[i32], move: Move, data: Numbers) -> i32:
    return np.dot(bits, data.numbers)


@function
def by_sum(bits: Array[i32], move: Move, data: Numbers) -> i32:
    return sum(data.numbers)


@function
def matrix(p: i32) -> i32:
    return p @ 2


@function
def by_another(bits: Array[i32], move: Move, data: Numbers) -> i32:
    return matrix(move.i)


class Mine(Problem):
    delta = added
    neighbourhoods = ("flip1",)

    def __init__(self, delta=None, data=NUMBERS):
        if delta is not None:
            self.delta = delta
        super().__init__("mine", Bits(5), data)

    def cost(self, bits):
        return int(self.data.numbers @ bits)


class ByMethod(Mine):
    def delta(self, bits, move, data):
        return 1


class NoCost(Problem):
    delta, neighbourhoods = added, ("flip1",)

    def __init__(self):
        super().__init__("mine", Bits(5), NUMBERS)


class NoSuper(Problem):
    delta, neighbourhoods = added, ("flip1",)

    def __init__(self):
        self.numbers = NUMBERS


CASES = {
    "data without @bundle": (
        lambda: Mine(data=NoBundle(np.arange(5, dtype=np.int32))),
        "mine: data are an object of NoBundle: expected a @bundle .*; write @bundle above class NoBundle",
    ),
    "a parameter without @bundle": (
        lambda: Mine(of_no_bundle),
        HERE + "of_no_bundle: annotation NoBundle is not a type .*; write @bundle above class NoBundle",
    ),
    "no cost": (NoCost, r"mine: NoCost has no `cost`: expected def cost\(self, solution\), which returns the cost .*"),
    "no super": (
        NoSuper,
        r"NoSuper: its constructor ends .* expected super\(\).__init__\(name, encoding, data\) in it",
    ),
    "a method": (
        ByMethod,
        HERE + "delta: .* is a method: .*; write it outside of the class, without self, and delta .*",
    ),
    "self": (lambda: Mine(with_self), HERE + "with_self: has a parameter self; leave it out, since a @function is .*"),
    "np.sqrt": (
        lambda: Mine(by_root),
        HERE + r"by_root: a call of np.sqrt; write sqrt\(...\), .*: from onekernel import sqrt",
    ),
    "np.dot": (lambda: Mine(by_numpy), HERE + "by_numpy: .*; kernels cannot call numpy; write a loop, or a @function"),
    "sum": (lambda: Mine(by_sum), HERE + "by_sum: a call of sum, which is neither .*; write a loop, or a @function"),
    "in a function that another calls": (
        lambda: Mine(by_another),
        HERE + rf"matrix: operator MatMult; .*\n  called at {re.escape(__file__)}:\d+ in by_another",
    ),
}


@pytest.mark.parametrize("used", ["check", "minimize"])
@pytest.mark.parametrize(("make", "words"), CASES.values(), ids=CASES)
def test_a_first_mistake_is_told_in_the_users_words(make, words, used):
    how = {"check": {"backend": "cpu"}, "minimize": {"backend": "cpu", "iterations": 3}}[used]
    with pytest.raises(ok.UserError) as error:
        getattr(ok, used)(make(), **how)
    assert re.fullmatch(words, str(error.value)), str(error.value)


def test_a_program_whose_data_are_no_bundle_ends_with_one_line(tmp_path, environment):
    path = tmp_path / "mine.py"
    path.write_text(
        "import onekernel as ok\n\nclass Data:\n    n: ok.i32\n\nclass Mine(ok.Problem):\n    def __init__(self):\n"
        '        super().__init__("mine", ok.Bits(3), Data(3))\n\nok.main(Mine)\n'
    )
    ran = subprocess.run([sys.executable, path], env=environment, capture_output=True, text=True, timeout=100)
    expected = f"error: {path}:8: Data(...) takes no arguments: expected @bundle above class Data\n"
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", expected)
