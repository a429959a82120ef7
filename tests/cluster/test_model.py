"""The cluster model: networks, reductions and partition schemes, against formulas and sums by hand."""

from dataclasses import replace
from math import ceil, log, log2

import numpy as np
import pytest

from cluster.measure.measurement_file import ClusterMeasurement, Link, Pace, RankSpeed, Reduction
from cluster.model import run_time
from cluster.model.allreduce import (
    LONG,
    finish_time_s,
    hierarchical_reduction,
    modelled_s,
    recursive_doubling,
    recursive_halving,
    reduction_s,
    rounds,
)
from cluster.model.interconnects import (
    DOUBLING,
    Hop,
    Interconnect,
    find_interconnects,
    fit_interconnect,
    interconnect_names,
)
from cluster.model.run_time import Speed, Work, iteration, scaling_curve
from core.errors import UserError

ALPHA, BETA = 2e-5, 1e-8
NETWORK = Interconnect("flat", "flat", 1, Hop(0.0, 0.0), Hop(ALPHA, BETA), algorithm=DOUBLING)
HOSTS = Interconnect("hosts", "hosts", 4, Hop(1e-6, 1e-10), Hop(ALPHA, BETA))
SPEED = Speed(1e-6, 5e-6, 1e-6)


def timed(ranks, hosts, size, seconds):
    return Reduction(ranks, hosts, size, seconds, seconds, seconds, 100)


# --- networks ---


def test_every_network_of_the_file_is_read_and_says_where_it_is_from():
    assert {"myri10g", "ethernet", "grid5000"} <= set(interconnect_names())
    for name in interconnect_names():
        for network in find_interconnects(name):
            hops = [network.cores, network.hosts, *([network.between_sites] if network.sites > 1 else [])]
            assert all(hop.source and hop.alpha_s > 0 and hop.beta_s_per_byte > 0 for hop in hops)
            assert network.cores.alpha_s < network.hosts.alpha_s


def test_a_grid_has_two_five_and_seven_sites_or_as_many_as_one_says():
    assert [network.sites for network in find_interconnects("grid5000")] == [2, 5, 7]
    (three,) = find_interconnects("grid5000:3")
    assert three.sites == 3 and three.name == "grid5000:3"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("infiniband", "expected one of myri10g"), ("myri10g:2", "number of sites"), ("grid5000:no", "number of sites")],
)
def test_a_network_that_is_none_is_refused(name, expected):
    with pytest.raises(UserError, match=expected):
        find_interconnects(name)


