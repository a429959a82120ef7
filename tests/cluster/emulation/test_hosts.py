"""Hosts are apart where hosts are, and the wire between them has the delay that its profile states."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from cluster.emulation.profiles import PROFILES
from reports.records.files import load
from tests.cluster.emulation.hosts import ROOT

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


def test_ranks_know_that_their_hosts_are_different_ones(hosts_can_be, environment):
    """A program runs on the first host, and ranks on all."""
    words = ["-m", "cluster.emulation", "cow", "3", "--slots", "2", "--", "mpirun", "-n", "6", "python", "-c", WHO]
    there = environment | {"PATH": f"{Path(sys.executable).parent}:{environment['PATH']}"}
    there.pop("TSPLIB_DIR", None)
    done = subprocess.run([sys.executable, *words], env=there, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    lines = [line.split(" | ") for line in done.stdout.splitlines()]
    assert sorted(name for name, _ in lines) == ["host1", "host1", "host2", "host2", "host3", "host3"]
    assert len({where for _, where in lines}) == 3 == len({(name, where) for name, where in lines})


def test_a_record_from_the_command_line_names_the_network_and_the_machine(hosts_can_be, environment, tmp_path):
    path = tmp_path / "r.jsonl"
    words = ["-m", "cluster.emulation", "cow", "2", "--share", str(tmp_path), "--", "mpirun", "-n", "2", "python"]
    words += ["-m", "drivers.ppp", "--instance", "21-23:seed=5", "--walks", "1", "--iterations", "30"]
    words += ["--backend", "cpu", "--record", str(path), "--no-progress"]
    there = environment | {"PATH": f"{Path(sys.executable).parent}:{environment['PATH']}"}
    done = subprocess.run([sys.executable, *words], env=there, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    ((where, ranks),) = [(one.environment, one.ranks) for one in load(path)]
    assert (where["emulated_network"], where["emulated_hosts"], ranks) == ("cow", 2, 2)
    assert (where["host"], where["host_count"]) == (platform.node(), 1)


@pytest.mark.parametrize("network", PROFILES)
def test_a_round_trip_takes_what_the_profile_states(network, hosts):
    """By a connection to a port without a listener on another host."""
    two, stated_s = hosts(network, 2), PROFILES[network].round_trips(2)[0][1]
    asked = [sys.executable, "-S", "-c", REACH, two.name(1)]
    # The wire subtracts its own 2 x 22 us from delays. Some packets find a busy machine idle.
    assert stated_s - 45e-6 < min(float(two.run(0, asked).stdout) for _ in range(10)) < stated_s + 5e-3
