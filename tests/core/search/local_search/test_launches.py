"""Shapes of launches where every walk has a team, and how many iterations the host queues at a time."""

import pytest

from backends.cuda import lanes_with
from backends.python import PythonBackend
from cluster import Solo
from core.problems.qap import Qap
from core.search.local_search import Iterations, LocalSearch, TabuSearch
from core.search.local_search.launches import even_team
from core.search.local_search.search import LONGEST_BATCH_S, MOST_GROWTH, next_batch

QAP = "taillard:12:seeds=1,2"


@pytest.mark.parametrize(
    ("walks", "lanes", "largest", "size"),
    [
        # By hand: rounds over lanes of a team. 4 walks where 768 lanes run: 2 rounds of 256, or 1 of 192.
        (3, 768, 256, 256),
        (4, 768, 256, 192),
        (5, 768, 256, 256),
        (4, 640, 256, 160),
        # Teams are no larger than there is room for.
        (1, 128, 256, 128),
        (1, 16, 256, 256),
        (1, 2048, 32, 32),
    ],
)
def test_a_last_round_of_few_teams_is_avoided(walks, lanes, largest, size):
    assert even_team(walks, lanes, largest) == size


@pytest.mark.parametrize(("registers", "lanes"), [(32, 2048), (33, 1536), (40, 1536), (90, 640), (255, 256)])
def test_registers_leave_room_for_so_many_lanes(registers, lanes):
    """As NVIDIA's table of occupancy has it, for 65,536 registers and teams of one warp."""
    assert lanes_with(registers, 65_536) == lanes


@pytest.mark.parametrize(("walks", "size"), [(6, 32), (2, 64)])
def test_the_shape_is_chosen_for_the_walks_of_a_compute_unit_and_changes_no_trajectory(walks, size):
    oracle = PythonBackend(PythonBackend.devices()[0])
    oracle.capabilities = oracle.capabilities._replace(max_team_size=64, lanes_resident=256, compute_units=2)
    several = {"level": "algorithm", "walks": walks}
    expected = LocalSearch(oracle, Solo(), Qap.load(QAP), TabuSearch(), "exchange2", **several).run(Iterations(3))
    oracle.lanes_side_by_side = lambda executable: 96
    one = LocalSearch(oracle, Solo(), Qap.load(QAP), TabuSearch(), "exchange2", **several)
    assert one.team_size == size
    found = one.run(Iterations(3))
    assert found.digest == expected.digest and found.solution.tolist() == expected.solution.tolist()


def test_batches_grow_to_what_the_host_shall_wait_for():
    assert next_batch(16, 1e-9) == 16 * MOST_GROWTH
    assert next_batch(16, LONGEST_BATCH_S / 8) == 64
    assert next_batch(16, LONGEST_BATCH_S / 3) == 32
    assert next_batch(16, LONGEST_BATCH_S * 0.6) == 16
    assert [next_batch(batch, 2 * LONGEST_BATCH_S) for batch in (16, 1)] == [8, 1]
