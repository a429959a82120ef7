"""Ants make the same tours on every backend, with every strategy and shape of a launch, and on several ranks.

The plain reference has the tours, and a separate plain model the local search by neighbour lists.
"""

import functools
from pathlib import Path

import numpy as np
import pytest

import backends
from backends.python import PythonBackend
from cluster import Solo
from cluster.mpi.proxies import Rehearsal
from core import tours as tsp
from core.ant_colony import AntColony, Settings
from core.ant_colony.kernels import ants as ants_kernels
from core.ant_colony.kernels.ants import Ant, ColonyProgress
from core.ant_colony.kernels.roulette import COLUMNS, ChoiceWeights
from core.ant_colony.launch_shape import layout_of, shape_for
from core.lang.named_arrays import size_of
from core.run.stop import Iterations
from tests.core.ant_colony.reference import Colonies, construct, draws
from tests.core.hill_climbing.near_climbs import climbed, near_lists
from tests.thread_ranks import on_ranks, twin

ROOT = Path(__file__).parents[3]
SEED = 2**63 + 2**33 + 77
EIL51 = "eil51"
SMALL = "uniform:13:seed=4"
LEAST = "uniform:7:seed=4"
"""For the slow reference interpreter."""

AS = {"ants": 6}
MMAS = {"ants": 5, "variant": "mmas", "rho": 0.05, "stagnation": 2, "best_every": 2}
ISLANDS = {**MMAS, "ants": 3, "colonies": 3, "exchange": 2}
OTHER = {"ants": 7, "alpha": 1.5, "beta": 3.25, "rho": 0.4}
PUBLISHED = {"mapping": "published"}

# name: (settings, strategy, lanes and ants of a team in plain Python, or the paper's mapping)
CASES = {
    "as": (AS, "coarse", {"team": (2, 2)}),
    "as candidates": ({**AS, "candidates": 8}, "fine-deposit", {"team": (4, 1)}),
    "as candidates 2opt-near": ({**AS, "candidates": 20, "local_search": "2opt-near"}, "fine", {"team": (4, 2)}),
    "mmas": (MMAS, "fine", {"team": (4, 2)}),
    "mmas candidates": ({**MMAS, "candidates": 3}, "coarse", {"team": (2, 2)}),
    "mmas candidates 2opt": ({**MMAS, "candidates": 32, "local_search": "2opt"}, "fine", {"team": (4, 1)}),
    "islands": (ISLANDS, "fine-deposit", {"team": (4, 1)}),
    "islands candidates": ({**ISLANDS, "candidates": 10}, "coarse", {"team": (2, 2)}),
    "published": ({"ants": 37}, "fine", PUBLISHED),
    "published exponents": (OTHER, "coarse", PUBLISHED),
    "published colonies": ({**OTHER, "colonies": 3}, "fine-deposit", PUBLISHED),
}


class Reference(Colonies):
    def build(self, colony):
        tours = super().build(colony)
        if self.settings.local_search == "2opt-near":
            lists = near_lists(self.distances)
            tours = np.array([climbed(self.distances, tour, lists) for tour in tours])
        return tours


def distances_of(name):
    """An instance's distances; eil51 of TSPLIB if available, else 51 similar cities."""
    if name != EIL51:
        return tsp.load(name).distances
    beside = ROOT / ".." / "shared" / "data" / "tsplib"
    return (tsp.load(EIL51, beside) if beside.is_dir() else tsp.load("uniform:51:seed=1")).distances


@functools.cache
def expected(name, iterations, changes):
    """Return the reference's result; ``changes`` is a tuple of pairs."""
    colonies = Reference(distances_of(name), SEED, **dict(changes)).run(iterations)
    winner = colonies.winner
    who = (winner.length, winner.colony, winner.ant, winner.iteration)
    return (*who, colonies.digest, colonies.curve, colonies.best_tour.tolist())


def result_of(engine, iterations):
    outcome = engine.run(Iterations(iterations))
    who = (outcome.length, outcome.colony, outcome.ant, outcome.iteration)
    return (*who, outcome.digest, outcome.curve.tolist(), outcome.tour.tolist())


def same(backend, name, iterations, changes, **how):
    engine = AntColony(backend, Solo(), distances_of(name), Settings(**changes), seed=SEED, **how)
    assert result_of(engine, iterations) == expected(name, iterations, tuple(changes.items()))


def oracle(reverse=False):
    return PythonBackend(PythonBackend.devices()[0], reverse=reverse)


