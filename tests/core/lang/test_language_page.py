"""A test for every keyed line of LANGUAGE.md, on the oracle and as machine code; expectations are computed by hand."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import core.lang
from backends.cpu.single_core import CpuBackend
from backends.device import LaunchRefused
from backends.emit.numba_python import CpuPython, CudaPython
from backends.emit.opencl_c import OpenClC
from backends.python import PythonBackend
from core.lang import KernelError
from core.lang.reference_interpreter import BarrierError
from tests.core.lang import test_bundles
from tests.core.lang.module_texts import loaded

PAGE = Path(core.lang.__file__).with_name("LANGUAGE.md")
HEADER = """\
from core.lang import *
from core.lang.library import *
T = Generic('T')
SEVEN = 7
SIZES = (3, 5, 8)
absent = None

@function
def is_odd(v: i32, flag: boolean) -> boolean:
    return flag and v % 2 == 1

@function
def twice(v: T) -> T:
    return v * 2

@function
def narrow(v: T, a: Array[T]) -> T:
    a[0] = T(5)
    return T(300) + v

@function
def second(a: Array[T]) -> T:
    return a[1]

@function
def powered(v: i32, times: Const[i32]) -> i32:
    found = 1
    for k in unroll(times):
        found = found * v
    return found

"""
BIG = 2**31 - 1

# key -> (statements over out: Array[i64] from `at` on, a: Array[i32] = [5, -3, 9, 0], h: Array[u16] = [65535, 2],
#         x: f32 = 0.5, n: i32 = 4), what they store
RESULTS = {
    "L1": ("out[at] = i64(a[1])\nout[at + 1] = i64(h[0])", [-3, 65535]),
    "L2": ("v = u64(1) << 40\nw = 3\nout[at] = i64(v + 1)\nout[at + 1] = i64(w * -1)\nout[at + 2] = i64(0.5 * 4.0)",
           [2**40 + 1, -3, 2]),
    "L3": ("v = h[0]\nv = v + 1\nout[at] = i64(v)", [65536]),
    "L4": ("out[at] = i64(h[0] * h[0])\nout[at + 1] = i64(u8(200) + u8(100))", [65535 * 65535, 300]),
    "L5": ("out[at] = i64(a[0]) + n\nout[at + 1] = i64(f32(n) * x)", [9, 2]),
    "L6": ("out[at] = i64(u32(n) - 5)\nout[at + 1] = i64((u64(n) - 5) >> 32)", [2**32 - 1, 2**32 - 1]),
    "L7": (f"v = n - {BIG} - 5\nw = a[3] - 1\nout[at] = i64(v % w) + i64(v) % -1 + 5\nv %= w\nout[at + 1] = i64(v) + 5\n"
           "out[at + 2] = (i64(1) << (n + 59)) % i64(w) + 5", [5, 5, 5]),
    "L8": ("out[at] = i64(a[1] // 2)\nout[at + 1] = i64(a[1] % 2)\nout[at + 2] = i64(n % a[1])\nout[at + 3] = i64(n // a[1])",
           [-2, 1, -2, -2]),
    "L10": ("out[at] = i64(x / f32(0.25))\nout[at + 1] = i64(f32(n) / f32(0.0) > 1e30)", [2, 1]),
    "L11": ("out[at] = i64(1 << (n + 29))\nout[at + 1] = i64(a[1] >> 1)\nout[at + 2] = i64(a[1] << 31)\n"
            "out[at + 3] = i64(u32(3) << 31)", [2, -2, -(2**31), 2**31]),
    "L12": ("out[at] = i64(~n & 255 | 256 ^ 1)\nout[at + 1] = i64(-u32(n))", [(~4 & 255) | (256 ^ 1), 2**32 - 4]),
    "L13": ("out[at] = i64(i8(n + 196))\nout[at + 1] = i64(u16(a[1]))\nout[at + 2] = i64(i32(f32(-2.75)))\n"
            "out[at + 3] = i64(u64(a[1]) >> 60)", [-56, 65533, -2, 15]),
    "L14": ("out[at] = i64(f32(16777217))\nout[at + 1] = i64(i32(n == 4) + i32(n > 4))\n"
            "out[at + 2] = i64(f32(i64(n) * 4503599895805952 + 1))", [16777216, 1, 2**54 + 2**31]),
    "L15": ("v = f32(n) + f32(0.000244140625)\nw = v * v - f32(16.001953125)\nout[at] = i64(w * f32(1e10))\n"
            "out[at + 1] = i64(sqrt(f32(2.0)) * f32(1e9))", [0, 1414213504]),
    "L16": ("v = local_array(SEVEN * 2 - team_size(), i32)\nv[12] = SEVEN\nout[at] = i64(v[12])", [7]),
    "L17": ("out[at] = i64(1 < n < 5)\nout[at + 1] = i64(1 < n > 4)\nout[at + 2] = i64(n != 4)", [1, 0, 0]),
    "L18": ("out[at] = i64(n > 9 and a[n + 90] > 0)\nout[at + 1] = i64(n > 3 or a[n + 90] > 0)\nout[at + 2] = i64(not n > 3)",
            [0, 1, 0]),
    "L19": ("out[at] = i64(n if n < 100 else a[n + 90])\nout[at + 1] = i64(n if SEVEN == 7 else missing)", [4, 4]),
    "L20": ("out[at] = i64(a[u32(2)])\nout[at + 1] = i64(a[i64(n) - 4])", [9, 5]),
    "L21": ("out[at] = i64(min(n, 3))\nout[at + 1] = i64(max(a[1], -9))\nnan = x * f32(0.0) / f32(0.0)\n"
            "out[at + 2] = i64(min(x, nan) == x)", [3, -3, 1]),
    "L22": ("out[at] = i64(abs(a[1]))\nout[at + 1] = i64(abs(f32(a[1])))", [3, 3]),
    "L23": ("out[at] = i64(popcount(a[1]))\nout[at + 1] = i64(clz(n))\nout[at + 2] = i64(clz(u64(0)))\n"
            "out[at + 3] = i64(mulhi(u32(2147483648), u32(n)))\nout[at + 4] = mulhi(i64(a[1]) << 40, i64(1) << 40)",
            [31, 29, 64, 2, -(3 * 2**16)]),
    "L24": ("out[at] = i64(sqrt(f32(n)))\nout[at + 1] = i64(abs(exp(log(f32(7.0))) - 7.0) < 0.001)\n"
            "out[at + 2] = i64(abs(sin(x) * sin(x) + cos(x) * cos(x) - 1.0) < 0.001)\nout[at + 3] = i64(pow(f32(n), f32(0.5)) + 0.5)",
            [2, 1, 1, 2]),
    "L25": ("out[at] = 7\nold = atomic_add(out, at, i64(5))\nout[at + 1] = old", [12, 7]),
    "L26": ("v = 1\nv += n * 2\nout[at] = i64(v)\nout[at] += 1\nout[at + 1] = 300", [10, 300]),
    "L27": ("m = local_array(2, u16)\nm[0] = 1\nm[1] = 2\nm[0], m[1] = m[1], m[0]\nv, w = n, 9\nv, w = w, v\n"
            "out[at] = i64(m[0])\nout[at + 1] = i64(m[1])\nout[at + 2] = i64(v * 10 + w)", [2, 1, 94]),
    "L28": ("v = 0\nif n > 5:\n    v = 1\nelif n > 3:\n    v = 2\nelse:\n    v = 3\nif SEVEN > 9:\n    v = nowhere\nout[at] = i64(v)", [2]),
    "L29": ("v = 0\nk = 0\nwhile True:\n    k += 1\n    if k == 3:\n        continue\n    if k > 5:\n        break\n    v = v * 10 + k\n"
            "out[at] = i64(v)", [1245]),
    "L30": ("v = 0\nfor i in range(3):\n    v = v * 10 + i\n    i = 7\nfor i in range(9, 2, -3):\n    v = v * 10 + i\nout[at] = i64(v)",
            [12963]),
    "L67": ("out[at] = i64(u64((1 << 64) - 1) >> 63)", [1]),
    "L68": ("v = 0\nfor k in unroll(64):\n    for m in unroll(64):\n        v += 1\nout[at] = i64(v)", [4096]),
    "L31": ("m = local_array(3, i32)\nfor k in unroll(3):\n    m[k] = k * k\nout[at] = i64(m[0] + 10 * m[1] + 100 * m[2])", [410]),
    "L32": ("if n > 3:\n    v = 1\nelse:\n    v = 2\nout[at] = i64(v)", [1]),
    "L33": ("out[at] = i64(twice(n))", [8]),
    "L34": ("out[at] = i64(powered(n, 3) + powered(n, SEVEN - 5))", [80]),
    "L35": ("m = local_array(1, u64)\nv = narrow(u64(1), m)\nout[at] = i64(v + m[0])\nout[at + 1] = i64(twice(x))", [306, 1]),
    "L37": ("m = local_array(4, i32)\nfor i in range(4):\n    m[i] = i\nout[at] = i64(m[3])", [3]),
    "L40": ("out[at] = 7\nv = atomic_min(out, at, i64(-2))\nw = atomic_max(out, at, i64(9))\nold = atomic_cas(out, at, i64(9), i64(1))\n"
            "out[at + 1] = v\nout[at + 2] = w\nout[at + 3] = old", [1, 7, -2, 9]),
    "L41": ("out[at] = i64(lane() + team_rank() * 10)\nout[at + 1] = i64(team_count() * team_size())", [0, 1]),
    "L42": ("m = local_array(4, u32)\nfor k in range(4):\n    m[k] = u32(0)\nphilox(m, u32(0), u32(0))\nout[at] = i64(m[0])\n"
            "out[at + 1] = i64(packed_cost(pack(-5, u32(9)))) * 10 + i64(packed_index(pack(-5, u32(9))))", [0x6627E8D5, -41]),
    "L43": ("m = local_array(2, boolean)\nm[1] = is_odd(a[0], n > 3)\nm[0] = is_odd(n, True)\n"
            "out[at] = i64(m[1]) * 10 + i64(m[0])\nout[at + 1] = 7 if m[1] and not m[0] else 8", [10, 7]),
    "L44": ("v = 1\nif absent is not None:\n    v = absent(n)\nout[at] = i64(v)\nout[at + 1] = i64(twice(n) if twice is not None else 0)",
            [1, 8]),
    "L45": ("v = 0\nfor k in unroll(len(SIZES)):\n    v = v * 10 + SIZES[k]\nout[at] = i64(v)\nout[at + 1] = i64(h[0]) * SIZES[2]",
            [358, 8 * 65535]),
    "L46": ("v = 0\nfor b in set_bits(h[1] | u32(0x80000010)):\n    v = v * 100 + b\n    b = 9\nout[at] = i64(v)\n"
            "for b in set_bits(u64(n) << 60):\n    out[at + 1] = i64(b)", [10431, 62]),
    "L47": ("out[at] = i64(second(a))\nout[at + 1] = i64(second(view(a, 1)))\nout[at + 2] = i64(second(view(h, n - 4)))",
            [-3, 9, 2]),
}  # fmt: skip

# key -> (statements, what the oracle raises)
ERRORS = {
    "L7": (f"v = n + {BIG - 3}\nout[at] = i64(v)", OverflowError),
    "L9": ("out[at] = i64(n // (n - 4))", ZeroDivisionError),
    "L13 beyond": ("out[at] = i64(i32(f32(n) * f32(1e10)))", OverflowError),
    "L13 not a number": ("v = f32(0.0) / f32(n - 4)\nout[at] = i64(v)", ValueError),
    "L20 outside": ("out[at] = i64(a[n])", IndexError),
    "L20 before": ("out[at] = i64(a[n - 5])", IndexError),
    "L22 lowest": (f"out[at] = i64(abs(a[3] - {BIG} - 1))", OverflowError),
    "L25 outside": ("old = atomic_add(out, at + 1000 * n, i64(5))", IndexError),
    "L26 outside": ("a[n * 1000] += 1", IndexError),
    "L30 no step": ("for i in range(0, 9, n - 4):\n    out[at] = 1", ValueError),
    "L47 outside": ("out[at] = i64(second(view(a, n + 1)))", IndexError),
    "L30 step": ("v = 0\nfor i in range(9, 0, a[1]):\n    v = i\nout[at] = i64(v)", ValueError),
    "L30 bounds": (f"v = 0\nfor i in range({BIG - 1}, {BIG}, n):\n    v = i\nout[at] = i64(v)", OverflowError),
}
PARAMETERS = "out: Array[i64], a: Array[i32], h: Array[u16], x: f32, n: i32, at: i32"
PASSED = "out, a, h, x, n, "


def as_function(key, body):
    rows = "".join(f"    {row}\n" for row in body.splitlines())
    return f"@function\ndef {key.replace(' ', '_')}({PARAMETERS}):\n{rows}\n"


def everything(folder):
    """Return a kernel with all statements of RESULTS; each stores its values from eight times its position on."""
    text = HEADER + "".join(as_function(key, body) for key, (body, _) in RESULTS.items())
    calls = "".join(f"    {key}({PASSED}{8 * k})\n" for k, key in enumerate(RESULTS))
    return loaded(folder, text + f"@kernel\ndef everything({PARAMETERS}):\n{calls}").everything


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Values of all statements of RESULTS, by the interpreter and by machine code in one kernel."""
    kernel = everything(tmp_path_factory.mktemp("page"))
    return {kind.name: run(kind, kernel) for kind in (PythonBackend, CpuBackend)}


