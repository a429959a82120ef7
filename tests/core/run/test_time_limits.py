"""A time limit ends every search soon after its time, whatever its iterations take: in virtual time."""

import itertools
import time
from dataclasses import replace

import pytest

from cluster import Solo
from core import local_search
from core.ant_colony import AntColony, Settings
from core.exact import ExactSearch
from core.hill_climbing import search
from core.run.loop import SynchronousRun, advance, execute
from core.run.stop import Iterations, Seconds, allowance_s
from core.tables.knapsack.branch_and_bound import KnapsackBranchAndBound
from tests.core.run.searches import HARD, QAP, cities

PACES = (1e-6, 1e-4, 1e-2, 0.1, 0.5)
LIMITS = (0.1, 1.0, 5.0)
QUICK = {(1e-4, 0.1), (1e-2, 0.1), (0.1, 1.0), (0.5, 5.0)}
SLOW = 4.0
"""Factor of some slow launches."""
LAUNCH_S = 1e-5


class Machine:
    """A clock that launches advance. One in seven, and the one after the end of a run, are `SLOW` times as long."""

    def __init__(self, limit_s, monkeypatch):
        self.limit_s = limit_s
        self.now, self.launches, self.work = 0.0, 0, 0.0
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)

    def launch(self, seconds):
        self.launches += 1
        is_last = self.now + LAUNCH_S + SLOW * seconds > self.limit_s
        self.now += LAUNCH_S + seconds * (SLOW if is_last or self.launches % 7 == 0 else 1.0)


def late_s(limit_s):
    return max(0.1 * limit_s, 0.05)


# --- the limits ---

limits = pytest.mark.parametrize("limit_s", LIMITS)
paces_and_limits = pytest.mark.parametrize(
    ("pace", "limit_s"),
    [pytest.param(*one, marks=() if one in QUICK else pytest.mark.slow) for one in itertools.product(PACES, LIMITS)],
)


# --- the budget ---


# --- searches ---


def timed_search(backend, machine, monkeypatch, algorithm, work_of, *, seconds, walks):
    """A local search whose launches move the clock.

    A walk's full iteration takes ``seconds``; after some iterations it does the part ``work_of(iterations)`` of it.
    """
    timed = local_search.LocalSearch(backend, Solo(), QAP[0], algorithm, "exchange2", level="algorithm", walks=walks)
    launcher = timed.launcher
    timed.plan = launcher.plan = replace(timed.plan, sizes=(10**6,))
    monkeypatch.setattr(type(launcher), "side_by_side", 1)
    most = timed.plan.most_evaluations
    iterations = 0.0

    def walked(count, first, end):
        nonlocal iterations
        part = count * work_of(iterations + count / 2)
        iterations += count * (end - first) / walks
        machine.work += part * most * (end - first)
        machine.launch(seconds * part * (end - first))

    def scanned(walk, part, parts):
        nonlocal iterations
        share = work_of(iterations) / parts
        iterations += 1 / (parts * walks)
        machine.work += share * most
        machine.launch(seconds * share)

    monkeypatch.setattr(launcher, "walk", walked)
    monkeypatch.setattr(launcher, "part", scanned)
    for name in ("refresh", "step"):
        monkeypatch.setattr(launcher, name, lambda *given: None)
    monkeypatch.setattr(timed.walks, "evaluations", lambda: round(machine.work))
    timed.iteration_s = seconds * work_of(0)
    return timed


def even(iterations):
    return 1.0


def ever_more(iterations):
    """Work of annealing as it cools, or of a first improvement on the way to a local optimum."""
    return min(1.0, 0.01 + iterations / 500)


