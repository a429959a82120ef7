"""The ways of sharing, against sums by hand; and what follows from a curve."""

from math import ceil, log

import pytest

from cluster import model
from cluster.interconnects import DOUBLING, Crowd, Hop, Interconnect
from cluster.model import Parts, Point, Speed, Work, curve, iteration
from cluster.reduction_times import reduction_s
from core.errors import UserError

ALPHA, BETA = 2e-5, 1e-8
NETWORK = Interconnect("n", "n", 1, Hop(0.0, 0.0), Hop(ALPHA, BETA), algorithm=DOUBLING)
SPEED = Speed(1e-6, 5e-6, 1e-6)


@pytest.mark.parametrize("ranks", [2, 7, 16])
def test_neighbours_are_shared_and_a_word_is_reduced_in_every_iteration(ranks):
    found = iteration(Work("neighbourhood", 1000.0), SPEED, NETWORK, ranks)
    assert found.compute_s == pytest.approx(ceil(1000 / ranks) * 1e-6)
    assert found.serial_s == 5e-6
    word = 1e-6 + reduction_s(NETWORK, ranks, 8)
    looks = (found.compute_s + found.serial_s + word) / model.LOOK_S
    told = looks * (1e-6 + reduction_s(NETWORK, ranks, 8 * (3 + ranks)))
    assert found.communication_s == pytest.approx(word + told)


@pytest.mark.parametrize("way", [way for way in model.WAYS])
def test_one_rank_has_all_the_work_and_nobody_to_talk_to(way):
    work = Work(way, 1000.0, shares=10, reduced_bytes=4000, gathered_bytes=4000, collected_bytes=4000, pieces=4)
    assert iteration(work, SPEED, NETWORK, 1) == pytest.approx((1e-3, 5e-6, 0.0))


def test_whole_walks_are_shared_and_ranks_meet_after_batches_alone():
    found = iteration(Work("walks", 1000.0, shares=10), SPEED, NETWORK, 4)
    assert found.compute_s == pytest.approx(3 / 10 * 1e-3)
    assert found.communication_s < 1e-2 * reduction_s(NETWORK, 4, 8)
    more = iteration(Work("walks", 1000.0, shares=10), SPEED, NETWORK, 16)
    assert more.compute_s == pytest.approx(1e-4), "the eleventh rank has no walk"


def test_ants_hand_on_their_deposits_and_weights():
    plain = iteration(Work("ants", 1000.0, shares=100), SPEED, NETWORK, 4)
    found = iteration(Work("ants", 1000.0, shares=100, reduced_bytes=40_000, gathered_bytes=8000), SPEED, NETWORK, 4)
    expected = 1e-6 + reduction_s(NETWORK, 4, 40_000) + ALPHA + 8000 * 3 / 4 * BETA
    assert found.communication_s - plain.communication_s == pytest.approx(expected, rel=1e-2)


def test_batches_of_a_tree_are_asked_for_and_the_last_is_waited_for():
    found = iteration(Work("subtrees", 1e6, least=100.0), SPEED, NETWORK, 8)
    assert found.compute_s == pytest.approx(1e6 / 8 * 1e-6 + 100e-6)
    asked = log(1e6 / 800) * 4 * ALPHA
    assert found.communication_s == pytest.approx(asked + 1e-6 + reduction_s(NETWORK, 8, 24))


def simulated_pipeline(ranks, pieces, piece_s, message_s):
    """When the last strip is done: strip by strip, piece by piece."""
    ready = [0.0] * pieces
    for rank in range(ranks):
        clock, done = 0.0, []
        for piece in range(pieces):
            clock = max(clock, ready[piece] + (message_s if rank else 0.0)) + piece_s
            done.append(clock)
        ready = done
    return ready[-1]


@pytest.mark.parametrize("ranks", [2, 5])
def test_strips_are_a_pipeline(ranks):
    work, speed = Work("strips", 1000.0, reduced_bytes=640, pieces=16), Speed(1e-5)
    found = iteration(work, speed, NETWORK, ranks)
    piece = 1000.0 / ranks / 16 * 1e-5
    expected = simulated_pipeline(ranks, 16, piece, ALPHA + 640 / 16 * BETA)
    assert found.total_s - reduction_s(NETWORK, ranks, 8) == pytest.approx(expected)


def test_waves_from_both_ends_are_two_pipelines_of_half_of_the_ranks():
    both = Work("strips", 1000.0, reduced_bytes=640, pieces=16, waves=2)
    assert iteration(both, Speed(1e-5), NETWORK, 2).compute_s == pytest.approx(1e-2 / 2)
    one = Work("strips", 500.0, reduced_bytes=320, pieces=16)
    four, two = iteration(both, Speed(1e-5), NETWORK, 4), iteration(one, Speed(1e-5), NETWORK, 2)
    assert four.compute_s == pytest.approx(two.compute_s)


def test_two_ranks_share_a_knapsack_and_three_do_not():
    found = iteration(Work("halves", 1000.0, reduced_bytes=8000), SPEED, NETWORK, 2)
    assert found.communication_s == pytest.approx(ALPHA + 8000 * BETA + 1e-6 + reduction_s(NETWORK, 2, 8))
    with pytest.raises(UserError, match="3 ranks: two ranks share"):
        iteration(Work("halves", 1000.0), SPEED, NETWORK, 3)
    assert [point.ranks for point in curve(Work("halves", 10.0), SPEED, NETWORK, [1, 2, 4])] == [1, 2]


def test_what_one_machine_collects_comes_in_by_its_network():
    plain = iteration(Work("neighbourhood", 1000.0), SPEED, NETWORK, 4)
    found = iteration(Work("neighbourhood", 1000.0, collected_bytes=8000), SPEED, NETWORK, 4)
    assert found.communication_s - plain.communication_s == pytest.approx(ALPHA + 6000 * BETA, rel=1e-2)


def test_crowded_cores_compute_longer():
    crowded = Interconnect("n", "n", 4, Hop(0.0, 0.0), Hop(ALPHA, BETA), crowds=(Crowd(4, 2.0),))
    assert iteration(Work("neighbourhood", 1000.0), SPEED, crowded, 4).compute_s == pytest.approx(2 * 250e-6)


def test_speedup_is_over_one_rank_and_efficiency_per_rank():
    one, two = curve(Work("neighbourhood", 1000.0), SPEED, NETWORK, [1, 2])
    assert one.speedup == 1 and one.efficiency == 1
    assert two.speedup == pytest.approx(one.parts.total_s / two.parts.total_s)
    assert two.efficiency == pytest.approx(two.speedup / 2)


def test_communication_eats_the_gain_at_last():
    points = curve(Work("neighbourhood", 1000.0), SPEED, NETWORK, [1 << k for k in range(12)])
    best = model.fastest(points)
    assert 1 < best.ranks < 2048
    assert all(point.parts.total_s >= best.parts.total_s for point in points)
    half = model.half_lost(points)
    assert half.parts.communication_share >= 0.5 > points[points.index(half) - 1].parts.communication_share


def test_who_is_fast_enough_is_found_or_nobody():
    points = [Point(ranks, Parts(1.0 / ranks, 0.0, 0.0), ranks) for ranks in (1, 2, 4)]
    assert model.faster_than(points, 0.5).ranks == 4, "as fast is not faster"
    assert model.faster_than(points, 0.1) is None
    assert model.half_lost(points) is None


def test_energy_and_price_are_of_all_nodes():
    assert model.energy_j(300.0, 4, 10.0) == 12_000
    assert model.price(3.6, 4, 10.0) == pytest.approx(0.04)