def run(kind, kernel, team_size=1, teams=1):
    backend = kind(kind.devices()[0])
    out = backend.upload(np.zeros(8 * len(RESULTS), np.int64))
    a, h = backend.upload(np.array([5, -3, 9, 0], np.int32)), backend.upload(np.array([65535, 2], np.uint16))
    backend.launch(kernel, teams, team_size, out, a, h, 0.5, 4, 0)
    return backend.download(out)


@pytest.mark.parametrize("key", RESULTS)
@pytest.mark.parametrize("backend_name", ["python", "cpu"])
def test_line(stored, backend_name, key):
    begin = 8 * list(RESULTS).index(key)
    expected = RESULTS[key][1]
    assert stored[backend_name][begin : begin + len(expected)].tolist() == expected


@pytest.mark.parametrize("key", ERRORS)
def test_line_that_is_an_error(tmp_path, key):
    body, error = ERRORS[key]
    text = HEADER + as_function("f", body) + f"@kernel\ndef k({PARAMETERS}):\n    f({PASSED}at)\n"
    with pytest.raises(error):
        run(PythonBackend, loaded(tmp_path, text).k)


def kernel_of(folder, body):
    rows = "".join(f"    {row}\n" for row in body.splitlines())
    return loaded(folder, f"{HEADER}@kernel\ndef k({PARAMETERS}):\n{rows}").k