# --- backends and strategies ---


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=pytest.mark.slow if case.endswith(" 2opt") else ()) for case in CASES]
)
def test_same_tours_on_every_backend(backend, case, request):
    changes, strategy, how = CASES[case]
    if backend.is_reference:
        request.getfixturevalue("few_update_lanes")
        few = {"ants": 2, "colonies": min(2, changes.get("colonies", 1))}
        same(backend, LEAST, 1 + bool(changes.get("exchange")), {**changes, **few}, strategy=strategy, **how)
    else:
        same(backend, EIL51, 5, changes, strategy=strategy, mapping=how.get("mapping", "native"))


@pytest.mark.parametrize("case", ["mmas candidates", "islands", "published exponents"])
def test_a_run_repeats_itself(cpu, case):
    changes, strategy, how = CASES[case]
    how = {"strategy": strategy, "mapping": how.get("mapping", "native")}
    engine = AntColony(cpu, Solo(), distances_of(SMALL), Settings(**changes), seed=SEED, **how)
    engine.warm_up()
    pairs = tuple(changes.items())
    reports = []
    for iterations in (2, 5, 2, 1):
        assert result_of(engine, iterations) == expected(SMALL, iterations, pairs)
        reports.clear()
        outcome = engine.run(Iterations(iterations), callback=reports.append)
        assert (reports[-1].done, reports[-1].cost) == (iterations, outcome.length)
    assert result_of(engine, 2) == expected(SMALL, 2, pairs)


# --- sizes ---


@pytest.mark.parametrize("how", [{}, PUBLISHED], ids=["native", "published"])
@pytest.mark.parametrize("n", [31, 32, 33, 64, 65, 257, pytest.param(1025, marks=pytest.mark.slow)])
def test_sizes_about_a_word_and_a_block(cpu, n, how):
    changes = {"ants": 3, "beta": 4.0}
    same(cpu, f"uniform:{n}:seed=1", 2, changes, strategy="coarse", **how)
    if not how:
        same(cpu, f"uniform:{n}:seed=1", 2, {**changes, "candidates": 8})


# --- shapes of a launch ---


