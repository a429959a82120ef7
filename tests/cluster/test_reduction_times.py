"""Reductions message by message: against formulas of the literature, and a simulation rank by rank in plain Python."""

from dataclasses import replace
from math import log2

import numpy as np
import pytest

from cluster.interconnects import DOUBLING, Crowd, Hop, Interconnect, Reduced
from cluster.reduction_times import (
    LONG,
    after_s,
    doubled,
    halved,
    hosts_first,
    modelled_s,
    reduction_s,
    rounds,
)

ALPHA, BETA = 1e-5, 1e-9
FLAT = Interconnect("flat", "flat", 1, Hop(0.0, 0.0), Hop(ALPHA, BETA), algorithm=DOUBLING)
HOSTS = Interconnect("hosts", "hosts", 4, Hop(1e-6, 1e-10), Hop(ALPHA, BETA))


@pytest.mark.parametrize("ranks", [2, 4, 64, 1024])
def test_doubling_takes_the_logarithm_of_a_power_of_two(ranks):
    assert reduction_s(FLAT, ranks, 8) == pytest.approx(log2(ranks) * (ALPHA + 8 * BETA))


@pytest.mark.parametrize("ranks", [3, 5, 88, 104])
def test_other_numbers_take_up_to_two_rounds_more(ranks):
    rounds_taken = after_s(FLAT, ranks, 8, 1) / (ALPHA + 8 * BETA)
    assert int(log2(ranks)) + 1 - 1e-9 <= rounds_taken <= int(log2(ranks)) + 2 + 1e-9


@pytest.mark.parametrize("ranks", [2, 8, 128])
def test_long_arrays_take_what_rabenseifner_says(ranks):
    size = 1_000_000
    expected = 2 * log2(ranks) * ALPHA + 2 * (ranks - 1) / ranks * size * BETA
    assert after_s(FLAT, ranks, size, 1) == pytest.approx(expected)


def test_one_rank_reduces_in_no_time():
    assert reduction_s(FLAT, 1, 8) == 0


def test_trees_go_through_every_host_and_between_them_twice():
    inside, between = 1e-6 + 8e-10, ALPHA + 8 * BETA
    assert after_s(HOSTS, 16, 8, 1) == pytest.approx(2 * 2 * inside + 2 * 2 * between)
    by_doubling = replace(HOSTS, algorithm=DOUBLING)
    four_at_once = ALPHA + 4 * 8 * BETA
    assert after_s(by_doubling, 16, 8, 1) == pytest.approx(2 * inside + 2 * four_at_once)
    assert after_s(HOSTS, 4, 8, 1) == after_s(by_doubling, 4, 8, 1)
    assert after_s(HOSTS, 14, 8, 1) == after_s(by_doubling, 14, 8, 1)


def everybody_has_all(every, ranks):
    """Whether messages bring every rank's word to all: a set of ranks in place of a sum."""
    known = [{rank} for rank in range(ranks)]
    for source, target, _ in every:
        before = [set(one) for one in known]
        for one, other in zip(source.tolist(), target.tolist(), strict=True):
            known[other] |= before[one]
    return all(one == set(range(ranks)) for one in known)


@pytest.mark.parametrize("ranks", [2, 3, 6, 16, 24, 88])
def test_every_rank_has_the_result_in_the_end(ranks):
    assert everybody_has_all(doubled(ranks, 8), ranks)
    assert everybody_has_all(halved(ranks, 1e6), ranks)
    if ranks % 4 == 0:
        assert everybody_has_all(hosts_first(HOSTS.places(ranks), 4, 8), ranks)
    assert everybody_has_all(rounds(HOSTS, HOSTS.places(ranks), ranks, 8), ranks)


def test_ranks_of_a_host_share_its_bandwidth():
    places = HOSTS.places(8)
    four = HOSTS.message_s(places, np.arange(4), np.arange(4, 8), 1e6)
    one = HOSTS.message_s(places, np.array([0]), np.array([4]), 1e6)
    assert four == pytest.approx([ALPHA + 4 * 1e6 * BETA] * 4)
    assert one == pytest.approx([ALPHA + 1e6 * BETA])


def test_a_measured_reduction_corrects_those_like_it():
    single = after_s(FLAT, 4, 8, 1)
    slow = replace(FLAT, measured=(Reduced(4, 4, 8, 3 * single), Reduced(4, 4, LONG, 7.0)))
    assert reduction_s(slow, 4, 8) == pytest.approx(3 * modelled_s(FLAT, 4, 8))
    assert reduction_s(slow, 64, 8) == pytest.approx(3 * modelled_s(FLAT, 64, 8))


def test_reductions_within_a_host_say_nothing_of_those_between_hosts():
    known = replace(HOSTS, measured=(Reduced(4, 1, 8, 1.0),))
    assert reduction_s(known, 16, 8) == modelled_s(HOSTS, 16, 8)


def test_crowding_grows_with_the_ranks_of_a_host():
    crowded = replace(HOSTS, crowds=(Crowd(4, 1.6),))
    assert [crowded.crowding(ranks) for ranks in (1, 2, 4, 64)] == pytest.approx([1, 1.2, 1.6, 1.6])
    assert HOSTS.crowding(4) == 1
