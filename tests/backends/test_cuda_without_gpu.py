"""The CUDA backend on machines without a GPU: its kernels run in numba's simulator, and compile to PTX."""

import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from backends.cpu import CpuBackend
from backends.listener import talk_of
from backends.self_test import known_answer
from cluster import Solo
from core.kernels import (
    ants,
    ants_published,
    diagonals,
    grid,
    held_karp,
    knapsack,
    knapsack_halves,
    lcs,
    neighbourhood_tours,
    pheromone,
    published_search,
    waves,
)
from core.kernels.roulette import Choice
from core.kernels.tour_search import BestTour, Search
from core.kernels.tours import start_tours
from core.kernels.two_opt import CountedClimbs
from core.kernels.two_opt_columns import climb_columns
from core.kernels.two_opt_lanes import climb_lanes
from core.kernels.two_opt_pruned import climb_pruned
from core.kernels.two_opt_tiles import Tiles, climb_tiles
from core.kernels.two_opt_window import Groups, climb_window
from core.kernels.walks import Share
from core.lang import Array, Const, Generic, Rows, i32, u16, u32
from core.lang.bundles import FORM, form_of, placed, plain_form, unbundled
from core.lang.types import BY_DTYPE, BY_NAME
from core.problems import tsp
from core.problems.qap import Qap
from core.search.ihc import HillClimbing
from core.search.local_search import IteratedLocalSearch, LocalSearch, SimulatedAnnealing, TabuSearch
from core.search.stops import Iterations
from tests.backends import kernels
from tests.backends.test_conformance import CASES
from tests.backends.test_tables import program
from tests.core.search.local_search.scored import Ordering

ROOT = Path(__file__).parents[2]
INSTANCE = "uniform:12:seed=1"
BEGIN = """
import backends
backend = backends.create("cuda")
assert backend.device.driver == "simulated"
"""
SMALL = """
import json
import numpy as np
from backends import self_test
from tests.backends.test_conformance import CASES, same, three_launches
from tests.backends.test_tables import reads_as_numpy

def conforms(name):
    for team_size in (1, 7):
        same(*CASES[name](backend, team_size))
    return "agrees"

def replayed():
    values, sums = backend.upload(np.arange(9, dtype=np.uint32)), backend.upload(np.zeros(9, np.uint64))
    with backend.record() as sequence:
        three_launches(backend, values, sums)
    sequence.replay(2)
    return [backend.download(values).tolist(), backend.download(sums).tolist(), backend.timings.kernel_s > 0]

def told(run, *arguments):
    try:
        return run(*arguments)
    except Exception as error:
        return repr(error)

found = {name: told(conforms, name) for name in CASES}
found |= {place: told(reads_as_numpy, backend, place, "u16", 7) for place in ("readonly", "shared", "image")}
found |= {"self-test": told(self_test.run, backend), "sequence": told(replayed)}
print(json.dumps(found))
"""
CLIMB = f"""
from cluster import Solo
from core.problems import tsp
from core.search.ihc import HillClimbing
from core.search.stops import Iterations
for way in ({{"scan": "pruned"}}, {{"published": "static"}}, {{"published": "worklist"}}):
    search = HillClimbing(backend, Solo(), tsp.load({INSTANCE!r}).distances, **way)
    search.scan.team_size = 4
    print(tuple(search.run(Iterations(11), trace=False)._replace(evaluations=0)), search.tour_of(1).tolist())
"""
DYNAMIC = """
import numpy as np
from backends.cpu import CpuBackend
from cluster import Solo
from core.problems.knapsack import generate
from core.search.dp import LongestCommonSubsequence
from core.search.dp.diagonals import CommonByDiagonals, KnapsackByDiagonals
from core.search.dp.held_karp import HeldKarp
from core.search.dp.held_karp_cells import ByLayersOnTheHost
from core.search.dp.knapsack import KnapsackSearch
from core.search.dp.lcs import Shape
from core.search.dp.restricted import RestrictedTour
draw = np.random.default_rng(2)
a, b = (draw.integers(0, 3, n).astype(np.uint8) for n in (20, 70))
distances = draw.integers(1, 50, (7, 7))
items = generate("paper", 5, 60, 1)
def found(backend):
    shape = Shape(2, 1, 2, 1) if backend.name == "cuda" else None
    common = LongestCommonSubsequence(backend, Solo(), a, b, shape=shape).run()
    tiled = LongestCommonSubsequence(backend, Solo(), a[:5], b[:6], tiling="tiles").run()
    tours = [HeldKarp(backend, Solo(), one).run() for one in (distances, np.triu(distances, 1) + np.triu(distances, 1).T)]
    chosen = KnapsackSearch(backend, Solo(), items, team_size=4 if backend.name == "cuda" else None).run()
    near = RestrictedTour(backend, Solo(), distances, 3, np.arange(7)).run()
    few = 4 if backend.name == "cuda" else 1
    diagonals = CommonByDiagonals(backend, Solo(), a[:5], b[:9], team_size=few).run()
    packed = KnapsackByDiagonals(backend, Solo(), generate("paper", 5, 20, 1), team_size=few).run()
    layers = ByLayersOnTheHost(backend, Solo(), distances[:5, :5], team_size=few).find(True, None)
    published = [diagonals.pairs.tolist(), packed.chosen.tolist(), layers[1].tolist()]
    return [*published, common.pairs.tolist(), tiled.pairs.tolist(), *(tour.tour.tolist() for tour in tours), chosen.chosen.tolist(), near.tour.tolist()]
print(found(backend) == found(CpuBackend(CpuBackend.devices()[0])))
"""

