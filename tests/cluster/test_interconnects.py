"""Networks as data: what the file says, what a check measured, and where ranks lie."""

import pytest

from cluster.interconnects import fitted, named, names
from cluster.measured import Link, Measured, Pace, RankSpeed, Reduction
from core.errors import UserError


def test_every_network_of_the_file_is_read_and_says_where_it_is_from():
    assert {"myri10g", "ethernet", "grid5000"} <= set(names())
    for name in names():
        for network in named(name):
            hops = [network.cores, network.hosts, *([network.between_sites] if network.sites > 1 else [])]
            assert all(hop.source and hop.alpha_s > 0 and hop.beta_s_per_byte > 0 for hop in hops)
            assert network.cores.alpha_s < network.hosts.alpha_s


def test_a_grid_has_two_five_and_seven_sites_or_as_many_as_one_says():
    assert [network.sites for network in named("grid5000")] == [2, 5, 7]
    (three,) = named("grid5000:3")
    assert three.sites == 3 and three.name == "grid5000:3"


@pytest.mark.parametrize(
    ("name", "expected"),
    [("infiniband", "expected one of myri10g"), ("myri10g:2", "number of sites"), ("grid5000:no", "number of sites")],
)
def test_a_network_that_is_none_is_refused(name, expected):
    with pytest.raises(UserError, match=expected):
        named(name)


def test_hosts_are_filled_and_spread_over_sites_in_blocks():
    (network,) = named("grid5000:2")
    places = network.places(40)
    assert places.hosts == 5 and network.hosts_of(40) == 5
    assert places.host.tolist() == [rank // 8 for rank in range(40)]
    assert places.site.tolist() == [0] * 24 + [1] * 16
    assert set(network.places(8).site.tolist()) == {0}


def test_sites_farther_apart_take_longer():
    import numpy as np

    (network,) = named("grid5000:7")
    places = network.places(56)
    first, others = np.zeros(6, int), np.arange(8, 56, 8)
    assert network.message_s(places, first, others, 0.0) == pytest.approx(np.linspace(2.5e-3, 10e-3, 6))


def speed(number, host):
    return RankSpeed(number, host, "a core", "cpu", 1, 2, 90.0, "neighbours", "ppp 73-73", 100.0, 0.0, {})


def check(links, reductions=(), paces=(), hosts="aabb"):
    speeds = (speed(number, host) for number, host in enumerate(hosts))
    return Measured("2026-11-22T23:00:00Z", "Open MPI", tuple(links), tuple(reductions), tuple(paces), tuple(speeds))


def test_a_check_becomes_a_network_of_medians():
    latencies = ((0, 1, True, 1e-6), (0, 2, False, 4e-5), (1, 3, False, 6e-5), (0, 3, False, 5e-5))
    links = [Link(*one, 1e-9) for one in latencies]
    known = ((1, 1, 1.0, 0.95, 1.05), (2, 1, 1.1, 1.06, 1.2), (4, 2, 1.5, 1.3, 1.9), (8, 4, 2.0, 1.0, 3.0))
    paces = [Pace(*one, 9) for one in known]
    found = fitted("check.json", check(links, [Reduction(4, 2, 8, 1e-4, 1e-4, 1e-4, 9)], paces))
    assert found.cores_per_host == 2 and found.cores.alpha_s == 1e-6 and found.hosts.alpha_s == 5e-5
    assert found.measured[0].seconds == 1e-4
    # Also over hosts: whoever meets waits for the slowest, wherever it is. Of eight ranks nothing is sure.
    assert [found.crowding(ranks) for ranks in (1, 2, 3, 4, 8, 64)] == pytest.approx([1.0, 1.1, 1.3, 1.5, 1.0, 1.0])


def test_a_check_of_one_rank_says_nothing_of_messages():
    with pytest.raises(UserError, match=r"alone\.json: no pair of ranks"):
        fitted("alone.json", check([], hosts="a"))
