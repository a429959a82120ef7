"""One search is the same search on every backend, with every shape of launch, in every loop and on several ranks."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from backends.cpu import CpuBackend
from backends.python import PythonBackend
from backends.tuning import Shape, Tuner
from cluster import Solo
from core.problems.qap import Qap
from core.search.local_search import Iterations, NoImprovement, Seconds, Target
from tests.core.search.local_search import table
from tests.core.search.local_search.table import ROWS, SLOW_ROWS, found, named, search

ROOT = Path(__file__).parents[4]
HOST = [row for row in ROWS if row[3] in ("tabu", "first", "hill") and not row[4]]


@pytest.fixture(scope="module")
def cpu():
    return CpuBackend(CpuBackend.devices()[0])


@pytest.fixture(scope="module")
def python():
    return PythonBackend(PythonBackend.devices()[0])


@pytest.mark.parametrize("row", ROWS, ids=named)
def test_same_search_on_every_backend(backend, row, cpu):
    if backend.name == "opencl" and "weierstrass64" in row and not backend.capabilities.float64:
        pytest.skip("the device has no 64-bit floats")
    expected = search(cpu, Solo(), row)
    outcome = found(expected)
    assert found(search(backend, Solo(), row)) == outcome
    problem, best = expected.problem, np.array(outcome[-1])
    assert abs(problem.cost(best.astype(problem.encoding.dtype)) - outcome[0]) <= problem.tolerance()


@pytest.mark.parametrize("row", [ROWS[0], ROWS[2], ROWS[4]], ids=named)
def test_a_neighbourhood_shared_out_over_teams_is_the_same_search(backend, row, cpu):
    one = search(backend, Solo(), row)
    one.in_one_team, one.teams = False, 3
    assert found(one) == found(search(cpu, Solo(), row))


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("row", SLOW_ROWS, ids=named)
def test_same_search_on_every_backend_in_every_combination(backend, row, cpu):
    assert found(search(backend, Solo(), row)) == found(search(cpu, Solo(), row))


@pytest.mark.parametrize("row", [ROWS[k] for k in (0, 1, 2, 4, 6, 18, 20)], ids=named)
def test_the_shape_of_a_launch_does_not_matter(python, row, cpu):
    expected = found(search(cpu, Solo(), row))
    for in_one_team, team_size, step_size, teams in (
        (True, 1, 1, 1),
        (True, 7, 5, 1),
        (False, 5, 7, 3),
        (False, 7, 5, 3),
        (False, 1, 1, 4),
    ):
        one = search(python, Solo(), row)
        one.in_one_team, one.team_size, one.step_size, one.teams = in_one_team, team_size, step_size, teams
        assert found(one) == expected


@pytest.mark.parametrize("row", [ROWS[0], ROWS[4]], ids=named)
def test_the_last_team_to_have_scanned_makes_the_move(backend, row, cpu):
    one = search(backend, Solo(), row)
    one.in_one_team, one.teams = False, 3
    one.team_size = one.step_size = min(8, backend.capabilities.max_team_size)
    assert one.steps_at_once
    assert found(one) == found(search(cpu, Solo(), row))
    assert backend.read(one.finished, 0, 1)[0] == 0


@pytest.mark.parametrize("row", [ROWS[k] for k in (0, 1, 4, 9, 11, 18, 19, 20)], ids=named)
def test_lanes_do_not_race(python, row):
    backwards = PythonBackend(PythonBackend.devices()[0], reverse=True)
    assert found(search(backwards, Solo(), row)) == found(search(python, Solo(), row))


def test_how_many_iterations_are_queued_at_a_time_does_not_matter(cpu, monkeypatch):
    """Walks that rest at a local optimum go on from the best of all, whenever the host looked at them."""
    from core.search.local_search import HillClimbing, LocalSearch
    from core.search.local_search import search as module

    outcomes = []
    for batch in (1, 5, 16, 64):
        monkeypatch.setattr(module, "FIRST_BATCH", batch)
        monkeypatch.setattr(module, "next_batch", lambda latest, seconds: latest)
        several = {"level": "algorithm", "walks": 6, "exchange": 50}
        one = LocalSearch(cpu, Solo(), Qap.load("taillard:12:seeds=1,2"), HillClimbing(), "exchange2", **several)
        outcomes.append(found(one, Iterations(200)))
    assert outcomes == outcomes[:1] * 4


@pytest.mark.parametrize("in_one_team", [True, False])
def test_how_many_draws_are_looked_at_side_by_side_does_not_matter(cpu, in_one_team):
    from core.search.local_search import LocalSearch, SimulatedAnnealing

    outcomes = []
    for batch in (1, 5, 256):
        algorithm = SimulatedAnnealing(plateau=40, batch=batch)
        one = LocalSearch(cpu, Solo(), Qap.load("taillard:9:seeds=1,2"), algorithm, "exchange2")
        one.in_one_team = in_one_team
        outcomes.append(found(one, Iterations(5000) | NoImprovement(333)))
    assert outcomes == outcomes[:1] * 3


@pytest.mark.parametrize("row", HOST, ids=named)
@pytest.mark.parametrize(
    "how", [{"select": "host"}, {"select": "host", "generate": "host"}], ids=["select", "generate"]
)
def test_a_loop_on_the_host_is_the_same_search(row, how, cpu):
    assert found(search(cpu, Solo(), row, **how)) == found(search(cpu, Solo(), row))


def test_a_neighbourhood_is_evaluated_in_slices_on_the_host(cpu, monkeypatch):
    from core.search.local_search import host_driven

    row = ROWS[4]
    expected = found(search(cpu, Solo(), row))
    monkeypatch.setattr(host_driven, "SLICE", 7)
    for how in ({"select": "host"}, {"select": "host", "generate": "host"}):
        assert found(search(cpu, Solo(), row, **how)) == expected


@pytest.mark.parametrize("row", [ROWS[0], ROWS[4]], ids=named)
def test_tuned_launches_are_the_same_search(python, row, cpu):
    expected = found(search(cpu, Solo(), row))
    tuned = search(
        python,
        Solo(),
        row,
        tune=lambda kernel, n, size: Tuner(python.capabilities._replace(max_team_size=8), n, size, 2),
    )
    assert found(tuned) == expected
    assert tuned.tuner.done


def test_a_known_shape_is_the_one_that_runs(python, cpu, monkeypatch):
    scans = []
    execute = python.execute

    def noted(launch):
        if launch.executable.kernel.source.name == "scan_shared":
            scans.append((launch.teams, launch.executable.team_size))
        execute(launch)

    monkeypatch.setattr(python, "execute", noted)
    tuned = search(
        python, Solo(), ROWS[0], tune=lambda kernel, n, size: Tuner(python.capabilities, n, size, best=Shape(3, 5))
    )
    assert found(tuned) == found(search(cpu, Solo(), ROWS[0]))
    assert scans == [(3, 5)] * table.ITERATIONS


@pytest.mark.parametrize("row", [ROWS[0], ROWS[4]], ids=named)
def test_a_search_repeats_itself(row, cpu):
    one = search(cpu, Solo(), row)
    assert found(one) == found(one)


def test_other_seeds_are_other_searches(cpu):
    one = search(cpu, Solo(), ROWS[0])
    outcomes = set()
    for one.seed in range(4):
        outcomes.add(found(one)[5])
    assert len(outcomes) == 4


# --- stops ---


def test_a_search_stops_where_it_is_told(cpu):
    one = search(cpu, Solo(), ROWS[0])
    assert one.run(Iterations(9)).iterations == 9
    long = one.run(Iterations(300))
    assert one.run(Iterations(300) | Target(long.cost)).iterations == long.found_at
    patient = one.run(NoImprovement(20) | Iterations(300))
    assert patient.iterations == patient.found_at + 20
    assert one.run(Target(2**30)).iterations == 0
    assert one.run(Seconds(0.2)).iterations > 0


# --- ranks ---

PROGRAM = """
import sys
from backends.cpu import CpuBackend
from cluster import communicator
from tests.core.search.local_search.table import ROWS, found, named, search
ranks = communicator()
backend = CpuBackend(CpuBackend.devices()[0])
for k in map(int, sys.argv[1:]):
    outcome = found(search(backend, ranks, ROWS[k]))
    if ranks.rank == 0:
        print(k, outcome, flush=True)
