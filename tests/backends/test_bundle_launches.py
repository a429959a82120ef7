"""Launches with bundles, and their refusals, which name the argument and the field."""

import numpy as np
import pytest

from core.errors import LaunchRefused, UserError
from core.lang import Array, Generic, Row, Rows, boolean, bundle, f32, i32, kernel, team_count, team_rank

S = Generic("S")
D = Generic("D")


@bundle
class Walk:
    control: Array[i32] = Row(3)
    solution: Array[S] = Row("n")
    n: i32


@bundle
class Facts:
    weights: Array[i32]
    seen: Array[boolean]
    scale: f32
    strict: boolean


@bundle
class Held:
    walk: Walk
    k: i32


@kernel
def per_walk(walks: Rows[Walk], facts: Facts, held: Rows[Held], k: i32):
    for w in range(team_rank(), walks.count, team_count()):
        walk = walks[w]
        walk.control[0] = k + facts.weights[w] + i32(facts.seen[w])
        walk.solution[0] = S(walk.solution[0] + S(held[w].k))


def arguments_of(backend, rows=4):
    walks = backend.rows(Walk(n=5), rows, S=np.uint8)
    facts = Facts(np.arange(rows, dtype=np.int32), np.arange(rows, dtype=np.uint8) % 2, 2.5, True)
    return walks, backend.load(facts), backend.rows(Held(Walk(n=2), 30), rows, S=np.uint8)


def test_no_rows_are_no_work(cpu):
    walks, facts, held = arguments_of(cpu, 0)
    cpu.launch(per_walk, 3, 1, walks, facts, held, 7)
    assert (walks.count, walks.solution.size) == (0, 1)


def facts_of(weights=None, seen=None, scale=1.0, strict=True):
    return Facts(weights, seen, scale, strict)


# name -> (arguments of a wrong launch of `per_walk`, from a backend and right ones, and words of the refusal)
WRONG = {
    "another class of rows": (lambda b, w, f, h: (h, f, h, 1), r"argument walks is Rows\[Walk\], not Rows\[Held\]"),
    "a buffer for rows": (lambda b, w, f, h: (w.control, f, h, 1), r"argument walks is Rows\[Walk\], not .*Buffer"),
    "a number for a bundle": (lambda b, w, f, h: (w, 3, h, 1), "argument facts is Facts, not int"),
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
    right = arguments_of(cpu)
    for _ in range(4):  # new, and after right ones
        with pytest.raises(LaunchRefused, match=f"per_walk.*{words}"):
            cpu.launch(per_walk, 1, 1, *arguments(cpu, *right))
        cpu.launch(per_walk, 1, 1, *right, 7)


ARRAYS = np.zeros(4, np.int32), np.zeros(4, np.uint8)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda b: b.load(Facts(np.zeros(4), ARRAYS[1], 1.0, True)), r"Facts.weights is an array of float64; expected Array\[i32\]"),
        (lambda b: b.load(Facts(ARRAYS[0], np.ones(4, bool), 1.0, True)), r"Facts.seen is an array of bool; .*stored as uint8"),
        (lambda b: b.load(Facts(*ARRAYS, np.zeros(3), True)), "Facts.scale is an array; expected a number, f32"),
        (lambda b: b.rows(Walk(n=3), -1, S=np.uint8), "-1 rows of Walk.*; expected a bundle, and a count of 0 or more"),
        (lambda b: b.rows(Walk(n=3), 2), "Walk.solution: rows of S; say what that is, as in S=np.uint8"),
        (lambda b: b.rows(Walk(n="3"), 2, S=np.uint8), "Walk.solution: rows of '3' elements; expected 0 or more"),
        (lambda b: b.rows(Walk(n=2**20), 2**11, S=np.uint8), "Walk.solution: rows of 2147483648 elements in all; expected less than"),
        (lambda b: b.rows(Held(Walk(np.zeros(5, np.int32), n=3), 1), 2, S=np.uint8), "Walk.control has 5 elements; expected 6"),
    ],
)  # fmt: skip
def test_bundles_that_cannot_be_loaded_are_refused(cpu, make, words):
    with pytest.raises(UserError, match=words):
        make(cpu)
