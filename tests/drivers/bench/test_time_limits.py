"""The table of late runs: its rows are read, and a late run is printed and ends with exit code 1."""

import pytest

from core.errors import UserError
from core.search.dp.knapsack_bound import BoundSearch
from core.search.stops import Seconds
from drivers.bench import command_line, time_limits
from drivers.bench.time_limits import ROWS, Line
from drivers.command import parse
from drivers.workloads import named

TABLE = ["--workload", "time-limits", "--backend", "cpu", "--repeats", "2"]


def test_every_row_has_a_command_line_that_is_read():
    assert len({row.name for row in ROWS}) == len(ROWS)
    for row in ROWS:
        workload = named(row.workload)
        assert parse(workload, None, row.arguments.split()) != workload.options(), row.name


@pytest.mark.parametrize(
    ("limit_s", "late_s", "kept"),
    [(0.1, [0.01, 0.049], True), (0.1, [0.051, 0.01], False), (1.0, [0.099], True), (1.0, [-0.5, 0.11], False)],
)
def test_a_run_may_be_late_by_a_tenth_or_50_ms(limit_s, late_s, kept):
    assert Line("one", limit_s, late_s).is_kept is kept


@pytest.mark.parametrize(("late_s", "code"), [(0.01, 0), (0.2, 1)])
def test_rows_are_measured_with_both_limits(late_s, code, monkeypatch, capsys):
    monkeypatch.setattr(time_limits, "ran_s", lambda search, limit_s: limit_s + late_s)
    assert command_line.main([*TABLE, "--rows", "maxsat"]) == code
    said = capsys.readouterr().out
    assert said.count("| maxsat, ils | ") == 2 and f"{2 * code} of 2 later than 10% of the limit, or 0.05 s" in said


def test_a_run_is_made_with_its_limit(monkeypatch):
    asked = []
    monkeypatch.setattr(time_limits, "LIMITS", (0.002,))
    monkeypatch.setattr(BoundSearch, "run", lambda self, stop: asked.append(stop))
    assert command_line.main([*TABLE, "--rows", "knapsack"]) == 0
    assert asked == [Seconds(0.002)] * 2


def test_a_row_that_is_not_there_is_refused_and_no_other_option_of_ranks_is_taken():
    with pytest.raises(UserError, match="--rows sudoku: expected a part of one of: tsp pr2392, tabu; "):
        command_line.main([*TABLE, "--rows", "sudoku"])
    with pytest.raises(UserError, match="^--limit: expected with --workload ranks$"):
        command_line.main([*TABLE, "--limit", "3"])
