"""Ants as the paper lays them on a device make the tours of the plain reference, as the suite's own mapping does."""

import os
import subprocess
import sys
from math import ceil

import pytest

from backends.cpu import CpuBackend
from backends.python import PythonBackend
from cluster import Solo
from core.problems import tsp
from core.search.ant_colony import STRATEGIES, AntColony, Settings
from core.search.stops import Iterations
from tests.core.search.ant_colony.reference import Colonies
from tests.core.search.ant_colony.test_against_the_reference import INSTANCES
from tests.core.search.ant_colony.test_trajectories import (
    EIL51,
    LEAST,
    ROOT,
    SMALL,
    distances_of,
    expected,
    found,
    same,
)

OTHER = {"ants": 7, "alpha": 1.5, "beta": 3.25, "rho": 0.4}
CASES = {"as": {"ants": 6}, "other exponents": OTHER, "more ants than a team": {"ants": 37}}
CASES["colonies"] = {**OTHER, "colonies": 3}


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


def published(backend, distances, changes, strategy, seed=0):
    """A colony in the paper's mapping."""
    return AntColony(backend, Solo(), distances, Settings(**changes), strategy=strategy, mapping="published", seed=seed)


# --- the same tours ---


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("case", CASES)
def test_same_tours_on_every_backend(backend, case, strategy):
    changes = CASES[case]
    if backend.oracle:
        few = {"ants": 3, "colonies": min(2, changes.get("colonies", 1))}
        same(backend, LEAST, 2, {**changes, **few}, strategy=strategy, mapping="published")
    else:
        same(backend, EIL51, 5, changes, strategy=strategy, mapping="published")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", INSTANCES)
def test_same_tours_on_instances_of_all_kinds(cpu, name, strategy):
    """Of 3 to 70 cities, some in one place, and with distances beyond 16 bits."""
    distances = INSTANCES[name]()
    for seed in (0, 2**40 + 3):
        reference = Colonies(distances, seed, ants=9, beta=4.0).run(6)
        engine = published(cpu, distances, {"ants": 9, "beta": 4.0}, strategy, seed)
        outcome, winner = engine.run(Iterations(6)), reference.winner
        assert (outcome.digest, outcome.curve.tolist()) == (reference.digest, reference.curve)
        assert (outcome.length, outcome.ant, outcome.iteration) == (winner.length, winner.ant, winner.iteration)
        assert engine.best_tour().tolist() == reference.best_tour.tolist()


@pytest.mark.parametrize(
    "alpha", [0.0, pytest.param(0.5, marks=pytest.mark.slow), pytest.param(2.0, marks=pytest.mark.slow), 3 + 5 / 256]
)
def test_exponents_and_evaporation_of_all_kinds_make_the_suites_tours(cpu, alpha):
    for beta, rho in ((0.0, 1.0), (0.0, 0.0001), (2.5, 1.0), (2.5, 0.0001)):
        changes = {"ants": 20, "alpha": alpha, "beta": beta, "rho": rho}
        own = AntColony(cpu, Solo(), distances_of(SMALL), Settings(**changes), seed=1)
        for strategy in STRATEGIES:
            assert found(published(cpu, distances_of(SMALL), changes, strategy, seed=1), 6) == found(own, 6)


@pytest.mark.parametrize("n", [31, 32, 33, 64, 65, 257, 1025])
def test_numbers_of_cities_about_a_column_of_the_wheel(cpu, n):
    for strategy in ("coarse", "fine-deposit"):
        same(cpu, f"uniform:{n}:seed=1", 2, {"ants": 3}, strategy=strategy, mapping="published")


def test_a_run_repeats_itself_after_a_warm_up_and_keeps_its_history(cpu):
    engine = published(cpu, distances_of(SMALL), OTHER, "fine")
    engine.warm_up()
    first = found(engine, 5)
    found(engine, 2)
    assert found(engine, 5) == first
    history = engine.run(Iterations(5), history=True).history
    assert [row[3] for row in history] == sorted({row[3] for row in history}, reverse=True)
    assert history[-1][3] == first[0]


# --- shapes ---


def few_lanes(backend, monkeypatch, lanes):
    """The same device with smaller teams."""
    monkeypatch.setattr(backend, "capabilities", backend.capabilities._replace(max_team_size=lanes))
    return backend


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("lanes", [1, 5, 12, pytest.param(64, marks=pytest.mark.slow)])
def test_more_cities_than_lanes_and_lanes_in_any_order(monkeypatch, strategy, lanes, reverse):
    oracle = few_lanes(PythonBackend(PythonBackend.devices()[0], reverse=reverse), monkeypatch, lanes)
    same(oracle, SMALL, 2, {"ants": 5}, strategy=strategy, mapping="published")


