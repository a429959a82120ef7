"""Hosts are apart where hosts are, and the wire between them has the delay that its profile states."""

import platform
import re
import sys

import pytest

from cluster.emulation.hosts import HOST_FILE
from cluster.emulation.profiles import PROFILES
from reports.records.files import load
from tests.cluster.emulation.test_workloads import words_for

pytestmark = pytest.mark.long
WHO = "import os; from cluster.mpi.communicator import host_name; print(os.uname().nodename, '|', host_name())"
REACH = """
import socket, sys, time
began = time.perf_counter()
with socket.socket() as peer:
    peer.settimeout(1)
    peer.connect_ex((sys.argv[1], 9))
print(time.perf_counter() - began)
"""


def recorded_run(launcher, ranks, path):
    return [*launcher.split(), "-n", ranks, "python", *words_for("ppp"), "--record", path]


def test_ranks_know_that_their_hosts_are_different_ones(hosts_can_be, emulate):
    """A program runs on the first host, and ranks on all."""
    done = emulate("cow", "3", "--slots", "2", "--", "mpirun", "-n", "6", "python", "-c", WHO)
    assert done.returncode == 0, done.stderr
    lines = [line.split(" | ") for line in done.stdout.splitlines()]
    assert sorted(name for name, _ in lines) == ["host1", "host1", "host2", "host2", "host3", "host3"]
    assert len({where for _, where in lines}) == 3 == len({(name, where) for name, where in lines})


def test_a_record_from_the_command_line_names_the_network_and_the_machine(hosts_can_be, emulate, tmp_path):
    path = tmp_path / "r.jsonl"
    done = emulate("cow", "2", "--share", tmp_path, "--", *recorded_run("mpirun", 2, path))
    assert done.returncode == 0, done.stderr
    ((where, ranks),) = [(one.environment, one.ranks) for one in load(path)]
    assert (where["emulated_network"], where["emulated_hosts"], ranks) == ("cow", 2, 2)
    assert (where["host"], where["host_count"]) == (platform.node(), 1)


@pytest.mark.parametrize(
    ("launcher", "found"), [(f"env -u {' -u '.join(HOST_FILE)} mpirun", 1), ("mpirun --host host1:2,host2", 2)]
)
def test_ranks_on_fewer_hosts_than_expected_are_refused(launcher, found, hosts_can_be, emulate, tmp_path):
    """By a launcher that ignores the list of hosts, and by a user's option."""
    path = tmp_path / "r.jsonl"
    done = emulate("cow", "3", "--share", tmp_path, "--", *recorded_run(launcher, 3, path))
    (line,) = re.findall("^error.*", done.stderr, re.MULTILINE)
    assert line.startswith(f"error: found 3 ranks on {found} of 3 emulated hosts, expected them on 3: ")
    assert (done.returncode, path.exists()) == (2, False)


@pytest.mark.parametrize("network", PROFILES)
def test_a_round_trip_takes_what_the_profile_states(network, hosts):
    """By a connection to a port without a listener on another host."""
    two, stated_s = hosts(network, 2), PROFILES[network].round_trips(2)[0][1]
    asked = [sys.executable, "-S", "-c", REACH, two.name(1)]
    # The wire subtracts its own 2 x 22 us from delays. Some packets find a busy machine idle.
    assert stated_s - 45e-6 < min(float(two.run(0, asked).stdout) for _ in range(10)) < stated_s + 5e-3