def test_l36_a_shared_array_is_one_per_team_and_shows_that_nobody_wrote_it(tmp_path):
    body = "s = shared_array(4, i32)\n{}barrier()\nout[team_rank() * 4 + lane()] = i64(s[3 - lane()])"
    written = kernel_of(tmp_path, body.format("s[lane()] = lane() + 10 * team_rank()\n"))
    assert run(PythonBackend, written, 4, 2)[:8].tolist() == [3, 2, 1, 0, 13, 12, 11, 10]
    unwritten = np.array([0xA5] * 4, np.uint8).view(np.int32)[0]
    assert run(PythonBackend, kernel_of(tmp_path, body.format("")), 4, 2)[:8].tolist() == [unwritten] * 8


def test_l38_a_launch_takes_arrays_only_with_their_type(tmp_path):
    kernel = kernel_of(tmp_path, "out[0] = 1")
    backend = CpuBackend(CpuBackend.devices()[0])
    first, two, three = (backend.upload(np.zeros(4, np.int64)) for _ in range(3))
    with pytest.raises(LaunchRefused, match=r"argument a is Array\[i32\], not int64"):
        backend.launch(kernel, 1, 1, first, two, three, 0.5, 4, 0)
    with pytest.raises(LaunchRefused, match="arguments out and a are the same buffer"):
        backend.launch(kernel, 1, 1, first, first, three, 0.5, 4, 0)


