"""Ants as the paper lays them on a device make the tours of the plain reference, as the suite's own mapping does."""

from math import ceil

import pytest

from backends.python import PythonBackend
from cluster import Solo
from core import tours as tsp
from core.ant_colony import STRATEGIES, AntColony, Settings
from core.run.stop import Iterations
from tests.core.ant_colony.reference import Colonies
from tests.core.ant_colony.test_against_the_reference import INSTANCES
from tests.core.ant_colony.test_trajectories import LEAST, SMALL, distances_of, result_of, same


def published(backend, distances, changes, strategy, seed=0):
    return AntColony(backend, Solo(), distances, Settings(**changes), strategy=strategy, mapping="published", seed=seed)


# --- the same tours ---


@pytest.mark.parametrize("name", INSTANCES)
def test_same_tours_on_instances_of_all_kinds(cpu, name):
    distances, seed = INSTANCES[name](), 2**40 + 3
    reference = Colonies(distances, seed, ants=9, beta=4.0).run(6)
    for strategy in STRATEGIES:
        engine = published(cpu, distances, {"ants": 9, "beta": 4.0}, strategy, seed)
        outcome, winner = engine.run(Iterations(6)), reference.winner
        assert (outcome.digest, outcome.curve.tolist()) == (reference.digest, reference.curve)
        assert (outcome.length, outcome.ant, outcome.iteration) == (winner.length, winner.ant, winner.iteration)
        assert outcome.tour.tolist() == reference.best_tour.tolist()


@pytest.mark.parametrize(
    ("alpha", "beta", "rho"), [(0.0, 2.5, 1.0), (0.5, 0.0, 0.0001), (3 + 5 / 256, 0.0, 1.0), (2.0, 2.5, 0.0001)]
)
def test_exponents_and_evaporation_of_all_kinds_make_the_suites_tours(cpu, alpha, beta, rho):
    changes = {"ants": 20, "alpha": alpha, "beta": beta, "rho": rho}
    own = result_of(AntColony(cpu, Solo(), distances_of(SMALL), Settings(**changes), seed=1), 6)
    for strategy in STRATEGIES:
        assert result_of(published(cpu, distances_of(SMALL), changes, strategy, seed=1), 6) == own


# --- shapes ---


@pytest.mark.parametrize(
    ("strategy", "lanes", "reverse"),
    [
        ("coarse", 2, True),
        ("fine", 1, False),
        ("fine", 5, True),
        ("fine-deposit", 5, False),
        ("fine-deposit", 12, True),
    ],
)
def test_more_cities_than_lanes_and_lanes_in_any_order(few_update_lanes, monkeypatch, strategy, lanes, reverse):
    oracle = PythonBackend(PythonBackend.devices()[0], reverse=reverse)
    monkeypatch.setattr(oracle, "capabilities", oracle.capabilities._replace(max_team_size=lanes))
    same(oracle, SMALL, 2, {"ants": 3}, strategy=strategy, mapping="published")


@pytest.mark.parametrize(("kernel", "strategy"), [("construct_fine", "fine"), ("deposit_edges", "fine-deposit")])
def test_a_team_that_needs_too_many_registers_takes_several_cities_a_lane(few_update_lanes, strategy, kernel):
    oracle = PythonBackend(PythonBackend.devices()[0])
    oracle.most_lanes = lambda program: 4 if program.kernel.name == kernel else 1024
    same(oracle, LEAST, 2, {"ants": 2}, strategy=strategy, mapping="published")
    engine = published(oracle, distances_of(LEAST), {"ants": 2}, strategy)
    assert engine.team_size == engine.colonies[0].shape.team_size == 4


def launches(strategy, ants, n):
    """Of one iteration on the oracle: each kernel's name, teams and lanes."""
    oracle = PythonBackend(PythonBackend.devices()[0])
    engine = published(oracle, tsp.load(f"uniform:{n}:seed=1").distances, {"ants": ants}, strategy)
    seen = {}
    oracle.launch = lambda kernel, teams, lanes, *given: seen.update({kernel.name: (teams, lanes)})
    engine.colonies[0].iterate()
    return engine, seen


@pytest.mark.parametrize(
    ("strategy", "n", "construct", "launch", "absent"),
    [
        ("coarse", 9, "construct_coarse", (4, 32), "construct_fine"),
        ("fine", 41, "construct_fine", (100, 41), "construct_coarse"),
    ],
)
def test_an_ant_is_a_lane_of_32_or_a_team_of_a_lane_a_city(strategy, n, construct, launch, absent):
    engine, seen = launches(strategy, 100, n)
    assert (seen[construct], seen["update_by_one_lane"]) == (launch, (1, 1)), "one lane updates all pheromone"
    assert (engine.team_size, engine.ants_per_team) == (launch[1], 32 if strategy == "coarse" else 1)
    assert not {absent, "evaporate_edges", "deposit_edges", "weigh"} & seen.keys()


def test_every_edge_has_a_lane_for_evaporation_and_every_edge_of_a_tour_one_for_the_deposit():
    _, seen = launches("fine-deposit", 100, 41)
    assert seen["construct_fine"] == seen["deposit_edges"] == (100, 41)
    teams, lanes = seen["evaporate_edges"]
    assert teams > 1
    assert teams == ceil(41**2 / lanes)
    assert list(seen).index("evaporate_edges") < list(seen).index("deposit_edges")
    assert "update_by_one_lane" not in seen
