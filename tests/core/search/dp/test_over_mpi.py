"""Dynamic programming over ranks of MPI finds what one rank finds, whatever the devices and hosts of the ranks are."""

import json
from pathlib import Path

import pytest

from cluster import Solo
from core.search.dp.held_karp_plan import bytes_needed
from tests.core.search.dp import over_mpi

slow = pytest.mark.slow
EVERY = ("strings", "knapsacks", "tours", "restricted")


@pytest.fixture(scope="module")
def alone(cpu):
    return {kind: json.loads(json.dumps(list(over_mpi.KINDS[kind](cpu, Solo())))) for kind in EVERY}


@pytest.mark.parametrize(
    ("size", "names", "hosts", "kinds"),
    [
        (3, "cpu", 2, EVERY),
        pytest.param(2, "cpu", 1, EVERY, marks=slow),
        pytest.param(7, "cpu", 3, EVERY, marks=slow),
        pytest.param(3, "opencl", 1, ("tours",), marks=slow),
        pytest.param(4, "cpu,opencl", 2, ("tours",), marks=slow),
        pytest.param(5, "threads,cpu", 1, ("tours",), marks=slow),
    ],
)
def test_ranks_find_what_one_finds(alone, mpirun, size, names, hosts, kinds):
    done = mpirun(size, Path(over_mpi.__file__), names, hosts, *kinds, "refused")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    needed = bytes_needed(13, 2, False)
    refusal = f"the two largest layers need {needed} bytes of rank 1's device, and {needed - 1} are there"
    assert found.pop("refused") == [[f"13 cities: {refusal}"] * size]
    assert found == {kind: alone[kind] for kind in kinds}
