"""The CUDA backend on machines without a GPU: on a driver of ours, in numba's simulator, and compiled to PTX."""

import importlib.metadata
import json
import re

import numpy as np
import pytest

from cluster import Solo
from core import tours as tsp
from core.hill_climbing.scans import TilesScan
from core.hill_climbing.search import HillClimbing
from core.lang import Array, f32, f64, kernel, u32
from core.lang.types import BY_NAME
from core.run.stop import Iterations
from core.tables.held_karp.kernels.halves import Meeting, extend_fetching, meet
from core.tables.held_karp.kernels.layers import Layer, Paths, Sets, SubsetShare
from tests.backends import kernels
from tests.backends.fake_cuda import FakeCuda
from tests.backends.small_searches import CITIES, SEARCHES
from tests.backends.test_conformance import CASES
from tests.backends.test_tables import program

IN_THE_SIMULATOR = [name for name in SEARCHES if name.startswith(("subsequence", "knapsack", "shortest", "restricted"))]
IN_THE_SIMULATOR += ["diagonals", "tour by layers", "published climbs"]
QUICK = ("atomics of u64", "barriers in loops", "bundles of i16", "set bits", "random numbers")
"""Kernels of the conformance suite that `make test` runs in the simulator and compiles to PTX."""
CONFORMS = """
import json
from tests.backends.small_searches import SEARCHES
from tests.backends.test_conformance import CASES, after, replayed, same

def told(run, *arguments):
    try:
        return run(*arguments)
    except Exception as error:
        return repr(error)

def conforms(name, *team_sizes):
    for team_size in team_sizes:
        same(*CASES[name](backend, team_size))
    return "agrees"

"""
SMALL = f"""
from tests.backends.test_tables import reads_as_numpy

def sequence():
    same(replayed(backend, 2), after(2))
    return backend.timings.kernel_s > 0

found = {{name: told(conforms, name, 3) for name in {QUICK}}}
found |= {{place: told(reads_as_numpy, backend, place, "u16", 7) for place in ("readonly", "shared", "image")}}
found |= {{"sequence": told(sequence), "climb": repr(told(SEARCHES["published climbs by worklist"], backend))}}
print(json.dumps(found))
"""


def test_the_simulator_computes_what_numpy_computes_and_climbs_as_a_core_does(cpu, simulated):
    """One process, since its start takes seconds."""
    assert json.loads(simulated(CONFORMS + SMALL)) == {
        **dict.fromkeys(QUICK, "agrees"),
        **{"readonly": True, "shared": True, "image": False, "sequence": True},
        "climb": repr(SEARCHES["published climbs by worklist"](cpu)),
    }


@pytest.mark.slow
def test_the_simulator_finds_and_computes_what_a_core_does(cpu, simulated):
    searches = f"print(json.dumps({{name: repr(SEARCHES[name](backend)) for name in {IN_THE_SIMULATOR}}}))"
    conformance = "print(json.dumps({name: told(conforms, name, 7) for name in CASES}))"
    outcomes, agreements = map(json.loads, simulated(f"{CONFORMS}{searches}\n{conformance}").splitlines())
    assert outcomes == {name: repr(SEARCHES[name](cpu)) for name in IN_THE_SIMULATOR}
    assert agreements == dict.fromkeys(CASES, "agrees")


# --- PTX ---


WHEELS = ("numba-cuda", "cuda-bindings", "nvidia-nvvm", "nvidia-cuda-nvrtc")


@pytest.fixture(scope="module")
def ptx():
    """`tests.backends.ptx.ptx`, if the toolkit is installed from wheels; those for CUDA 12 have a suffix."""
    installed = {str(d.metadata["Name"]).lower().removesuffix("-cu12") for d in importlib.metadata.distributions()}
    aliases = {"nvidia-nvvm": "nvidia-cuda-nvcc"}  # place of the compiler's library in CUDA 12
    missing = [w for w in WHEELS if not {w, aliases.get(w, w)} & installed]
    if missing:
        pytest.skip(f"no PTX without {', '.join(missing)}; pip install 'onekernel[cuda]'")
    from tests.backends.ptx import ptx

    return ptx


