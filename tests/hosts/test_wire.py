"""The wire between hosts has the delay that its profile states, and is cut and mended."""

import sys

import pytest

from tests.hosts.profiles import PROFILES, profile

NO_ANSWER_S = 1
REACH = """
import socket, sys, time
began = time.perf_counter()
with socket.socket() as peer:
    peer.settimeout(float(sys.argv[2]))
    print(peer.connect_ex((sys.argv[1], 9)), time.perf_counter() - began)
"""
REFUSED, NO_ANSWER = "111", "11"
"""ECONNREFUSED: the host is there, and nobody listens. EAGAIN: nothing comes back."""


def reached(hosts, one, other):
    """The error and the time of a host that connects to another one at which nobody listens."""
    words = [sys.executable, "-S", "-c", REACH, hosts.name(other), NO_ANSWER_S]
    error, seconds = hosts.run(one, words).stdout.split()
    return error, float(seconds)


@pytest.mark.long
@pytest.mark.parametrize("network", PROFILES)
def test_a_round_trip_takes_what_the_profile_states(network, hosts):
    two, stated_s = hosts(network, 2), profile(network).round_trips(2)[0][1]
    # The wire takes its own 2 x 22 us off what packets wait. Some packets find a busy machine idle.
    assert stated_s - 45e-6 < min(reached(two, 0, 1)[1] for _ in range(10)) < stated_s + 5e-3


@pytest.mark.long
def test_a_host_that_is_cut_off_hears_nothing_until_its_cable_is_back(hosts):
    three = hosts("lan", 3)
    assert reached(three, 0, 1)[0] == REFUSED
    three.cut(1)
    assert reached(three, 0, 1)[0] == reached(three, 1, 2)[0] == NO_ANSWER
    assert reached(three, 0, 2)[0] == REFUSED
    three.mend(1)
    assert reached(three, 0, 1)[0] == reached(three, 1, 2)[0] == REFUSED
