"""Tours over ranks of MPI are those that one rank finds, whatever the devices and hosts of the ranks are.

`tests/drivers/test_on_ranks.py` has the other tables.
"""

import json
from pathlib import Path

import pytest

from cluster import Solo
from core.search.dp.held_karp.plan import bytes_needed
from tests.core.search.dp import over_mpi

slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("size", "names", "hosts"),
    [
        (3, "cpu", 2),
        pytest.param(2, "cpu", 1, marks=slow),
        pytest.param(7, "cpu", 3, marks=slow),
        pytest.param(3, "opencl", 1, marks=slow),
        pytest.param(4, "cpu,opencl", 2, marks=slow),
        pytest.param(5, "threads,cpu", 1, marks=slow),
    ],
)
def test_ranks_find_what_one_finds(cpu, mpirun, size, names, hosts):
    done = mpirun(size, Path(over_mpi.__file__), names, hosts)
    assert done.returncode == 0, done.stderr
    results, refused = json.loads(done.stdout)
    needed = bytes_needed(13, 2, False)
    refusal = f"the two largest layers need {needed} bytes of rank 1's device, and {needed - 1} are there"
    assert refused == [f"13 cities: {refusal}"] * size
    assert results == list(over_mpi.tours(cpu, Solo()))
