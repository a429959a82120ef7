"""Programs compiled to PTX by both compilers of CUDA devices, without a GPU. NVRTC is the faster one."""

import re
from functools import partial

import numpy as np
import pytest

from backends.cuda import nvrtc
from backends.emit.cuda_c import CudaC
from cluster import Solo
from core import tours as tsp
from core.hill_climbing.scans import TilesScan
from core.hill_climbing.search import HillClimbing
from core.lang.tree import shared_bytes
from core.lang.types import BY_NAME, f64, u32
from core.run.stop import Iterations
from core.tables.held_karp.kernels.halves import Meeting, extend_fetching, meet
from core.tables.held_karp.kernels.layers import Layer, Paths, Sets, SubsetShare
from tests.backends import kernels
from tests.backends.fake_cuda import FakeCuda
from tests.backends.host_cuda import HostCuda
from tests.backends.ptx import ptx
from tests.backends.small_searches import CITIES, SEARCHES
from tests.backends.test_conformance import CASES
from tests.backends.test_tables import program

SLOW, BOTH = pytest.mark.slow, ["nvrtc", "numba"]


@pytest.fixture(params=["nvrtc", pytest.param("numba", marks=SLOW)])
def compiled(request):
    return partial(ptx, request.param)


def check(text, program, compiler, capability):
    assert f".target sm_{capability}" in text
    assert len(re.findall(r"^\s*\.visible \.entry", text, re.MULTILINE)) == 1
    barrier = "bar.warp.sync" if program.team_size <= 32 else "barrier.sync"
    has_barrier = program.kernel.has_barrier and (program.team_size > 1 or compiler == "numba")
    assert set(re.findall(r"^\s*(bar[a-z.]+)", text, re.MULTILINE)) == ({barrier} if has_barrier else set())
    # So the assembler leaves each lane few enough registers: a team of the largest size can be launched too.
    assert f".maxntid {program.team_size}, 1, 1" in text


def compile_all(gpu, compilers, capability=(9, 0)):
    assert gpu.programs
    for compiler in compilers:
        for one in gpu.programs:
            check(ptx(compiler, one, capability), one, compiler, f"{capability[0]}{capability[1]}")


def all_but_some_slow(names, *quick, slow=BOTH):
    """Names and compilers: ``quick`` ones by NVRTC, and in the slow tier all names by these compilers."""
    by_nvrtc = [pytest.param(name, ["nvrtc"], id=f"{name} by nvrtc") for name in quick]
    return [*by_nvrtc, *(pytest.param(name, slow, marks=SLOW, id=name) for name in names)]


@pytest.mark.parametrize(
    ("name", "compilers"),
    all_but_some_slow(CASES, "bundles of i16", "control", "random numbers", "remainders", "set bits", slow=["nvrtc"]),
)
@pytest.mark.parametrize("capability", [pytest.param((8, 0), marks=pytest.mark.long), (9, 0)])
def test_kernels_compile_to_ptx(name, compilers, capability):
    gpu = FakeCuda()
    CASES[name](gpu, 32)
    compile_all(gpu, compilers, capability)


@pytest.mark.parametrize("compiler", BOTH)
@pytest.mark.parametrize("team_size", [7, 64])
def test_barriers_are_those_that_lanes_may_reach_one_by_one(compiler, team_size):
    one = kernels.ring.specialise({}, team_size)
    check(ptx(compiler, one), one, compiler, "90")


@pytest.mark.parametrize(("name", "compilers"), all_but_some_slow(SEARCHES, "published climbs by worklist"))
def test_a_search_finds_what_a_core_finds_by_kernels_that_compile_to_ptx(cpu, name, compilers):
    gpu = HostCuda()
    assert SEARCHES[name](gpu) == SEARCHES[name](cpu)
    compile_all(gpu, compilers)


