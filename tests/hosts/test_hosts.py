"""Hosts are apart where hosts are, share what a cluster shares, and leave nothing behind."""

import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from tests.hosts.hosts import ROOT
from tests.patience import soon

pytestmark = pytest.mark.long
WHO = "import os; from cluster.communicators import host_name; print(os.uname().nodename, '|', host_name())"


def test_ranks_know_that_their_hosts_are_different_ones(hosts_can_be, environment):
    """On the command line: a program runs on the first host, and ranks on all."""
    words = ["-m", "tests.hosts", "cow", "3", "--slots", "2", "--", "mpirun", "-n", "6", "python", "-c", WHO]
    there = environment | {"PATH": f"{Path(sys.executable).parent}:{environment['PATH']}"}
    there.pop("TSPLIB_DIR", None)
    done = subprocess.run([sys.executable, *words], env=there, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    lines = [line.split(" | ") for line in done.stdout.splitlines()]
    assert sorted(name for name, _ in lines) == ["host1", "host1", "host2", "host2", "host3", "host3"]
    assert len({where for _, where in lines}) == 3 == len({(name, where) for name, where in lines})


def test_a_host_has_its_own_tmp_and_processes_and_shares_the_folders_that_it_is_given(hosts, tmp_path):
    two = hosts("lan", 2)
    mine = f"mine-{uuid.uuid4()}"  # on this machine /tmp is everybody's
    two.run(0, ["touch", f"/tmp/{mine}", f"/dev/shm/{mine}", tmp_path / "ours"])
    assert two.run(0, ["ls", "/dev/shm"]).stdout.split() == [mine]
    assert two.run(1, ["ls", "/dev/shm"]).stdout == ""
    assert mine not in two.run(1, ["ls", "/tmp"]).stdout
    assert two.run(1, ["ls", tmp_path]).stdout.split() == ["ours"] and (tmp_path / "ours").exists()
    assert not Path(f"/tmp/{mine}").exists() and not Path(f"/dev/shm/{mine}").exists()
    sleeping = two.start(0, ["sleep", 60])
    assert soon(lambda: "sleep 60" in two.running(0)) and two.running(1) == []
    sleeping.terminate()
    sleeping.communicate()
