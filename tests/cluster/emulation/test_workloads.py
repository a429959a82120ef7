"""Every workload over several hosts follows the trajectory of one process: the same hash, over real TCP."""

import re
import subprocess
import sys

import pytest

from drivers.workload.registry import NAMES
from tests.cluster.emulation.hosts import ROOT

pytestmark = pytest.mark.long
RUNS = {
    "ihc": "--instance uniform:30:seed=1 --climbers 12",
    "aco": "--instance uniform:20:seed=1 --ants 7 --iterations 5",
    "qap": "--instance taillard:12:seeds=1,2 --walks 5 --iterations 30",
    "ppp": "--instance 21-23:seed=5 --walks 1 --iterations 30",
    "tsp": "--instance uniform:30:seed=1 --walks 1 --iterations 30",
    "weierstrass": "--instance 3 --points 50 --iterations 20",
    "exact": "--instance uniform:10:seed=1 --bound none",
    "lcs": "--instance random:3000:seed=1",
    "knapsack": "--items 30 --capacity 5000",
    "heldkarp": "--instance uniform:12:seed=1",
}


def words_for(name):
    return ["-m", f"drivers.{name}", *RUNS[name].split(), "--backend", "cpu", "--no-progress"]


def hash_in(said):
    """The hash of the result and its trajectory, with the cost or length before it."""
    (digest,) = re.findall(r"hash ([0-9a-f]{16})", said)
    return digest


@pytest.fixture
def alone(environment):
    def run(name):
        words = [sys.executable, *words_for(name)]
        done = subprocess.run(words, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr
        return hash_in(done.stdout)

    return run


@pytest.mark.parametrize("name", NAMES)
def test_the_same_hash_over_two_hosts_and_three_as_in_one_process(name, alone, hosts):
    expected = alone(name)
    three = hosts("cow", 3)
    for ranks in (2, 3):
        done = three.mpirun(ranks, *words_for(name))
        assert done.returncode == 0, done.stderr
        assert hash_in(done.stdout) == expected


@pytest.mark.parametrize("network", ["lan", "grid2", "grid"])
def test_the_same_hash_on_other_networks_and_with_two_ranks_a_host(network, alone, hosts):
    done = hosts(network, 3).mpirun(6, *words_for("ppp"))
    assert done.returncode == 0, done.stderr
    assert hash_in(done.stdout) == alone("ppp")
