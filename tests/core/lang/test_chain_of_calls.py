"""An error tells the function with the mistake first, then every call that led there, the kernel's last."""

import pickle

import numpy as np
import pytest

from backends.python import PythonBackend
from core.lang import KernelError
from tests.core.lang.module_texts import loaded

# The user's function goes through a template's, as a problem's goes through those of a search.
OWN = "from core.lang import *\n\n@function\ndef gain(n: i32, out: Array[i32]) -> i32:\n    {}\n    return n\n"
TEMPLATE = """\
from core.lang import *

@function
def scanned(n: i32, out: Array[i32]) -> i32:
    best = 0
    for i in range(n):
        found = gain(
            i,
            out,
        )
        best = max(best, found)
    return best

@kernel
def scan(n: i32, out: Array[i32]):
    best = scanned(n, out)
    out[0] = best
"""
MISTAKES = {
    "refused": ("v = 0.5 * n", KernelError, "the float 0.5 beside i32"),
    "index": ("out[n + 2] = 1", IndexError, "index 3 outside an array of 3 elements"),
    "overflow behind a barrier": ("barrier()\n    v = n + 2147483647", OverflowError, "signed overflow in +"),
    "barrier for some": ("if lane() > 0:\n        barrier()", KernelError, "lanes [0] ended while others wait"),
}


def template_of(folder, body, number="i32"):
    own = loaded(folder, OWN.format(body).replace("n: i32", f"n: {number}"))
    return own.__file__, loaded(folder, TEMPLATE, gain=own.gain)


def launched(kernel):
    backend = PythonBackend(PythonBackend.devices()[0])
    backend.launch(kernel, 1, 2, 3, backend.upload(np.zeros(3, np.int32)))


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_in_the_users_function_is_told_before_the_templates_calls(tmp_path, case):
    body, kind, words = MISTAKES[case]
    own, template = template_of(tmp_path, body)
    for _ in range(2):  # the second time the template's other functions may be known already
        with pytest.raises(kind) as caught:
            launched(template.scan)
        first, *calls = str(caught.value).splitlines()
        assert first.startswith(f"{own}:{5 + body.count(chr(10))}: gain: {words}")
        path = template.__file__
        assert calls == [f"  called at {path}:7 in scanned", f"  called at {path}:16 in scan"]


@pytest.mark.parametrize(
    ("number", "first", "line"),
    [
        ("list", "{own}:4: gain: annotation list is not a type of the kernel language", 7),
        ("i16", "{template}:8: scanned: argument n of gain is i16, not i32; write i16(...)", None),
    ],
)
def test_a_signature_that_is_refused_tells_who_called(tmp_path, number, first, line):
    own, template = template_of(tmp_path, "pass", number)
    path = template.__file__
    with pytest.raises(KernelError) as caught:
        launched(template.scan)
    calls = [f"  called at {path}:{line} in scanned"] * bool(line) + [f"  called at {path}:16 in scan"]
    assert str(caught.value).splitlines() == [first.format(own=own, template=path), *calls]


def deep(levels, last):
    text = f"from core.lang import *\n\n@function\ndef f0(n: i32, out: Array[i32]) -> i32:\n    {last}\n    return n\n"
    for k in range(1, levels):
        text += f"\n@function\ndef f{k}(n: i32, out: Array[i32]) -> i32:\n    v = f{k - 1}(n, out)\n    return v\n"
    return text + f"\n@kernel\ndef k(n: i32, out: Array[i32]):\n    n = f{levels - 1}(n, out)\n"


@pytest.mark.parametrize(
    ("last", "levels", "lines"),
    [
        ("v = out", 13, [*(f"f{k}" for k in range(1, 13)), "k"]),
        ("out[n] = 1", 30, [*(f"f{k}" for k in range(1, 9)), "18 calls more", "f27", "f28", "f29", "k"]),
    ],
    ids=["refused", "index"],
)
def test_of_a_long_chain_both_ends_are_told(tmp_path, last, levels, lines):
    module = loaded(tmp_path, deep(levels, last))
    with pytest.raises(KernelError) as caught:
        launched(module.k)
    first, *calls = str(caught.value).splitlines()
    assert first.startswith(f"{module.__file__}:5: f0: ")
    assert len(calls) == len(lines)
    for line, words in zip(calls, lines, strict=True):
        assert line.endswith(f" in {words}") or line == f"  and {words}, up to that"


def test_the_chain_crosses_to_another_process():
    error = KernelError("own.py:1: f: wrong")
    error.calls = ["called at own.py:2 in k"]
    assert str(pickle.loads(pickle.dumps(error))) == "own.py:1: f: wrong\n  called at own.py:2 in k"
