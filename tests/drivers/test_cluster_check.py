"""`python -m cluster check`: what it prints and refuses, over ranks."""

import pytest

from cluster.launch import resources

OPTIONS = ("--instance", "73-73", "--backend", "cpu")
CHECK = ("-m", "cluster", "check", *OPTIONS)
SHORT = """
from cluster.measure import reductions
from drivers.cluster_programs import check
reductions.BUDGET_S = 0.01
check.TOGETHER_S = check.MOST_IN_TURN_S = 0.1
check.main()
"""


def test_two_ranks_are_measured_and_shown(mpirun):
    """On separate cores if there are two."""
    done = mpirun(2, "-c", SHORT, *OPTIONS, *(["--pin-cores"] * (resources.count_cores() > 1)))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("2 ranks on 1 host, ")
    assert [line.split()[0] for line in lines[1:] if line.startswith(("on one host", "2 ranks"))] == ["on", "2"]
    assert "ppp 73-73 flip2" in done.stdout and "neighbours/s" in done.stdout


def test_a_rank_alone_is_told_how_to_start_several(mpirun):
    refused(mpirun(1, *CHECK), "error: found one rank, expected several: `mpirun -n 4 python -m cluster check`")


@pytest.mark.slow
def test_too_few_cores_are_told_before_anything_is_measured(mpirun):
    refused(mpirun(resources.count_cores() + 1, *CHECK, "--pin-cores"), "error: --pin-cores: found")


def refused(done, message):
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count(message) == 1
