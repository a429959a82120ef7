"""Ants make the same tours on every backend, with every strategy and shape of a launch, and on several ranks.

What they should make is the plain reference's, and the local search by neighbour lists that of its own plain model.
"""

import functools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import backends
from backends.cpu import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core.kernels import ants as ants_kernels
from core.kernels.ants import STATES, Ant
from core.kernels.roulette import COLUMNS, Choice
from core.problems import tsp
from core.search.ant_colony import STRATEGIES, AntColony, Settings
from core.search.ant_colony.shape import layout_of, shape_for
from core.search.stops import Iterations
from tests.conftest import wide
from tests.core.kernels.test_two_opt_near import climbed, near_lists
from tests.core.search.ant_colony.reference import Colonies, construct, draws

ROOT = Path(__file__).parents[4]
SEED = 2**63 + 2**33 + 77
EIL51 = "eil51"
SMALL = "uniform:13:seed=4"
LEAST = "uniform:7:seed=4"
"""For the oracle, which is slow."""

AS = {"ants": 6}
MMAS = {"ants": 5, "variant": "mmas", "rho": 0.05, "stagnation": 2, "best_every": 2}
ISLANDS = {**MMAS, "ants": 3, "colonies": 3, "exchange": 2}
CASES = {
    "as": AS,
    "as candidates": {**AS, "candidates": 8},
    "as 2opt": {**AS, "local_search": "2opt"},
    "as candidates 2opt-near": {**AS, "candidates": 20, "local_search": "2opt-near"},
    "mmas": MMAS,
    "mmas candidates": {**MMAS, "candidates": 3},
    "mmas candidates 2opt": {**MMAS, "candidates": 32, "local_search": "2opt"},
    "mmas 2opt-near": {**MMAS, "local_search": "2opt-near"},
    "islands": ISLANDS,
    "islands candidates 2opt-near": {**ISLANDS, "candidates": 10, "local_search": "2opt-near"},
}


class Reference(Colonies):
    """The plain colonies, which can climb by neighbour lists too."""

    def build(self, colony):
        tours = super().build(colony)
        if self.settings.local_search == "2opt-near":
            lists = near_lists(self.distances)
            tours = np.array([climbed(self.distances, tour, lists) for tour in tours])
        return tours


def distances_of(name):
    """An instance's distances; TSPLIB's eil51 where it is beside the checkout, else 51 cities like it."""
    if name != EIL51:
        return tsp.load(name).distances
    beside = ROOT / ".." / "shared" / "data" / "tsplib"
    return (tsp.load(EIL51, beside) if beside.is_dir() else tsp.load("uniform:51:seed=1")).distances


@functools.cache
def expected(name, iterations, changes):
    """What the reference finds; ``changes`` as a tuple of pairs."""
    colonies = Reference(distances_of(name), SEED, **dict(changes)).run(iterations)
    winner = colonies.winner
    who = (winner.length, winner.colony, winner.ant, winner.iteration)
    return (*who, colonies.digest, colonies.curve, colonies.best_tour.tolist())


def found(engine, iterations):
    """The same of the engine."""
    outcome = engine.run(Iterations(iterations))
    who = (outcome.length, outcome.colony, outcome.ant, outcome.iteration)
    return (*who, outcome.digest, outcome.curve.tolist(), engine.best_tour().tolist())


def same(backend, name, iterations, changes, **how):
    """Check that the engine finds what the reference finds."""
    engine = AntColony(backend, Solo(), distances_of(name), Settings(**changes), seed=SEED, **how)
    assert found(engine, iterations) == expected(name, iterations, tuple(changes.items()))


def slow_unless(fast, *row):
    """A row of a table of tests, most of which are left to `make test-all`."""
    return pytest.param(*row, marks=() if fast else pytest.mark.slow, id="-".join(map(str, row)))


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


def oracle(reverse=False):
    return PythonBackend(PythonBackend.devices()[0], reverse=reverse)


# --- backends and strategies ---

QUICK = [(case, "fine-deposit") for case in CASES if not case.endswith(" 2opt")]
QUICK += [("as", "coarse"), ("mmas candidates", "coarse"), ("as candidates 2opt-near", "fine")]


@pytest.mark.parametrize(
    ("case", "strategy"),
    [slow_unless((case, strategy) in QUICK, case, strategy) for case in CASES for strategy in STRATEGIES],
)
def test_same_tours_on_every_backend(backend, case, strategy):
    changes = CASES[case]
    if backend.name == "python":
        few = {"ants": 2, "colonies": min(2, changes.get("colonies", 1))}
        same(backend, LEAST, 1 + bool(changes.get("exchange")), {**changes, **few}, strategy=strategy)
    else:
        same(backend, EIL51, 5, changes, strategy=strategy)


