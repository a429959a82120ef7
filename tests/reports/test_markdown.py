"""The Markdown report: what it must say, and that its tables hold together."""

import re

import pytest

from reports.comparison import NotRun


def tables(text):
    """Each table as a list of rows of cells."""
    blocks = re.findall(r"(?:^\|.*\|\n?)+", text, re.M)
    return [[re.split(r"(?<!\\)\|", line)[1:-1] for line in block.splitlines()] for block in blocks]


def test_one_seed_has_its_best_cost_and_what_did_not_run_its_reason(make_record, report_of):
    """Beside what the golden report of several seeds has."""
    known = {"instance_source": "TSPLIB", "evaluations_per_step": "(n-1)(n-2)/2 moves", "optimum": 21282}
    runs = [
        make_record(details=known),
        make_record(ranks=4),
        make_record(backend="opencl", details={"device_name": "|"}),
    ]
    text = report_of(runs, [NotRun("cuda", "0", 1, "no driver:\nlibcuda | missing")], "it was at hand")
    for words in (
        "TSPLIB. Why this one: it was at hand.",
        "Counted: (n-1)(n-2)/2 moves.",
        "Best cost 21,282 by index 17 (the optimum).",
        "fewer than 6 repetitions",
    ):
        assert words in text
    results, not_run, *others = tables(text)
    assert [cell.strip() for cell in not_run[2]] == ["cuda", "0", "1", "no driver: libcuda \\| missing"]
    assert results[3][5].strip() == "a b"
    for table in (results, not_run, *others):
        assert len({len(row) for row in table}) == 1, table


def test_a_reason_that_is_the_source_itself_is_not_repeated(make_record, report_of):
    text = report_of([make_record(details={"instance_source": "found in data.."})], why="found in data..")
    assert "- Instance: **kroA100**, found in data. SHA-256" in text


def test_published_figures_stand_beside_ours_where_the_paper_has_rows_of_processors(make_record, report_of):
    asked = {"instance": "kroE100", "parameters": {"climbers": 100, "start": "oneil2011"}, "ways": {"scan": "full"}}
    text = report_of([make_record(**asked, times=[2.0]), make_record(**asked, backend="cuda", times=[0.5])])
    (published,) = [table for table in tables(text) if "C2050, Nautilus: median, ms" in table[0][2 - 1]]
    rows = {row[0].strip(): [cell.strip() for cell in row[1:]] for row in published[2:]}
    assert rows["CUDA, one GPU"][:2] == ["2497", "61.95"]
    assert rows["CUDA, one GPU"][2].startswith("cuda<br>500 ms<br>×4.00 over 2.00 s")
    assert "100 climbers, not 100,000: seconds do not compare with the paper's, ratios do" in text
    assert "`python -m drivers.reproduce oneil2011` fills the paper's tables" in text


def test_runs_on_another_instance_name_the_command_that_fills_the_papers_tables(make_record, report_of):
    asked = {"parameters": {"climbers": 100, "start": "oneil2011"}, "ways": {"scan": "full"}}
    text = report_of([make_record(**asked, backend="cuda")])
    assert "C2050" not in text
    assert "Runs like these stand in table 1 of `oneil2011`" in text


def test_machines_that_differ_in_the_name_alone_are_told_apart(make_record, report_of):
    machine = make_record().environment
    text = report_of([make_record(backend=name, environment=machine | {"host": name}) for name in ("cpu", "threads")])
    assert "- Machine A: cpu, Test CPU, 2 cores" in text
    assert "- Machine B: threads, Test CPU, 2 cores" in text
    assert "| threads (machine B) |" in text


def test_without_a_baseline_no_ratio_is_printed(make_record, report_of):
    text = report_of([make_record(backend="threads")])
    assert "there is no baseline and no ratio" in text
    assert "as fast as one core" not in text


@pytest.mark.parametrize(("count", "said"), [(2_000_000_000, "2.00 G"), (0, "")])
def test_rates_are_in_the_workloads_unit_with_a_prefix_and_absent_where_nothing_is_counted(
    make_record, report_of, count, said
):
    results = tables(report_of([make_record(workload="lcs", evaluations=count)]))[0]
    assert results[0][4].strip() == "cells/s"
    assert results[2][4].strip() == said


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ((True, True), "Every row was run by its driver in a process of its own"),
        ((True, False), "Some rows were run by drivers in processes of their own"),
        ((False, False), "The records do not say whether each row had a process of its own"),
    ],
)
def test_a_process_of_its_own_is_said_only_where_the_records_tell(make_record, report_of, asked, said):
    runs = zip(("cpu", "threads"), asked, strict=True)
    text = report_of([make_record(backend=name, details={"asked": {}} if known else {}) for name, known in runs])
    assert said in text
    assert ("in a process of its own" in text) == all(asked)


def test_a_search_whose_nodes_differ_has_them_row_by_row(make_record, report_of):
    runs = [
        make_record(workload="exact", backend=name, hash_covers="answer", evaluations=count)
        for name, count in (("cpu", 1_000), ("threads", 3_000))
    ]
    text = report_of(runs)
    assert "- Nodes: 1,000 to 3,000, other numbers in other rows, per repetition." in text
    assert [row[4].strip() for row in tables(text)[0][2:]] == ["1.00 k", "3.00 k"]
    assert "each with its row's own number of nodes" in text
