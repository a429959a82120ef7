"""A clock ends a search soon after its time, however long one iteration takes, and changes no move before that."""

from types import SimpleNamespace

import pytest

from backends.cpu.single_core import CpuBackend
from backends.cpu.threads import ThreadsBackend
from cluster import Solo
from core.search import progress
from core.search import run as run_loop
from core.search.local_search import Iterations, Seconds, Target
from core.search.local_search import search as searching
from core.search.local_search import slices as slicing
from core.search.local_search.slices import Slices, longest_s
from tests.core.search.local_search import table
from tests.core.search.local_search.table import found, named
from tests.thread_ranks import on_ranks, twin

WALKS, NEIGHBOURS, LEVELS = table.TOGETHER, table.KEPT, table.IN_TURN
SOME_WALKS, PARTS = 0.02, 10.0
"""Seconds of an iteration of one walk, that make slices of some walks, or of some neighbours."""


class Clock:
    """A clock that only launches move, by ``seconds`` for all neighbours of a walk; keeps the launches and its looks."""

    def __init__(self, search, seconds, monkeypatch):
        self.search, self.seconds = search, seconds
        self.now, self.samples = 0.0, 0
        self.launched = []
        launch = search.backend.launch

        def timed(kernel, teams, team_size, *given):
            if kernel is search.launcher.kernels.walk:
                _, first, end, count = given[:4]
                self.launched.append((first, end, count))
                self.now += seconds * (end - first) * count
            launch(kernel, teams, team_size, *given)

        monkeypatch.setattr(search.backend, "launch", timed)
        for module in (run_loop, progress, slicing):
            monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=self.look))

    def look(self):
        self.samples += 1
        return self.now


@pytest.fixture
def always(monkeypatch):
    """Iterations are made in slices from the beginning of a run."""
    monkeypatch.setattr(Slices, "is_on", property(lambda self: True, lambda self, value: None), raising=False)


@pytest.fixture(scope="module")
def expected(cpu):
    return {named(row): found(table.search(cpu, Solo(), row)) for row in (WALKS, NEIGHBOURS, LEVELS)}


@pytest.mark.parametrize(
    ("row", "seconds"), [(WALKS, SOME_WALKS), (WALKS, PARTS), (NEIGHBOURS, PARTS), (LEVELS, PARTS)]
)
def test_slices_make_the_moves_of_whole_iterations(row, seconds, cpu, expected, always):
    one = table.search(cpu, Solo(), row)
    one.iteration_s = seconds
    assert found(one, Iterations(table.ITERATIONS) | Seconds(1e6)) == expected[named(row)]


def test_slices_of_several_cores_keep_the_history(always):
    backend = ThreadsBackend(ThreadsBackend.devices()[0])
    whole, cut = (table.search(backend, Solo(), WALKS, history=True) for _ in range(2))
    cut.iteration_s = PARTS
    outcomes = [whole.run(Iterations(8)), cut.run(Iterations(8) | Seconds(1e6))]
    first, second = ([(row[0], row[1], row[3]) for row in one.history] for one in outcomes)
    assert first == second and outcomes[0].digest == outcomes[1].digest


def test_one_walk_after_another_ends_in_the_middle_of_an_iteration(cpu, monkeypatch):
    one = table.search(cpu, Solo(), WALKS)
    one.iteration_s = SOME_WALKS
    clock = Clock(one, SOME_WALKS, monkeypatch)
    outcome = one.run(Seconds(1.0))
    assert clock.launched[0] == (0, 5, 1)
    assert clock.launched[-1][:2] != (0, 5), "the last launch has some of the walks"
    assert 1.0 < clock.now <= 1.0 + SOME_WALKS + 1e-9
    assert outcome.iterations == sum(count * (end - first) for first, end, count in clock.launched)
    assert outcome.iterations % 5
    assert clock.samples > len(clock.launched)


def test_a_clock_begins_with_a_single_iteration_and_no_clock_with_many(cpu, monkeypatch):
    made = []
    one = table.search(cpu, Solo(), NEIGHBOURS)
    iterate = one.iterate
    monkeypatch.setattr(one, "iterate", lambda count: (made.append(count), iterate(count)))
    one.run(Iterations(1000) | Seconds(1e6))
    timed, made[:] = made[0], []
    one.run(Iterations(1000))
    assert (timed, made[0]) == (1, searching.FIRST_BATCH)


def test_the_warm_up_makes_an_iteration_of_the_walks_that_run_side_by_side_and_tells_how_long_it_took(cpu, monkeypatch):
    one = table.search(cpu, Solo(), WALKS)
    clock = Clock(one, 3.0, monkeypatch)
    one.warm_up()
    assert clock.launched[0] == (0, 1, 1)
    assert one.iteration_s == longest_s(one.plan, one.iteration_s) == 3.0
    assert one.launcher.awake == one.launcher.memory.count == 5


@pytest.mark.parametrize("row", [WALKS, NEIGHBOURS], ids=named)
def test_ranks_of_which_one_is_late_all_end(row, expected, always, monkeypatch):
    """The second rank's clock is years ahead, so it breaks off the first iteration; no rank waits for it."""

    def ahead_on_the_second(launcher, *given):
        slices = slicing.slices_for(launcher, *given)
        if slices is not None and launcher.ranks.rank == 1:
            slices.began -= 1e9
        return slices

    def run(ranks):
        one = table.search(twin(CpuBackend(CpuBackend.devices()[0])), ranks, row)
        one.iteration_s = PARTS
        return found(one, Iterations(table.ITERATIONS) | Seconds(1e6)), found(one)

    monkeypatch.setattr(searching, "slices_for", ahead_on_the_second)
    (cut, whole), (cut_too, whole_too) = on_ranks(2, run)
    assert cut == cut_too != whole == whole_too == expected[named(row)]


def test_a_target_ends_walks_that_are_made_in_slices(cpu):
    one = table.search(cpu, Solo(), WALKS)
    one.iteration_s = PARTS
    reachable = table.search(cpu, Solo(), WALKS).run(Iterations(table.ITERATIONS)).cost
    outcome = one.run(Target(reachable) | Seconds(1e6) | Iterations(1000))
    assert outcome.cost <= reachable
    assert outcome.iterations < 5 * 1000