@pytest.mark.parametrize("backend", ["wide"], indirect=True)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_more_cities_than_the_lanes_of_a_wide_device(backend, monkeypatch, strategy):
    same(few_lanes(backend, monkeypatch, 16), EIL51, 3, {"ants": 40}, strategy=strategy, mapping="published")


@pytest.mark.parametrize("strategy", ["fine", "fine-deposit"])
@pytest.mark.parametrize("kernel", ["construct_fine", "deposit_edges"])
def test_a_team_that_needs_too_many_registers_takes_several_cities_a_lane(strategy, kernel):
    oracle = PythonBackend(PythonBackend.devices()[0])
    oracle.most_lanes = lambda program: 4 if program.kernel.name == kernel else 1024
    same(oracle, SMALL, 2, {"ants": 5}, strategy=strategy, mapping="published")
    engine = published(oracle, distances_of(SMALL), {"ants": 5}, strategy)
    halved = kernel == "construct_fine" or strategy == "fine-deposit"
    assert engine.team_size == engine.colonies[0].shape.team_size == (4 if halved else 13)


def launches(strategy, ants, n):
    """Of one iteration on the oracle: each kernel's name, teams and lanes."""
    oracle = PythonBackend(PythonBackend.devices()[0])
    engine = published(oracle, tsp.load(f"uniform:{n}:seed=1").distances, {"ants": ants}, strategy)
    seen = {}
    oracle.launch = lambda kernel, teams, lanes, *given: seen.update({kernel.name: (teams, lanes)})
    engine.colonies[0].iterate()
    return engine, seen


def test_an_ant_is_a_lane_of_32_and_one_lane_updates_all_pheromone():
    engine, seen = launches("coarse", 100, 9)
    assert seen["construct_coarse"] == (4, 32)
    assert seen["update_alone"] == (1, 1)
    assert (engine.team_size, engine.ants_per_team) == (32, 32)
    assert not {"construct_fine", "evaporate_edges", "deposit_edges", "weigh"} & seen.keys()


def test_an_ant_is_a_team_of_as_many_lanes_as_cities_and_one_lane_updates_all_pheromone():
    engine, seen = launches("fine", 100, 41)
    assert seen["construct_fine"] == (100, 41)
    assert seen["update_alone"] == (1, 1)
    assert (engine.team_size, engine.ants_per_team) == (41, 1)
    assert not {"construct_coarse", "evaporate_edges", "deposit_edges", "weigh"} & seen.keys()


def test_every_edge_has_a_lane_for_evaporation_and_every_edge_of_a_tour_one_for_the_deposit():
    _, seen = launches("fine-deposit", 100, 41)
    assert seen["construct_fine"] == seen["deposit_edges"] == (100, 41)
    teams, lanes = seen["evaporate_edges"]
    assert teams > 1
    assert teams == ceil(41**2 / lanes)
    assert list(seen).index("evaporate_edges") < list(seen).index("deposit_edges")
    assert "update_alone" not in seen


@pytest.mark.parametrize(
    ("strategy", "update"),
    [("coarse", ["pheromone_update"]), ("fine", ["pheromone_update"]), ("fine-deposit", ["evaporate", "deposit"])],
)
def test_every_phase_of_an_iteration_has_its_seconds(cpu, strategy, update):
    seconds = published(cpu, distances_of(SMALL), OTHER, strategy).phase_seconds(3)
    assert list(seconds) == ["construct", "measure", "judge", *update, "weigh"]
    assert all(second > 0 for second in seconds.values())


# --- CUDA without a GPU ---

SIMULATED = """
import backends
from core.search.ant_colony import published
from tests.core.search.ant_colony.test_published_mapping import distances_of, found, published as in_papers_mapping
from tests.core.search.ant_colony.test_trajectories import LEAST, SEED
published.UPDATE_LANES = 20  # every lane is a thread
backend = backends.create("cuda")
assert backend.device.driver == "simulated"
engine = in_papers_mapping(backend, distances_of(LEAST), {changes}, {strategy!r}, SEED)
engine.colonies[0].lanes = 3
print(found(engine, 2))
"""


@pytest.mark.parametrize("strategy", ["coarse", pytest.param("fine", marks=pytest.mark.slow), "fine-deposit"])
def test_the_simulator_of_cuda_makes_the_same_tours(strategy):
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
    changes = {"ants": 3, "alpha": 1.5}
    done = subprocess.run(
        [sys.executable, "-c", SIMULATED.format(changes=changes, strategy=strategy)],
        cwd=ROOT,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(expected(LEAST, 2, tuple(changes.items())))