@pytest.mark.slow
def test_kernels_of_large_instances_compile_to_ptx(cpu, monkeypatch):
    """Knapsacks with many splits, climbs in tiles, and sets of 35 cities (64-bit numbers)."""
    gpu = FakeCuda()
    monkeypatch.setattr("core.tables.knapsack.halves.FEW", -1)
    assert SEARCHES["knapsack of two ranks"](gpu) == SEARCHES["knapsack of two ranks"](cpu)
    monkeypatch.setattr("core.lang.reference_interpreter.run", lambda *given: None)
    search = HillClimbing(gpu, Solo(), CITIES)
    search.launcher.scan = TilesScan(gpu, tsp.load("uniform:64:seed=1").distances)
    search.run(Iterations(1), trace=False)
    paths = [Paths(Layer(np.zeros(9, np.uint16), 0, 0), np.zeros(9, np.uint32)) for _ in range(2)]
    sets = gpu.load(Sets(np.zeros(9, np.uint64), 35, 9, 35))
    halves = Meeting(1, 9, True, True, 18, True)
    best = gpu.allocate(1, np.uint64)
    before, after = map(gpu.load, paths)
    gpu.launch(meet, 1, 256, before, after, sets, 3, SubsetShare(0, 1, 1, 0, 0), halves, best)
    gpu.launch(extend_fetching, 1, 256, before, after.layer, sets, 3, SubsetShare(0, 1, 1, 0, 0), 18, 2)
    assert {"narrow", "climb_tiles", "meet", "extend_fetching"} <= {program.kernel.name for program in gpu.programs}
    compile_all(gpu, BOTH)


@pytest.mark.parametrize(
    "program, correct",
    [
        (kernels.elements, "mul.rn.f32 (add|sub).rn.f32 div.rn.f32 sqrt.rn.f32 div.rn.f64 sqrt.rn.f64"),
        (kernels.differences, "(add|sub).rn.f32 (add|sub).rn.f64"),
    ],
)
@pytest.mark.parametrize("compiler", BOTH)
def test_floats_are_not_contracted(compiler, program, correct):
    text = ptx(compiler, program.specialise({}, 32))
    body = text[text.index(".entry") :]
    assert not re.search(r"\bfma\b|\bmad\.\w*\.?f(32|64)|\.approx|\.ftz", body)
    for operation in correct.split():
        assert re.search(rf"\b{operation}\b", body), operation


@pytest.mark.parametrize("name", ["u8", "i64", "f32"])
def test_readonly_tables_are_loaded_by_the_read_only_path(compiled, name):
    element = BY_NAME[name]
    text = compiled(program("readonly", element))
    loads = re.findall(r"\bld\.global\S*", text)
    assert loads and all(load.startswith("ld.global.nc.") for load in loads)
    assert "ld.global.nc" not in compiled(program("global", element))


def test_shared_tables_are_copied_and_read_from_shared_memory(compiled):
    text = compiled(program("shared", u32))
    before, after = text.split("bar.warp.sync", 1)
    assert "ld.global.nc" in before and "st.shared" in before
    assert "ld.shared" in after and "ld.global" not in after


# --- words of the dialect of CUDA C++ ---


def test_floats_of_32_bits_use_no_64_and_constants_are_exact():
    text = ptx("nvrtc", kernels.float_words.specialise({}, 1, {"T": BY_NAME["f32"]}))
    assert ".f64" not in text and "-9223372036854775808" in text and "bar" not in text
    source = CudaC(kernels.float_words.specialise({}, 1, {"T": f64})).source()
    assert "((double)__int_as_float(0x7fc00000))" in source and "(-(double)__int_as_float(0x7f800000))" in source


def test_shared_arrays_fill_the_memory_that_a_launch_asks_for():
    made = kernels.packed.specialise({}, 32)
    places = re.findall(r"(\w+_) = \((.*?)\*\)\(team_memory \+ (\d+)\)", CudaC(made).source())
    assert places == [("first_", "unsigned char", "0"), ("second_", "double", "16"), ("third_", "short", "48")]
    assert shared_bytes(made) == 80


# --- NVRTC ---


def test_machine_code_is_compiled_once_for_an_architecture_and_errors_have_the_compilers_words(monkeypatch, tmp_path):
    pytest.importorskip("cuda.bindings.nvrtc", reason="no NVRTC; pip install 'onekernel[cuda]'")
    monkeypatch.setenv("ONEKERNEL_CACHE", str(tmp_path))
    compiled, plain = [], nvrtc.compile_source
    monkeypatch.setattr(nvrtc, "compile_source", lambda *given: compiled.append(given) or plain(*given))
    source = CudaC(kernels.counts.specialise({}, 32, {"T": u32})).source()
    codes = [nvrtc.compile_cubin(source, architecture, "counts") for architecture in ("sm_80", "sm_90", "sm_90")]
    assert len(compiled) == 2 and codes[0] != codes[1] == codes[2]
    assert all(code.startswith(b"\x7fELF") and b"counts_" in code for code in codes)
    with pytest.raises(RuntimeError, match=r"(?s)NVRTC does not compile wrong for sm_90.*wrong\.cu\(1\): error"):
        nvrtc.compile_cubin("int wrong(", "sm_90", "wrong")
    assert len(list(tmp_path.glob("nvrtc/*"))) == 2
