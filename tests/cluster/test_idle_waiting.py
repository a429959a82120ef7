"""Long waits are slept through: they end when they should, and cost hardly any processor time."""

import sys

import pytest

from cluster.mpi import idle_waiting

WAITING = """
import resource, time
from cluster import default_communicator
ranks = default_communicator()
ranks.barrier()
for late in range(ranks.size):
    began = time.monotonic()  # a busy machine may stop a rank for a while behind the barrier
    ranks.barrier()
    before = resource.getrusage(resource.RUSAGE_SELF)
    if ranks.rank == late:
        time.sleep(0.6)
    ranks.assemble()
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert time.monotonic() - began >= 0.59
    assert after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime < 0.2
"""


@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_ranks_that_wait_for_one_sleep_until_it_comes(ranks, mpirun):
    done = mpirun(ranks, "-c", WAITING)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="timers of Linux")
def test_timers_are_late_inside_the_block_alone():
    def slack():
        with open("/proc/self/timerslack_ns") as file:
            return int(file.read())

    usual = slack()
    with idle_waiting.coarse_timers(1000):
        assert slack() == idle_waiting.MOST_SLACK_NS
    assert slack() == usual
    with idle_waiting.coarse_timers(2):
        assert slack() == 2 * idle_waiting.SLACK_PER_RANK_NS