def test_l39_a_barrier_is_for_all_lanes(tmp_path):
    with pytest.raises(BarrierError, match="lanes"):
        run(PythonBackend, kernel_of(tmp_path, "if lane() > 1:\n    barrier()\nout[0] = 1"), 4)


def test_l65_and_l66_as_deep_and_as_large_as_may_be(tmp_path):
    text = "@function\ndef f0(v: i32) -> i32:\n    m = local_array(32_768, i32)\n    m[v] = v\n    return m[v] + 1\n"
    text += "".join(f"@function\ndef f{k}(v: i32) -> i32:\n    return f{k - 1}(v + 1)\n" for k in range(1, 16))
    body = "    out[0] = i64(f15(n))\n    out[1] = i64(f0(n))\n    out[2] = i64(" + " + ".join(["n"] * 92) + ")\n"
    kernel = loaded(tmp_path, f"{HEADER}{text}@kernel\ndef k({PARAMETERS}):\n{body}").k
    for kind in (PythonBackend, CpuBackend):
        assert run(kind, kernel)[:3].tolist() == [4 + 16, 5, 4 * 92], kind.name


def test_l69_decorated_twice_or_named_as_a_word(tmp_path):
    for text, words in (
        ("@kernel\n@kernel\ndef k(n: i32):\n    pass\n", "k: is a @kernel already; decorate it once"),
        ("@function\ndef clz(n: i32) -> i32:\n    return n\n", "clz: clz is a word of the kernel language; choose"),
    ):
        with pytest.raises(KernelError, match=rf"program_\w+.py:{HEADER.count(chr(10)) + 1}: {words}"):
            loaded(tmp_path, HEADER + text)


