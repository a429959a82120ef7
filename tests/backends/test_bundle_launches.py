"""What backends make of bundles, and what a launch of them refuses: with the argument's and the field's name."""

import numpy as np
import pytest

from core.errors import LaunchRefused, UserError
from core.lang import Array, Generic, Row, Rows, boolean, bundle, f32, i32, kernel, team_count, team_rank, u64
from core.lang.bundles import placed

S = Generic("S")
D = Generic("D")


@bundle
class Walk:
    control: Row(i32, 3)
    solution: Row(S, "n")
    n: i32


@bundle
class Facts:
    weights: Array[i32]
    seen: Array[boolean]
    scale: f32
    strict: boolean


@bundle
class More(Facts):
    kept: Row(u64, "count")
    count: i32


@bundle
class Held:
    walk: Walk
    k: i32


@kernel
def per_walk(walks: Rows[Walk], facts: Facts, held: Rows[Held], k: i32):
    for w in range(team_rank(), walks.count, team_count()):
        one = walks[w]
        one.control[0] = k + w + i32(facts.strict) * 100
        one.control[1] = facts.weights[w] + i32(facts.scale)
        one.control[2] = i32(facts.seen[w])
        for p in range(one.n):
            one.solution[p] = S(one.solution[p] + S(w))
        held[w].walk.control[1] = held[w].k + held.count


@kernel
def of_any(data: Rows[D], k: D):
    data[0].kept[0] = u64(k.count) + u64(data.count)


def given(backend, rows=4):
    walks = backend.rows(Walk(n=5), rows, S=np.uint8)
    if rows:
        backend.write(walks.solution, np.arange(5 * rows, dtype=np.uint8))
    facts = Facts(np.arange(rows, dtype=np.int32), np.arange(rows, dtype=np.uint8) % 2, 2.5, True)
    held = backend.rows(Held(Walk(n=2), 30), rows, S=np.uint8)
    return walks, backend.load(facts), held


def test_rows_and_loaded_bundles_are_launched(backend):
    walks, facts, held = given(backend)
    backend.launch(per_walk, 3, 1, walks, facts, held, 7)
    rows = np.arange(4)
    expected = np.stack([7 + rows + 100, rows + 2, rows % 2], axis=1)
    assert backend.download(walks.control).tolist() == expected.reshape(-1).tolist()
    assert backend.download(walks.solution).tolist() == (np.arange(20) + np.repeat(rows, 5)).tolist()
    assert backend.download(held.walk.control).reshape(4, 3)[:, 1].tolist() == [34] * 4
    assert (walks.count, walks.n, held.bundle.walk.n) == (4, 5, 2)


def test_no_rows_are_no_work(cpu):
    walks, facts, held = given(cpu, 0)
    cpu.launch(per_walk, 3, 1, walks, facts, held, 7)
    assert (walks.count, walks.solution.size) == (0, 1)


def test_any_class_may_stand_for_a_generic_one(backend):
    facts = More(np.zeros(1, np.int32), np.zeros(1, np.uint8), 1.0, False, None, 2)
    rows, one = backend.rows(facts, 3), backend.load(facts)
    backend.launch(of_any, 1, 1, rows, one)
    assert backend.read(rows.kept, 0, 1)[0] == 5


def test_truth_values_in_tables(backend):
    walks, facts, held = given(backend)
    backend.launch(per_walk, 2, 1, walks, placed(facts, "shared"), held, 7)
    assert backend.download(walks.control).reshape(4, 3)[:, 1:].tolist() == [[2, 0], [3, 1], [4, 0], [5, 1]]


def facts_of(weights=None, seen=None, scale=1.0, strict=True):
    return Facts(weights, seen, scale, strict)


