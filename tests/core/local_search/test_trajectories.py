"""One search is the same search on every backend, with every shape of launch, in every loop."""

from types import SimpleNamespace

import numpy as np
import pytest

from backends.cpu.single_core import CpuBackend
from backends.cuda.compiler import resident_lanes
from backends.python import PythonBackend
from backends.tuning import LaunchShape, ShapeTuner, TunedShape
from cluster import Solo
from core import local_search
from core.local_search import Iterations, LocalSearch, TabuSearch
from core.local_search import search as search_module
from core.qap.problem import Qap
from core.run import loop as run_loop
from core.tours.problem import TspTour
from tests.core.local_search import table
from tests.core.local_search.table import KEPT, WORDS, cases, result_of, search
from tests.thread_ranks import on_ranks, twin

ORDERS = [row for row in table.ROWS if row[0] == "order"]


@pytest.mark.parametrize("row", cases(table.QUICK_ROWS, table.MORE_ROWS))
def test_same_search_on_every_backend(backend, row, cpu):
    if backend.name == "opencl" and "weierstrass64" in row and not backend.capabilities.float64:
        pytest.skip("the device has no 64-bit floats")
    # Plain Python makes fewer iterations, unless the row restarts later.
    stop = local_search.Iterations(5 if backend.is_reference and row[3] != "late again" else table.ITERATIONS)
    expected = search(cpu, Solo(), row)
    outcome = result_of(expected, stop)
    assert result_of(search(backend, Solo(), row), stop) == outcome
    problem, best = expected.plan.problem, np.array(outcome[-1])
    assert abs(problem.cost(best.astype(problem.encoding.dtype)) - outcome[0]) <= problem.tolerance()


def test_the_oracle_keeps_the_best_solution_to_which_random_moves_lead(python, cpu):
    """The walk starts at a local optimum, so the first iteration shakes it."""
    row = ("spins", "flip1", "delta", "ils", {})
    several = [search(backend, Solo(), row, seed=11) for backend in (cpu, python)]
    expected, outcome = (result_of(one, local_search.Iterations(1)) for one in several)
    assert outcome == expected and outcome[2] == 1


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("row", cases(table.CROSS))
def test_same_search_on_every_backend_in_every_combination(backend, row, cpu):
    assert result_of(search(backend, Solo(), row)) == result_of(search(cpu, Solo(), row))


@pytest.mark.parametrize("row", cases([KEPT], [table.ANNEALED, WORDS]))
def test_teams_that_share_a_neighbourhood_make_the_same_search(backend, row, cpu):
    """The last team to scan makes the move."""
    shared = search(backend, Solo(), row)
    shape = shared.launcher.shape
    shape.in_one_team, shape.teams = False, 3
    shape.team_size = shape.step_size = min(8, backend.capabilities.max_team_size)
    assert shape.steps_at_once or row == table.ANNEALED
    assert result_of(shared) == result_of(search(cpu, Solo(), row))
    assert row == table.ANNEALED or backend.read(shared.launcher.memory.finished, 0, 1)[0] == 0


@pytest.mark.parametrize(
    "row", cases([KEPT], [table.IN_TURN, table.ANNEALED, WORDS, table.FIRST, ORDERS[0], ORDERS[-1]])
)
def test_the_shape_of_a_launch_does_not_matter(python, row, cpu):
    stop = local_search.Iterations(5)
    expected = result_of(search(cpu, Solo(), row), stop)
    for in_one_team, team_size, step_size, teams in (
        (True, 1, 1, 1),
        (True, 7, 5, 1),
        (False, 5, 7, 3),
        (False, 7, 5, 3),
        (False, 1, 1, 4),
    ):
        shaped = search(python, Solo(), row)
        shape = shaped.launcher.shape
        shape.in_one_team, shape.team_size, shape.step_size, shape.teams = in_one_team, team_size, step_size, teams
        assert result_of(shaped, stop) == expected


@pytest.mark.parametrize(
    "row", cases([KEPT, ORDERS[1]], [table.IN_TURN, WORDS, table.IN_PARTS, table.QUICK_ROWS[6], *ORDERS[::2]])
)
def test_lanes_do_not_race(python, row):
    backwards, stop = PythonBackend(PythonBackend.devices()[0], reverse=True), local_search.Iterations(5)
    assert result_of(search(backwards, Solo(), row), stop) == result_of(search(python, Solo(), row), stop)


def test_how_many_iterations_are_queued_at_a_time_does_not_matter(cpu, monkeypatch):
    """Walks at a local optimum continue from the best of all, for any interval of the host's checks."""
    outcomes = []
    for batch in (1, 5, 16, 64):
        monkeypatch.setattr(search_module, "FIRST_BATCH", batch)
        monkeypatch.setattr(search_module, "MOST_GROWTH", 1)
        several = {"level": "algorithm", "walks": 6, "exchange": 50}
        queued = local_search.LocalSearch(
            cpu, Solo(), Qap.load("taillard:12:seeds=1,2"), local_search.HillClimbing(), "exchange2", **several
        )
        outcomes.append(result_of(queued, local_search.Iterations(200)))
    assert outcomes == outcomes[:1] * 4