both = pytest.mark.parametrize("kind", [PythonBackend, CpuBackend])


# --- tables ---


def tabled(kind, folder, table, numbers):
    """A kernel's sums of a table of 16-bit numbers, whole and from its second element on."""
    text = f"""{HEADER}
@function
def total(a: Array[i16], count: i32) -> i32:
    found = 0
    for i in range(count):
        found += a[i]
    return found

@kernel
def sums(a: {table}, n: i32, out: Array[i32]):
    out[lane()] = total(a, n) + 1000 * total(view(a, 1), n - 1)
"""
    backend = kind(kind.devices()[0])
    out = backend.allocate(1, np.int32)
    backend.launch(loaded(folder, text).sums, 2, 1, backend.upload(numbers), numbers.size, out)
    return backend.download(out).tolist()


@both
@pytest.mark.parametrize("table", ["Table(i16, 'readonly')", "Table(i16, 'readonly', 3)", "Table(i16, 'shared', 3)"])
def test_l61_l62_and_l63_a_table_is_read_as_an_array(tmp_path, kind, table):
    assert tabled(kind, tmp_path, table, np.array([5, -2, 4], np.int16)) == [7 + 2000]


@both
def test_l63_a_shared_table_must_fit_and_have_its_elements(tmp_path, kind):
    room = kind(kind.devices()[0]).capabilities.shared_bytes
    with pytest.raises(LaunchRefused, match=f"a has {room} elements; 3 given"):
        tabled(kind, tmp_path, f"Table(i16, 'shared', {room})", np.zeros(3, np.int16))
    if kind is CpuBackend:
        with pytest.raises(LaunchRefused, match=f"needs {2 * room} bytes of shared memory; a team has {room}"):
            tabled(kind, tmp_path, f"Table(i16, 'shared', {room})", np.zeros(room, np.int16))
    else:
        with pytest.raises(IndexError, match="index 3 outside an array of 3 elements"):
            tabled(kind, tmp_path, "Table(i16, 'shared', 3)", np.zeros(4, np.int16))


@both
def test_l64_images_are_for_opencl(tmp_path, kind):
    with pytest.raises(LaunchRefused, match=f"image on {kind.name}: images exist on OpenCL devices; use readonly"):
        tabled(kind, tmp_path, "Table(i16, 'image')", np.zeros(3, np.int16))


