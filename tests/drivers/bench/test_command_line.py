"""The benchmark as a program: cases in turn with records, C programs, ranks, time limits and calls."""

import sys
from types import SimpleNamespace

import pytest

from core.errors import UserError
from core.search.dp.knapsack.branch_and_bound import KnapsackBranchAndBound
from core.search.stop import Seconds
from drivers.bench import calls, time_limits
from drivers.bench.command_line import main
from drivers.cli.exit_codes import run_driver
from reports.records.files import load

LIMITS = ["--workload", "time-limits", "--backend", "cpu", "--repeats", "2"]
SCANS = {"title": "climbs", "arguments": "--instance uniform:9:seed=1 --climbers 5"}


def test_candidates_run_in_turn_beside_c_and_are_recorded_once(only_cpu, use_rows, tmp_path, capsys):
    use_rows({**SCANS, "c": True})
    path = tmp_path / "r.jsonl"
    line = ["--workload", "ihc", "--repeats", "2", "--reference-programs", "--record", str(path)]
    assert run_driver(main, line) == 0
    said = capsys.readouterr().out
    assert "1 benchmark case, 6 runs, 2 repetitions" in said and "same result: cost" in said
    records = load(path)
    assert [record.backend for record in records] == ["cpu", "C", "C"]
    assert all(record.verified and len(record.repetitions) == 2 for record in records)
    assert len({record.hash for record in records}) == 1
    before = path.read_bytes()
    assert run_driver(main, line) == 0
    assert capsys.readouterr().out.count("recorded already") == 6 and path.read_bytes() == before


def test_what_differs_or_does_not_run_ends_with_an_error_behind_the_other_cases(
    only_cpu, use_rows, monkeypatch, capsys
):
    broken = {
        **SCANS,
        "title": "broken",
        "arguments": "--instance uniform:9:seed=1 --mapping published --assign static",
    }
    use_rows(broken, SCANS)
    monkeypatch.setattr(sys, "executable", sys.executable)
    monkeypatch.setattr("drivers.bench.results.require_equal_work", refuse_once())
    assert run_driver(main, ["--workload", "ihc", "--repeats", "1"]) == 1
    said = capsys.readouterr()
    assert "error: made up" in said.err and "same" not in said.out and "cost " in said.out


def refuse_once():
    calls = []

    def refuse(records):
        calls.append(records)
        if len(calls) == 1:
            raise UserError("made up")

    return refuse


def test_without_gcc_the_rest_is_measured_and_a_line_says_why(only_cpu, use_rows, monkeypatch, capsys):
    use_rows({**SCANS, "c": True})
    monkeypatch.setattr("drivers.bench.c_programs.shutil.which", lambda name: None)
    assert run_driver(main, ["--workload", "ihc", "--repeats", "1", "--reference-programs", "--time-budget", "0"]) == 0
    said = capsys.readouterr().out
    assert "no reference programs in C: they need gcc, which is not here" in said
    assert "1 benchmark case, 1 run, 1 repetition" in said


def test_no_case_starts_behind_the_time_budget(only_cpu, use_rows, capsys):
    use_rows(SCANS)
    assert run_driver(main, ["--workload", "ihc", "--time-budget", "0"]) == 0
    assert "1 cases not measured" in capsys.readouterr().out


@pytest.mark.slow
def test_phases_of_ants_and_one_rank_beside_two(only_cpu, use_rows, capsys):
    ants = {"title": "ants", "workload": "aco", "arguments": "--instance uniform:9:seed=1 --ants 4 --iterations 2"}
    strings = {"family": "ranks", "title": "strings", "workload": "lcs", "on": "ranks of cores"}
    use_rows({**ants, "phases": True}, {**strings, "arguments": "--instance random:3000 --no-trace"})
    assert run_driver(main, ["--workload", "ihc", "--repeats", "1"]) == 0
    assert "ns a step of a tour; an iteration: construct" in capsys.readouterr().out
    assert run_driver(main, ["--workload", "ranks", "--repeats", "2"]) == 0
    said = capsys.readouterr().out
    assert "2 ranks" in said and "in communication" in said and "same result: cost" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ihc", "--rows", "sudoku"], "--rows sudoku: no case"),
        (["ihc", "--backend", "abacus"], "--backend abacus: expected one that is usable here"),
        (["calls", "--rows", "sudoku"], "--rows sudoku: expected a part"),
        (["time-limits", "--rows", "sudoku"], "expected a part of one of: tsp pr2392, tabu; "),
    ],
)
def test_what_is_not_there_is_a_mistake_of_the_user(only_cpu, arguments, message):
    with pytest.raises(UserError, match=message):
        main(["--workload", *arguments])


def test_ranks_are_started_by_the_benchmark(only_cpu, monkeypatch):
    monkeypatch.setattr("cluster.mpi.launcher.size", lambda: 2)
    with pytest.raises(UserError, match="2 ranks: expected one process, since --workload ranks --ranks N starts ranks"):
        main(["--workload", "ranks"])


def test_where_nothing_is_usable_nothing_is_measured(monkeypatch):
    monkeypatch.setattr("backends.survey", lambda: [SimpleNamespace(usable=False, is_reference=False, kind="gpu")])
    with pytest.raises(UserError, match="expected one that is usable here"):
        main([])


def test_calls_are_timed_beside_another_package(monkeypatch, capsys):
    monkeypatch.setattr(calls, "CALLS", 1)
    assert main(["--workload", "calls", "--rows", "labs", "--repeats", "2"]) == 0
    (row,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("labs")]
    assert len(row.split()) == 9


# --- time limits ---


@pytest.mark.parametrize(
    ("limit_s", "late_s", "kept"),
    [(0.1, [0.01, 0.049], True), (0.1, [0.051, 0.01], False), (1.0, [0.099], True), (1.0, [-0.5, 0.11], False)],
)
def test_a_run_may_be_late_by_a_tenth_or_50_ms(limit_s, late_s, kept):
    assert time_limits.TimeLimitLine("one", limit_s, late_s).is_kept is kept


@pytest.mark.parametrize(("late_s", "code"), [(0.01, 0), (0.2, 1)])
def test_rows_are_measured_with_both_limits(late_s, code, monkeypatch, capsys):
    monkeypatch.setattr(time_limits, "run_seconds", lambda search, limit_s: limit_s + late_s)
    assert main([*LIMITS, "--rows", "maxsat"]) == code
    said = capsys.readouterr().out
    assert said.count("| maxsat, ils | ") == 2 and f"{2 * code} of 2 later than 10% of the limit, or 0.05 s" in said


def test_a_run_is_made_with_its_limit(monkeypatch):
    asked = []
    monkeypatch.setattr(time_limits, "LIMITS", (0.002,))
    monkeypatch.setattr(KnapsackBranchAndBound, "run", lambda self, stop: asked.append(stop))
    assert main([*LIMITS, "--rows", "knapsack"]) == 0
    assert asked == [Seconds(0.002)] * 2