"""
SHARED = [0, 1, 2, 3, 4, 6, 9]


@pytest.mark.xdist_group("mpi")
@pytest.mark.parametrize("ranks", [pytest.param(2, marks=pytest.mark.slow), 3, pytest.param(7, marks=pytest.mark.slow)])
def test_ranks_share_one_search(ranks, mpirun, cpu, tmp_path):
    rows = [k for k in SHARED if ROWS[k][4].get("walks", ranks) >= ranks]
    expected = {k: found(search(cpu, Solo(), ROWS[k])) for k in rows}
    program = tmp_path / "share.py"
    program.write_text(PROGRAM)
    done = mpirun(ranks, program, *rows)
    assert done.returncode == 0, done.stderr
    printed = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert printed == {str(k): str(outcome) for k, outcome in expected.items()}


SIMULATED = """
import backends
from cluster import Solo
from tests.core.search.local_search.table import ROWS, found, search
backend = backends.create("cuda")
assert backend.device.driver == "simulated"
from core.search.local_search import Iterations
one = search(backend, Solo(), ROWS[{row}])
one.in_one_team, one.team_size, one.step_size, one.teams = {shape}
print(found(one, Iterations(4)))
"""


@pytest.mark.parametrize(("row", "shape"), [(0, (True, 4, 4, 1)), (4, (False, 3, 2, 2))], ids=["qap", "ppp"])
def test_the_simulator_of_cuda_searches_the_same(row, shape, cpu):
    pytest.importorskip("numba_cuda", reason="numba-cuda is not installed")
    done = subprocess.run(
        [sys.executable, "-c", SIMULATED.format(row=row, shape=shape)],
        cwd=ROOT,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(found(search(cpu, Solo(), ROWS[row]), Iterations(4)))


def test_the_table_covers_what_there_is():
    used = {name for row in ROWS + SLOW_ROWS for name in row[1].split("+")}
    from core.search.local_search import NEIGHBOURHOODS

    assert used == set(NEIGHBOURHOODS) | {"blocks", "adjacent"}
    assert {row[3] for row in ROWS} == set(table.ALGORITHMS)
