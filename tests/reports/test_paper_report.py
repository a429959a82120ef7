"""The report of a paper: what stands in it, in which words, and what becomes of records that fit nowhere."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import UserError
from reports import paper_report
from reports.exhibits import NotMade
from reports.paper_file import load
from reports.records import RecordError, append

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def ants(make_record):
    def make(strategy="coarse", size=1024, seconds=1.0, mapping="suite", instance="dj38", variant="as", **changes):
        asked = {
            "ants": size,
            "iterations": 2,
            "variant": variant,
            "candidates": 0,
            "local_search": "none",
            "colonies": 1,
        }
        fields = {
            "workload": "aco",
            "instance": instance,
            "instance_sha256": hashlib.sha256(instance.encode()).hexdigest(),
            "parameters": asked,
            "ways": {"strategy": strategy, "mapping": mapping},
            "hash_covers": "tours",
            "backend": "cuda",
            "best_cost": 6700,
            "evaluations": 2 * size * 38 * 38,
            "details": {"cities": 38, "optimum": 6656, "device_name": "Test GPU"},
        }
        return make_record(times=[seconds] * 3, **(fields | changes))

    return make


@pytest.fixture
def report(ants, tmp_path):
    """A report of menezes2019 with some runs, and the files written."""
    runs = [
        ants(strategy, size, seconds * size / 1024, mapping)
        for mapping, slow in (("published", 4.0), ("suite", 1.0))
        for strategy, seconds in (("coarse", 6 * slow), ("fine", 3 * slow), ("fine-deposit", slow))
        for size in (1024, 2048)
    ]
    runs += [ants(variant="mmas"), ants("fine", 4096, scored=False, best_cost=1)]
    paper = load("menezes2019")
    table = paper.chosen("table", "II")[0]
    not_made = {table: NotMade([("lu980: suite on cuda", "the instance is not at hand")])}
    return paper_report.write(paper, paper.exhibits, runs, tmp_path, not_made)


def test_the_report_reads_as_it_did(report, tmp_path):
    text = report[0].read_text(encoding="utf-8")
    found = tmp_path / "found.md"
    found.write_text(text, encoding="utf-8")
    golden = GOLDEN / "menezes2019.md"
    assert text == golden.read_text(encoding="utf-8"), f"if the change is meant: cp {found} {golden}"


def test_every_row_of_a_table_has_as_many_cells_as_its_heading(report):
    blocks = re.findall(r"(?:^\|.*\|\n?)+", report[0].read_text(encoding="utf-8"), re.M)
    assert len(blocks) >= 4
    for block in blocks:
        assert len({len(re.split(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1, block


def test_every_picture_is_in_the_report_and_every_figure_has_one(report):
    text = report[0].read_text(encoding="utf-8")
    pictures = [path.name for path in report if path.suffix == ".svg"]
    assert pictures == [f"menezes2019-figure-{number}.svg" for number in (2, 3, 4, 5, 6)]
    assert all(f"]({name})" in text for name in pictures)


def test_what_could_not_run_stands_below_its_table(report):
    text = report[0].read_text(encoding="utf-8")
    table = text[text.index("## Table II") : text.index("## Figure 2")]
    assert "What could not run here, and why:\n\n- lu980: suite on cuda: the instance is not at hand." in table


def test_runs_that_fit_no_table_and_runs_that_were_not_confirmed_are_listed(report):
    text = report[0].read_text(encoding="utf-8")
    nowhere = text[text.index("## Not in the paper's tables") :]
    assert "variant = mmas" in nowhere.split("##")[1]
    assert "the NumPy scorer did not confirm its best cost 1 |" in text


def test_only_the_disagreements_of_what_is_shown_are_listed(tmp_path):
    paper = load("luong2013")
    texts = []
    for number in ("2", "5"):
        path, *_ = paper_report.write(paper, paper.chosen("table", number), [], tmp_path)
        texts.append(path.read_text(encoding="utf-8"))
    assert "tai35a" in texts[0].partition("taken at its word")[2]
    assert "tai35a" not in texts[1] and "7990 s" in texts[1]


def test_two_halves_of_a_table_have_pictures_of_their_own(tmp_path):
    paper = load("luong2013")
    written = paper_report.write(paper, paper.chosen("table", "9"), [], tmp_path)
    assert [path.name for path in written if path.suffix == ".svg"] == [
        "luong2013-table-9-1.svg",
        "luong2013-table-9-2.svg",
    ]


def test_an_earlier_report_is_removed_and_nothing_else(ants, tmp_path):
    paper = load("menezes2019")
    (tmp_path / "menezes2019.jsonl").write_text("")
    (tmp_path / "menezes2019-figure-99.svg").write_text("")
    (tmp_path / "luong2013-table-2.svg").write_text("")
    paper_report.write(paper, paper.chosen("table", "I"), [ants()], tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "luong2013-table-2.svg",
        "menezes2019.jsonl",
        "menezes2019.md",
    ]


def test_records_of_two_papers_make_two_reports(ants, make_record, tmp_path):
    append(tmp_path / "a.jsonl", ants())
    append(tmp_path / "a.jsonl", make_record(parameters={"climbers": 5, "start": "oneil2011"}, ways={"scan": "full"}))
    command = [sys.executable, "-m", "reports", "tables", str(tmp_path / "a.jsonl"), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert {"menezes2019.md", "oneil2011.md"} <= {Path(line).name for line in done.stdout.split()}


def test_a_workload_without_a_paper_ends_with_one_line(make_record, tmp_path):
    with pytest.raises(UserError, match=r"no paper has tables for the workload 'sat': use `python -m reports compare`"):
        paper_report.write_all([make_record(workload="sat")], tmp_path)
    with pytest.raises(RecordError, match="no records to lay out"):
        paper_report.write_all([], tmp_path)


def test_a_folder_that_cannot_be_written_is_named(ants, tmp_path):
    (tmp_path / "file").write_text("")
    paper = load("menezes2019")
    with pytest.raises(UserError, match="file: cannot write the report"):
        paper_report.write(paper, paper.exhibits, [ants()], tmp_path / "file")
