"""Every search has one shape: how it is made and run, what it tells, how it is ended, and what it finds."""

import inspect
import re

import numpy as np
import pytest

from cluster import Solo
from core.ant_colony import AntColony, Settings
from core.errors import UserError
from core.run.progress import ProgressMonitor
from core.run.protocol import Progress, Search, SearchResult, Watching
from core.run.stop import Iterations, NoImprovement, Seconds, Stop, Target
from tests.core.run.searches import KINDS, cities
from tests.thread_ranks import on_ranks, twin

ENDED = [name for name, kind in KINDS.items() if kind.endless]
SHARED = [name for name in ENDED if KINDS[name].shared]
WATCHING = list(Watching.__annotations__)
FOUND = [name for name in vars(SearchResult) if not name.startswith("_")]


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


def arguments(run):
    """Parameters of a search's `run`, with those of `Watching` in place of the group."""
    taken = dict(inspect.signature(run).parameters)
    if taken.pop("watching", None) is not None:
        taken |= {name: inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in WATCHING}
    return taken


def test_a_search_is_made_and_run_with_the_same_arguments(kind):
    assert list(inspect.signature(kind.search).parameters)[:2] == ["backend", "communicator"]
    expected, taken = arguments(Search.run), arguments(kind.search.run)
    assert list(expected) == ["self", "stop", "ranks", "history", "callback", "checkpointer"]
    assert list(taken)[:2] == ["self", "stop"] and taken["stop"].default is None
    assert all(taken[name].default in (None, False) for name in list(expected)[1:])
    assert all(one.kind == one.KEYWORD_ONLY for one in list(taken.values())[2:])


def test_what_is_found_says_the_same_of_itself_and_the_callback_hears_of_it(kind, cpu, monkeypatch):
    search = kind.make(cpu, Solo())
    search.warm_up()
    reported = []
    outcome = search.run(kind.stop, callback=reported.append)
    assert [name for name in FOUND if not hasattr(outcome, name)] == []
    assert isinstance(outcome.cost, int) and isinstance(outcome.evaluations, int) and outcome.evaluations > 0
    assert isinstance(outcome.solution, np.ndarray)
    assert re.fullmatch("[0-9a-f]{16}", outcome.hash)
    assert outcome.finished
    assert all(isinstance(one, Progress) for one in reported)
    first = len(reported)
    assert reported[-1].cost == outcome.cost and reported[-1].total in (None, reported[-1].done)
    assert reported[-1].evaluations in (None, outcome.evaluations)
    monkeypatch.setattr("core.run.progress.PROGRESS_INTERVAL_S", 0)
    again = search.run(kind.stop, callback=reported.append)
    for column in ([one.seconds for one in reported], [one.done for one in reported]):
        assert all(part == sorted(part) for part in (column[:first], column[first:]))
    assert len({one.total for one in reported}) == 1 and len(reported) > first
    assert (again.cost, again.hash, again.solution.tolist()) == (outcome.cost, outcome.hash, outcome.solution.tolist())


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if not kind.shared])
def test_a_search_that_ranks_cannot_share_is_refused_on_several(name, cpu):
    class Two(Solo):
        size = 2

    with pytest.raises(UserError, match="2 ranks(:|,) expected (one|1)"):
        KINDS[name].make(cpu, Two())


@pytest.mark.parametrize("name", ["tabu search", "several walks", "hill climbing", "ants", "colonies", "1-trees"])
def test_a_history_leads_to_what_is_found(name, cpu):
    kind = KINDS[name]
    outcome = kind.make(cpu, Solo()).run(kind.stop, history=True)
    *_, last = outcome.history
    assert last[3] == outcome.cost and last[1] <= outcome.evaluations
    for column, falls in ((0, False), (1, False), (2, False), (3, True)):
        values = [row[column] for row in outcome.history]
        assert values == sorted(values, reverse=falls)
    assert outcome.hash == kind.make(cpu, Solo()).run(kind.stop).hash


@pytest.mark.parametrize("name", ENDED)
def test_a_callback_ends_the_search_with_the_best_so_far(name, cpu):
    kind = KINDS[name]
    reported = []
    outcome = kind.make_endless(cpu, Solo()).run(kind.endless[2], callback=lambda one: reported.append(one) or True)
    assert not outcome.finished
    assert outcome.solution is not None
    assert outcome.cost == reported[-1].cost
    assert len(reported) <= 4