@pytest.mark.parametrize("case", ["as 2opt", "mmas candidates", "islands candidates 2opt-near"])
def test_a_run_repeats_itself(cpu, case):
    """Whatever ran before, and however long."""
    engine = AntColony(cpu, Solo(), distances_of(SMALL), Settings(**CASES[case]), seed=SEED)
    engine.warm_up()
    pairs = tuple(CASES[case].items())
    reports = []
    for iterations in (2, 5, 2, 1):
        assert found(engine, iterations) == expected(SMALL, iterations, pairs)
        reports.clear()
        outcome = engine.run(Iterations(iterations), callback=reports.append)
        assert (reports[-1].done, reports[-1].cost) == (iterations, outcome.length)
    assert all(seconds >= 0 for seconds in engine.phase_seconds(2).values())
    assert found(engine, 2) == expected(SMALL, 2, pairs)


# --- sizes ---

SIZES = [31, 32, 33, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025]
QUICK_SIZES = [(n, 0) for n in (31, 32, 33, 64, 65, 256, 257, 1025)] + [(33, 8), (257, 8)]


@pytest.mark.parametrize(
    ("n", "candidates"), [slow_unless((n, near) in QUICK_SIZES, n, near) for n in SIZES for near in (0, 8)]
)
def test_sizes_about_a_word_and_a_block(cpu, n, candidates):
    same(cpu, f"uniform:{n}:seed=1", 2, {"ants": 3, "candidates": candidates, "beta": 4.0})


# --- shapes of a launch ---

SHARING = [
    (1, 1),
    (2, 1),
    (4, 1),
    (16, 1),
    (32, 1),
    (16, 2),
    (32, 2),
    (32, 8),
    (32, 32),
    (64, 1),
    (128, 1),
    (128, 4),
    (256, 1),
]
LISTED = [(1, 1), (2, 2), (4, 1), (8, 8), (32, 1), (16, 2), (32, 4), (32, 32), (64, 2), (128, 4), (96, 3)]
QUICK_TEAMS = [(1, 1), (4, 1), (16, 2), (32, 1), (32, 4), (32, 32)]


def rows_of(teams, *others):
    """Rows of a table: every team with all else, of which the quickest teams with the first of all else are fast."""
    return [slow_unless(team in QUICK_TEAMS and other == others[0], team, other) for team in teams for other in others]


@pytest.mark.parametrize(("team", "name"), rows_of(SHARING, LEAST, SMALL))
def test_the_shape_of_a_team_does_not_matter(team, name):
    same(oracle(), name, 1 + (name == SMALL), {"ants": 3}, team=team)


@pytest.mark.parametrize(("team", "name"), rows_of(LISTED, LEAST, SMALL))
def test_the_shape_of_a_team_does_not_matter_to_candidates(team, name):
    same(oracle(), name, 1 + (name == SMALL), {"ants": 3, "candidates": 4}, team=team)


@pytest.mark.parametrize("candidates", [0, 4])
@pytest.mark.parametrize(("team", "name"), rows_of([(32, 1), (64, 2), (128, 4)], LEAST, SMALL))
def test_lanes_do_not_race(team, name, candidates):
    changes = {**MMAS, "ants": 3, "candidates": candidates, "local_search": "2opt-near"}
    same(oracle(reverse=True), name, 2, changes, team=team)


