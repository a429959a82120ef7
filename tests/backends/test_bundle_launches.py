"""Launches and copies that are refused: arguments that a device would cut, repeat or mix up, with the argument and the field."""

import numpy as np
import pytest

from backends.python import PythonBackend
from core.errors import LaunchRefused, TeamTooLarge, UserError
from core.lang import (
    Array,
    Generic,
    Row,
    Rows,
    boolean,
    bundle,
    f32,
    i32,
    kernel,
    lane,
    team_count,
    team_rank,
    team_size,
)

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


T = Generic("T")


@kernel
def nobody_says_which(amount: T, values: Array[i32]):
    values[0] = i32(amount)


def test_a_generic_number_that_no_array_gives_a_type_is_refused(cpu):
    values = cpu.upload(np.zeros(1, np.int32))
    with pytest.raises(LaunchRefused, match="nobody_says_which: argument amount is T, which no array gives a type"):
        cpu.launch(nobody_says_which, 1, 1, 3, values)


@pytest.mark.parametrize(
    "host",
    [np.array([1, 2, 3], np.int64), np.array([1, 2, 3], np.uint32), np.array([7], np.int32), np.arange(4, dtype=np.int32)],
    ids=["wider", "other sign", "one element", "too many"],
)  # fmt: skip
def test_a_write_of_another_size_or_dtype_is_refused(cpu, host):
    buffer = cpu.upload(np.array([4, 5, 6], np.int32))
    with pytest.raises(LaunchRefused, match=f"{host.size} elements of {host.dtype} for a buffer of 3 of int32"):
        cpu.write(buffer, host)
    assert cpu.download(buffer).tolist() == [4, 5, 6]


@pytest.mark.parametrize(("start", "count"), [(-1, 2), (2, 2), (1, -1)])
def test_elements_that_a_buffer_has_not_are_not_read(cpu, start, count):
    buffer = cpu.upload(np.arange(3, dtype=np.int32))
    with pytest.raises(LaunchRefused, match=f"{count} elements from {start} on, of a buffer of 3"):
        cpu.stream_out(buffer, start, count, np.zeros(max(count, 0), np.int32))
    for host in (np.zeros(3, np.int32), np.zeros(2, np.int64)):
        with pytest.raises(LaunchRefused, match="2 elements of int32 for"):
            cpu.stream_out(buffer, 1, 2, host)


# --- teams that a kernel's registers allow ---


@kernel
def lanes_of(values: Array[i32]):
    values[lane()] = team_size()


@pytest.fixture
def few_registers():
    backend = PythonBackend(PythonBackend.devices()[0])
    backend.most_lanes = lambda executable: 100
    return backend


def test_a_team_that_a_kernel_needs_too_many_registers_for_is_refused_each_time(few_registers):
    values = few_registers.upload(np.zeros(1024, np.int32))
    for _ in range(2):
        with pytest.raises(TeamTooLarge, match="^python: lanes_of runs teams of 1 to 100 lanes here, not 101$"):
            few_registers.launch(lanes_of, 1, 101, values)


@pytest.mark.parametrize(("wanted", "lanes"), [(100, 100), (101, 51), (1000, 63), (5000, 64)])
def test_the_largest_team_of_a_kernel_is_the_wanted_one_or_that_halved_until_it_runs(few_registers, wanted, lanes):
    values = few_registers.upload(np.zeros(1024, np.int32))
    assert few_registers.largest_team(lanes_of, wanted, values) == lanes
    with pytest.raises(LaunchRefused, match="must be a Buffer"):  # no reason for smaller teams
        few_registers.largest_team(lanes_of, wanted, 3)


def test_every_device_runs_the_largest_team_that_it_says_a_kernel_has(backend):
    values = backend.upload(np.zeros(1024, np.int32))
    lanes = backend.largest_team(lanes_of, 1024, values)
    assert 1 <= lanes <= backend.capabilities.max_team_size
    for count in (lanes, i32(lanes)):  # typed numbers mean plain ones
        backend.launch(lanes_of, i32(1), count, values)
        assert backend.download(values)[:lanes].tolist() == [lanes] * lanes
    most = backend.capabilities.max_team_size
    with pytest.raises(LaunchRefused, match=f"team of {most + 1} lanes.* 1 to {most}"):
        backend.launch(lanes_of, 1, most + 1, values)
    assert type(backend.bind(lanes_of, i32(2), i32(1), (values,)).teams) is int
