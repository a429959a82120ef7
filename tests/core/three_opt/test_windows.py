"""Iterated local search of one tour in windows: valid tours, lengths of the plain scorer, one trajectory everywhere."""

import numpy as np
import pytest

from backends.cpu.threads import ThreadsBackend
from backends.python import PythonBackend
from cluster import Solo
from core import tours as tsp
from core.errors import UserError
from core.run.checkpoint import Checkpointer
from core.run.stop import Iterations, Target
from core.three_opt import IteratedThreeOpt, WindowedThreeOpt
from core.three_opt.cells import most_cells
from core.tours.small_tours import held_karp


def solve(backend, instance, rounds, **settings):
    outcome = WindowedThreeOpt(backend, Solo(), instance, **settings).run(Iterations(rounds))
    return outcome.cost, outcome.found_at, outcome.evaluations, outcome.hash, outcome.solution.tolist()


@pytest.mark.parametrize("window", [16, 1000])
@pytest.mark.parametrize("spec", ["uniform:300:seed=3", "clustered:200:seed=1", "grid:144:seed=2"])
def test_lengths_are_those_of_the_plain_scorer_and_descend(spec, window, cpu):
    instance = tsp.load(spec)
    lengths = []
    for rounds in (1, 4, 20):
        cost, _, _, _, tour = solve(cpu, instance, rounds, window=window)
        assert sorted(tour) == list(range(instance.n))
        a, b = np.array(tour), np.roll(tour, -1)
        gaps = instance.coordinates[a] - instance.coordinates[b]
        assert int((np.sqrt((gaps**2).sum(axis=1)) + 0.5).astype(int).sum()) == cost
        lengths.append(cost)
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize("spec", ["uniform:9:seed=1", "uniform:12:seed=4", "clustered:12:seed=2"])
def test_small_tours_become_shortest_ones(spec, cpu):
    instance = tsp.load(spec)
    assert solve(cpu, instance, 60)[0] == held_karp(instance.distances).length


def test_same_tour_on_every_backend_team_size_and_order_of_lanes(backend, cpu):
    n, rounds, window = (24, 2, 16) if backend.name == "python" else (200, 8, 32)
    instance = tsp.load(f"uniform:{n}:seed=7")
    expected = solve(cpu, instance, rounds, window=window, seed=5)
    backwards = [PythonBackend(backend.device, reverse=True)] if backend.name == "python" else []
    wide = () if backend.name == "python" else (32,)
    most = backend.capabilities.max_team_size
    for device in (backend, *backwards):
        for team_size in (size for size in (1, 3, *wide) if size <= most):
            assert solve(device, instance, rounds, window=window, seed=5, team_size=team_size) == expected, team_size


def test_same_tour_for_every_number_of_teams(cpu, monkeypatch):
    instance = tsp.load("uniform:400:seed=7")
    expected = solve(cpu, instance, 8, window=32)
    monkeypatch.setattr("core.three_opt.windows.most_cells", lambda n, size: 3 * most_cells(n, size))
    for units in (1, 3):
        search = WindowedThreeOpt(cpu, Solo(), instance, window=32)
        search.teams = units
        outcome = search.run(Iterations(8))
        assert (outcome.cost, outcome.hash, outcome.solution.tolist()) == (expected[0], *expected[3:])


def test_digest_tells_unequal_work_apart(cpu):
    instance = tsp.load("uniform:200:seed=7")
    settings = [(4, {}), (5, {}), (4, {"seed": 2}), (4, {"window": 50}), (4, {"kicks": 2}), (4, {"segment": 9})]
    assert len({solve(cpu, instance, rounds, **more)[3] for rounds, more in settings}) == len(settings)


def test_run_resumes_from_a_checkpoint_on_another_backend(cpu):
    rounds, threads = 9, ThreadsBackend(ThreadsBackend.devices()[0])
    instance = tsp.load("uniform:200:seed=7")
    expected = solve(cpu, instance, rounds, window=16)
    states = []

    def resumed(device, earlier):
        search = WindowedThreeOpt(device, Solo(), instance, window=16)
        keeper = Checkpointer(
            lambda state: states.append({k: np.array(v) for k, v in state.items()}), earlier, every_s=0.0
        )
        outcome = search.run(Iterations(rounds), checkpointer=keeper)
        return outcome.cost, outcome.found_at, outcome.evaluations, outcome.hash, outcome.solution.tolist()

    assert resumed(cpu, None) == expected
    first = states[0]
    assert 0 < int(first["iterations"]) < rounds
    assert resumed(threads, first) == expected


def test_search_ends_at_its_target(cpu):
    instance = tsp.load("uniform:200:seed=7")
    cost, _, _, _, _ = solve(cpu, instance, 20)
    outcome = WindowedThreeOpt(cpu, Solo(), instance).run(Target(cost))
    assert (outcome.cost, outcome.iterations <= 20) == (cost, True)


def test_windows_are_as_good_as_one_walk_of_as_many_perturbations(cpu):
    instance = tsp.load("uniform:1000:seed=4")
    walk = IteratedThreeOpt(cpu, Solo(), instance).run(Iterations(30_000))
    search = WindowedThreeOpt(cpu, Solo(), instance, window=250)
    assert search.run(Iterations(30)).cost < 1.02 * walk.cost


@pytest.mark.parametrize(
    ("instance", "settings", "message"),
    [
        (tsp.load("uniform:7:seed=1"), {}, "7 cities: windows take at least 8"),
        (tsp.TspInstance("matrix", distances=1 - np.eye(20, dtype=int)), {}, "distances EXPLICIT: windows take EUC_2D"),
        (tsp.load("uniform:20:seed=1"), {"window": 15}, "window 15: expected 16 to"),
        (tsp.load("uniform:20:seed=1"), {"kicks": 0}, "kicks 0: expected 1 to"),
        (tsp.TspInstance("far", coordinates=np.eye(20)[:, :2] * 1e7), {}, "distances of more than 4194304"),
    ],
)
def test_bad_arguments_are_refused(instance, settings, message, cpu):
    with pytest.raises(UserError, match=message):
        WindowedThreeOpt(cpu, Solo(), instance, **settings)