@pytest.mark.parametrize("name", SHARED)
def test_the_first_rank_s_callback_or_clock_ends_the_search_on_all_ranks(name, cpu):
    kind = KINDS[name]
    theirs = []

    def run(ranks):
        tell = (lambda one: True) if ranks.rank == 0 else theirs.append
        return kind.make_endless(twin(cpu), ranks).run(kind.endless[2], callback=tell)

    first, other = on_ranks(2, run)
    assert not first.finished and not other.finished
    assert (first.cost, first.hash, first.evaluations) == (other.cost, other.hash, other.evaluations)
    assert first.solution.tolist() == other.solution.tolist()
    assert theirs
    if name != "1-trees":  # by the first rank's clock too
        first, other = on_ranks(2, lambda ranks: kind.make_endless(twin(cpu), ranks).run(Seconds(0.05)))
        assert (first.cost, first.hash, first.finished) == (other.cost, other.hash, other.finished)


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.shared])
def test_ranks_that_joined_before_the_run_find_what_one_finds(name, cpu):
    kind = KINDS[name]

    def run(ranks):
        search = kind.make(twin(cpu), ranks)
        search.warm_up()
        search.join(ranks)
        return search.run(kind.stop).hash

    assert on_ranks(2, run) == [kind.make(cpu, Solo()).run(kind.stop).hash] * 2


@pytest.mark.parametrize("name", ["hill climbing", "1-trees", "the thesis' bound"])
def test_a_target_ends_the_search(name, cpu):
    kind = KINDS[name]
    outcome = kind.make_endless(cpu, Solo()).run(Target(10**7))
    assert outcome.cost <= 10**7


def test_a_length_equal_to_the_target_ends_hill_climbing(cpu):
    search = KINDS["hill climbing"].make_endless(cpu, Solo())
    shortest = search.run(Iterations(1000)).cost
    outcome = search.run(Target(shortest) | Iterations(10**4))
    assert outcome.cost == shortest and outcome.climbs < 10**4


def test_a_callback_is_told_at_once_then_now_and_then_and_at_the_end(monkeypatch):
    clock = 0.0
    monkeypatch.setattr("core.run.progress.time.perf_counter", lambda: clock)
    reported = []
    monitor = ProgressMonitor(Stop(), reported.append, 7)
    for done in range(1, 7):
        clock += 0.1
        if monitor.is_due():
            monitor.report(done, 100 - done)
    monitor.report_end(7, 90)
    monitor.report_end(7, 90)
    assert [one.done for one in reported] == [1, 4, 7]
    assert not monitor.interrupted


@pytest.mark.parametrize(
    ("name", "asked", "said"),
    [
        ("1-trees", {"stop": NoImprovement(5)}, "exact search cannot stop by patience: expected seconds or a target"),
        ("the thesis' bound", {"stop": Iterations(5)}, "exact search cannot stop by iterations: expected seconds or a"),
        ("hill climbing", {}, "hill climbing: nothing would end it: expected iterations, seconds or target, or a call"),
        ("tabu search", {}, "tabu: nothing would end it: expected iterations, seconds, target or patience, or a call"),
        ("strings", {"stop": Seconds(1)}, "a longest common subsequence cannot stop by seconds: expected none, since"),
        ("knapsack", {"stop": Target(1)}, "the knapsack problem's table cannot stop by a target: expected none, since"),
    ],
)
def test_what_a_search_cannot_honour_is_refused_in_one_line(name, asked, said, cpu):
    with pytest.raises(UserError) as refusal:
        KINDS[name].make(cpu, Solo()).run(**asked)
    assert str(refusal.value).startswith(said) and "\n" not in str(refusal.value)


# --- ants ---


def ants(backend, ranks=None, **changes):
    return AntColony(backend, ranks or Solo(), cities(30), Settings(**{"ants": 8, **changes}), seed=3)


@pytest.mark.parametrize("changes", [{}, {"colonies": 3}, {"colonies": 2, "variant": "mmas", "exchange": 4}], ids=str)
def test_ants_of_all_ranks_end_with_the_first_iteration_that_reaches_the_target(changes, cpu):
    curve = ants(cpu, **changes).run(Iterations(60)).curve.tolist()
    best = min(curve[20:])
    first = next(k for k, length in enumerate(curve) if length <= best)
    outcome = ants(cpu, **changes).run(Target(best))
    assert outcome.curve.tolist() == curve[: first + 1]
    assert outcome.hash == ants(cpu, **changes).run(Iterations(first + 1)).hash
    assert outcome.length <= best and outcome.finished
    for one in on_ranks(2, lambda ranks: ants(twin(cpu), ranks, **changes).run(Target(best))):
        assert one.curve.tolist() == outcome.curve.tolist()


def test_ants_stop_when_the_time_is_over_and_have_room_for_all_iterations(cpu, monkeypatch, counted_time):
    monkeypatch.setattr("core.ant_colony.search.FIRST_PLACES", 2)
    ants(cpu).run(Iterations(1))  # the time has no compilation, which reads the clock
    outcome = ants(cpu).run(Seconds(0.05), history=True)
    iterations = len(outcome.curve)
    assert iterations > 2
    whole = ants(cpu).run(Iterations(iterations))
    assert (outcome.hash, outcome.curve.tolist()) == (whole.hash, whole.curve.tolist())
    assert outcome.history[-1][2] < 1.0