@pytest.mark.parametrize(
    ("algorithm", "work_of", "walks"),
    [
        (local_search.TabuSearch(), even, 5),
        (local_search.HillClimbing(first=True), ever_more, 1),
        (local_search.IteratedLocalSearch(first=True), ever_more, 5),
        (local_search.SimulatedAnnealing(temperature=1.0), ever_more, 1),
    ],
    ids=lambda one: getattr(one, "name", None),
)
@paces_and_limits
def test_local_search_ends_in_time(algorithm, work_of, walks, pace, limit_s, python, monkeypatch):
    machine = Machine(limit_s, monkeypatch)
    search = timed_search(python, machine, monkeypatch, algorithm, work_of, seconds=pace, walks=walks)
    execute(search, SynchronousRun(Solo(), Seconds(limit_s)))
    assert limit_s < machine.now <= limit_s + late_s(limit_s)


@paces_and_limits
def test_a_search_whose_iterations_cannot_be_cut_begins_none_that_ends_too_late(pace, limit_s, cpu, monkeypatch):
    colony = AntColony(cpu, Solo(), cities(20), Settings(ants=4))
    machine = Machine(limit_s, monkeypatch)
    monkeypatch.setattr(colony.colonies[0], "make_places", lambda count: None)
    monkeypatch.setattr(colony.colonies[0], "replay", lambda count: machine.launch(count * pace))
    run = SynchronousRun(Solo(), Seconds(limit_s))
    colony.begin(run, None)
    advance(colony, run)
    # No estimate can foresee an iteration that is slower than all before it.
    surprise = (SLOW - 1) * pace if SLOW * pace > allowance_s(limit_s) else 0.0
    assert run.done >= 1 and run.by_time
    assert machine.now <= max(limit_s + late_s(limit_s) + surprise, SLOW * pace + 1e-3)


@limits
def test_branch_and_bound_of_a_knapsack_ends_in_time(limit_s, cpu, monkeypatch):
    bounded = KnapsackBranchAndBound(cpu, Solo(), HARD)
    machine = Machine(limit_s, monkeypatch)
    monkeypatch.setattr(bounded, "_explore", lambda budget: machine.launch(budget * 1e-8))
    bounded.run(Seconds(limit_s))
    assert limit_s < machine.now <= limit_s + late_s(limit_s)


@pytest.mark.parametrize("climb_s", [1e-6, 1e-2])
@limits
def test_climbs_end_in_time(climb_s, limit_s, cpu, monkeypatch):
    climbing = search.HillClimbing(cpu, Solo(), cities(8), start="philox")
    machine = Machine(limit_s, monkeypatch)
    monkeypatch.setattr(climbing.launcher, "launch", lambda first, count: machine.launch(count * climb_s))
    climbing.run(Seconds(limit_s), trace=False)
    assert limit_s * 0.9 < machine.now <= limit_s + late_s(limit_s)


@limits
def test_an_enumeration_ends_in_time(limit_s, cpu, monkeypatch):
    exact = ExactSearch(cpu, Solo(), cities(20), bound="none", depth=9)
    machine = Machine(limit_s, monkeypatch)
    monkeypatch.setattr(exact.method, "launch", lambda begin, end, counting: machine.launch((end - begin) * 1e-5))
    assert not exact.run(Seconds(limit_s)).finished
    assert limit_s < machine.now <= limit_s + late_s(limit_s)


@pytest.mark.parametrize("bound", ["edges", "none"])
def test_a_large_item_of_an_enumeration_is_handed_on_before_the_time_is_over(bound, cpu):
    """A single lane with a large item checks the time limit and redistributes the rest of its item."""
    exact = ExactSearch(cpu, Solo(), cities(24), bound=bound, depth=1)
    launches = []
    launch = exact.method.launch

    def counted(begin, end, counting):
        launches.append(exact.method.is_kept)
        launch(begin, end, counting)

    exact.method.launch = counted
    outcome = exact.run(Seconds(1e-3))
    assert not outcome.finished and launches[0] and len(launches) < 5


def test_an_iteration_is_the_least_that_a_search_makes(cpu, monkeypatch):
    colony = AntColony(cpu, Solo(), cities(20), Settings(ants=4))
    assert len(colony.run(Seconds(1e-9)).curve) == 1
    assert colony.run(Iterations(1)).hash == colony.run(Seconds(1e-9)).hash