def check(text, program, capability):
    assert f".target sm_{capability}" in text
    assert len(re.findall(r"^\s*\.visible \.entry", text, re.MULTILINE)) == 1
    barrier = "bar.warp.sync" if program.team_size <= 32 else "barrier.sync"
    assert set(re.findall(r"^\s*(bar[a-z.]+)", text, re.MULTILINE)) == (
        {barrier} if program.kernel.has_barrier else set()
    )
    # So the assembler leaves each lane few enough registers: a team of the largest size can be launched too.
    assert f".maxntid {program.team_size}, 1, 1" in text


def compile_all(ptx, gpu, capability=(9, 0)):
    assert gpu.programs
    for one in gpu.programs:
        check(ptx(one, capability), one, f"{capability[0]}{capability[1]}")


@pytest.mark.parametrize(
    "name", [name if name in QUICK[:4] else pytest.param(name, marks=pytest.mark.slow) for name in CASES]
)
@pytest.mark.parametrize("capability", [pytest.param((8, 0), marks=pytest.mark.long), (9, 0)])
def test_kernels_compile_to_ptx(ptx, name, capability):
    gpu = FakeCuda()
    CASES[name](gpu, 32)
    compile_all(ptx, gpu, capability)


@pytest.mark.parametrize(
    "name", [name if name == "pruned climbs" else pytest.param(name, marks=pytest.mark.slow) for name in SEARCHES]
)
def test_a_search_finds_what_a_core_finds_by_kernels_that_compile_to_ptx(ptx, cpu, name):
    gpu = FakeCuda()
    assert SEARCHES[name](gpu) == SEARCHES[name](cpu)
    compile_all(ptx, gpu)


@pytest.mark.slow
def test_kernels_of_large_instances_compile_to_ptx(ptx, cpu, monkeypatch):
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
    compile_all(ptx, gpu)


@kernel
def differences(x: Array[f32], y: Array[f64]):
    """NVVM has no difference with a rounding mode: it adds the negated number."""
    x[0] = x[1] - f32(0.5) * x[0]
    y[0] = y[1] - 0.5 * y[0]


@pytest.mark.parametrize(
    "program, correct",
    [
        (kernels.elements, "mul.rn.f32 add.rn.f32 div.rn.f32 sqrt.rn.f32 div.rn.f64 sqrt.rn.f64"),
        (differences, "add.rn.f32 add.rn.f64"),
    ],
)
def test_floats_are_not_contracted(ptx, program, correct):
    text = ptx(program.specialise({}, 32), (9, 0))
    body = text[text.index(".entry") :]
    assert not re.search(r"\bfma\b|\bmad\.\w*\.?f(32|64)", body)
    for operation in correct.split():
        assert re.search(rf"\b{re.escape(operation)}\b", body), operation


@pytest.mark.parametrize("name", ["u8", "i64", "f32"])
def test_readonly_tables_are_loaded_by_the_read_only_path(ptx, name):
    element = BY_NAME[name]
    text = ptx(program("readonly", element), (9, 0))
    loads = re.findall(r"\bld\.global\S*", text)
    assert loads and all(load.startswith("ld.global.nc.") for load in loads)
    assert "ld.global.nc" not in ptx(program("global", element), (9, 0))


def test_shared_tables_are_copied_and_read_from_shared_memory(ptx):
    text = ptx(program("shared", u32), (9, 0))
    before, after = text.split("bar.warp.sync", 1)
    assert "ld.global.nc" in before and "st.shared" in before
    assert "ld.shared" in after and "ld.global" not in after


@pytest.mark.slow
def test_the_published_mapping_reads_its_matrices_by_the_read_only_path_if_asked(ptx):
    """This path replaces the paper's textures. A walk's state changes, so it is not read this way."""
    gpu = FakeCuda()
    SEARCHES["tabu published"](gpu)
    SEARCHES["tabu published in global memory"](gpu)
    readonly, plain = (ptx(program, (9, 0)) for program in gpu.programs if program.kernel.name == "write_fitness")
    assert "ld.global." in readonly.replace("ld.global.nc.", "")
    assert "ld.global.nc." in readonly and "ld.global.nc." not in plain
