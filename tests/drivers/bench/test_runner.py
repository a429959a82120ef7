"""The engine of benches: candidates in turn, what must be equal, what is shown, and records that outlive a kill."""

import re
from types import SimpleNamespace

import pytest

from drivers.bench.cases import BenchmarkCandidate, BenchmarkCase, CandidateResult, PreparedCandidate, RecordSubject
from drivers.bench.runner import BenchmarkRun, format_rate, format_spread
from reports.records.files import load

INSTANCE = SimpleNamespace(name="nothing", sha256="ab" * 32)


def idle(name, repetition):
    """No work."""


def candidate(name, work=idle, *, cost=7, confirmed=True, place=None, **more):
    """A candidate without a device: ``work`` is called with its name and the repetition, and may raise."""

    def prepare(backend):
        def solve(repetition):
            work(name, repetition)
            return cost

        def read(outcome):
            result = {"seed": 0, "best_cost": outcome, "best_index": 0, "evaluations": 5, "details": {}}
            facts = {"cost": outcome, "hash": "0123"}
            return CandidateResult(100, facts, confirmed, {**result, "hash": "0123"})

        subject = RecordSubject("nothing", INSTANCE, {"size": 1}, {"who": name}, "steps", "result")
        return PreparedCandidate(solve, read, lambda outcomes, median: f"{len(outcomes)} runs", subject)

    return BenchmarkCandidate(name, prepare, place, **more)


def case(*candidates, work="counting", **more):
    return BenchmarkCase(work, candidates, "steps", 1000.0, 100.0, **more)


def test_a_bench_says_first_how_much_there_is_and_about_how_long_it_takes(capsys):
    three = case(candidate("A"), candidate("B", effort=3.0), repeats=4)
    bench = BenchmarkRun([three, case(candidate("C"), rehearsed=True)], 2)
    # 10 s a run: 4 runs, 4 that take thrice as long, 3 with the rehearsal, and half a second to prepare each.
    assert bench.seconds == 40 + 120 + 30 + 1.5
    bench.run()
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("2 benchmark cases with 3 candidates in turn, 2 repetitions each")
    assert "about 3.2 min" in said[0]
    assert [line for line in said if line.startswith("[")] == ["[1/2] counting", "[2/2] counting"]


def test_each_contestant_has_a_line_as_soon_as_its_contest_is_over(capsys):
    shown = []
    first = case(candidate("A"), candidate("B"), candidate("C", against="B"))
    BenchmarkRun([first, case(candidate("D", lambda *call: shown.append(capsys.readouterr().out)))], 2).run()
    lines = [line.strip() for line in shown[0].splitlines() if line.startswith("    ")]
    assert re.search(r"^A +\S+ \w?s \(\S+ \.\. \S+\) +\S+ \w? ?steps/s  2 runs$", lines[0])
    assert re.search(r"^B .*steps/s  \d+\.\d\dx as fast as A  2 runs$", lines[1])
    assert re.search(r"^C .*x as fast as B  2 runs$", lines[2])
    assert lines[3:] == ["same result: cost 7, hash 0123"]


@pytest.mark.parametrize("same_case", [True, False])
def test_a_contestant_that_finds_something_else_ends_the_bench(same_case):
    one, other = candidate("A"), candidate("B", cost=8)
    cases = [case(one, other)] if same_case else [case(one), case(other, where="elsewhere")]
    with pytest.raises(RuntimeError, match="counting: cost is 8 by B, but 7 by A"):
        BenchmarkRun(cases, 1).run()
    BenchmarkRun([case(one), case(other, work="other")], 1).run()


def test_what_the_scorer_does_not_confirm_ends_the_bench_and_is_recorded_as_such(tmp_path):
    with pytest.raises(RuntimeError, match="the result of A is NOT CONFIRMED by the scorer"):
        BenchmarkRun([case(candidate("A", confirmed=False))], 3, str(tmp_path / "r.jsonl")).run()
    (record,) = load(tmp_path / "r.jsonl")
    assert (record.verified, len(record.repetitions)) == (False, 1)


@pytest.mark.parametrize(("confirmed", "verified"), [(True, True), (None, False)])
def test_a_cost_that_one_contestant_has_confirmed_is_confirmed_of_all(tmp_path, confirmed, verified):
    candidates = (candidate("A", confirmed=confirmed), candidate("B", confirmed=None))
    BenchmarkRun([case(*candidates)], 3, str(tmp_path / "r.jsonl")).run()
    records = load(tmp_path / "r.jsonl")
    assert [(one.execution["who"], len(one.repetitions), one.verified) for one in records] == [
        ("A", 3, verified),
        ("B", 3, verified),
    ]
    assert all(record.device_kind == "core" and record.details["recorded_by"] for record in records)
    assert all(sample.started_at for record in records for sample in record.repetitions)


def test_an_interrupted_bench_keeps_all_repetitions_but_the_one_in_flight(tmp_path):
    def interrupt(name, repetition):
        if (name, repetition) == ("B", 2):
            raise KeyboardInterrupt

    path = tmp_path / "r.jsonl"
    with pytest.raises(KeyboardInterrupt):
        BenchmarkRun([case(candidate("A", interrupt), candidate("B", interrupt))], 5, str(path)).run()
    assert [record.execution["who"] for record in load(path)] == ["A", "B", "A", "B", "A"]


def test_compilation_counts_for_the_first_repetition_and_in_no_time_that_is_shown(capsys, tmp_path, place, monkeypatch):
    timings = SimpleNamespace(compile_s=0.0, transfer_s=0.0, kernel_s=0.0)
    device = SimpleNamespace(name="a core", driver="none", kind="core")
    backend = SimpleNamespace(name="cpu", timings=timings, device=device, is_reference=False, close=lambda: None)
    monkeypatch.setattr("backends.create", lambda name, device: backend)

    def prepare(backend):
        backend.timings.compile_s += 50.0
        return candidate("A", place=place).prepare(backend)

    path = tmp_path / "r.jsonl"
    BenchmarkRun([case(BenchmarkCandidate("A", prepare, place))], 2, str(path)).run()
    (record,) = load(path)
    assert [sample.compile_s for sample in record.repetitions] == [50.0, 0.0]
    assert record.repetitions[0].total_s > 50.0
    assert all(sample.running_s < 5.0 for sample in record.repetitions)
    assert not re.search(r"A +\d+(\.\d+)? s ", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (format_spread([2.0, 3.0, 10.0]), "3.000 s (2.000 .. 10.00)"),
        (format_spread([0.0123456]), "12.35 ms (12.35 .. 12.35)"),
        (format_spread([0.0]), "0 µs (0 .. 0)"),
        (format_rate(3e9, 2.0, "cells"), "1.500 G cells/s"),
        (format_rate(5, 0.0, "cells"), "too short to count cells/s"),
    ],
)
def test_times_and_rates_have_their_unit(shown, expected):
    assert shown.strip() == expected