@pytest.mark.parametrize(
    ("team", "name", "candidates"),
    [
        ((16, 2), LEAST, 4),
        pytest.param((64, 2), SMALL, 0, marks=pytest.mark.slow),
        pytest.param((128, 4), SMALL, 4, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_lanes_do_not_race(few_update_lanes, team, name, candidates):
    changes = {**MMAS, "ants": 3, "candidates": candidates, "local_search": "2opt-near"}
    same(oracle(reverse=True), name, 2, changes, team=team)


def make_tours(backend, n, team, *, rows=None, candidates=0, ants=2, teams=2, first=5):
    """Tours of the kernel in this shape, and of the reference, from the same random weights."""
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
    choice = backend.load(ChoiceWeights(weights.reshape(-1), shape.stride, lists.reshape(-1), near_weights.reshape(-1)))
    colony = backend.load(colony_at(iteration, number))
    backend.launch(ants_kernels.construct, teams, shape.team_size, rows_of_ants, choice, colony, shape.layout)
    drawn = draws(SEED, number, iteration, first + ants, n)[first:]
    right = construct(table, drawn, near if candidates else None)
    return backend.download(rows_of_ants.tour).reshape(ants, n).tolist(), right.tolist()


def colony_at(iteration, number):
    """A colony of which only fields for random draws are set."""
    state = np.zeros(size_of(ColonyProgress), np.uint32)
    state[ants_kernels.ColonyProgress.iteration] = iteration
    unused = {"best": np.uint16, "least": np.uint64, "curve": np.uint32, "digest": np.uint64, "ticket": np.uint32}
    arrays = {name: np.zeros(1, dtype) for name, dtype in unused.items()}
    return ants_kernels.ColonyState(number=number, seed=SEED, state=state, **arrays)


@pytest.mark.parametrize(
    ("rows", "candidates"),
    [(8, 0), (1, 5), *(pytest.param(rows, 0, marks=pytest.mark.slow) for rows in (1, 2, 16, 32))],
)
def test_the_blocks_of_a_row_do_not_matter(cpu, rows, candidates):
    for n in (31, 32, 33, 64, 65, 255, 257, 1023, 1024, 1025, 1057):
        tours, right = make_tours(cpu, n, (1, 1), rows=rows, candidates=candidates, ants=5)
        assert tours == right, n


ALONE = [(1, 1), (2, 1), (4, 1), (8, 8), (16, 2), (32, 1), (32, 8), (32, 32), (64, 1), (128, 4)]
LISTED = [(1, 1), (2, 2), (8, 8), (32, 1), (16, 2), (32, 32), (64, 2), (96, 3)]
QUICK = [(4, 1), (16, 2)]


def of_teams(teams, candidates):
    """Rows of a table; `make test` runs those with the quickest teams."""
    return [
        pytest.param(team, candidates, marks=() if team in QUICK else pytest.mark.slow, id=f"{team}-{candidates}")
        for team in teams
    ]


@pytest.mark.parametrize(("team", "candidates"), [*of_teams(ALONE, 0), *of_teams(LISTED, 7)])
def test_every_team_chooses_as_the_reference(team, candidates):
    """Two rows of a column in a small team; two lanes a column in a large one, each with up to two rows."""
    large = {"ants": team[1], "teams": 1} if team[0] > 32 else {}
    tours, right = make_tours(oracle(), 70 if large else 33, team, candidates=candidates, **large)
    assert tours == right


@pytest.mark.slow
@pytest.mark.parametrize(
    ("team", "candidates", "rows"), [((4, 1), 0, None), ((64, 2), 0, 4), ((128, 4), 12, None)], ids=str
)
def test_every_team_chooses_as_the_reference_in_long_rows(team, candidates, rows):
    """Rows of several blocks and several words, and lanes with a part of a column."""
    tours, right = make_tours(oracle(), 300, team, rows=rows, candidates=candidates, ants=team[1], teams=1)
    assert tours == right


# --- ranks ---

# name: (strategy, instance, iterations, settings)
SHARED = {
    "few tours": ("coarse", EIL51, 5, {"ants": 10}),
    "near cities": ("fine", EIL51, 3, {"ants": 7, "candidates": 8, "local_search": "2opt-near"}),
    "an iteration's best": ("fine-deposit", EIL51, 6, {**MMAS, "ants": 8}),
    "islands": ("fine-deposit", SMALL, 7, {**MMAS, "ants": 2, "colonies": 7, "exchange": 2}),
    "more ants than cities": ("fine-deposit", SMALL, 6, {"ants": 100}),
    "near bests": ("coarse", EIL51, 4, {**MMAS, "best_every": 0, "candidates": 5, "local_search": "2opt"}),
    "always the best": ("fine", EIL51, 6, {**MMAS, "ants": 9, "best_every": 1, "stagnation": 1}),
    "lone islands": ("coarse", SMALL, 4, {"ants": 3, "colonies": 8}),
    "tiny": ("fine-deposit", LEAST, 2, {"ants": 3}),
    "a tiny best": ("fine-deposit", LEAST, 2, {**MMAS, "ants": 3, "candidates": 3}),
}
FEW = ("few tours", "near cities", "an iteration's best", "islands")


def created(kind):
    if kind == "wide":
        from tests.conftest import wide

        return wide()
    return backends.create(kind)


@pytest.mark.parametrize(
    ("kinds", "ranks", "titles"),
    [
        ("cpu", 3, ("islands", "a tiny best")),
        pytest.param("cpu", 5, tuple(SHARED), marks=pytest.mark.slow),
        pytest.param("threads", 2, FEW, marks=pytest.mark.slow),
        pytest.param("cpu,opencl,threads", 3, FEW, marks=pytest.mark.slow),
        pytest.param("wide", 2, FEW, marks=pytest.mark.slow),
        pytest.param("cpu,wide", 3, FEW, marks=pytest.mark.slow),
    ],
    ids=lambda value: "" if isinstance(value, tuple) else str(value),
)
def test_ranks_make_the_same_tours(kinds, ranks, titles):
    """Ranks of all kinds of devices rehearse alone and then run. Wide ones have separate weights, others share them."""
    try:
        devices = [twin(created(kind)) for kind in (ranks * kinds.split(","))[:ranks]]
    except backends.Unavailable as error:
        pytest.skip(str(error))

    def act(communicator, title):
        strategy, name, iterations, changes = SHARED[title]
        given = devices[communicator.rank], Rehearsal(communicator), distances_of(name), Settings(**changes)
        engine = AntColony(*given, strategy=strategy, seed=SEED)
        engine.warm_up()
        engine.run(Iterations(1), ranks=communicator)
        return result_of(engine, iterations), engine.run(Iterations(iterations), history=True).history

    for title in titles:
        _, name, iterations, changes = SHARED[title]
        right = expected(name, iterations, tuple(changes.items()))
        made = on_ranks(ranks, lambda communicator: act(communicator, title))  # noqa: B023
        assert [tours for tours, _ in made] == [right] * ranks, title
        assert all(history == made[0][1] and history[-1][3] == right[0] for _, history in made), title
    for device in devices:
        device.close()
