"""Shapes of launches where every walk has a team, and how many iterations the host queues at a time."""

from types import SimpleNamespace

import pytest

from backends.cpu.single_core import CpuBackend
from backends.cuda.compiler import resident_lanes
from backends.python import PythonBackend
from cluster import Solo
from core.problems.qap.problem import Qap
from core.search import run as run_loop
from core.search.local_search import Iterations, LocalSearch, TabuSearch
from tests.core.search.local_search import table
from tests.thread_ranks import on_ranks, twin


def test_registers_leave_room_for_so_many_lanes():
    """NVIDIA's table of occupancy for 65,536 registers and teams of one warp."""
    assert [resident_lanes(registers, 65_536) for registers in (32, 33, 40, 90, 255)] == [2048, 1536, 1536, 640, 256]


@pytest.mark.parametrize(("walks", "size"), [(6, 32), (2, 64)])
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


def test_ranks_without_a_clock_synchronise_a_few_times_in_thousands_of_iterations(monkeypatch):
    """Three times: iterations between two looks of the host are one recording on each rank."""
    monkeypatch.setattr(run_loop, "time", SimpleNamespace(perf_counter=lambda: 0.0))

    def batches(ranks):
        search = table.search(twin(CpuBackend(CpuBackend.devices()[0])), ranks, table.KEPT)
        batches_made, iterate = [], search.iterate
        search.iterate = lambda count: (batches_made.append(count), iterate(count))
        return batches_made, search.run(Iterations(3000)).iterations

    assert on_ranks(2, batches) == [([16, 256, 2728], 3000)] * 2
