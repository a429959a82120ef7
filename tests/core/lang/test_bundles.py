"""Bundles mean on every device what they mean in plain Python; expectations are computed by hand."""

import copy
import pickle

import numpy as np
import pytest

from core.lang import Array, Generic, NamedArray, Row, boolean, bundle, f32, i8, i32
from core.lang.bundles import Rows
from tests.core.lang import module_texts

S = Generic("S")


@bundle
class Move:
    i: i32
    j: i32


@bundle
class Walk:
    control: Array[i32] = Row(3)
    solution: Array[S] = Row("n")
    n: i32


class Status(NamedArray):
    cost: i32
    best: i32
    at: i32


@bundle
class Noted(Walk):
    status: Status = Row()
    all: Status


@bundle
class Facts:
    weights: Array[i32]
    scale: i32


@bundle
class More(Facts):
    kept: Array[i32] = Row("scale")
    move: Move


HEADER = """\
from core.lang import *
from tests.core.lang.test_bundles import Facts, More, Move, Noted, Status, Walk
S = Generic("S")
D = Generic("D")
SIZES = (3, 5, 8)

@function
def tens(m: Move) -> i32:
    return 10 * m.i + m.j

@function
def of_row(one: Walk, k: i32) -> i32:
    return one.control[k]

@function
def first_of(all_walks: Rows[Walk], w: i32) -> i32:
    return all_walks[w].control[0] + 1000 * all_walks.count

"""


def loaded(folder, text):
    return module_texts.loaded(folder, HEADER + text)


# name -> (statements over walks: Rows[Walk] (4 of length 2, control[k] of row w is 10 * w + k), m: Move(5, 6), facts: More
# with scale 2, n: i32 = 1, flag: boolean = True and out: Array[i32]), what they store
BODIES = {
    "L55 a number given to a bundle stays when its name changes": ("n = n + 1\np = Move(n, 7)\nn = 9\nout[0] = tens(p)", [27]),
    "L55 a parameter's": ("p = Move(m.i, n)\nn = 9\nout[0] = tens(p)", [51]),
    "L54 a literal": ("p = Move(1, 2)\nout[0] = tens(p) + p.i", [13]),
    "L56 new numbers made of the old ones": ("p = Move(n, 2)\np = Move(p.j, p.i)\np = Move(p.i + p.j, p.i)\nout[0] = tens(p)", [32]),
    "L56 a second name for a bundle": ("p = Move(n, 2)\nq = p\np = Move(8, 9)\nout[0] = tens(q)\nout[1] = tens(p)", [12, 89]),
    "numbers of a parameter in a new bundle": ("p = Move(m.j, facts.scale)\nout[0] = tens(p)\nif n > 0:\n    p = Move(n, p.i)\n"
                                               "out[1] = tens(p)\np = Move(m.i, m.i)\nout[2] = tens(p)", [62, 16, 55]),
    "a bundle in a loop": ("p = Move(0, 1)\nfor k in range(5):\n    p = Move(p.j, p.i + p.j)\nout[0] = tens(p)", [58]),
    "two that exchange": ("p = Move(1, 2)\nq = Move(0, 0)\nfor k in range(3):\n    q = Move(p.j, p.i)\n    p = Move(q.i + 1, q.j)\n"
                          "out[0] = tens(p) * 100 + tens(q)", [4232]),
    "L53 rows by names and expressions": ("one = walks[n]\nout[0] = one.control[2]\none = walks[n + 2]\nout[1] = one.control[1]\n"
                                      "out[2] = walks[out[0] - 10].control[0]", [12, 31, 20]),
    "a row whose number changes": ("k = 1\none = walks[k]\nk = 3\nout[0] = of_row(one, 0) + k", [13]),
    "rows in unroll": ("total = 0\nfor k in unroll(4):\n    one = walks[k]\n    total += one.control[0]\nout[0] = total", [60]),
    "rows on two branches": ("if n > 0:\n    one = walks[3]\nelse:\n    one = walks[n]\nout[0] = one.control[2]", [32]),
    "L52 a store to a row": ("one = walks[2]\none.control[1] += n\nout[0] = walks[2].control[1]\nout[1] = walks[1].control[1]",
                         [22, 11]),
    "a store beside a new row": ("one = walks[1]\ntwo = walks[2]\none.control[0], two.control[0] = two.control[0], one.control[0]\n"
                                 "out[0] = one.control[0]\nout[1] = two.control[0]", [20, 10]),
    "all rows handed on": ("out[0] = first_of(walks, 3)", [4030]),
    "a row as an index": ("out[0] = facts.weights[walks[0].control[2]]", [7]),
    "a view of a row": ("one = walks[1]\nout[0] = third(view(one.control, 1))", [12]),
    "small numbers in a bundle": ("p = Small(3, n > 0, f32(0.5))\nq = Small(i8(n + 299), False, 2.0)\n"
                                  "out[0] = i32(p.a) + q.a\nout[1] = i32(p.yes) * 10 + i32(q.yes) + i32(q.x)", [47, 12]),
    "L57 a bundle within a bundle": ("p = Pair(Move(n, 2), 3)\nq = Pair(p.inner, p.k + 1)\np = Pair(Move(7, p.inner.i), 9)\n"
                                 "out[0] = tens(q.inner) * 10 + q.k\nout[1] = tens(p.inner) * 10 + p.k", [124, 719]),
    "L57 a row within a bundle": ("p = Visit(walks[n], 2)\nout[0] = seen(p)\np = Visit(walks[n + 1], 1)\nout[1] = seen(p) + p.at", [12, 22]),
    "a bundle of the launch within": ("out[0] = tens(facts.move)", [34]),
    "L48 and L50 a base class sees its own": ("out[0] = scaled(facts, 1)", [10]),
    "L58 any class may stand for D": ("out[0] = any_of(facts, 1)\nout[1] = any_of(Facts(facts.weights, 100), 2)", [12, 702]),
    "L49 names of fields and of the caller": ("scale = 50\nweights = 3\nkept = facts.scale\nout[0] = scaled(facts, 2) + scale + weights + kept",
                                          [14 + 55]),
    "bits of a word that changes": ("w = u32(0b1011)\nt = 0\nfor b in set_bits(w):\n    w = u32(0)\n    t = 10 * t + b\n    b = 7\nout[0] = t", [13]),
}  # fmt: skip
MORE = """\
@bundle
class Small:
    a: i8
    yes: boolean
    x: f32

@bundle
class Pair:
    inner: Move
    k: i32

@bundle
class Visit:
    one: Walk
    at: i32

@function
def third(a: Array[i32]) -> i32:
    return a[1]

@function
def seen(v: Visit) -> i32:
    return v.one.control[v.at]

@function
def scaled(data: Facts, i: i32) -> i32:
    return data.weights[i] * data.scale

@function
def any_of(data: D, i: i32) -> i32:
    return data.weights[i] * data.scale + 2

"""
SIGNATURE = "@kernel\ndef k{}(walks: Rows[Walk], m: Move, facts: More, n: i32, flag: boolean, out: Array[i32]):\n"