SHARED_OUT = """
import numpy as np
from backends.cpu import CpuBackend
from cluster import Solo
from core.problems.knapsack import generate
from core.search.dp import LongestCommonSubsequence
from core.search.dp.knapsack import KnapsackSearch
from core.search.dp.lcs import Shape
from tests.thread_ranks import on_ranks, twin
draw = np.random.default_rng(2)
a, b = (draw.integers(0, 3, n).astype(np.uint8) for n in (40, 130))
items = generate("paper", 9, 60, 1)
def found(backend, ranks, lanes):
    length = LongestCommonSubsequence(backend, ranks, a, b, shape=lanes and Shape(2, 1, 2, 1)).run(trace=False).length
    return length, KnapsackSearch(backend, ranks, items, team_size=lanes).run().chosen.tolist()
alone = found(CpuBackend(CpuBackend.devices()[0]), Solo(), None)
print(on_ranks(2, lambda ranks: found(twin(backend), ranks, 4)) == [alone] * 2, 0 < sum(alone[1]) < 9)
"""


def simulated(program):
    """What a program prints that runs on numba's simulator of CUDA."""
    if importlib.util.find_spec("numba_cuda") is None:
        pytest.skip("numba-cuda is not installed")
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program],
        cwd=ROOT,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def small():
    """What small programs find in the simulator, or how they fail: all in one process, whose start takes seconds."""
    return json.loads(simulated(SMALL))


one_process = pytest.mark.xdist_group("simulator")


@one_process
@pytest.mark.parametrize("name", CASES)
def test_the_simulator_computes_what_numpy_computes(name, small):
    assert small[name] == "agrees"


@one_process
def test_the_simulator_passes_the_self_test(small):
    assert small["self-test"] == ""


@one_process
def test_the_simulator_replays_a_recorded_sequence(small):
    values, sums = list(range(9)), [0] * 9
    for _ in range(2):
        values = [(5 * v + 1) % 2**32 for v in values]
        sums = [3 * s + v for s, v in zip(sums, values, strict=True)]
        values = [(7 * v + 1) % 2**32 for v in values]
    assert small["sequence"] == [values, sums, True]


def test_a_climb_in_the_simulator_is_the_climb_on_a_core():
    search = HillClimbing(CpuBackend(CpuBackend.devices()[0]), Solo(), tsp.load(INSTANCE).distances, scan="pruned")
    outcome = search.run(Iterations(11), trace=False)
    outcome = tuple(outcome._replace(evaluations=0))  # how much is pruned depends on the number of lanes
    assert simulated(CLIMB).splitlines() == [f"{outcome} {search.tour_of(1).tolist()}"] * 3


def test_dynamic_programming_in_the_simulator_is_that_on_a_core():
    assert simulated(DYNAMIC) == "True"


def test_two_ranks_in_the_simulator_find_what_a_core_finds():
    assert simulated(SHARED_OUT) == "True True"


