"""Shapes of launches where every walk has a team, and how many iterations the host queues at a time."""

from math import inf
from types import SimpleNamespace

import pytest

from backends.cpu.single_core import CpuBackend
from backends.cuda.compiler import resident_lanes
from backends.python import PythonBackend
from cluster import Solo
from core.problems.qap.problem import Qap
from core.search import run as run_loop
from core.search.local_search import Iterations, LocalSearch, TabuSearch
from core.search.local_search.search import FIRST_BATCH, MOST_GROWTH
from core.search.local_search.shape import even_team
from core.search.run import BatchSizes
from tests.core.search.local_search import table
from tests.thread_ranks import on_ranks, twin


def test_a_last_round_of_few_teams_is_avoided():
    """4 walks where 768 lanes run: 2 rounds of 256, or 1 of 192."""
    assert [even_team(walks, 768, 256) for walks in (3, 4, 5)] == [256, 192, 256]
    assert [even_team(1, lanes, largest) for lanes, largest in ((128, 256), (2048, 32))] == [128, 32]


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


def test_batches_grow_to_what_the_host_waits_for():
    def following(step_s, longest_s=inf):
        sizes = BatchSizes(FIRST_BATCH, MOST_GROWTH)
        sizes.learn(step_s, longest_s)
        return sizes.next

    waits_s = BatchSizes().seconds
    assert following(1e-9) == FIRST_BATCH * MOST_GROWTH
    assert [following(waits_s / count) for count in (64.5, 3.5, 0.5)] == [64, 3, 1]
    assert [following(1e-3, longest_s) for longest_s in (0.0505, 0.0)] == [50, 1]


def test_ranks_without_a_clock_synchronise_a_few_times_in_thousands_of_iterations(monkeypatch):
    """Three times: iterations between two looks of the host are one recording on each rank."""
    monkeypatch.setattr(run_loop, "time", SimpleNamespace(perf_counter=lambda: 0.0))

    def batches(ranks):
        search = table.search(twin(CpuBackend(CpuBackend.devices()[0])), ranks, table.KEPT)
        batches_made, iterate = [], search.iterate
        search.iterate = lambda count: (batches_made.append(count), iterate(count))
        return batches_made, search.run(Iterations(3000)).iterations

    assert on_ranks(2, batches) == [([16, 256, 2728], 3000)] * 2
