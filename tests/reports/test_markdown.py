"""The Markdown report: what it must say, and that its tables hold together."""

import re

import pytest

from reports import markdown
from reports.comparison import NotRun, compare
from reports.markdown import number, seconds


@pytest.fixture
def report(make_record):
    comparison = compare(
        [
            make_record(
                times=[2.0, 2.1, 2.2],
                details={
                    "instance_source": "TSPLIB",
                    "evaluations_per_step": "(n-1)(n-2)/2 moves",
                    "optimum": 21282,
                },
            ),
            make_record(backend="threads", times=[1.0, 1.05, 1.1]),
            make_record(ranks=4, times=[1.5, 1.5, 1.5]),
            make_record(backend="opencl", device="1:0", details={"device_name": "a | b"}, times=[4.0]),
        ],
        [NotRun("cuda", "0", 1, "no driver:\nlibcuda | missing")],
    )
    return markdown.render(comparison, "speedup.svg", "it was at hand")


def tables(text):
    """Each table as a list of rows of cells."""
    blocks = re.findall(r"(?:^\|.*\|\n?)+", text, re.M)
    return [[re.split(r"(?<!\\)\|", line)[1:-1] for line in block.splitlines()] for block in blocks]


def test_it_proves_equal_work_and_says_where_the_instance_came_from(report):
    assert "all 4 rows have the hash `0123456789abcdef` of all climbs" in report
    assert "TSPLIB. Why this one: it was at hand." in report
    assert "ab" * 32 in report
    assert "(n-1)(n-2)/2 moves" in report
    assert "known optimum 21282" in report
    assert "Test CPU, 2 cores" in report


def test_every_row_of_a_table_has_as_many_cells_as_its_heading(report):
    found = tables(report)
    assert len(found) == 4  # results, not run, timing, quality
    for table in found:
        assert len({len(row) for row in table}) == 1, table


def test_each_ratio_stands_beside_its_absolute_baseline(report):
    results = tables(report)[0][2:]
    assert [row[12].strip().split(" ")[0] for row in results] == ["1.00x", "2.00x", "1.40x", "0.525x"]
    assert all(row[12].strip().endswith("over 2.10 s") for row in results)
    assert "[" in results[1][12]
    assert "[" not in results[3][12]  # a single repetition has no interval
    assert "**threads is 2.00x as fast as one core** (2.10 s; Test CPU)" in report


def test_oversubscribed_rows_and_few_repetitions_are_said(report):
    assert "oversubscribed: 4 ranks on 2 cores" in tables(report)[0][4][13]
    assert "fewer than 6 repetitions" in report


def test_what_did_not_run_is_said_with_its_reason(report):
    assert [cell.strip() for cell in tables(report)[1][2]] == [
        "cuda",
        "0",
        "1",
        "no driver: libcuda \\| missing",
    ]


def test_published_figures_stand_beside_ours_and_unlike_work_is_said(report):
    timing = tables(report)[2]
    sequential = [cell.strip() for cell in timing[2]]
    assert sequential[:6] == ["sequential", "154,684", "1.00x", "0.324", "cpu", "Test CPU"]
    assert "**Ours ran other work** (kroA100, 100 climbers, not kroE100, 100,000)" in report


def test_machines_that_differ_in_the_name_alone_are_told_apart(make_record):
    machine = make_record().environment
    runs = [make_record(backend=name, environment=machine | {"host": name}) for name in ("cpu", "threads")]
    text = markdown.render(compare(runs))
    assert "- Machine A: cpu, Test CPU, 2 cores" in text
    assert "- Machine B: threads, Test CPU, 2 cores" in text


def test_without_a_baseline_no_ratio_is_printed(make_record):
    text = markdown.render(compare([make_record(backend="threads")]))
    assert "there is no baseline and no ratio" in text
    assert "as fast as one core" not in text


def test_rates_are_in_the_workloads_unit_and_absent_where_nothing_is_counted(make_record):
    text = markdown.render(compare([make_record(workload="lcs")]))
    assert tables(text)[0][0][10].strip() == "G cells/s"
    assert "G cells/s are 10^9 cells per second" in text
    text = markdown.render(compare([make_record(workload="exact", evaluations=0)]))
    assert [cell.strip() for cell in tables(text)[0][2][10:12]] == ["", ""]


def test_another_workload_has_no_published_table(make_record):
    text = markdown.render(compare([make_record(workload="lcs")]))
    assert "Beside the published figures" not in text


def test_the_report_and_its_plot_are_written(tmp_path, make_record):
    files = markdown.write(compare([make_record(), make_record(backend="threads")]), tmp_path / "new" / "folder")
    assert [file.name for file in files] == ["compare.md", "compare.tex", "speedup.svg", "speedup.png"]
    assert "](speedup.svg)" in files[0].read_text()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.00004, "0"),
        (0.0123, "0.0123"),
        (1.0, "1.00"),
        (99.96, "100"),
        (123.4, "123"),
        (1830.2, "1,830"),
        (999.6, "1,000"),
        (None, ""),
    ],
)
def test_numbers_have_three_digits_and_no_exponent(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0 µs"), (2.5e-6, "2.50 µs"), (0.0273, "27.3 ms"), (0.9999, "1.00 s"), (154.684, "155 s")],
)
def test_times_are_in_a_readable_unit(value, text):
    assert seconds(value) == text
