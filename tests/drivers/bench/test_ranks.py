"""The table of what a second rank brings: its rows run, both sides find the same, and what is missing is said."""

import pytest

from core.errors import UserError
from drivers.bench import command_line
from drivers.bench.ranks import ON_CORES, ON_GPUS, Line, markdown
from drivers.command import parse
from drivers.workloads import OF_PAPERS, named
from reports.records import load

TABLE = ("-m", "drivers.bench", "--workload", "ranks", "--backend", "cpu")


@pytest.mark.parametrize("rows", [ON_GPUS, ON_CORES], ids=["GPUs", "cores"])
def test_every_paper_s_workload_has_a_row_whose_command_line_is_read(rows):
    assert {row.workload for row in rows} == set(OF_PAPERS)
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        workload = named(row.workload)
        assert parse(workload, None, row.arguments.split()) != workload.options(), row.name


def test_one_rank_and_two_in_turn_find_the_same_and_leave_a_record_each(mpirun, tmp_path):
    path = tmp_path / "ranks.jsonl"
    done = mpirun(2, *TABLE, "--rows", "sudoku,lcs", "--repeats", 2, "--record", path)
    assert done.returncode == 0, done.stderr
    alone, together = sorted(load(str(path)), key=lambda record: record.ranks)
    assert (alone.ranks, together.ranks) == (1, 2)
    assert alone.trajectory_hash == together.trajectory_hash
    assert alone.best_cost == together.best_cost > 0
    assert len(alone.samples) == len(together.samples) == 2
    assert alone.details["measured_by"] == "drivers.bench"
    assert all(len(sample.rank_seconds) == 2 for sample in together.samples)
    assert f"found by all: hash {alone.trajectory_hash}, " in done.stdout
    assert done.stdout.count("| lcs 150,000 letters, length |") == 1


def test_an_instance_that_is_missing_is_named_and_its_row_left_out(mpirun, tmp_path, environment):
    environment["TSPLIB_DIR"] = str(tmp_path)
    done = mpirun(2, *TABLE, "--rows", "pcb442", "--data", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "aco pcb442" in done.stdout and "not measured (" in done.stdout and "|" not in done.stdout


def test_a_row_that_is_not_there_and_a_time_that_is_over_are_said(mpirun):
    unknown = mpirun(2, *TABLE, "--rows", "sudoku")
    assert unknown.returncode == 2 and "--rows sudoku: expected a part of one of: ppp 201-217" in unknown.stderr
    late = mpirun(2, *TABLE, "--limit", "0")
    assert late.returncode == 0, late.stderr
    assert f"{len(ON_CORES)} rows are not measured" in late.stdout


@pytest.mark.parametrize("arguments", [["--rows", "ppp"], ["--limit", "3"], ["--backend", "cpu"]])
def test_options_of_the_table_change_nothing_elsewhere(arguments):
    with pytest.raises(UserError, match=f"^{arguments[0]}.*: expected with --workload ranks$"):
        command_line.main(["--workload", "exact", *arguments])


def test_several_ranks_need_the_table_and_the_table_several_ranks(mpirun):
    with pytest.raises(UserError, match="found one rank alone, expected several, as in mpirun -n 2"):
        command_line.main(["--workload", "ranks"])
    done = mpirun(2, "-m", "drivers.bench", "--workload", "exact")
    assert done.returncode == 2 and "2 ranks: expected one, or --workload ranks" in done.stderr


def test_the_table_says_where_one_rank_has_no_room():
    lines = [Line("a", 1.0, 0.5, 2.0, 0.01), Line("b", None, 7.25, None, 0.5)]
    assert list(markdown(lines, 2))[2:] == [
        "| a | 1 | 0.5 | 2.00 | 1.0% |",
        "| b | no room | 7.25 |  | 50.0% |",
    ]