# name -> (the arguments of a wrong launch of `per_walk`, made of a backend and right ones, and the words of the refusal)
WRONG = {
    "another class of rows": (lambda b, w, f, h: (h, f, h, 1), r"argument walks is Rows\[Walk\], not Rows\[Held\]"),
    "one for rows": (lambda b, w, f, h: (w.bundle, f, h, 1), r"argument walks is Rows\[Walk\], not Walk"),
    "rows for one": (lambda b, w, f, h: (w, Rows(f, 2), h, 1), r"argument facts is Facts, not Rows\[Facts\]"),
    "a buffer for rows": (lambda b, w, f, h: (w.control, f, h, 1), r"argument walks is Rows\[Walk\], not .*Buffer"),
    "a number for a bundle": (lambda b, w, f, h: (w, 3, h, 1), "argument facts is Facts, not int"),
    "a bundle for a number": (lambda b, w, f, h: (w, f, h, f), "argument k is i32, not Facts"),
    "arrays of the host": (lambda b, w, f, h: (w, facts_of(np.zeros(4, np.int32)), h, 1),
                           r"argument facts\.weights must be a Buffer, not array.*; load the bundle first"),
    "an array of another type": (lambda b, w, f, h: (w, facts_of(b.allocate(4, np.int64)), h, 1),
                                 r"argument facts\.weights is Array\[i32\], not int64"),
    "a number for a truth value": (lambda b, w, f, h: (w, facts_of(f.weights, f.seen, 1.0, 2), h, 1),
                                   r"argument facts\.strict is boolean; 2 does not fit"),
    "a buffer twice": (lambda b, w, f, h: (w, facts_of(w.control, f.seen), h, 1),
                       r"arguments walks\[\]\.control and facts\.weights are the same buffer"),
    "rows of another size": (lambda b, w, f, h: (Rows(Walk(w.control, w.solution, 4), 4), f, h, 1),
                             r"argument walks\.solution has 20 elements; expected 4 rows of 4"),
    "rows within of unlike counts": (lambda b, w, f, h: (w, f, Rows(h.bundle, 5), 1),
                                     r"argument held\.walk\.control has 12 elements; expected 5 rows of 3"),
    "too few arguments": (lambda b, w, f, h: (w, f, h), "takes 4 arguments, not 3"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_launch_that_does_not_fit_is_refused(cpu, name):
    arguments, words = WRONG[name]
    right = given(cpu)
    for _ in range(4):  # new, and after right ones
        with pytest.raises(LaunchRefused, match=f"per_walk.*{words}"):
            cpu.launch(per_walk, 1, 1, *arguments(cpu, *right))
        cpu.launch(per_walk, 1, 1, *right, 7)


ARRAYS = np.zeros(4, np.int32), np.zeros(4, np.uint8)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda b: b.load(Facts(np.zeros(4), ARRAYS[1], 1.0, True)), r"Facts.weights is an array of float64; expected Array\[i32\]"),
        (lambda b: b.load(Facts([1, 2], ARRAYS[1], 1.0, True)), r"Facts.weights is \[1, 2\]; expected Array\[i32\]"),
        (lambda b: b.load(Facts(ARRAYS[0], np.ones(4, bool), 1.0, True)), r"Facts.seen is an array of bool; .*whose elements are uint8"),
        (lambda b: b.load(Facts(*ARRAYS, np.zeros(3), True)), "Facts.scale is an array; expected a number, f32"),
        (lambda b: b.rows(Walk(n=3), -1, S=np.uint8), "-1 rows of Walk.*; expected a bundle, and a count of 0 or more"),
        (lambda b: b.rows(ARRAYS[0], 2), "2 rows of array.*; expected a bundle"),
        (lambda b: b.rows(Walk(n=3), 2), "Walk.solution: rows of S; say what that is, as in S=np.uint8"),
        (lambda b: b.rows(Walk(n="3"), 2, S=np.uint8), "Walk.solution: rows of '3' elements; expected 0 or more"),
        (lambda b: b.rows(Walk(n=2**20), 2**11, S=np.uint8), "Walk.solution: rows of 2147483648 elements in all; expected less than"),
        (lambda b: b.rows(Held(Walk(np.zeros(5, np.int32), n=3), 1), 2, S=np.uint8), "Walk.control has 5 elements; expected 6"),
    ],
)  # fmt: skip
def test_bundles_that_cannot_be_loaded_are_refused(cpu, make, words):
    with pytest.raises(UserError, match=words):
        make(cpu)