def forms(**bundles):
    """Bundles as a launch gives them, by the names of a kernel's parameters."""
    return {name + FORM: plain_form(bundle) for name, bundle in bundles.items()}


def of_launch(kernel, team_size, *arguments):
    """The program of a launch; arrays are the host's."""
    kinds, values, types = unbundled(kernel, arguments)
    for name, kind in kinds.items():
        if isinstance(kind, Array) and isinstance(kind.element, Generic):
            types[kind.element.name] = BY_DTYPE[values[name].dtype]
    constants = {name: values[name] for name, kind in kinds.items() if isinstance(kind, Const)}
    return kernel.specialise(constants, team_size, types)


def half_of_tours(kernel, elements):
    """Kernels of Held and Karp's recursion, for numbers of 32 bits of up to 34 elements, else of 64."""
    lengths, steps, most = np.zeros(9, np.uint16), np.zeros(9, np.uint32), max(34, elements)
    paths = held_karp.Paths(held_karp.Layer(lengths, 0, 0), steps)
    sets = held_karp.Sets(np.zeros(9, np.uint32 if most == 34 else np.uint64), elements, 9, most)
    if kernel is held_karp.extend:
        return of_launch(kernel, 256, paths, paths.layer, sets, 3, held_karp.Share(0, 1, 1, 1, 1))
    meeting = held_karp.Meeting(1, 9, True, True, 18, True)
    share, best = held_karp.Share(0, 1, 1, 0, 0), np.zeros(1, np.uint64)
    return of_launch(kernel, 256, paths, paths, sets, 3, share, meeting, best)


def bundled():
    """The kernel of bundles, for rows of 64-bit integers."""
    values, flags = np.zeros(4, np.int64), np.zeros(4, np.uint8)
    part = kernels.Part(np.zeros(2, np.uint64), values, flags, kernels.Span(0, 4), 4)
    return of_launch(kernels.bundled, 32, Rows(part, 1), kernels.Limits(values[:1], True, flags[:2]), True)


