"""Repetitions of all workloads: their times over ranks, and the text of the result line."""

import time
from math import inf
from types import SimpleNamespace

import pytest

from cluster import Solo
from core.run.stop import Stop
from drivers.options.declaration import Options
from drivers.runs.device_selection import device_of_rank
from drivers.runs.rank_times import RankTimes, of_all_ranks
from drivers.runs.repetitions import Repetitions, overall_verdict, report_idle_ranks
from drivers.runs.seeds import build_search
from drivers.workload.declaration import SHORTEST_S, PreparedRun, VerifierVerdict
from drivers.workload.registry import get_workload
from reports.records.meters import GPU_ENERGY, PACKAGE_ENERGY
from tests.drivers.small_runs import FirstOfTwo, Idle, found, idle_backend

FOUND = found("cost 7")


def device(index, kind="gpu", driver="550.54"):
    return SimpleNamespace(index=index, kind=kind, driver=driver)


def repetitions(gathered, repeats=1, met=(0.0, 0.0)):
    """Repetitions on the first of several ranks; `gathered` makes all ranks' times from its times.

    ``met`` has the seconds of its device in collectives, before a repetition and after it.
    """
    met = iter(met)
    backend = idle_backend(lambda: next(met))
    ranks = FirstOfTwo()
    ranks.gather = gathered
    problem = SimpleNamespace(name="none", sha256="ab" * 32)
    options = Options(progress=False, repeats=repeats)
    search = SimpleNamespace(backend=backend, unit="steps", notes=())
    return Repetitions(Idle(Options), PreparedRun(options, problem, "made here", search, ranks), {})


def of_ranks(*spent):
    """Gathered data of ranks with these times and fractions of communication."""
    return lambda own: [RankTimes(*times, share, own.read) for times, share in spent]


def test_the_slowest_rank_is_the_one_that_ran_longest_and_not_a_difference_of_maxima():
    _, spent = repetitions(of_ranks(((5.0, 0.1, 0.8, 1.0), 0.25), ((0.0, 0.2, 1.5, 2.0), 0.75))).measure()
    assert spent.running_s == 2.0
    assert spent.compile_s == 5.0
    assert (spent.transfer_s, spent.kernel_s) == (0.2, 1.5)
    assert spent.total_s == 7.0  # 5 s until all were compiled, then 2 s until the last was done
    assert spent.rank_s == [1.0, 2.0]
    assert spent.communication_share == 0.5  # the mean of all ranks


def test_kernels_that_the_search_has_not_waited_for_count_in_their_repetition():
    own = []
    run = repetitions(lambda times: [own.append(times) or times])
    timings = run.run.search.backend.timings
    run.run.search.backend.synchronize = lambda: setattr(timings, "kernel_s", timings.kernel_s + 2.0)
    run.measure()
    assert own[0].kernel_s == 2.0


@pytest.mark.parametrize(
    ("limit_s", "prepared_s", "left_s"), [(1.0, 1.0, 1.0), (60.0, 6.5, 54.5), (1.0, 6.5, SHORTEST_S), (inf, 6.5, inf)]
)
def test_a_time_limit_covers_the_preparation_but_for_its_first_second(limit_s, prepared_s, left_s):
    search = SimpleNamespace(run=lambda stop, **_: stop)
    run = PreparedRun(None, None, "", search, None, prepared_s=prepared_s)
    assert run.searched(None, Stop(3, limit_s)) == Stop(3, left_s)
    assert run.searched(None) is None


def test_a_long_preparation_is_measured_and_said(capsys):
    def warm_up(*_):
        until = time.thread_time() + 0.05
        while time.thread_time() < until:
            pass

    workload = SimpleNamespace(make_search=lambda place, *_: SimpleNamespace(backend=place[0]), warm_up=warm_up)
    found = build_search(workload, Solo(), None, Options(backend="cpu"))
    assert 0.05 <= found.backend.timings.prepare_s < 1
    made = repetitions(of_ranks())
    made.run.search.backend.timings.compile_s = 0.0
    for seconds, said in ((1.0, ""), (6.54, "note: none: prepared in 6.5 s before the run\n")):
        made.run.prepared_s = seconds
        made.begin("")
        assert capsys.readouterr().err == said


def test_what_the_device_spent_in_collectives_is_communication():
    seen = []
    repetitions(seen.append, met=(5.0, 5.0 + 1e6)).measure()
    (own,) = seen
    assert own.communication_share == pytest.approx(1e6 / own.running_s)


