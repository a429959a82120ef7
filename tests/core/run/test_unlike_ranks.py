"""Walks over ranks of any speed: the same outcome, and fewer walks for slow ranks."""

import time
from dataclasses import astuple

import pytest

from backends.cpu.single_core import CpuBackend
from cluster import Solo
from cluster.mpi.proxies import Rehearsal
from core.local_search import Iterations, LocalSearch, TabuSearch
from core.qap.problem import Qap
from tests.thread_ranks import on_ranks

WALKS = 20


class SlowBackend(CpuBackend):
    """A core slowed down by a factor, which its name contains; equal factors mean devices of one kind."""

    def __init__(self, times):
        device = CpuBackend.devices()[0]
        super().__init__(device._replace(name=f"{device.name}, {times:g} times as slow"))
        self.times = times

    def run(self, entry, teams, address):
        began = time.perf_counter()
        super().run(entry, teams, address)
        time.sleep((self.times - 1) * (time.perf_counter() - began))


def walked(ranks, *times):
    """Walk on ranks slowed down by these factors; return the outcome, and the number of this rank's walks."""
    problem, settings = Qap.load("taillard:12:seeds=1,2"), {"level": "algorithm", "walks": WALKS}
    search = LocalSearch(
        SlowBackend(times[ranks.rank]), Rehearsal(ranks), problem, TabuSearch(), "exchange2", **settings
    )
    search.warm_up()
    outcome = search.run(Iterations(400), ranks=ranks)
    return [*astuple(outcome)[:6], outcome.solution.tolist()], search.launcher.memory.count


@pytest.mark.parametrize("times", [(1, 20), pytest.param((1, 1, 1), marks=pytest.mark.slow)])
def test_a_slow_rank_gets_less_and_ranks_that_are_alike_get_as_much(times):
    expected = walked(Solo(), 1)[0]
    outcomes, (first, *others) = zip(*on_ranks(len(times), lambda ranks: walked(ranks, *times)), strict=True)
    assert [*outcomes] == [expected] * len(times) and first + sum(others) == WALKS
    assert others[0] < first / 2 if times == (1, 20) else first - min(others) <= 1