WINDOW = {"climbs.n": 20, "shape.lanes": 3, "shape.diagonals": 3, "shape.rows": 4, "shape.stride": 41}
TILES = {"climbs.n": 64, "shape.diagonals": 5, "shape.rows": 4, "shape.spread": False}
CLIMBS = {"D": u16, "P": u32, **forms(climbs=CountedClimbs)}
TWO_ITEMS = {"tracing": True, "at_once": 8, "blocks": 1}
LAYERS = {"k": 5, "states": 48, "keep": True}
ADVANCE = forms(table=lcs.BitTable, carries=lcs.Carries, kept=lcs.Kept, pipeline=lcs.Pipeline)
TILE = forms(frontier=grid.Frontier, tiling=grid.Tiling, kept=waves.Kept)
TILE["data" + FORM] = form_of(placed(lcs.Strings(a=None, b=None), "readonly"))
DIAGONAL = {"V": i32, **forms(wave=waves.Wave, window=waves.Window, kept=waves.Kept)}
DIAGONAL["data" + FORM] = form_of(placed(diagonals.PaddedStrings(None, None, 0), "readonly"))
PASS = forms(passes=knapsack.Passes, kept=knapsack.Decisions, own=knapsack.Slice)
SPLITS = forms(tables=knapsack_halves.Tables, splits=knapsack_halves.Splits, span=knapsack_halves.Span)
ITEMS = {"bounded": True, "counting": False, "unrolled": True}
SEARCHED = forms(distances=published_search.Distances, items=published_search.Items, search=Search, best=BestTour)
ROTATIONS = forms(problem=neighbourhood_tours.Problem, rotations=neighbourhood_tours.Rotations)
WEIGHING = forms(
    ants=ants_published.WeighingAnt,
    trails=ants_published.PheromoneMatrix,
    scales=ants_published.Scales,
    colony=ants.Colony,
)
DEPOSIT = forms(ants=ants.Ant, update=pheromone.Update, trails=ants_published.PheromoneMatrix)
JUDGE = forms(ants=ants.Ant, colony=ants.Colony, laid=pheromone.Laid)
WEIGHTS = forms(trails=pheromone.Trails, choice=Choice)
PROGRAMS = {
    "known_answer": lambda: known_answer.specialise({}, 32),
    "start_tours": lambda: start_tours.specialise({"counter_based": True}, 64),
    "climb_pruned": lambda: climb_pruned.specialise({"climbs.n": 20}, 32, CLIMBS),
    "climb_window": lambda: climb_window.specialise(WINDOW, 24, CLIMBS | forms(shape=Groups)),
    "climb_columns": lambda: climb_columns.specialise({"climbs.n": 20}, 32, CLIMBS),
    "climb_lanes": lambda: climb_lanes.specialise({"climbs.n": 100, "worklist": True}, 1024, CLIMBS),
    "climb_tiles": lambda: climb_tiles.specialise(TILES, 7, CLIMBS | forms(shape=Tiles)),
    "bundled": bundled,
    "bits": lambda: kernels.bits.specialise({}, 32),
    "atomics": lambda: kernels.atomics.specialise({}, 32),
    "talking": lambda: kernels.talking.specialise({}, 32, talk_of(kernels.talking)),
    "advance": lambda: lcs.advance.specialise({"letters": 8, "staged": True, "keep": lcs.EVERY_ROW}, 32, ADVANCE),
    "collect_rises": lambda: lcs.collect_rises.specialise({}, 32, forms(carries=lcs.Carries, pipeline=lcs.Pipeline)),
    "follow": lambda: lcs.follow.specialise({}, 64, forms(trace=lcs.Trace, pipeline=lcs.Pipeline)),
    "compute_wave": lambda: waves.wave_kernel(diagonals.common_length).specialise({"bits": 0}, 128, DIAGONAL),
    "grid_tile": lambda: grid.tile_kernel(lcs.lcs_step).specialise({"bits": 2}, 64, {"V": i32, **TILE}),
    "two_items": lambda: knapsack.two_items.specialise(TWO_ITEMS, 128, {"V": u32, **PASS}),
    "best_values": lambda: knapsack_halves.best_values.specialise({}, 128, {"V": u32, **SPLITS}),
    "mark_splits": lambda: knapsack_halves.mark_splits.specialise({}, 128, {"V": u32, **SPLITS}),
    "trace_few": lambda: knapsack_halves.trace_few.specialise({"lanes": 128}, 128, {"V": u32, **PASS, **SPLITS}),
    "narrow": lambda: knapsack_halves.narrow.specialise({"lanes": 128}, 128, {"V": u32, **PASS, **SPLITS}),
    "extend": lambda: half_of_tours(held_karp.extend, 20),
    "meet": lambda: half_of_tours(held_karp.meet, 35),
    "construct_fine": lambda: ants_published.construct_fine.specialise({"scales.alpha": 389}, 1002, WEIGHING),
    "deposit_edges": lambda: ants_published.deposit_edges.specialise({}, 1002, DEPOSIT),
    "judge": lambda: pheromone.judge.specialise({"limited": True}, 128, JUDGE),
    "weigh": lambda: pheromone.weigh.specialise({"alpha": 389, "listed": True}, 128, WEIGHTS),
    "layers_in_teams": lambda: neighbourhood_tours.layers_in_teams.specialise(LAYERS, 64, ROTATIONS),
    "search_items": lambda: published_search.search_items.specialise(ITEMS, 64, SEARCHED),
}
WHEELS = ("numba-cuda", "cuda-bindings", "nvidia-nvvm", "nvidia-cuda-nvrtc")


@pytest.fixture(scope="module")
def ptx():
    """`tests.backends.ptx.ptx`, if the toolkit is installed from wheels; those of CUDA 12 have a suffix."""
    installed = {str(d.metadata["Name"]).lower().removesuffix("-cu12") for d in importlib.metadata.distributions()}
    aliases = {"nvidia-nvvm": "nvidia-cuda-nvcc"}  # where CUDA 12 keeps the compiler's library
    missing = [w for w in WHEELS if not {w, aliases.get(w, w)} & installed]
    if missing:
        pytest.skip(f"no PTX without {', '.join(missing)}; pip install 'onekernel[cuda]'")
    from tests.backends.ptx import ptx

    return ptx


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("capability", [pytest.param((8, 0), marks=pytest.mark.slow), (9, 0)])
def test_kernels_compile_to_ptx(ptx, name, capability):
    text = ptx(PROGRAMS[name](), capability)
    assert f".target sm_{capability[0]}{capability[1]}" in text
    assert len(re.findall(r"^\s*\.visible \.entry", text, re.MULTILINE)) == 1
    barriers = PROGRAMS[name]().kernel.has_barrier
    assert bool(re.search(r"\bbar\.sync|\bbarrier\.sync", text)) == barriers
    # So the assembler leaves each lane few enough registers: a team of the largest size can be launched too.
    assert f".maxntid {PROGRAMS[name]().team_size}, 1, 1" in text


