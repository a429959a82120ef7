"""The report of a paper: its content and text, and records that fit no exhibit."""

import re
from pathlib import Path

import pytest

from reports.pages import paper as pages_paper
from reports.papers.exhibits import MissingRuns
from reports.papers.files import load
from reports.records.files import append


@pytest.fixture
def ants(make_ants):
    def make(strategy="coarse", size=1024, seconds=1.0, execution=None, variant="as", **changes):
        asked = {"iterations": 2, "variant": variant}
        details = {"cities": 38, "optimum": 6656, "device_name": "Test GPU"}
        fields = {"backend": "cuda", "evaluations": 2 * size * 38 * 38, "details": details} | changes
        return make_ants(strategy, size, [seconds] * 3, parameters=asked, execution=execution, **fields)

    return make


def test_the_report_reads_as_it_did_and_has_a_picture_of_every_figure(ants, tmp_path, is_golden):
    runs = [
        ants(strategy, size, slow * seconds * size / 1024, {"mapping": mapping})
        for mapping, slow in (("published", 4.0), ("native", 1.0))
        for strategy, seconds in (("coarse", 6), ("fine", 3), ("fine-deposit", 1))
        for size in (1024, 2048)
    ]
    runs += [ants(variant="mmas"), ants("fine", 4096, verified=False, best_cost=1)]
    paper = load("menezes2019")
    not_made = {paper.chosen("table", "II")[0]: MissingRuns([("lu980: suite on cuda", "the instance is not at hand")])}
    written = pages_paper.write(paper, paper.exhibits, runs, tmp_path / "out", not_made)
    text = written[0].read_text(encoding="utf-8")
    is_golden(text, "menezes2019.md")
    pictures = [path.name for path in written if path.suffix == ".svg"]
    assert pictures == [f"menezes2019-figure-{number}.svg" for number in (2, 3, 4, 5, 6)]
    assert all(f"]({name})" in text for name in pictures)
    blocks = re.findall(r"(?:^\|.*\|\n?)+", text, re.M)
    assert len(blocks) >= 4
    for block in blocks:
        assert len({len(re.split(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1, block


def test_only_the_disagreements_of_what_is_shown_are_listed(tmp_path):
    paper = load("luong2013")
    texts = []
    for number in ("2", "5"):
        path, *_ = pages_paper.write(paper, paper.chosen("table", number), [], tmp_path)
        texts.append(path.read_text(encoding="utf-8"))
    assert "tai35a" in texts[0].partition("Inconsistencies in the paper")[2]
    assert "tai35a" not in texts[1] and "7990 s" in texts[1]


def test_an_earlier_report_is_removed_and_nothing_else(ants, tmp_path):
    paper = load("menezes2019")
    (tmp_path / "menezes2019.jsonl").write_text("")
    (tmp_path / "menezes2019-figure-99.svg").write_text("")
    (tmp_path / "luong2013-table-2.svg").write_text("")
    pages_paper.write(paper, paper.chosen("table", "I"), [ants()], tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "luong2013-table-2.svg",
        "menezes2019.jsonl",
        "menezes2019.md",
    ]


@pytest.mark.slow
def test_records_of_two_papers_make_two_reports(ants, make_record, tmp_path, reports):
    append(tmp_path / "a.jsonl", ants())
    append(
        tmp_path / "a.jsonl", make_record(parameters={"climbers": 5, "start": "oneil2011"}, execution={"scan": "full"})
    )
    code, said, _ = reports("papers", tmp_path / "a.jsonl", "--out", tmp_path / "out")
    assert code == 0
    assert {"menezes2019.md", "oneil2011.md"} <= {Path(line).name for line in said.split()}
