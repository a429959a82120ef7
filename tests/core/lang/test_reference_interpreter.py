"""The plain-Python run gives every value the type that devices give it; expectations are computed by hand."""

import numpy as np
import pytest

from backends.cpu.single_core import CpuBackend
from backends.python import PythonBackend
from core.lang import KernelError
from core.lang.intrinsics import current_lane
from tests.core.lang.module_texts import loaded

HEADER = """\
from core.lang import *
T = Generic("T")

@function
def high(v: u64) -> u64:
    return v << 30

@function
def as_wide(v: u32) -> u64:
    return v

@function
def times(v: u32, factor: Const[i32]) -> u32:
    if factor == 0:
        return u32(7)
    return v * u32(factor)

@function
def either(first: T, second: T, flag: Const[boolean]) -> T:
    return first if flag else second

"""
BODY = "@kernel\ndef k(n: u32, g: i32, out: Array[u64]):\n"

# name -> (statements, what they store): n = 2**32 - 1, g = -2**31
WIDENED = {
    "an assignment to a wider local": ("v = u64(0)\nv = n\nout[0] = v + n", 2**33 - 2),
    "one side of a choice": ("out[0] = (n if g < 0 else u64(0)) << 4", (2**32 - 1) << 4),
    "the other side of a choice": ("v = n if g < 0 else out[0]\nout[0] = v + v", 2**33 - 2),
    "an argument": ("out[0] = high(n)", (2**32 - 1) << 30),
    "a result": ("out[0] = as_wide(n) + n", 2**33 - 2),
    "the bounds of a range": ("for i in range(n, u64(1) << 32):\n    out[0] = i * i", (2**32 - 1) ** 2),
    "the start of a range": ("for i in range(u64(5), n & 6):\n    out[0] = i << 40", 5 << 40),
    "a step of unroll": ("v = n\nfor k in unroll(3):\n    v = v ^ times(n, k)\nout[0] = u64(v)", 2**32 - 1 ^ 7 ^ 1),
    "a literal in steps of unroll": ("v = u64(0)\nfor k in unroll(2):\n    v = v + ((n if k == 0 else out[0]) + 1)\nout[0] = v", 1),
    "unroll inside unroll": ("v = u32(0)\nfor k in unroll(2):\n    for m in unroll(k, 3):\n        v = v * 10 + times(u32(2), m)\n"
                             "out[0] = u64(v)", 7_2_4_2_4),
    "an index that is updated": ("v = local_array(3, u64)\nv[1] = 5\nv[g + 2147483647 + 2] += n\nout[0] = v[1]", 2**32 + 4),
    "truth values as arguments": ("out[0] = u64(either(n > 1, n < 1, True)) + u64(either(n, u32(8), False))", 9),
    "a branch without its barrier": ("if team_size() > 1:\n    barrier()\nout[0] = 3", 3),
    "an unsigned literal": ("out[0] = u64(n * 4294967295)", 1),
}  # fmt: skip


def kernel_of(folder, body):
    return loaded(folder, HEADER + BODY + "".join(f"    {row}\n" for row in body.splitlines())).k


def stored(backend, kernel):
    out = backend.upload(np.zeros(1, np.uint64))
    backend.launch(kernel, 1, 1, 2**32 - 1, -(2**31), out)
    return int(backend.download(out)[0])


@pytest.mark.parametrize("case", WIDENED)
def test_values_have_the_same_type_as_on_devices(tmp_path, devices, case):
    body, expected = WIDENED[case]
    kernel = kernel_of(tmp_path, body)
    for backend in devices:
        assert stored(backend, kernel) == expected, backend.name


def test_functions_of_one_name_from_two_modules_are_two_functions(tmp_path, devices):
    inner = loaded(tmp_path, "from core.lang import *\n@function\ndef f(v: u64) -> u64:\n    return v + 1\n")
    text = "from core.lang import *\ninner = None\n@function\ndef f(v: u64) -> u64:\n    return inner(v) * 10\n"
    outer = loaded(tmp_path, text)
    outer.inner = inner.f
    kernel = kernel_of(tmp_path, "out[0] = f(u64(4))")
    kernel.python.__globals__["f"] = outer.f
    for backend in devices:
        assert stored(backend, kernel) == 50, backend.name


def test_kernels_of_one_name_and_module_are_two_kernels(tmp_path):
    backend = CpuBackend(CpuBackend.devices()[0])
    kernels = [kernel_of(tmp_path, f"out[0] = {number}") for number in (5, 6)]
    for kernel in kernels:
        kernel.__module__ = "same"
    assert [stored(backend, kernel) for kernel in kernels] == [5, 6]


def test_machine_code_divides_the_lowest_number_by_minus_one(tmp_path, devices):
    kernel = kernel_of(tmp_path, "by = i32(n)\nout[0] = u64(g // by) + u64((i64(g) << 32) // by)")
    for backend in devices[1:]:  # the interpreter reports the overflow
        assert stored(backend, kernel) == (-(2**31) - 2**63) % 2**64, backend.name


BIG = 2**31 - 1
# statements over v = 2**31 - 1, w = -2**31 and one = 1: what raises, and what just does not
EDGES = {
    "+": ("v + one", "v + 0", BIG),
    "-": ("w - one", "w - 0", -BIG - 1),
    "*": ("(v // 46340) * 46342", "46340 * (one * 46341)", 46340 * 46341),
    "* of both": ("(one + 46340) * (one + 46340)", "(one + 46339) * (one + 46340)", 46340 * 46341),
    "unary -": ("-w", "-(w + 1)", BIG),
    "//": ("w // -one", "w // one", -BIG - 1),
    "in a step": ("v * 2 // 2", "v // 2 * 2", BIG - 1),
}


@pytest.mark.parametrize("case", EDGES)
def test_signed_overflow_is_told_at_the_first_number_too_many(tmp_path, case):
    raising, fitting, expected = EDGES[case]
    text = "def k(v: i32, w: i32, one: i32, out: Array[i32]):\n    out[0] = 1\n    out[0] = "
    module = loaded(tmp_path, f"{HEADER}@kernel\n{text}{fitting}\n")
    backend = PythonBackend(PythonBackend.devices()[0])
    out = backend.upload(np.zeros(1, np.int32))
    backend.launch(module.k, 1, 1, BIG, -BIG - 1, 1, out)
    assert backend.download(out)[0] == expected
    module = loaded(tmp_path, f"{HEADER}@kernel\n{text}{raising}\n")
    where = rf"{module.__file__}:{HEADER.count(chr(10)) + 4}: k: signed overflow in "
    with pytest.raises(OverflowError, match=where) as caught:
        backend.launch(module.k, 1, 1, BIG, -BIG - 1, 1, out)
    assert isinstance(caught.value, KernelError)


def test_after_a_launch_that_failed_a_lane_stands_alone(tmp_path):
    kernel = kernel_of(tmp_path, "if lane() == 2 and g < 0:\n    out[1] = 1\nbarrier()")
    backend = PythonBackend(PythonBackend.devices()[0])
    with pytest.raises(IndexError):
        backend.launch(kernel, 2, 3, 1, -1, backend.upload(np.zeros(1, np.uint64)))
    assert (current_lane.lane, current_lane.team_size, current_lane.team_rank, current_lane.team_count) == (0, 1, 0, 1)