def test_what_is_said_is_atomics_and_stores_or_nothing(ptx):
    heard, silent = (ptx(kernels.talking.specialise({}, 32, given), (9, 0)) for given in (talk_of(kernels.talking), {}))
    assert re.search(r"\batom\.\S*cas\S*\.b64", heard) and re.search(r"\batom\.\S*add\.u64", heard)
    assert not re.search(r"\batom\.|\bst\.|\bld\.global", silent)


def test_floats_are_not_contracted(ptx):
    text = ptx(kernels.elements.specialise({}, 32), (9, 0))
    body = text[text.index(".entry") :]
    assert not re.search(r"\bfma\b|\bmad\.\w*\.?f(32|64)", body)
    for correct in (
        r"mul\.rn\.f32",
        r"add\.rn\.f32",
        r"div\.rn\.f32",
        r"sqrt\.rn\.f32",
        r"div\.rn\.f64",
        r"sqrt\.rn\.f64",
    ):
        assert re.search(rf"\b{correct}\b", body), correct


@pytest.mark.parametrize("name", ["u8", "i16", "u32", "i64", "f32", "f64"])
def test_readonly_tables_are_loaded_by_the_read_only_path(ptx, name):
    element = BY_NAME[name]
    text = ptx(program("readonly", element), (9, 0))
    loads = re.findall(r"\bld\.global\S*", text)
    assert loads and all(one.startswith("ld.global.nc.") for one in loads)
    assert "ld.global.nc" not in ptx(program("global", element), (9, 0))


@pytest.mark.parametrize("tables", ["global", "readonly"])
def test_the_published_mapping_reads_its_matrices_by_the_read_only_path_if_asked(ptx, tables):
    """Where the paper has textures, CUDA has that path here; the state of a walk, which a move changes, takes none."""
    cpu = CpuBackend(CpuBackend.devices()[0])
    one = LocalSearch(cpu, Solo(), Qap.load("taillard:6:seeds=1,2"), TabuSearch(), "exchange2", mapping="published",
                      select="host", tables=tables)  # fmt: skip
    arguments = (False, 0, Share(0, 1, 0, 15), one.host_loop.fitnesses, one.walkers, one.data)
    text = ptx(of_launch(one.kernels.fitness, 256, *arguments), (9, 0))
    assert "ld.global." in text.replace("ld.global.nc.", "")
    assert ("ld.global.nc." in text) is (tables == "readonly")


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [("insert", TabuSearch()), ("reverse", IteratedLocalSearch()), ("blocks", SimulatedAnnealing())],
    ids=["insert", "reverse", "blocks"],
)
def test_a_search_by_value_compiles_to_ptx(ptx, name, algorithm):
    """A walk in one team, whose lanes shift a run of elements or turn it round together."""
    one = LocalSearch(CpuBackend(CpuBackend.devices()[0]), Solo(), Ordering(6), algorithm, name)
    text = ptx(of_launch(one.kernels.walk, 64, True, 0, 1, 1, one.walkers, one.shared, one.data), (9, 0))
    assert ".target sm_90" in text and "bar.sync" in text


def test_shared_tables_are_copied_and_read_from_shared_memory(ptx):
    text = ptx(program("shared", u32), (9, 0))
    before, after = text.split("bar.sync", 1)
    assert "ld.global.nc" in before and "st.shared" in before
    assert "ld.shared" in after and "ld.global" not in after


@one_process
@pytest.mark.parametrize("place", ["readonly", "shared", "image"])
def test_the_simulator_reads_tables_or_refuses_them(place, small):
    assert small[place] is (place != "image")


def test_float_differences_compile_to_ptx(ptx):
    text = ptx(kernels.differences.specialise({}, 32), (9, 0))
    assert re.search(r"\badd\.rn\.f32\b", text) and re.search(r"\badd\.rn\.f64\b", text)
    assert not re.search(r"\bfma\b", text[text.index(".entry") :])
