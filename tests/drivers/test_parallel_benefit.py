"""Ranks share a run out where that is faster than one of them alone; else the first one does it, and says so."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest

from drivers import exact
from drivers.options.declaration import Options, option
from drivers.options.values import positive
from drivers.runs import parallel_benefit as deciding
from drivers.runs import repetitions
from drivers.runs.parallel_benefit import SHORT_S, ParallelBenefitCheck
from drivers.runs.repetitions import Repetitions
from drivers.workload.declaration import PreparedRun
from drivers.workload.registry import get_workload
from reports.records.files import load
from tests.drivers.small_runs import Clock, FirstOfTwo, Idle, idle_backend

DRIVER = exact
SMALL = ("--backend", "cpu", "--no-progress", "--instance", "uniform:10:seed=1", "--bound", "one-tree")


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    stopped = Clock()
    for module in (deciding, repetitions):
        monkeypatch.setattr(module, "time", stopped)
    monkeypatch.setattr(Clock, "running", stopped, raising=False)


@dataclass(frozen=True)
class Steps(Options):
    iterations: int = option(1000, "how many", positive)


def work(run, callback):
    """Work and synchronise in every iteration."""
    search, steps = run.search, getattr(run.options, "iterations", 1)
    search.iterations.append(steps)
    Clock.running.now += steps * (search.working_s + search.meeting_s)
    run.ranks.seconds += steps * search.meeting_s
    return "found"


WHOLE = Idle(Options, work)


class Stepwise(Idle):
    def shorter(self, run, iterations):
        return replace(run.options, iterations=min(iterations, run.options.iterations))


STEPWISE = Stepwise(Steps, work)


def search(working_s, meeting_s=0.0):
    return SimpleNamespace(backend=idle_backend(), working_s=working_s, meeting_s=meeting_s, iterations=[])


def sharing(workload, together, alone, **options):
    problem = SimpleNamespace(name="none", sha256="ab" * 32)
    run = PreparedRun(workload.options(progress=False, **options), problem, "made here", together, FirstOfTwo())
    return ParallelBenefitCheck(workload, run, lambda: alone)


def test_ranks_whose_meetings_take_longer_than_their_work_leave_it_to_the_first(capsys):
    alone = search(2e-4)
    check = sharing(STEPWISE, search(1e-4, 1e-3), alone)
    check.before()
    assert check.works and check.verdict is not None and check.run.search is alone and check.run.ranks.size == 1
    assert check.verdict.all_ranks_s > check.verdict.one_rank_s
    assert capsys.readouterr().err == (
        "note: none is too small for 2 ranks here: an iteration takes all ranks 1.1 ms, rank 0 alone 200 µs; rank 0 "
        "does all the work (--distribute always distributes it)\n"
    )


def test_ranks_that_hardly_meet_in_long_iterations_or_are_faster_all_the_same_share(capsys):
    for together, alone in ((search(1e-3, 1e-5), None), (search(1e-4, 2e-4), search(1e-3))):
        check = sharing(STEPWISE, together, alone)
        check.before()
        assert check.verdict is None and check.run is check.shared and capsys.readouterr().err == ""


def test_a_rehearsal_has_no_more_iterations_than_it_needs_or_the_run_has():
    long, short = search(1e-5, 1e-3), search(1e-6, 1e-5)
    sharing(STEPWISE, long, search(1e-4)).before()
    assert set(long.iterations) == {1, 4, 16, 64}
    check = sharing(STEPWISE, short, search(1e-7), iterations=20)
    check.before()
    assert set(short.iterations) == {1, 4, 16, 20} and check.verdict.iterations == 20
    slow = search(1.0, 1e-3)
    sharing(STEPWISE, slow, search(2.0)).before()
    assert slow.iterations == [1, 1]


@pytest.mark.parametrize(("options", "ranks"), [({"distribute": "always"}, 2), ({}, 1)])
def test_who_must_share_or_is_alone_rehearses_nothing(options, ranks):
    together = search(1e-4, 1e-3)
    check = sharing(STEPWISE, together, search(1e-5), **options)
    check.ranks.size = ranks
    check = ParallelBenefitCheck(STEPWISE, check.shared, check.make_alone)
    check.before()
    assert not check.after_first(1e-3, 0.9)
    assert check.verdict is None and together.iterations == []


class Disturbed:
    """A search with some calls that take 300 times as long."""

    def __init__(self, search, calls):
        self.one, self.calls, self.made = search, calls, 0

    def __getattr__(self, name):
        if name == "working_s":
            self.made += 1
            return getattr(self.one, name) * (300 if self.made in self.calls else 1)
        return getattr(self.one, name)


def test_a_single_noisy_round_decides_nothing():
    """An iteration takes 0.6 ms together and 1 ms alone; seven trials of all ranks precede the rounds."""
    together = Disturbed(search(2e-4, 4e-4), (9,))
    check = sharing(STEPWISE, together, search(1e-3))
    check.before()
    assert together.made == 10 and check.verdict is None


def test_unlike_devices_and_ranks_one_of_which_has_no_room_for_all_of_it_share():
    def too_large():
        raise MemoryError

    check = sharing(STEPWISE, search(1e-4, 1e-3), search(1e-5))
    check.ranks.other = ("gpu", "a card")
    check.before()
    assert check.verdict is None
    check = sharing(STEPWISE, search(1e-4, 1e-3), None)
    check.make_alone = too_large
    check.before()
    assert check.verdict is None


@pytest.mark.parametrize(
    ("seconds", "share", "rehearsed"),
    [(0.001, 0.1, True), (2 * SHORT_S, 0.4, False), (2 * SHORT_S, 0.9, True)],
    ids=["short", "long", "long, and both are together nearly all the time"],
)
def test_a_run_without_iterations_is_judged_by_its_first_repetition(seconds, share, rehearsed):
    check = sharing(WHOLE, search(1e-4, 2e-3), search(1e-4))
    check.before()
    assert check.verdict is None
    assert check.after_first(seconds, share) is rehearsed
    assert (check.verdict is not None) is rehearsed
    assert not check.after_first(seconds, 0.9), "a run is judged once"


def test_the_first_repetition_of_ranks_that_are_too_many_is_made_again_by_one(capsys):
    together, alone = search(1e-4, 2e-3), search(1e-4)
    shares = sharing(WHOLE, together, alone)
    several = Repetitions(WHOLE, shares.shared, {}, shares)
    assert several.repeat() == 0
    assert len(together.iterations) == 1 + 5 and len(alone.iterations) == 5 + 1
    said = capsys.readouterr()
    assert said.out.count("none: found") == 1 and "all ranks take 2.1 ms, rank 0 alone 100 µs" in said.err


def test_a_tree_of_few_nodes_is_left_to_the_first_of_two_ranks(mpirun, tmp_path):
    shared, left = tmp_path / "always.jsonl", tmp_path / "auto.jsonl"
    always = mpirun(2, *SMALL, "--distribute", "always", "--record", shared)
    auto = mpirun(2, *SMALL, "--distribute", "auto", "--repeats", 3, "--record", left)
    assert (always.returncode, auto.returncode) == (0, 0), auto.stderr
    assert "note:" not in always.stderr
    assert auto.stderr.count("is too small for 2 ranks here: all ranks take ") == 1
    (first,), (other,) = load(str(left)), load(str(shared))
    assert first.hash == other.hash
    assert first.ranks == other.ranks == 2 and len(first.repetitions) == 3
    assert other.execution["distribute"] == "always" and "distribute" not in first.execution
    assert all(sample.rank_s[0] > 0 == sample.rank_s[1] for sample in first.repetitions)
    assert first.details["single_rank"]["all_ranks_s"] > 0 and "single_rank" not in other.details


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("ihc", {"climbers": 1}, "note: 1 climbers for 3 ranks: 2 of them have no work\n"),
        ("ihc", {"climbers": 3}, ""),
        ("ppp", {"walks": 1, "level": "iteration"}, ""),  # all ranks share the neighbours of one walk
    ],
)
def test_ranks_without_work_are_told(name, arguments, message, capsys):
    workload = get_workload(name)
    ranks = SimpleNamespace(rank=0, size=3)
    settings = SimpleNamespace(by_walks=arguments.get("level") == "algorithm")
    search = SimpleNamespace(plan=SimpleNamespace(settings=settings))
    run = PreparedRun(workload.options(distribute="always", **arguments), None, "", search, ranks)
    ParallelBenefitCheck(workload, run, None).before()
    assert capsys.readouterr().err == message
