"""The digest of kernels: equal for code that says the same, another for whatever changes what it computes."""

import hashlib
import linecache

import pytest

from core.lang import KernelError, function
from core.lang.digest import normal_form, source_digest
from tests.core.lang.module_texts import loaded

TEXT = """
from core.lang import Array, NamedArray, Row, Rows, boolean, bundle, function, i32, i64, kernel, unroll

FACTOR = 3
SHAPES = (1, 2)
hook = None


@bundle
class Inner:
    a: i32
    n: i32


@bundle
class Outer:
    inner: Inner
    kept: Array[i32] = Row("n")
    n: i32


@bundle
class Flag:
    on: boolean


class Names(NamedArray):
    first: i32
    other: i32


@function
def asked(one: Outer, flag: Flag) -> i32:
    return FACTOR * one.inner.a + SHAPES[1] if flag.on else 0


def made(strict):
    @kernel
    def scale(rows: Rows[Outer], out: Array[i32], n: i32):
        for p in range(n):
            if strict and p == 0:
                continue
            out[p] = asked(rows[0], Flag(out[p] > 0))
        if hook is not None:
            out[Names.other] = hook(3)

    return scale


scale = made(True)
"""


@pytest.fixture
def digest_of(tmp_path):
    return lambda text: source_digest([loaded(tmp_path, text).scale])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("out[p] = asked", "out[p] = 1 + asked"),
        ("FACTOR * one.inner.a", "one.inner.a * FACTOR"),
        ("FACTOR = 3", "FACTOR = 4"),
        ("SHAPES = (1, 2)", "SHAPES = (1, 3)"),
        ("made(True)", "made(False)"),
        ("hook = None", "@function\ndef hook(v: i32) -> i32:\n    return v\n"),
        ("asked(one: Outer, flag: Flag)", "asked(one: Outer, flag: Flag, unused: i32)"),
        ("    a: i32", "    a: i64"),
        ("    a: i32\n    n: i32", "    n: i32\n    a: i32"),
        ('Row("n")', "Row(3)"),
        ("    first: i32\n    other", "    other: i32\n    first"),
        ("    on: boolean", "    on: boolean\n    off: boolean"),
        ("Flag", "Flags"),
    ],
)
def test_whatever_changes_the_code_changes_the_digest(digest_of, before, after):
    assert before in TEXT
    assert digest_of(TEXT.replace(before, after)) != digest_of(TEXT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("FACTOR = 3", "\n\n# Three, as in the paper.\nFACTOR = 3"),
        ("-> i32:\n", '-> i32:\n    """Scale a value."""\n'),
        ("    return FACTOR", "    # a comment\n\n    return FACTOR"),
        ("n: i32):", "n: i32):  # n of them"),
        ("@bundle\nclass Flag", "\n# What follows is a flag.\n@bundle\nclass Flag"),
    ],
)
def test_comments_and_the_place_in_a_file_do_not(digest_of, before, after):
    assert before in TEXT
    assert digest_of(TEXT.replace(before, after)) == digest_of(TEXT)


def test_the_order_of_functions_does_not_count():
    from core.qap.kernels import added, added_by_two

    assert source_digest([added, added_by_two]) == source_digest([added_by_two, added])


def test_a_function_differs_from_one_of_the_same_code_with_other_annotations(tmp_path):
    text = "from core.lang import *\n\n@function\ndef twice(v: i32) -> i32:\n    return v + v\n"
    first, other = (loaded(tmp_path, text.replace("i32", kind)).twice for kind in ("i32", "i64"))
    assert first.python.__code__ == other.python.__code__
    assert source_digest([first]) != source_digest([other])


@pytest.mark.parametrize("text", ["", "import sys", "    fragment(", "@function\ndef other(): pass"])
def test_a_function_without_a_source_text_is_refused(monkeypatch, text):
    # Python 3.13 keeps the text of `python -c` under this name.
    monkeypatch.setitem(linecache.cache, "<string>", (len(text), None, text.splitlines(keepends=True), "<string>"))
    scope = {"function": function}
    exec("@function\ndef lost(): pass", scope)
    with pytest.raises(KernelError, match="source text cannot be found; define it in a file"):
        source_digest([scope["lost"]])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(a):\n    b = a\n    return b", "def f(first):\n    kept = first\n    return (kept)"),
        ("def f():\n    return [i for i in x]", "def f():\n    return [each for each in x]"),
        ("def f(a):\n    return f'{a:>{a}} é'", "def f(width):\n    return f'{width:>{width}} é'"),
        ("def f(a):\n    def g(b):\n        return a + b", "def f(b):\n    def g(a):\n        return b + a"),
        (
            "def f():\n    try:\n        g()\n    except E as e:\n        raise e",
            "def f():\n    try:\n        g()\n    except E as error:\n        raise error",
        ),
    ],
)
def test_names_of_local_variables_do_not_count(before, after):
    assert normal_form(before) == normal_form(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(a, b):\n    return a", "def f(a, b):\n    return b"),
        ("def f(a):\n    return a.x", "def f(a):\n    return a.y"),
        ("def f(a):\n    return g(a, k=1)", "def f(a):\n    return g(a, m=1)"),
        ("def f():\n    return A", "def f():\n    return B"),
        ("A = 1", "B = 1"),
        ("def f():\n    global a\n    a = 1", "def f():\n    global b\n    b = 1"),
        ("def f(a):\n    return 1", "def f(a):\n    return 1.0"),
        ("def f(a):\n    return None", "def f(a):\n    return"),
        ("def f(a):\n    return a[1:]", "def f(a):\n    return a[:1]"),
    ],
)
def test_every_other_name_and_value_counts(before, after):
    assert normal_form(before) != normal_form(after)


def test_the_form_is_the_same_for_every_version_of_python():
    text = "def f(a, *, b=None):\n    return g(f'{a!r:>{b}}', a[1:], lambda c: c)"
    assert (
        hashlib.sha256(normal_form(text).encode()).hexdigest()
        == "56c217d80a4fab9f232a44163922c7ae3c6f7c50b24a8828f33185324f99af76"
    )
    assert not any("value=''" in normal_form(text) for text in ("f'{a:{b}}{c}'", "f'{a:{b}x{c}}' 'd'", "f'{a=:>{b}}'"))
