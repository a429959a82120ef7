"""Tables of what a second rank brings and of late runs, and options that only they take."""

from pathlib import Path

import pytest

import drivers.bench
from core.errors import UserError
from core.search.dp.knapsack.branch_and_bound import KnapsackBranchAndBound
from core.search.stop import Seconds
from drivers.bench import command_line, ranks, time_limits
from drivers.bench.ranks import ON_CORES
from drivers.runs.workload_main import parse_options
from drivers.workload.registry import PAPER_WORKLOADS, get_workload
from reports.records.files import load

TABLE = ("-m", "drivers.bench", "--workload", "ranks", "--backend", "cpu")
SHORT = """
from drivers.bench import command_line, ranks
ranks.ON_CORES = [ranks.RankBenchmarkRow("lcs 3,000 letters", "lcs", "--instance random:3000 --no-trace")]
command_line.main()
"""
LIMITS = ["--workload", "time-limits", "--backend", "cpu", "--repeats", "2"]


def test_every_option_is_looked_at():
    sources = "".join(path.read_text() for path in Path(drivers.bench.__file__).parent.glob("*.py"))
    assert [name for name in vars(command_line.parse([])) if f"options.{name}" not in sources] == []


@pytest.mark.parametrize("rows", [ranks.ON_GPUS, ON_CORES, time_limits.ROWS], ids=["GPUs", "cores", "limits"])
def test_every_row_has_a_command_line_that_is_read(rows):
    assert rows is time_limits.ROWS or {row.workload for row in rows} == set(PAPER_WORKLOADS)
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        workload = get_workload(row.workload)
        assert parse_options(workload, None, row.arguments.split()) != workload.options(), row.name


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["exact", "--rows", "ppp"], "^--rows: expected with --workload ranks"),
        (["exact", "--time-budget", "3"], "^--time-budget.*: expected with --workload ranks$"),
        (["exact", "--backend", "cpu"], "^--backend.*: expected with --workload ranks"),
        (["ranks"], "found one rank, expected several, as in mpirun -n 2"),
        (["time-limits", "--backend", "cpu", "--rows", "sudoku"], "expected a part of one of: tsp pr2392, tabu; "),
        (
            ["time-limits", "--backend", "cpu", "--time-budget", "3"],
            "^--time-budget.*: expected with --workload ranks$",
        ),
    ],
)
def test_options_of_tables_change_nothing_elsewhere(arguments, told):
    with pytest.raises(UserError, match=told):
        command_line.main(["--workload", *arguments])


def test_one_rank_and_two_in_turn_find_the_same_and_leave_a_record_each(mpirun, tmp_path):
    path = tmp_path / "ranks.jsonl"
    done = mpirun(2, "-c", SHORT, *TABLE[2:], "--rows", "sudoku,lcs", "--repeats", 2, "--record", path)
    assert done.returncode == 0, done.stderr
    alone, together = sorted(load(str(path)), key=lambda record: record.ranks)
    assert (alone.ranks, together.ranks) == (1, 2)
    assert alone.hash == together.hash
    assert alone.best_cost == together.best_cost > 0
    assert len(alone.repetitions) == len(together.repetitions) == 2
    assert alone.details["recorded_by"] == "drivers.bench"
    assert all(len(sample.rank_s) == 2 for sample in together.repetitions)
    assert f"same result: hash {alone.hash}, " in done.stdout
    assert done.stdout.count("| lcs 3,000 letters |") == 1


@pytest.mark.slow
def test_an_instance_that_is_missing_is_named_and_its_row_left_out(mpirun, tmp_path, environment):
    environment["TSPLIB_DIR"] = str(tmp_path)
    done = mpirun(2, *TABLE, "--rows", "pcb442", "--data", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "aco pcb442" in done.stdout and "not measured (" in done.stdout and "|" not in done.stdout


@pytest.mark.slow
def test_wrong_rows_wrong_ranks_and_a_time_that_is_over_are_said(mpirun):
    unknown = mpirun(2, *TABLE, "--rows", "sudoku")
    assert unknown.returncode == 2 and "--rows sudoku: expected a part of one of: ppp 201-217" in unknown.stderr
    late = mpirun(2, *TABLE, "--time-budget", "0")
    assert late.returncode == 0, late.stderr
    assert f"{len(ON_CORES)} rows not measured" in late.stdout
    other = mpirun(2, "-m", "drivers.bench", "--workload", "exact")
    assert other.returncode == 2 and "2 ranks: expected one, or --workload ranks" in other.stderr


def test_the_table_says_where_one_rank_has_no_room():
    lines = [ranks.RankBenchmarkLine("a", 1.0, 0.5, 2.0, 0.01), ranks.RankBenchmarkLine("b", None, 7.25, None, 0.5)]
    assert list(ranks.format_table(lines, 2))[2:] == [
        "| a | 1 | 0.5 | 2.00 | 1.0% |",
        "| b | not enough memory | 7.25 |  | 50.0% |",
    ]


@pytest.mark.parametrize(
    ("limit_s", "late_s", "kept"),
    [(0.1, [0.01, 0.049], True), (0.1, [0.051, 0.01], False), (1.0, [0.099], True), (1.0, [-0.5, 0.11], False)],
)
def test_a_run_may_be_late_by_a_tenth_or_50_ms(limit_s, late_s, kept):
    assert time_limits.TimeLimitLine("one", limit_s, late_s).is_kept is kept


@pytest.mark.parametrize(("late_s", "code"), [(0.01, 0), (0.2, 1)])
def test_rows_are_measured_with_both_limits(late_s, code, monkeypatch, capsys):
    monkeypatch.setattr(time_limits, "run_seconds", lambda search, limit_s: limit_s + late_s)
    assert command_line.main([*LIMITS, "--rows", "maxsat"]) == code
    said = capsys.readouterr().out
    assert said.count("| maxsat, ils | ") == 2 and f"{2 * code} of 2 later than 10% of the limit, or 0.05 s" in said


def test_a_run_is_made_with_its_limit(monkeypatch):
    asked = []
    monkeypatch.setattr(time_limits, "LIMITS", (0.002,))
    monkeypatch.setattr(KnapsackBranchAndBound, "run", lambda self, stop: asked.append(stop))
    assert command_line.main([*LIMITS, "--rows", "knapsack"]) == 0
    assert asked == [Seconds(0.002)] * 2
