"""A test for every keyed line of LANGUAGE.md that is about bundles, on the oracle and as machine code."""

import numpy as np
import pytest

from backends.base import LaunchRefused
from backends.cpu import CpuBackend
from backends.python import PythonBackend
from core.errors import UserError
from core.lang import (
    Array,
    Const,
    Generic,
    KernelError,
    Row,
    Rows,
    boolean,
    bundle,
    function,
    i16,
    i32,
    kernel,
    local_array,
    shared_array,
    team_size,
    u16,
    unroll,
)

S, D = Generic("S"), Generic("D")


@bundle
class Move:
    i: i32
    j: i32


@bundle
class Walk:
    control: Row(i32, 3)
    solution: Row(S, "n")
    n: i32


@bundle
class Facts:
    """A field is called as a word, one as a parameter and a function of this file."""

    min: i32
    tens: Array[S]
    one: Move
    strict: boolean


@bundle
class More(Facts):
    kept: Array[i32]


@bundle
class Wide:
    width: Const[i32]


@bundle
class Scratch:
    sums: Array[i32]
    k: i32


@function
def tens(one: Move) -> i32:
    return 10 * one.i + one.j


@function
def of_base(facts: Facts, at: i32) -> i32:
    return i32(facts.tens[at]) + facts.min + tens(facts.one)


@function
def of_any(data: D, at: i32) -> i32:
    return of_base(data, at) + data.kept[0]


@function
def swapped(one: Walk, move: Move):
    one.solution[move.i], one.solution[move.j] = one.solution[move.j], one.solution[move.i]


@function
def filled(scratch: Scratch, wide: Wide) -> i32:
    own = local_array(wide.width, i32)
    for k in unroll(wide.width):
        own[k] = k + scratch.k
    scratch.sums[0] = own[wide.width - 1]
    return scratch.sums[0]


@kernel
def everything(walks: Rows[Walk], more: More, data: D, wide: Wide, n: i32, own: Array[S], out: Array[i32]):
    out[0] = of_base(more, 1)
    out[1] = of_any(data, 2)
    out[2] = more.min + i32(more.strict)
    for w in range(walks.count):
        one = walks[w]
        swapped(one, Move(0, one.n - 1))
        one.control[2] = w + one.n
    scratch = Scratch(shared_array(team_size(), i32), n)
    out[3] = filled(scratch, wide)
    count = n
    move = Move(count, 2)
    count = 9
    out[4] = tens(move) + count
    move = Move(move.j, move.i)
    out[5] = tens(move)
    own[0] = S(n)


def arguments(backend, dtype=np.uint8):
    """Three rows of four elements, and data with i16 where the rows have ``dtype``."""
    walks = backend.rows(Walk(n=4), 3, S=dtype)
    backend.write(walks.solution, np.arange(12).astype(dtype))
    backend.write(walks.control, np.zeros(9, np.int32))
    more, data = (
        backend.load(More(100, np.array([7, 8, 9], given), Move(3, 4), True, np.array([1000], np.int32)))
        for given in (dtype, np.int16)
    )
    own, out = backend.allocate(1, dtype), backend.upload(np.zeros(6, np.int32))
    return [walks, more, data, Wide(3), 5, own, out]


@pytest.fixture(scope="module", params=[PythonBackend, CpuBackend])
def done(request):
    backend = request.param(request.param.devices()[0])
    given = arguments(backend)
    backend.launch(everything, 1, 1, *given)
    return backend, given, backend.download(given[-1]).tolist()


def test_l48_l49_and_l50_classes_their_fields_and_subclasses(done):
    assert done[2][0] == 8 + 100 + 34
    assert done[2][2] == 101
    with pytest.raises(UserError, match="within itself"):
        bundle(type("Node", (), {"__annotations__": {"next": "Node"}}))
    with pytest.raises(UserError, match="in its base class it is i32"):
        bundle(type("Other", (Move,), {"__annotations__": {"j": u16}}))
    assert [list(vars(More(1, 2, Move(1, 2), True, 5))), More.__base__] == [
        ["min", "tens", "one", "strict", "kept"],
        Facts,
    ]


def test_l51_a_field_known_when_compiling(done):
    backend, given, found = done
    assert found[3] == 2 + 5
    given[3] = Wide(1)
    backend.launch(everything, 1, 1, *given)
    assert backend.read(given[-1], 3, 1)[0] == 5


def test_l52_and_l53_every_row_has_its_part():
    for kind in (PythonBackend, CpuBackend):
        backend = kind(kind.devices()[0])
        given = arguments(backend)
        backend.launch(everything, 1, 1, *given)
        assert backend.download(given[0].solution).tolist() == [3, 1, 2, 0, 7, 5, 6, 4, 11, 9, 10, 8]
        assert backend.download(given[0].control).tolist() == [0, 0, 4, 0, 0, 5, 0, 0, 6]


@kernel
def element_of(walks: Rows[Walk], w: i16, k: i32, out: Array[i32]):
    out[0] = walks[w].control[k]


@pytest.mark.parametrize(("row", "index", "words"), [(3, 0, "row 3 of 3 rows"), (0, 3, "index 3"), (-1, 0, "row -1")])
def test_l52_and_l53_outside_a_row_and_outside_the_rows(row, index, words):
    backend = PythonBackend(PythonBackend.devices()[0])
    with pytest.raises(IndexError, match=words):
        backend.launch(element_of, 1, 1, arguments(backend)[0], row, index, backend.allocate(1, np.int32))


def test_l54_l55_and_l56_bundles_are_made_and_named_again(done):
    assert done[2][4:] == [52 + 9, 25]


def test_l56_not_of_other_arrays():
    @kernel
    def renamed(a: Array[i32], b: Array[i32]):
        scratch = Scratch(a, 1)
        scratch = Scratch(b, 2)
        scratch.sums[0] = scratch.k

    with pytest.raises(KernelError, match="scratch stands for a bundle of other arrays"):
        renamed.specialise({}, 1)


def test_l57_of_different_arrays():
    @function
    def copied(one: Scratch, other: Scratch):
        one.sums[0] = other.k
        other.sums[0] = one.k

    @kernel
    def twice(a: Array[i32]):
        copied(Scratch(a, 1), Scratch(a, 2))

    with pytest.raises(KernelError, match="the array a is passed twice"):
        twice.specialise({}, 1)


def test_l58_types_of_a_class_that_stands_for_d_are_its_own(done):
    assert done[2][1] == 9 + 100 + 34 + 1000  # data.tens is of i16, where S is u8 for the rows and for `own`


def test_l59_and_l60_what_is_loaded_and_launched(done):
    backend, given, _ = done
    assert [given[0].solution.size, given[0].solution.dtype, given[1].tens.size] == [12, np.uint8, 3]
    wrong = given[0].bundle, Rows(given[0].bundle, 2)
    for one, words in zip(
        wrong, (r"walks is Rows\[Walk\], not Walk", "walks.control has 9 elements; expected 2 rows"), strict=True
    ):
        with pytest.raises(LaunchRefused, match=words):
            backend.launch(everything, 1, 1, one, *given[1:])


def test_l70_rows_of_so_many_elements_are_refused(done):
    with pytest.raises(UserError, match="expected less than 2.31"):
        done[0].rows(Walk(n=2**30), 2, S=np.uint8)
