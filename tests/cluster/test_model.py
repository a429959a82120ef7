"""The cluster model: networks, reductions and iterations, against formulas and sums by hand."""

from dataclasses import replace
from math import ceil, log2

import numpy as np
import pytest

from cluster.model import run_time
from cluster.model.allreduce import finish_time_s, hierarchical_reduction, recursive_doubling, reduction_s, rounds
from cluster.model.interconnects import Hop, Interconnect, interconnect
from cluster.model.run_time import SYNCHRONISATION_S, iteration_s
from core.errors import UserError
from reports.papers.files import load

ALPHA, BETA = 2e-5, 1e-8
HOSTS = Interconnect("hosts", 4, Hop(1e-6, 1e-10), Hop(ALPHA, BETA))


# --- networks ---


def test_a_network_that_is_none_is_refused():
    with pytest.raises(UserError, match="network 'infiniband': expected one of myri10g, grid5000"):
        interconnect("infiniband", 8)


@pytest.mark.parametrize("number", ["10", "11"])
def test_modelled_columns_have_the_cores_that_the_papers_headings_say(number):
    (exhibit,) = load("luong2013").chosen("table", number)
    printed = {one.heading.split(", ")[-1] for one in exhibit.published} - {"GPUTex"}
    modelled = set()
    for column in exhibit.columns:
        cluster = column.model
        if cluster is None:
            continue
        assert f"{cluster.ranks} cores" in column.head
        places = interconnect(cluster.network, cluster.cores, cluster.sites).places(cluster.ranks)
        assert places.site[-1] + 1 == cluster.sites
        if "cluster" not in column.head:
            modelled.add(f"{cluster.ranks} cores")
    assert modelled == printed


def test_hosts_are_filled_and_spread_over_sites_in_blocks():
    network = interconnect("grid5000", 8, 2)
    places = network.places(40)
    assert places.hosts == 5
    assert places.host.tolist() == [rank // 8 for rank in range(40)]
    assert places.site.tolist() == [0] * 24 + [1] * 16
    assert set(network.places(8).site.tolist()) == {0}


def test_sites_farther_apart_take_longer():
    network = interconnect("grid5000", 8, 7)
    places = network.places(56)
    first, others = np.zeros(6, int), np.arange(8, 56, 8)
    assert network.message_s(places, first, others, 0.0) == pytest.approx(np.linspace(2.5e-3, 10e-3, 6))


def test_ranks_of_a_host_share_its_bandwidth():
    places = HOSTS.places(8)
    four = HOSTS.message_s(places, np.arange(4), np.arange(4, 8), 1e6)
    one = HOSTS.message_s(places, np.array([0]), np.array([4]), 1e6)
    assert four == pytest.approx([ALPHA + 4 * 1e6 * BETA] * 4)
    assert one == pytest.approx([ALPHA + 1e6 * BETA])


# --- reductions ---


@pytest.mark.parametrize("ranks", [2, 4, 64, 1024])
def test_doubling_takes_the_logarithm_of_a_power_of_two(ranks):
    assert reduction_s(replace(HOSTS, cores_per_host=ranks), ranks, 8) == pytest.approx(log2(ranks) * (1e-6 + 8e-10))


def test_trees_go_through_every_host_and_between_them_twice():
    inside, between = 1e-6 + 8e-10, ALPHA + 8 * BETA
    assert finish_time_s(HOSTS, 16, 8, 1) == pytest.approx(2 * 2 * inside + 2 * 2 * between)
    assert finish_time_s(HOSTS, 4, 8, 1) == pytest.approx(2 * inside)


def everybody_has_all(messages, ranks):
    """Sets of ranks replace sums."""
    known = [{rank} for rank in range(ranks)]
    for source, target in messages:
        before = [set(one) for one in known]
        for one, other in zip(source.tolist(), target.tolist(), strict=True):
            known[other] |= before[one]
    return all(one == set(range(ranks)) for one in known)


@pytest.mark.parametrize("ranks", [2, 3, 6, 16, 24, 88])
def test_every_rank_has_the_result_in_the_end(ranks):
    assert everybody_has_all(recursive_doubling(ranks), ranks)
    if ranks % 4 == 0:
        assert everybody_has_all(hierarchical_reduction(ranks, 4), ranks)
        assert everybody_has_all(rounds(HOSTS.places(ranks), 4), ranks)


# --- iterations ---


@pytest.mark.parametrize("ranks", [2, 7, 16])
def test_neighbours_are_shared_and_a_word_is_reduced_in_every_iteration(ranks):
    network = replace(HOSTS, cores_per_host=ranks)
    without_s = ceil(1000 / ranks) * 1e-6 + SYNCHRONISATION_S + reduction_s(network, ranks, 8)
    samples = without_s / run_time.SAMPLE_INTERVAL_S
    comparison_s = samples * (SYNCHRONISATION_S + reduction_s(network, ranks, 8 * (3 + ranks)))
    assert iteration_s(1000, 1e-6, network, ranks) == pytest.approx(without_s + comparison_s)


def test_one_rank_has_all_the_work_and_nobody_to_talk_to():
    assert iteration_s(1000, 1e-6, HOSTS, 1) == pytest.approx(1e-3)
