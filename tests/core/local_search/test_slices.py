"""A clock ends a search soon after its time, however long one iteration takes, and changes no move before that."""

from types import SimpleNamespace

import pytest

from backends.cpu.single_core import CpuBackend
from backends.cpu.threads import ThreadsBackend
from cluster import Solo
from core.local_search import Iterations, Seconds, Target
from core.local_search import search as searching
from core.local_search import slices as slicing
from core.local_search.slices import Slices, longest_s
from core.run import loop as run_loop
from core.run import progress
from tests.core.local_search import table
from tests.core.local_search.table import named, result_of
from tests.thread_ranks import on_ranks, twin

WALKS, NEIGHBOURS, LEVELS = table.TOGETHER, table.KEPT, table.IN_TURN
SOME_WALKS, PARTS = 0.02, 10.0
"""Seconds of an iteration of one walk, for slices of some walks and of some neighbours."""


class Clock:
    """A clock that only launches advance, by ``seconds`` for all neighbours of a walk; notes launches and readings."""

    def __init__(self, search, seconds, monkeypatch):
        self.search, self.seconds = search, seconds
        self.now, self.samples = 0.0, 0
        self.launched = []
        launch = search.backend.launch

        def timed(kernel, teams, team_size, *arguments):
            if kernel is search.launcher.kernels.walk:
                _, first, end, count = arguments[:4]
                self.launched.append((first, end, count))
                self.now += seconds * (end - first) * count
            launch(kernel, teams, team_size, *arguments)

        monkeypatch.setattr(search.backend, "launch", timed)
        for module in (run_loop, progress, slicing):
            monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=self.look))

    def look(self):
        self.samples += 1
        return self.now


@pytest.fixture
def always(monkeypatch):
    """Iterations are in slices from the beginning of a run."""
    monkeypatch.setattr(Slices, "is_on", property(lambda self: True, lambda self, value: None), raising=False)


@pytest.fixture(scope="module")
def expected(cpu):
    return {named(row): result_of(table.search(cpu, Solo(), row)) for row in (WALKS, NEIGHBOURS, LEVELS)}


@pytest.mark.parametrize(
    ("row", "seconds"), [(WALKS, SOME_WALKS), (WALKS, PARTS), (NEIGHBOURS, PARTS), (LEVELS, PARTS)]
)
def test_slices_make_the_moves_of_whole_iterations(row, seconds, cpu, expected, always):
    search = table.search(cpu, Solo(), row)
    search.iteration_s = seconds
    assert result_of(search, Iterations(table.ITERATIONS) | Seconds(1e6)) == expected[named(row)]


def test_slices_of_several_cores_keep_the_history(always):
    backend = ThreadsBackend(ThreadsBackend.devices()[0])
    whole, cut = (table.search(backend, Solo(), WALKS, history=True) for _ in range(2))
    cut.iteration_s = PARTS
    outcomes = [whole.run(Iterations(8)), cut.run(Iterations(8) | Seconds(1e6))]
    first, second = ([(row[0], row[1], row[3]) for row in one.history] for one in outcomes)
    assert first == second and outcomes[0].digest == outcomes[1].digest


def test_one_walk_after_another_ends_in_the_middle_of_an_iteration(cpu, monkeypatch):
    search = table.search(cpu, Solo(), WALKS)
    search.iteration_s = SOME_WALKS
    clock = Clock(search, SOME_WALKS, monkeypatch)
    outcome = search.run(Seconds(1.0))
    assert clock.launched[0] == (0, 5, 1)
    assert clock.launched[-1][:2] != (0, 5), "the last launch has some of the walks"
    assert 1.0 < clock.now <= 1.0 + SOME_WALKS + 1e-9
    assert outcome.iterations == sum(count * (end - first) for first, end, count in clock.launched)
    assert outcome.iterations % 5
    assert clock.samples > len(clock.launched)


def test_the_warm_up_makes_an_iteration_of_the_walks_that_run_side_by_side_and_tells_how_long_it_took(cpu, monkeypatch):
    search = table.search(cpu, Solo(), WALKS)
    clock = Clock(search, 3.0, monkeypatch)
    search.warm_up()
    assert clock.launched[0] == (0, 1, 1)
    assert search.iteration_s == longest_s(search.plan, search.iteration_s) == 3.0
    assert search.launcher.awake == search.launcher.memory.count == 5


@pytest.mark.parametrize("row", [WALKS, NEIGHBOURS], ids=named)
def test_ranks_of_which_one_is_late_all_end(row, expected, always, monkeypatch):
    """The second rank's clock is years ahead, so it interrupts the first iteration; no rank waits for it."""

    def ahead_on_the_second(launcher, *arguments):
        slices = slicing.slices_for(launcher, *arguments)
        if slices is not None and launcher.ranks.rank == 1:
            slices.began -= 1e9
        return slices

    def run(ranks):
        search = table.search(twin(CpuBackend(CpuBackend.devices()[0])), ranks, row)
        search.iteration_s = PARTS
        return result_of(search, Iterations(table.ITERATIONS) | Seconds(1e6)), result_of(search)

    monkeypatch.setattr(searching, "slices_for", ahead_on_the_second)
    (cut, whole), (cut_too, whole_too) = on_ranks(2, run)
    assert cut == cut_too != whole == whole_too == expected[named(row)]


def test_a_target_ends_walks_that_are_made_in_slices(cpu):
    search = table.search(cpu, Solo(), WALKS)
    search.iteration_s = PARTS
    reachable = table.search(cpu, Solo(), WALKS).run(Iterations(table.ITERATIONS)).cost
    outcome = search.run(Target(reachable) | Seconds(1e6) | Iterations(1000))
    assert outcome.cost <= reachable
    assert outcome.iterations < 5 * 1000