@pytest.mark.parametrize(("shares", "said"), [((0.5, 0.5), ""), ((0.9, 0.3), "60 %"), ((0.0, 0.0), "")])
def test_ranks_that_communicate_for_more_than_half_of_the_time_are_told(shares, said, capsys):
    made = repetitions(of_ranks(*(((0.0, 0.0, 0.0, 1.0), share) for share in shares)))
    made.conclude(*made.measure())
    made.end()
    note = f"note: none: the 2 ranks spent {said} of the time in communication\n"
    assert capsys.readouterr().err == (note if said else "")


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("ihc", {"climbers": 1}, "1 climbers for 3 ranks: 2 of them have no work"),
        ("ppp", {"walks": 2, "level": "algorithm"}, "2 walks for 3 ranks: 1 of them has no work"),
        ("ppp", {"walks": 1, "level": "iteration"}, ""),  # all ranks share the neighbours of one walk
        ("aco", {"ants": 2}, "2 ants for 3 ranks: 1 of them has no work"),
        ("aco", {"ants": 6, "colonies": 2}, "2 colonies for 3 ranks: 1 of them has no work"),
        ("lcs", {}, ""),
    ],
)
def test_ranks_without_work_are_told(name, arguments, message, capsys):
    workload = get_workload(name)
    settings = SimpleNamespace(by_walks=arguments.get("level") == "algorithm")
    search = SimpleNamespace(plan=SimpleNamespace(settings=settings))
    ranks = SimpleNamespace(size=3)
    report_idle_ranks(workload, PreparedRun(workload.options(**arguments), None, "", search, ranks))
    assert capsys.readouterr().err == (f"note: {message}\n" if message else "")


def test_a_rank_that_is_not_the_first_has_the_outcome_alone():
    assert repetitions(lambda own: None).measure() == ("found", None)


@pytest.mark.parametrize(("local_ranks", "hosts"), [([0], 1), ([0, 1, 2], 1), ([0, 1, 0, 1, 0], 3), (None, 1)])
def test_a_run_over_several_hosts_says_so(local_ranks, hosts):
    """The cores of all hosts decide on oversubscription and on the published number of cores."""
    several = repetitions(lambda own: None if own is None else local_ranks, repeats=0)
    several.repeat()
    assert several.recorder.identified()["environment"]["host_count"] == hosts


def test_ranks_of_a_host_take_turns_over_the_devices_of_the_chosen_ones_kind():
    devices = [device("0"), device("1", "cores"), device("2"), device("3")]
    assert [device_of_rank(devices, "0", rank) for rank in range(5)] == ["0", "2", "3", "0", "2"]
    assert [device_of_rank(devices, "3", rank) for rank in range(3)] == ["3", "0", "2"]
    assert [device_of_rank(devices, "1", rank) for rank in range(3)] == ["1", "1", "1"]
    assert device_of_rank(devices, "H200", 1) == "H200"  # left to the registry
    drivers = [device("0", "cores", "PoCL 3.0"), device("1", "cores", "Intel 2025")]  # of one processor
    assert [device_of_rank(drivers, "1", rank) for rank in range(3)] == ["1", "1", "1"]


# --- the verdict ---

SCORER, FILE = VerifierVerdict("scorer"), VerifierVerdict("instance file")


NEITHER = [VerifierVerdict("scorer", "the scorer finds 8"), VerifierVerdict("instance file", "the file says 6")]


@pytest.mark.parametrize(
    ("verdicts", "verdict"),
    [
        ([SCORER], (True, "confirmed by the scorer")),
        ([SCORER, FILE], (True, "confirmed by the scorer and by the instance file")),
        ([SCORER, VerifierVerdict("", "the optimum is 6")], (False, "NOT CONFIRMED: the optimum is 6")),
        (NEITHER, (False, "NOT CONFIRMED: the scorer finds 8; the file says 6")),
        ([VerifierVerdict("")], (None, "not confirmed: no verifier was run (--verify)")),
    ],
)
def test_one_objection_contradicts_a_result_and_one_judge_confirms_it(verdicts, verdict):
    assert overall_verdict(verdicts, FOUND, "--verify") == verdict


def test_what_was_given_up_is_no_result_whoever_confirms_its_cost_and_wrong_if_somebody_objects():
    gave_up = found("incumbent 7", gave_up="out of nodes")
    assert overall_verdict([SCORER], gave_up, "") == (None, "NOT PROVED: out of nodes")
    assert overall_verdict([VerifierVerdict("scorer", "the scorer finds 8")], gave_up, "")[0] is False


def test_joules_of_a_gpu_that_ranks_share_count_once():
    readings = [("GPU-1", 3.0), ("GPU-1", 3.0), ("GPU-2", 5.0), ("", 7.0)]
    reads = [{"gpu": gpu, "energy_j": {GPU_ENERGY: joules, PACKAGE_ENERGY: 1.0}} for gpu, joules in readings]
    spent = of_all_ranks([RankTimes(0.0, 0.0, 0.0, 1.0, 0.0, read) for read in reads])
    assert spent.energy_j == {GPU_ENERGY: 15.0, PACKAGE_ENERGY: 4.0}


def test_bytes_of_a_repetition_are_those_of_all_ranks_without_what_was_before():
    other = {"bytes_moved": {"host_device": 5, "between_ranks": 7}, "energy_j": {"gpu": 2.0}}
    several = repetitions(lambda own: [own, RankTimes(0.0, 0.0, 0.0, 1.0, 0.0, other)])
    timings = several.run.search.backend.timings
    timings.copied_bytes = 1000
    several.ranks.sent_bytes = 3

    def once(run, callback):
        timings.copied_bytes += 40
        return "found"

    several.workload = Idle(Options, once)
    _, spent = several.measure()
    assert spent.bytes_moved == {"host_device": 45, "between_ranks": 10}
    assert spent.energy_j["gpu"] == 2.0