def arguments(backend):
    walks = backend.rows(Walk(n=2), 4, S=np.uint8)
    backend.write(walks.control, (10 * np.arange(4)[:, None] + np.arange(3)).astype(np.int32))
    backend.write(walks.solution, np.arange(8, dtype=np.uint8))
    facts = backend.load(More(np.array([4, 5, 7, 2], np.int32), 2, np.zeros(2, np.int32), Move(3, 4)))
    return walks, Move(5, 6), facts


@pytest.fixture(scope="module")
def kernels_of_bodies(tmp_path_factory):
    text = MORE
    for number, (body, _) in enumerate(BODIES.values()):
        text += SIGNATURE.format(number) + "".join(f"    {row}\n" for row in body.splitlines()) + "\n"
    return loaded(tmp_path_factory.mktemp("bundles"), text)


@pytest.mark.parametrize("case", BODIES)
def test_bundles_mean_what_they_mean_in_python(kernels_of_bodies, devices, case):
    kernel = getattr(kernels_of_bodies, f"k{list(BODIES).index(case)}")
    expected = BODIES[case][1]
    for backend in devices:
        out = backend.upload(np.zeros(len(expected), np.int32))
        backend.launch(kernel, 1, 1, *arguments(backend), 1, True, out)
        assert backend.download(out).tolist() == expected, backend.name