def test_hosts_are_filled_and_spread_over_sites_in_blocks():
    (network,) = find_interconnects("grid5000:2")
    places = network.places(40)
    assert places.hosts == 5 and network.hosts_of(40) == 5
    assert places.host.tolist() == [rank // 8 for rank in range(40)]
    assert places.site.tolist() == [0] * 24 + [1] * 16
    assert set(network.places(8).site.tolist()) == {0}


def test_sites_farther_apart_take_longer():
    (network,) = find_interconnects("grid5000:7")
    places = network.places(56)
    first, others = np.zeros(6, int), np.arange(8, 56, 8)
    assert network.message_s(places, first, others, 0.0) == pytest.approx(np.linspace(2.5e-3, 10e-3, 6))


def speed(number, host):
    return RankSpeed(number, host, "a core", "cpu", 1, 2, 90.0, "neighbours", "ppp 73-73", 100.0, 0.0, {})


def check(links, reductions=(), paces=(), hosts="aabb"):
    speeds = (speed(number, host) for number, host in enumerate(hosts))
    return ClusterMeasurement(
        "2026-11-22T23:00:00Z", "Open MPI", tuple(links), tuple(reductions), tuple(paces), tuple(speeds)
    )


def test_a_check_becomes_a_network_of_medians():
    latencies = ((0, 1, True, 1e-6), (0, 2, False, 4e-5), (1, 3, False, 6e-5), (0, 3, False, 5e-5))
    links = [Link(*latency, 1e-9) for latency in latencies]
    known = ((1, 1, 1.0, 0.95, 1.05), (2, 1, 1.1, 1.06, 1.2), (4, 2, 1.5, 1.3, 1.9), (8, 4, 2.0, 1.0, 3.0))
    paces = [Pace(*one, 9) for one in known]
    network = fit_interconnect("check.json", check(links, [Reduction(4, 2, 8, 1e-4, 1e-4, 1e-4, 9)], paces))
    assert network.cores_per_host == 2 and network.cores.alpha_s == 1e-6 and network.hosts.alpha_s == 5e-5
    assert network.measured[0].seconds == 1e-4
    # Ranks on any of several hosts wait for the slowest. With eight ranks this is not certain.
    assert [network.crowding(ranks) for ranks in (1, 2, 3, 4, 8, 64)] == pytest.approx([1.0, 1.1, 1.3, 1.5, 1.0, 1.0])


def test_a_check_of_one_rank_says_nothing_of_messages():
    with pytest.raises(UserError, match=r"alone\.json: no pair of ranks"):
        fit_interconnect("alone.json", check([], hosts="a"))


# --- reductions ---


@pytest.mark.parametrize("ranks", [2, 4, 64, 1024])
def test_doubling_takes_the_logarithm_of_a_power_of_two(ranks):
    assert reduction_s(NETWORK, ranks, 8) == pytest.approx(log2(ranks) * (ALPHA + 8 * BETA))


@pytest.mark.parametrize("ranks", [2, 8, 128])
def test_long_arrays_take_what_rabenseifner_says(ranks):
    size = 1_000_000
    expected = 2 * log2(ranks) * ALPHA + 2 * (ranks - 1) / ranks * size * BETA
    assert finish_time_s(NETWORK, ranks, size, 1) == pytest.approx(expected)


def test_trees_go_through_every_host_and_between_them_twice():
    inside, between = 1e-6 + 8e-10, ALPHA + 8 * BETA
    assert finish_time_s(HOSTS, 16, 8, 1) == pytest.approx(2 * 2 * inside + 2 * 2 * between)
    by_doubling = replace(HOSTS, algorithm=DOUBLING)
    four_at_once = ALPHA + 4 * 8 * BETA
    assert finish_time_s(by_doubling, 16, 8, 1) == pytest.approx(2 * inside + 2 * four_at_once)
    assert finish_time_s(HOSTS, 4, 8, 1) == finish_time_s(by_doubling, 4, 8, 1)
    assert finish_time_s(HOSTS, 14, 8, 1) == finish_time_s(by_doubling, 14, 8, 1)


def everybody_has_all(messages, ranks):
    """Sets of ranks replace sums."""
    known = [{rank} for rank in range(ranks)]
    for source, target, _ in messages:
        before = [set(one) for one in known]
        for one, other in zip(source.tolist(), target.tolist(), strict=True):
            known[other] |= before[one]
    return all(one == set(range(ranks)) for one in known)


@pytest.mark.parametrize("ranks", [2, 3, 6, 16, 24, 88])
def test_every_rank_has_the_result_in_the_end(ranks):
    assert everybody_has_all(recursive_doubling(ranks, 8), ranks)
    assert everybody_has_all(recursive_halving(ranks, 1e6), ranks)
    if ranks % 4 == 0:
        assert everybody_has_all(hierarchical_reduction(HOSTS.places(ranks), 4, 8), ranks)
    assert everybody_has_all(rounds(HOSTS, HOSTS.places(ranks), ranks, 8), ranks)


def test_ranks_of_a_host_share_its_bandwidth():
    places = HOSTS.places(8)
    four = HOSTS.message_s(places, np.arange(4), np.arange(4, 8), 1e6)
    one = HOSTS.message_s(places, np.array([0]), np.array([4]), 1e6)
    assert four == pytest.approx([ALPHA + 4 * 1e6 * BETA] * 4)
    assert one == pytest.approx([ALPHA + 1e6 * BETA])


def test_a_measured_reduction_corrects_those_like_it():
    single = finish_time_s(NETWORK, 4, 8, 1)
    slow = replace(NETWORK, measured=(timed(4, 4, 8, 3 * single), timed(4, 4, LONG, 7.0)))
    assert reduction_s(slow, 4, 8) == pytest.approx(3 * modelled_s(NETWORK, 4, 8))
    assert reduction_s(slow, 64, 8) == pytest.approx(3 * modelled_s(NETWORK, 64, 8))


def test_reductions_within_a_host_say_nothing_of_those_between_hosts():
    known = replace(HOSTS, measured=(timed(4, 1, 8, 1.0),))
    assert reduction_s(known, 16, 8) == modelled_s(HOSTS, 16, 8)


def test_crowding_grows_with_the_ranks_of_a_host():
    crowded = replace(HOSTS, crowds=((4, 1.6),))
    assert [crowded.crowding(ranks) for ranks in (1, 2, 4, 64)] == pytest.approx([1, 1.2, 1.6, 1.6])
    assert HOSTS.crowding(4) == 1


# --- partition schemes ---


@pytest.mark.parametrize("ranks", [2, 7, 16])
def test_neighbours_are_shared_and_a_word_is_reduced_in_every_iteration(ranks):
    times = iteration(Work("neighbourhood", 1000.0), SPEED, NETWORK, ranks)
    assert times.compute_s == pytest.approx(ceil(1000 / ranks) * 1e-6)
    assert times.serial_s == 5e-6
    word = 1e-6 + reduction_s(NETWORK, ranks, 8)
    samples = (times.compute_s + times.serial_s + word) / run_time.SAMPLE_INTERVAL_S
    comparison_s = samples * (1e-6 + reduction_s(NETWORK, ranks, 8 * (3 + ranks)))
    assert times.communication_s == pytest.approx(word + comparison_s)


@pytest.mark.parametrize("way", [way for way in run_time.PARTITION_SCHEMES])
def test_one_rank_has_all_the_work_and_nobody_to_talk_to(way):
    work = Work(way, 1000.0, shares=10, reduced_bytes=4000, gathered_bytes=4000, collected_bytes=4000, pieces=4)
    assert iteration(work, SPEED, NETWORK, 1) == pytest.approx((1e-3, 5e-6, 0.0))


def test_whole_walks_are_shared_and_ranks_meet_after_batches_alone():
    times = iteration(Work("walks", 1000.0, shares=10), SPEED, NETWORK, 4)
    assert times.compute_s == pytest.approx(3 / 10 * 1e-3)
    assert times.communication_s < 1e-2 * reduction_s(NETWORK, 4, 8)
    more = iteration(Work("walks", 1000.0, shares=10), SPEED, NETWORK, 16)
    assert more.compute_s == pytest.approx(1e-4), "the eleventh rank has no walk"


def test_ants_hand_on_their_deposits_and_weights():
    plain = iteration(Work("ants", 1000.0, shares=100), SPEED, NETWORK, 4)
    ants = iteration(Work("ants", 1000.0, shares=100, reduced_bytes=40_000, gathered_bytes=8000), SPEED, NETWORK, 4)
    expected = 1e-6 + reduction_s(NETWORK, 4, 40_000) + ALPHA + 8000 * 3 / 4 * BETA
    assert ants.communication_s - plain.communication_s == pytest.approx(expected, rel=1e-2)


def test_batches_of_a_tree_are_asked_for_and_the_last_is_waited_for():
    times = iteration(Work("subtrees", 1e6, least=100.0), SPEED, NETWORK, 8)
    assert times.compute_s == pytest.approx(1e6 / 8 * 1e-6 + 100e-6)
    asked = log(1e6 / 800) * 4 * ALPHA
    assert times.communication_s == pytest.approx(asked + 1e-6 + reduction_s(NETWORK, 8, 24))


def simulated_pipeline(ranks, pieces, piece_s, message_s):
    """Time at which the last strip ends, simulated strip by strip and piece by piece."""
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
    parts = iteration(work, speed, NETWORK, ranks)
    piece = 1000.0 / ranks / 16 * 1e-5
    expected = simulated_pipeline(ranks, 16, piece, ALPHA + 640 / 16 * BETA)
    assert parts.total_s - reduction_s(NETWORK, ranks, 8) == pytest.approx(expected)


def test_waves_from_both_ends_are_two_pipelines_of_half_of_the_ranks():
    both = Work("strips", 1000.0, reduced_bytes=640, pieces=16, waves=2)
    assert iteration(both, Speed(1e-5), NETWORK, 2).compute_s == pytest.approx(1e-2 / 2)
    one = Work("strips", 500.0, reduced_bytes=320, pieces=16)
    four, two = iteration(both, Speed(1e-5), NETWORK, 4), iteration(one, Speed(1e-5), NETWORK, 2)
    assert four.compute_s == pytest.approx(two.compute_s)


def test_two_ranks_share_a_knapsack_and_three_do_not():
    pair = iteration(Work("halves", 1000.0, reduced_bytes=8000), SPEED, NETWORK, 2)
    assert pair.communication_s == pytest.approx(ALPHA + 8000 * BETA + 1e-6 + reduction_s(NETWORK, 2, 8))
    with pytest.raises(UserError, match="3 ranks: two ranks share"):
        iteration(Work("halves", 1000.0), SPEED, NETWORK, 3)
    assert [point.ranks for point in scaling_curve(Work("halves", 10.0), SPEED, NETWORK, [1, 2, 4])] == [1, 2]


def test_what_one_machine_collects_comes_in_by_its_network():
    plain = iteration(Work("neighbourhood", 1000.0), SPEED, NETWORK, 4)
    four = iteration(Work("neighbourhood", 1000.0, collected_bytes=8000), SPEED, NETWORK, 4)
    assert four.communication_s - plain.communication_s == pytest.approx(ALPHA + 6000 * BETA, rel=1e-2)


def test_crowded_cores_compute_longer():
    crowded = replace(HOSTS, crowds=((4, 2.0),))
    assert iteration(Work("neighbourhood", 1000.0), SPEED, crowded, 4).compute_s == pytest.approx(2 * 250e-6)


def test_communication_eats_the_gain_at_last():
    points = scaling_curve(Work("neighbourhood", 1000.0), SPEED, NETWORK, [1 << k for k in range(12)])
    times = [point.parts.total_s for point in points]
    assert 0 < times.index(min(times)) < len(times) - 1
    shares = [point.parts.communication_share for point in points]
    assert shares == sorted(shares) and shares[0] < 0.5 < shares[-1]