TALKING = """
@function
def gain(v: i32, room: i32) -> i32:
    assert v < room, "no room"
    if v > 1:
        print("gain of", v, v > 2, 0.25)
    return room - v

@kernel
def gains(out: Array[i64], n: i32, room: i32):
    for i in range(n):
        out[0] += i64(gain(i, room) + gain(0, room))
        assert (
            out[0] < 1000
            and n < 5000
        )

"""


def gains(kind, module, n, room, begin=0):
    backend = kind(kind.devices()[0])
    out = backend.upload(np.array([begin], np.int64))
    try:
        backend.launch(module.gains, 1, 1, out, n, room)
    finally:
        gain = backend.download(out)[0]
    return gain


def test_l71_an_assertion_that_fails_is_an_error_with_its_place(tmp_path):
    module = loaded(tmp_path, HEADER + TALKING)
    begin = HEADER.count("\n") + 1
    with pytest.raises(KernelError) as caught:
        gains(PythonBackend, module, 5, 3)
    assert isinstance(caught.value, AssertionError)
    first, after = str(caught.value).splitlines()
    assert first == f"{module.__file__}:{begin + 3}: gain: assertion failed: v < room: no room"
    assert after == f"  called at {module.__file__}:{begin + 11} in gains"
    with pytest.raises(AssertionError) as caught:
        gains(PythonBackend, module, 1, 3, 10_000)
    assert str(caught.value) == f"{module.__file__}:{begin + 13}: gains: assertion failed: out[0] < 1000 and n < 5000"
    assert gains(PythonBackend, module, 3, 9) == 3 * 9 + 9 + 8 + 7


def test_l71_python_without_assertions_has_none_in_kernels(tmp_path):
    program = (
        "import sys, importlib.util, numpy, backends\n"
        "spec = importlib.util.spec_from_file_location('program', sys.argv[1])\n"
        "module = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(module)\n"
        "backend = backends.create('python')\nout = backend.upload(numpy.zeros(1, numpy.int64))\n"
        "backend.launch(module.gains, 1, 1, out, 3, 1)\nprint(backend.download(out)[0])\n"
    )
    command = [sys.executable, "-O", "-c", program, loaded(tmp_path, HEADER + TALKING).__file__]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout == "gain of 2 False 0.25\n3\n", done.stderr


def test_l72_a_print_is_a_line(tmp_path, capsys):
    assert gains(PythonBackend, loaded(tmp_path, HEADER + TALKING), 4, 9) == 4 * 9 + 9 + 8 + 7 + 6
    assert capsys.readouterr().out == "gain of 2 False 0.25\ngain of 3 True 0.25\n"


def test_l73_compiled_kernels_neither_assert_nor_print(tmp_path, capsys):
    module = loaded(tmp_path, HEADER + TALKING)
    assert gains(CpuBackend, module, 3, 1) == 3 + 1 + 0 - 1
    assert not capsys.readouterr().out
    silent = loaded(tmp_path, HEADER + re.sub(r"assert v .*\n|print.*|assert \([^)]*\)", "pass\n", TALKING)).gains
    for printer in (CpuPython, CudaPython, OpenClC):
        assert printer(module.gains.specialise({}, 1)).source() == printer(silent.specialise({}, 1)).source()


@both
def test_l74_a_check_is_no_effect(tmp_path, kind):
    assert gains(kind, loaded(tmp_path, HEADER + TALKING), 2, 9) == 2 * 9 + 9 + 8, "gain stands in expressions"


def test_every_line_of_the_page_has_a_test_and_every_test_a_line():
    lines = set(re.findall(r"^\| (L\d+) \|", PAGE.read_text(), re.MULTILINE))
    of_bundles = ("test_bundles", "test_named_arrays", "test_constant_fields")
    files = (Path(__file__), *(Path(__file__).with_name(f"{name}.py") for name in of_bundles))
    tests = re.findall(r"def test_(l\d+\w*)", "".join(file.read_text() for file in files))
    named = {found.upper() for name in tests for found in re.findall(r"l\d+", name)}
    keys = [*RESULTS, *ERRORS, *test_bundles.BODIES]
    tested = named | {line for key in keys for line in re.findall(r"\bL\d+", key)}
    assert lines == tested
    assert len(lines) >= 40
