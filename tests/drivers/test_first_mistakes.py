"""Typical errors in a user-defined problem: one message with the user's line and the correction."""

import importlib.util
import linecache
import re
import subprocess
import sys

import pytest

import onekernel as ok

PROGRAM = """
import numpy as np

from onekernel import Array, Bits, Move, Problem, bundle, function, i32


@bundle
class Numbers:
    numbers: Array[i32]


@function
def twice(p: i32) -> i32:
    return p + p


@function
def added(bits: Array[i32], move: Move, data: Numbers) -> i32:
    return data.numbers[move.i] * (1 - twice(bits[move.i]))


class Mine(Problem):
    delta, neighbourhoods = added, ("flip1",)

    def __init__(self):
        super().__init__("mine", Bits(5), Numbers(np.arange(5, dtype=np.int32)))

    def cost(self, bits):
        return int(self.data.numbers @ bits)
"""
BUNDLE = "@bundle\nclass Numbers:\n    numbers: Array[i32]\n"
PLAIN = "class Plain:\n    def __init__(self, numbers):\n        self.numbers = numbers\n"
SUPER = 'super().__init__("mine", Bits(5), Numbers('
VALUE = "data.numbers[move.i] * (1 - twice(bits[move.i]))"
HERE = r"\S+mine\.py:\d+: "
MISTAKES = {
    "data without @bundle": (BUNDLE, f"{PLAIN}\n\n{BUNDLE}", SUPER, SUPER.replace("Numbers(", "Plain("),
        "mine: data are an object of Plain: expected a @bundle .*; write @bundle above class Plain"),
    "a parameter without @bundle": (BUNDLE, f"{PLAIN}\n\n{BUNDLE}", "data: Numbers", "data: Plain",
        HERE + "added: annotation Plain is not a type .*; write @bundle above class Plain"),
    "no cost": ("def cost(", "def costly(",
        r"mine: Mine has no `cost`: expected def cost\(self, solution\), which returns the cost .*"),
    "no super": (SUPER, 'print("mine", Bits(5), Numbers(',
        r"Mine: its constructor ends .* expected super\(\).__init__\(name, encoding, data\) in it"),
    "a method": ("delta, neighbourhoods = added, (", "neighbourhoods = (", "    def cost(",
        "    def delta(self, bits, move, data):\n        return 1\n\n    def cost(",
        HERE + "delta: .* is a method: .*; write it outside of the class, without self, and delta .*"),
    "self": ("added(bits", "added(self, bits",
        HERE + "added: has a parameter self; leave it out, since a @function is .*"),
    "np.sqrt": (VALUE, "i32(np.sqrt(data.numbers[move.i]))",
        HERE + r"added: a call of np.sqrt; write sqrt\(...\), .*: from onekernel import sqrt"),
    "np.dot": (VALUE, "np.dot(bits, data.numbers)",
        HERE + "added: .*; kernels cannot call numpy; write a loop, or a @function"),
    "sum": (VALUE, "sum(data.numbers)",
        HERE + "added: a call of sum, which is neither .*; write a loop, or a @function"),
    "in a function that another calls": ("p + p", "p @ p",
        HERE + r"twice: operator MatMult; .*\n  called at \S+mine\.py:\d+ in added"),
}  # fmt: skip
"""Parts of the program with what replaces each, and the message."""


@pytest.mark.parametrize("used", ["check", "minimize"])
@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_a_first_mistake_is_told_in_the_users_words(mistake, used, tmp_path):
    *changes, words = mistake
    text = PROGRAM
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "mine.py"
    path.write_text(text)
    linecache.checkcache()
    spec = importlib.util.spec_from_file_location("mine", path)
    module = importlib.util.module_from_spec(spec)
    how = {"check": {"backend": "cpu"}, "minimize": {"backend": "cpu", "iterations": 3}}[used]
    with pytest.raises(ok.UserError) as error:
        spec.loader.exec_module(module)
        getattr(ok, used)(module.Mine(), **how)
    assert re.fullmatch(words, str(error.value)), str(error.value)


def test_a_program_whose_data_are_no_bundle_ends_with_one_line(tmp_path, environment):
    path = tmp_path / "mine.py"
    path.write_text(f"{PROGRAM}\nimport onekernel\n\nonekernel.main(Mine)\n".replace("@bundle\n", ""))
    ran = subprocess.run([sys.executable, path], env=environment, capture_output=True, text=True, timeout=100)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert re.match(f"error: {HERE}", ran.stderr)
    assert ran.stderr.endswith("Numbers(...) takes no arguments: expected @bundle above class Numbers\n")