def made(backend, n, team, *, rows=None, candidates=0, ants=2, teams=2, first=5):
    """Tours of the kernel in a given shape, and those of the reference, from the same random weights."""
    rng = np.random.default_rng(n)
    table = rng.integers(1, (2**32 - n) // n, (n, n))
    rare = rng.random((n, n)) < 0.3  # weights of 1 next to large ones
    table[rare] = 1
    np.fill_diagonal(table, 0)
    shape = shape_for("fine", backend.capabilities, n, Settings(ants=ants, candidates=candidates), team)
    if rows is not None:
        own = shape.layout
        depth = -(-n // (COLUMNS * own.pieces))
        shape = shape._replace(layout=layout_of(own.ants, own.near_columns, own.lanes, depth, rows))
    weights = np.zeros((n, shape.stride), np.uint32)
    weights[:, :n] = table
    near = np.argsort(rng.random((n, n)) + 2 * np.eye(n), axis=1)[:, :candidates]
    lists = np.repeat(np.arange(n, dtype=np.uint16)[:, None], COLUMNS, axis=1)
    lists[:, :candidates] = near
    near_weights = np.take_along_axis(weights, lists.astype(np.int64), axis=1)
    iteration, number = 3, 2
    rows_of_ants = backend.rows(Ant(n=n, first=first), ants)
    choice = backend.load(Choice(weights.reshape(-1), shape.stride, lists.reshape(-1), near_weights.reshape(-1)))
    colony = backend.load(colony_at(iteration, number))
    backend.launch(ants_kernels.construct, teams, shape.team_size, rows_of_ants, choice, colony, shape.layout)
    drawn = draws(SEED, number, iteration, first + ants, n)[first:]
    right = construct(table, drawn, near if candidates else None)
    return backend.download(rows_of_ants.tour).reshape(ants, n).tolist(), right.tolist()


def colony_at(iteration, number):
    """A colony of which only what decides the draws means anything."""
    state = np.zeros(STATES, np.uint32)
    state[ants_kernels.ITERATION] = iteration
    unused = {"best": np.uint16, "least": np.uint64, "curve": np.uint32, "digest": np.uint64, "ticket": np.uint32}
    arrays = {name: np.zeros(1, dtype) for name, dtype in unused.items()}
    return ants_kernels.Colony(number=number, seed=SEED, state=state, **arrays)


BLOCKS = [
    slow_unless((n in (33, 257, 1025) and rows in (1, 8, 32)) and near == 0, n, rows, near)
    for n in (31, 32, 33, 64, 65, 255, 257, 1023, 1024, 1025, 1057)
    for rows in (1, 2, 4, 8, 16, 32)
    for near in (0, 5)
]


@pytest.mark.parametrize(("n", "rows", "candidates"), BLOCKS)
def test_the_blocks_of_a_row_do_not_matter(cpu, n, rows, candidates):
    tours, right = made(cpu, n, (1, 1), rows=rows, candidates=candidates, ants=5)
    assert tours == right


@pytest.mark.parametrize(("team", "n"), rows_of(SHARING, 33, 97))
def test_every_team_chooses_as_the_reference(n, team):
    tours, right = made(oracle(), n, team)
    assert tours == right


@pytest.mark.parametrize(("team", "n"), rows_of(LISTED, 33, 97))
def test_every_team_chooses_among_candidates_as_the_reference(n, team):
    tours, right = made(oracle(), n, team, candidates=7)
    assert tours == right


def test_lanes_that_have_pieces_of_a_column_choose_as_the_reference():
    """Two lanes to a column, and up to two rows to each."""
    tours, right = made(oracle(), 70, (64, 1), ants=1, teams=1)
    assert tours == right


@pytest.mark.slow
@pytest.mark.parametrize("rows", [None, 1, 4, 32])
@pytest.mark.parametrize(
    ("team", "candidates"),
    [
        ((4, 1), 0),
        ((32, 1), 0),
        ((64, 2), 0),
        ((128, 1), 0),
        ((4, 1), 12),
        ((64, 2), 12),
        ((128, 4), 12),
    ],
    ids=str,
)
def test_every_team_chooses_as_the_reference_in_long_rows(team, candidates, rows):
    """Rows of several blocks and of several words, and lanes that have a piece of a column."""
    tours, right = made(oracle(), 300, team, rows=rows, candidates=candidates, ants=team[1], teams=1)
    assert tours == right


# --- ranks ---

# name: (instance, iterations, settings)
SHARED = {
    "few tours": (EIL51, 5, {"ants": 10}),
    "near cities": (EIL51, 3, {"ants": 7, "candidates": 8, "local_search": "2opt-near"}),
    "more ants than cities": (SMALL, 6, {"ants": 100}),
    "an iteration's best": (EIL51, 6, {**MMAS, "ants": 8}),
    "near bests": (EIL51, 4, {**MMAS, "ants": 7, "best_every": 0, "candidates": 5, "local_search": "2opt"}),
    "always the best": (EIL51, 6, {**MMAS, "ants": 9, "best_every": 1, "stagnation": 1, "local_search": "2opt-near"}),
    "islands": (SMALL, 7, {**MMAS, "ants": 2, "colonies": 7, "exchange": 2}),
    "more islands": (EIL51, 6, {**MMAS, "ants": 2, "colonies": 10, "exchange": 3, "candidates": 8}),
    "lone islands": (SMALL, 4, {"ants": 3, "colonies": 8}),
    "tiny": (LEAST, 2, {"ants": 3}),
    "a tiny best": (LEAST, 2, {**MMAS, "ants": 3, "candidates": 3}),
}
FEW = ("few tours", "near cities", "an iteration's best")
TINY = ("tiny", "a tiny best")
PROGRAM = """
import sys
import backends
from cluster import communicator
from cluster.timed import Rehearsal
from core.search.ant_colony import AntColony, Settings, colony, shape
from tests.conftest import wide
from core.search.stops import Iterations
from tests.core.search.ant_colony.test_trajectories import SEED, SHARED, distances_of, found
kinds, strategy, *titles = sys.argv[1:]
kinds = kinds.split(",")
ranks = communicator()
kind = kinds[ranks.rank % len(kinds)]
backend = wide() if kind == "wide" else backends.create(kind)
if kind == "cuda":
    assert backend.device.driver == "simulated"
    colony.UPDATE_LANES = shape.UPDATE_LANES = 3  # every lane is a thread
for title in titles:
    name, iterations, changes = SHARED[title]
    given = backend, Rehearsal(ranks), distances_of(name), Settings(**changes)
    engine = AntColony(*given, strategy=strategy, seed=SEED)
    engine.warm_up()
    engine.run(Iterations(1), ranks=ranks)
    all_found = ranks.gather(found(engine, iterations))
    if ranks.rank == 0:
        assert all(one == all_found[0] for one in all_found), all_found
        print(title, all_found[0], sep=";", flush=True)
backend.close()
"""


def same_on_ranks(mpirun, tmp_path, ranks, titles, *, kinds="cpu", strategy="fine-deposit"):
    """Check that ranks which rehearse alone and then run find what the reference finds; ``kinds`` of devices in turn."""
    program = tmp_path / "share.py"
    program.write_text(PROGRAM)
    done = mpirun(ranks, program, kinds, strategy, *titles)
    assert done.returncode == 0, done.stderr
    printed = dict(line.split(";", 1) for line in done.stdout.splitlines())
    assert [*printed] == [*titles]
    for title in titles:
        name, iterations, changes = SHARED[title]
        assert printed[title] == str(expected(name, iterations, tuple(changes.items()))), title


@pytest.mark.xdist_group("mpi")
@pytest.mark.parametrize(
    "ranks", [pytest.param(2, marks=pytest.mark.slow), 3, *(pytest.param(n, marks=pytest.mark.slow) for n in (5, 7))]
)
def test_ranks_make_the_same_tours(ranks, mpirun, tmp_path):
    same_on_ranks(mpirun, tmp_path, ranks, [title for title in SHARED if title not in TINY])


@pytest.mark.xdist_group("mpi")
@pytest.mark.parametrize("strategy", ["coarse", pytest.param("fine", marks=pytest.mark.slow)])
def test_ranks_make_the_same_tours_with_every_strategy(strategy, mpirun, tmp_path):
    same_on_ranks(mpirun, tmp_path, 3, FEW, strategy=strategy)


@pytest.mark.xdist_group("mpi")
@pytest.mark.parametrize(
    ("ranks", "kinds"),
    [
        pytest.param(2, "threads", marks=pytest.mark.slow),
        (3, "cpu,opencl,threads"),
        pytest.param(2, "opencl", marks=pytest.mark.slow),
        (2, "wide"),
        pytest.param(3, "cpu,wide", marks=pytest.mark.slow),
    ],
)
def test_ranks_make_the_same_tours_on_all_kinds_of_devices(ranks, kinds, mpirun, tmp_path):
    """Wide ones have weights of their own; narrow ones share them out, in one memory or in several."""
    for kind in kinds.split(","):
        try:
            (wide() if kind == "wide" else backends.create(kind)).close()
        except backends.Unavailable as error:
            pytest.skip(str(error))
    same_on_ranks(mpirun, tmp_path, ranks, FEW, kinds=kinds)


# --- a simulated GPU ---

SIMULATED = """
import backends
from cluster import Solo
from core.search.ant_colony import AntColony, Settings, colony, shape
from tests.core.search.ant_colony.test_trajectories import LEAST, SEED, distances_of, found
colony.UPDATE_LANES = shape.UPDATE_LANES = 3  # every lane is a thread
backend = backends.create("cuda")
assert backend.device.driver == "simulated"
engine = AntColony(backend, Solo(), distances_of(LEAST), Settings(**{changes}), seed=SEED, **{how})
engine.colonies[0].climbing_lanes = 5
print(found(engine, 2))
"""


@pytest.mark.parametrize(
    ("changes", "how"),
    [
        ({"ants": 2}, {"strategy": "coarse", "team": (2, 2)}),
        ({**MMAS, "ants": 2, "candidates": 3, "local_search": "2opt-near"}, {"strategy": "fine", "team": (4, 2)}),
        pytest.param({"ants": 2}, {"strategy": "fine-deposit"}, marks=pytest.mark.slow),
    ],
    ids=["coarse", "fine", "fine-deposit"],
)
def test_the_simulator_of_cuda_makes_the_same_tours(changes, how):
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
    done = subprocess.run(
        [sys.executable, "-c", SIMULATED.format(changes=changes, how=how)],
        cwd=ROOT,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(expected(LEAST, 2, tuple(changes.items())))


@pytest.mark.slow
@pytest.mark.xdist_group("mpi")
def test_ranks_of_the_simulator_make_the_same_tours(environment, mpirun, tmp_path):
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
    environment["NUMBA_ENABLE_CUDASIM"] = "1"
    same_on_ranks(mpirun, tmp_path, 2, TINY, kinds="cuda")
