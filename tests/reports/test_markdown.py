"""The Markdown report: what it must say, and that its tables hold together."""

import re

import pytest

from reports.comparison.speedups import NotRun


def tables(text):
    blocks = re.findall(r"(?:^\|.*\|\n?)+", text, re.M)
    return [[re.split(r"(?<!\\)\|", line)[1:-1] for line in block.splitlines()] for block in blocks]


def test_the_report_of_one_seed_on_a_papers_instance_reads_as_it_did(make_record, report_of, is_golden):
    """Best cost, note on ranks, missing runs, and the paper's figures beside ours."""
    asked = {
        "instance": "kroE100",
        "parameters": {"climbers": 100, "start": "oneil2011"},
        "execution": {"scan": "full"},
    }
    known = {"instance_source": "TSPLIB", "evaluation_definition": "(n-1)(n-2)/2 moves", "optimum": 21282}
    runs = [
        make_record([2.0], **asked, details=known),
        make_record([1.0], **asked, ranks=4),
        make_record([0.5], **asked, backend="cuda", details={"device_name": "a | b"}),
    ]
    not_run = [NotRun("opencl", "0", 1, "no driver:\nlibOpenCL | missing")]
    is_golden(report_of(runs, not_run, "it was at hand"), "compare-ihc.md")


def test_a_reason_that_is_the_source_itself_is_not_repeated(make_record, report_of):
    text = report_of([make_record(details={"instance_source": "found in data.."})], why="found in data..")
    assert "- Instance: **kroA100**, found in data. SHA-256" in text


def test_runs_on_another_instance_name_the_command_that_fills_the_papers_tables(make_record, report_of):
    asked = {"parameters": {"climbers": 100, "start": "oneil2011"}, "execution": {"scan": "full"}}
    text = report_of([make_record(**asked, backend="cuda")])
    assert "C2050" not in text
    assert "Such runs belong to table 1 of `oneil2011`" in text


def test_machines_that_differ_in_the_name_alone_are_told_apart(make_record, report_of):
    machine = make_record().environment
    text = report_of([make_record(backend=name, environment=machine | {"host": name}) for name in ("cpu", "threads")])
    assert "- Machine A: cpu, Test CPU, 2 cores" in text
    assert "- Machine B: threads, Test CPU, 2 cores" in text
    assert "| threads (machine B) |" in text


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ((True, True), "Every row ran in a separate process"),
        ((True, False), "Some rows ran in separate processes"),
        ((False, False), "The records do not say whether each row ran in a separate process"),
    ],
)
def test_a_process_of_its_own_is_said_only_where_the_records_tell(make_record, report_of, asked, said):
    runs = zip(("cpu", "threads"), asked, strict=True)
    text = report_of([make_record(backend=name, details={"options": {}} if known else {}) for name, known in runs])
    assert said in text
    assert ("Every row ran in a separate process" in text) == all(asked)


def test_a_search_whose_nodes_differ_has_them_row_by_row(make_record, report_of):
    runs = [
        make_record(workload="exact", backend=name, hash_scope="result", evaluations=count)
        for name, count in (("cpu", 1_000), ("threads", 3_000))
    ]
    text = report_of(runs)
    assert "- Nodes: 1,000 to 3,000, different in each row, per repetition." in text
    assert [row[4].strip() for row in tables(text)[0][2:]] == ["1.00 k", "3.00 k"]
    assert "numbers of nodes differ between rows" in text