# statements over the same parameters, and what plain Python says
ERRORS = {
    "a row beyond the last": ("out[0] = walks[n + 3].control[0]", "row 4 of 4 rows of Walk"),
    "a row before the first": ("out[0] = walks[n - 2].control[0]", "row -1 of 4 rows of Walk"),
    "an element of the next row": ("out[0] = walks[0].control[n + 2]", "index 3 outside an array of 3 elements"),
    "an element beyond a row that a function gets": ("out[0] = of_row(walks[1], 3)", "index 3 outside an array of 3"),
    "a view beyond a row": ("out[0] = third(view(walks[1].control, 3 + n))", "a view from element 4 of an array of 3"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_what_lies_outside_a_row_is_told(tmp_path, devices, case):
    body, words = ERRORS[case]
    rows = "".join(f"    {row}\n" for row in body.splitlines())
    kernel = loaded(tmp_path, MORE + SIGNATURE.format("") + rows).k
    out = devices[0].upload(np.zeros(1, np.int32))
    with pytest.raises(IndexError, match=words):
        devices[0].launch(kernel, 1, 1, *arguments(devices[0]), 1, True, out)


SIZES = """\
@bundle
class Sized:
    n: {kind}
    a: Array[u16] = Row("n")
    none: Array[i32] = Row("zero")
    zero: i32

@bundle
class Outer:
    k: i32
    inner: Sized

@function
def put(one: Outer, at: {index}, v: i32):
    one.inner.a[at] = u16(v)

@kernel
def k(rows: Rows[Outer], at: {index}):
    for w in range(rows.count):
        put(rows[w], at, w + rows[w].k)
        one = rows[w].inner
        one.a[at - 1] = u16(one.n)
"""


@pytest.mark.parametrize(
    ("kind", "index"), [("i16", "i8"), ("u32", "u8"), ("i32", "i32"), ("u8", "u32"), ("u64", "i64"), ("i64", "u64")]
)
def test_a_row_may_have_a_size_and_an_index_of_any_integer_type(tmp_path, devices, kind, index):
    module = loaded(tmp_path, SIZES.format(kind=kind, index=index))
    for backend in devices:
        for count in (3, 0):
            rows = backend.rows(module.Outer(100, module.Sized(n=4, zero=0)), count)
            backend.write(rows.inner.a, np.zeros(max(1, 4 * count), np.uint16))
            backend.launch(module.k, 1, 1, rows, 3)
            expected = [v for w in range(count) for v in (0, 0, 4, 100 + w)] or [0]
            assert backend.download(rows.inner.a).tolist() == expected, backend.name


NAMES = """\
T = Generic("T")

@bundle
class Mine:
    T_: Array[T]
    factor: T
    min: i32
    lane: i32
    count: i32
    Count: i32
    a_b: Move
    a_b_i: i32
    found: i32
    w: i32
    row: Array[T] = Row("count")
    seen: Array[boolean]

@bundle
class Other:
    a: Move
    a_b: i32

@function
def mine(data: Mine, at: i32, seen: Array[boolean]) -> i32:
    low = min(data.min, 1000) + lane() + data.lane + data.count + data.Count + data.a_b.i + data.a_b_i
    low += data.found + data.w
    if data.seen[at]:
        low += 100000
    if seen[0]:
        low += 200000
    return low + i32(data.T_[at] * T(2) + data.factor + data.row[1])

@function
def carried(data: D, key: T, out: Array[T]) -> T:
    seen = local_array(1, boolean)
    seen[0] = key > T(5)
    out[1] = key
    return T(mine(data, 1, seen)) + key

@kernel
def k(count: Array[T], data: Rows[D], seen: Other, key: T):
    min_ = data.count
    for w in range(data.count):
        found = carried(data[w], key, count)
        count[0] = found + T(min_) + T(seen.a_b + seen.a.j)
"""


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint16])
def test_names_and_types_of_data_meet_no_others(tmp_path, devices, dtype):
    """The class's T is not the kernel's; fields are named like words, parameters, locals and each other's texts."""
    module = loaded(tmp_path, NAMES)
    for backend in devices:
        weights, seen = np.array([1, 2], dtype), np.array([0, 1], np.uint8)
        data = backend.rows(module.Mine(weights, 3, 10, 20, 30, 40, Move(50, 0), 60, 70, 80, None, seen), 2, T=dtype)
        backend.write(data.row, np.arange(60).astype(dtype))
        count = backend.upload(np.zeros(2, np.uint64))
        backend.launch(module.k, 1, 1, count, data, module.Other(Move(0, 7), 1), 9)
        inside = 300_000 + 10 + 20 + 30 + 40 + 50 + 60 + 70 + 80 + 4 + 3 + 31
        assert backend.download(count).tolist() == [inside + 9 + 2 + 8, 9], backend.name


def test_bundles_and_rows_can_be_copied_and_pickled():
    bundle_ = More(np.arange(4, dtype=np.int32), 2, np.zeros(6, np.int32), Move(3, 4))
    for original in (bundle_, Rows(bundle_, 3)):
        for again in (pickle.loads(pickle.dumps(original)), copy.copy(original), copy.deepcopy(original)):
            assert repr(again) == repr(original)
            assert again.weights.tolist() == [0, 1, 2, 3] and again.move.j == 4
    assert repr(bundle_) == "More(weights=int32[4], scale=2, kept=int32[6], move=Move(i=3, j=4))"
    with pytest.raises(AttributeError, match="absent"):
        _ = Rows(bundle_, 3).absent


TWO_CLASSES = """\
@bundle
class Data:
    a: i32
    b: i32

@kernel
def k(data: D, out: Array[i64]):
    out[0] = i64(data.a) * 10 + i64(data.b)
"""


def test_one_kernel_takes_data_of_several_classes_of_one_name(tmp_path, devices):
    kernel = loaded(tmp_path, TWO_CLASSES).k
    for scalar, value in ((i8, -5), (f32, 2.5), (boolean, True), (i32, 2**20)):
        cls = bundle(type("Data", (), {"__annotations__": {"a": scalar, "b": i32}, "__module__": "same"}))
        for backend in devices:
            out = backend.upload(np.zeros(1, np.int64))
            backend.launch(kernel, 1, 1, cls(value, 4), out)
            assert backend.download(out)[0] == int(value) * 10 + 4, (backend.name, scalar)