def test_a_known_shape_is_the_one_that_runs(python, cpu, launches):
    def tune(kernel, n, size):
        return ShapeTuner(python.capabilities, n, size, known=TunedShape(LaunchShape(3, 5), 0.0))

    assert result_of(search(python, Solo(), KEPT, tune=tune)) == result_of(search(cpu, Solo(), KEPT))
    assert [one for one in launches if one[0] == "scan_shared"] == [("scan_shared", 3, 5)] * table.ITERATIONS


def test_a_search_stops_where_it_is_told(cpu, counted_time):
    stopped = search(cpu, Solo(), KEPT)
    assert stopped.run(local_search.Iterations(9)).iterations == 9
    long = stopped.run(local_search.Iterations(300))
    assert stopped.run(local_search.Iterations(300) | local_search.Target(long.cost)).iterations == long.found_at
    patient = stopped.run(local_search.NoImprovement(20) | local_search.Iterations(300))
    assert patient.iterations == patient.found_at + 20
    assert stopped.run(local_search.Target(2**30)).iterations == 0
    assert stopped.run(local_search.Seconds(0.01)).iterations > 0


# --- the simulator of CUDA ---


def test_the_table_covers_what_there_is():
    used = {name for row in table.ROWS + table.CROSS for name in row[1].split("+")}
    assert used == set(local_search.NEIGHBOURHOODS) | {"blocks", "adjacent", "axes"}
    assert {row[3] for row in table.QUICK_ROWS} >= set(table.ALGORITHMS)
    assert {row[0] for row in table.QUICK_ROWS} == set(table.PROBLEMS) - {"weierstrass64"}


def test_registers_leave_room_for_so_many_lanes():
    """NVIDIA's table of occupancy for 65,536 registers and teams of one warp."""
    assert [resident_lanes(registers, 65_536) for registers in (32, 33, 40, 90, 255)] == [2048, 1536, 1536, 640, 256]


@pytest.mark.parametrize(("walks", "size"), [pytest.param(6, 32, marks=pytest.mark.slow), (2, 64)])
def test_the_shape_is_chosen_for_the_walks_of_a_compute_unit_and_changes_no_trajectory(walks, size):
    oracle = PythonBackend(PythonBackend.devices()[0])
    oracle.capabilities = oracle.capabilities._replace(max_team_size=64, lanes_resident=256, compute_units=2)
    several = {"level": "algorithm", "walks": walks}
    problem = Qap.load("taillard:9:seeds=1,2")
    expected = LocalSearch(oracle, Solo(), problem, TabuSearch(), "exchange2", **several).run(Iterations(2))
    oracle.resident_lanes = lambda executable: 96
    search = LocalSearch(oracle, Solo(), problem, TabuSearch(), "exchange2", **several)
    assert search.launcher.shape.team_size == size
    outcome = search.run(Iterations(2))
    assert outcome.digest == expected.digest and outcome.solution.tolist() == expected.solution.tolist()


def test_no_more_teams_scan_than_the_registers_of_a_compute_unit_allow(monkeypatch):
    monkeypatch.setattr("core.local_search.shape.SMALL", 0)
    oracle = PythonBackend(PythonBackend.devices()[0])
    oracle.capabilities = oracle.capabilities._replace(max_team_size=64, lanes_resident=256, compute_units=2)
    made = []
    for lanes in (256, 96):
        oracle.resident_lanes = lambda executable, lanes=lanes: lanes
        search = LocalSearch(oracle, Solo(), Qap.load("taillard:22:seeds=1,2"), TabuSearch(), "exchange2")
        made.append((search.launcher.shape.teams, search.run(Iterations(1)).digest))
    assert made == [(4, made[0][1]), (2, made[0][1])]


def test_a_large_team_passes_many_short_rows_of_pairs_at_once(cpu):
    oracle = PythonBackend(PythonBackend.devices()[0])
    oracle.capabilities = oracle.capabilities._replace(max_team_size=180, lanes_resident=180)
    made = [
        LocalSearch(backend, Solo(), TspTour.load("uniform:181:seed=3"), TabuSearch(), "exchange2")
        for backend in (cpu, oracle)
    ]
    shape = made[1].launcher.shape
    shape.in_one_team, shape.teams, shape.team_size = False, 1, 180
    expected, outcome = (search.run(Iterations(1)) for search in made)
    assert outcome.digest == expected.digest


def test_ranks_without_a_clock_synchronise_a_few_times_in_thousands_of_iterations(monkeypatch):
    """Three times: iterations between two looks of the host are one recording on each rank."""
    monkeypatch.setattr(run_loop, "time", SimpleNamespace(perf_counter=lambda: 0.0))

    def batches(ranks):
        search = table.search(twin(CpuBackend(CpuBackend.devices()[0])), ranks, table.KEPT)
        batches_made, iterate = [], search.iterate
        search.iterate = lambda count: (batches_made.append(count), iterate(count))
        return batches_made, search.run(Iterations(3000)).iterations

    assert on_ranks(2, batches) == [([16, 256, 2728], 3000)] * 2
