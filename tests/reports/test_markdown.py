"""The Markdown report: what it must say, and that its tables hold together."""

import re
from dataclasses import replace

import pytest

from reports.comparison import NotRun


@pytest.fixture(scope="module")
def report(make_record, report_of):
    details = {"instance_source": "TSPLIB", "evaluations_per_step": "(n-1)(n-2)/2 moves", "optimum": 21282}
    return report_of(
        [
            make_record(times=[2.0, 2.1, 2.2], details=details),
            make_record(backend="threads", times=[1.0, 1.05, 1.1]),
            make_record(ranks=4, times=[1.5, 1.5, 1.5]),
            make_record(backend="opencl", device="1:0", details={"device_name": "a | b"}, times=[4.0]),
        ],
        [NotRun("cuda", "0", 1, "no driver:\nlibcuda | missing")],
        "it was at hand",
    )


def tables(text):
    """Each table as a list of rows of cells."""
    blocks = re.findall(r"(?:^\|.*\|\n?)+", text, re.M)
    return [[re.split(r"(?<!\\)\|", line)[1:-1] for line in block.splitlines()] for block in blocks]


def test_it_proves_equal_work_and_says_what_ran_and_where_the_instance_came_from(report):
    for words in (
        "all 4 rows have the hash `0123456789abcdef` of all climbs (the number, length and steps of every",
        "TSPLIB. Why this one: it was at hand.",
        "ab" * 32,
        "Counted: (n-1)(n-2)/2 moves.",
        "Best cost 21,282 by index 17 (the optimum).",
        "Test CPU, 2 cores",
        "- **b**: oversubscribed: 4 ranks on 2 cores: cpu, 4 ranks.",
        "fewer than 6 repetitions",
    ):
        assert words in report


def test_a_reason_that_is_the_source_itself_is_not_repeated(make_record, report_of):
    text = report_of([make_record(details={"instance_source": "found in data.."})], why="found in data..")
    assert "- Instance: **kroA100**, found in data. SHA-256" in text


def test_its_tables_are_whole_and_the_main_one_has_what_a_reader_needs(report):
    results, not_run, *others = tables(report)
    for table in (results, not_run, *others):
        assert len({len(row) for row in table}) == 1, table
    assert len(others) == 2  # times, conditions
    speedup = "speed-up over one core [95 % CI]"
    headings = [cell.strip() for cell in results[0]]
    assert headings == ["run", "device", "time, median [95 % CI]", speedup, "moves/s", "notes"]
    assert [cell.strip() for cell in not_run[2]] == ["cuda", "0", "1", "no driver: libcuda \\| missing"]
    assert results[4][5].strip() == "a b"


def test_each_ratio_stands_beside_its_absolute_baseline(report):
    results = tables(report)[0][2:]
    assert [row[3].strip().split(" ")[0] for row in results] == ["1.00x", "2.00x", "1.40x", "0.525x"]
    assert all(row[3].strip().endswith("over 2.10 s") for row in results)
    assert "[" in results[1][3]
    assert "[" not in results[3][3]  # a single repetition has no interval
    assert "**threads is 2.00x as fast as one core: 1.05 s against 2.10 s.**" in report


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


def test_communication_and_energy_have_columns_where_they_were_measured(make_record, report_of):
    plain = make_record()
    measured = [
        replace(sample, communication_share=share, energy_j={"gpu (NVML)": joules})
        for sample, share, joules in zip(plain.samples * 3, (0.1, 0.2, 0.6), (5.0, 300.0, 7.0), strict=True)
    ]
    results = tables(report_of([plain, make_record(ranks=2, samples=tuple(measured))]))[0]
    assert [cell.strip() for cell in results[0][5:7]] == ["in communication", "energy, median"]
    assert [cell.strip() for cell in results[3][5:7]] == ["20 %", "7.00 J, gpu (NVML)"]
    assert [cell.strip() for cell in results[2][5:7]] == ["", ""]


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
