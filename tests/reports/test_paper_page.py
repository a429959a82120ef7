"""Pages of papers: one table, one picture and the verdict for each exhibit, and everything as CSV."""

import csv
import re

import pytest
from msgspec.structs import replace

from core.errors import UserError
from reports.pages import paper as pages
from reports.papers.files import load, names
from reports.plots import style
from tests.reports.made_up_hills import GPU, PAPER, TABLE, THREADS, climbs, hills

MISSING = {("table 1", "huge", "gpu"): "its matrix does not fit"}
MOST_COLUMNS, MOST_WORDS = 8, 1500


def written(folder, records, exhibits=PAPER.exhibits, **more):
    files = pages.write(PAPER, exhibits, records, folder, **more)
    return files, files[0].read_text(encoding="utf-8")


def test_a_page_has_claim_command_table_picture_and_verdict(make_measured, tmp_path, is_golden, legible):
    pytest.importorskip("matplotlib")
    made_by = "onekernel reproduce hills --scale quick"
    files, text = written(tmp_path / "out", hills(make_measured), missing=MISSING, made_by=made_by)
    assert [file.name for file in files] == ["hills.md", "hills.csv", "hills-table-1.svg", "hills-table-2.svg"]
    assert legible == ["hills-table-1", "hills-table-2"]
    is_golden(text, "hills.md")


def test_equal_records_make_equal_files(make_measured, tmp_path):
    pytest.importorskip("matplotlib")
    first, again = (written(tmp_path / name, hills(make_measured))[0] for name in "ab")
    assert [one.read_bytes() for one in first] == [one.read_bytes() for one in again]
    pages.remove(tmp_path / "a", PAPER)
    assert not [*(tmp_path / "a").iterdir()]


def test_without_runs_every_exhibit_is_there_and_no_table_of_blanks(tmp_path):
    files, text = written(tmp_path, [])
    assert [file.name for file in files] == ["hills.md", "hills.csv"]
    assert text.count("\n## ") == 3 and "**Not run.**" in text and "Nothing of it ran here." in text
    assert "| small |" not in text and "cannot be tested here: the paper prints no lengths" in text


def test_the_csv_file_has_all_published_figures_all_runs_and_the_missing_ones(make_measured, tmp_path):
    files, _ = written(tmp_path, hills(make_measured), missing=MISSING)
    rows = list(csv.DictReader(files[1].open(encoding="utf-8")))
    published = [(one["row"], one["column"], one["text"]) for one in rows if one["source"] == "paper"]
    assert ("large", "old GPU, speedup", "20") in published and ("small", "old GPU, seconds", "1.50") in published
    (gain,) = [one for one in rows if (one["row"], one["column"]) == ("large", "gain")]
    assert (gain["value"], gain["text"], gain["device"], gain["repetitions"]) == ("40", "40.0", "H200", "6")
    assert gain["hash"] == "398627d4db7b259a" and float(gain["low"]) < 40 < float(gain["high"])
    assert [one["why"] for one in rows if one["row"] == "huge" and one["column"] == "gpu"] == [MISSING.popitem()[1]]


def test_a_row_with_hidden_runs_alone_is_not_in_the_table_and_virtual_hosts_may_be_several(make_measured, tmp_path):
    runs = [*hills(make_measured), climbs(make_measured, "huge", 1.0, mapping="native")]
    _, text = written(tmp_path, [replace(one, environment=one.environment | {"virtual": True}) for one in runs])
    assert "| huge |" not in text and "huge (no record)" in text and ", one virtual machine or several alike, " in text


def test_a_column_of_gpus_is_left_out_where_its_runs_are_those_of_another(make_measured, tmp_path):
    core, cores, *_ = hills(make_measured)
    _, text = written(tmp_path, [core, cores])
    assert "|  | paper: core | paper × | one core | 2 cores | × |" in text


def test_a_busy_host_is_named_once_at_the_top(make_measured, tmp_path):
    unknown = climbs(make_measured, "small", 1.0, others=None)
    _, text = written(tmp_path, [unknown, climbs(make_measured, "large", 1.0, others=0.7)])
    assert text.count("Busy host") == 1
    assert text.splitlines()[2] == "**Busy host: other programs kept 0.7 of 2 cores busy.**"
    # The system's accounts of 16 busy cores are off by 0.7.
    for others, more in ((0.1, {}), (0.7, THREADS | {"details": {"cores_per_rank": 16}})):
        assert "Busy" not in written(tmp_path, [climbs(make_measured, "small", 1.0, others=others, **more)])[1]


def test_times_of_a_single_cold_run_are_named(make_measured, tmp_path):
    measured, gpu = climbs(make_measured, "small", 1.0), climbs(make_measured, "small", 0.5, **GPU)
    once = replace(measured, repetitions=(replace(measured.repetitions[0], kind="fixed"),))
    for gpus, columns in (([gpu], "*one core* and *×*"), ([], "*one core*")):
        assert f"One cold run: {columns}: small." in written(tmp_path, [once, *gpus])[1]
    assert "One cold run" not in written(tmp_path, [measured, gpu])[1]


def test_the_summary_has_a_verdict_and_numbers_for_each_exhibit(make_measured):
    assert pages.summary(PAPER, hills(make_measured)) == [
        ("Table 1, figure 1: hill climbing, seconds for 100,000 climbers", "holds", "×4.00 for small to ×40.0"),
        ("Table 2: lengths", "cannot be tested here", ""),
    ]


def test_heads_name_devices_and_the_amount(make_measured):
    from reports.papers.cells import exhibit_frame, runs_of

    two = climbs(make_measured, "large", 0.4, **GPU | {"ranks": 2})
    cells = exhibit_frame(PAPER, TABLE, runs_of(PAPER, hills(make_measured)))
    heads = {key: pages.heading(PAPER, TABLE, TABLE.column(key), cells) for key in ("core", "cores", "gpu", "native")}
    assert heads == {"core": "one core", "cores": "2 cores", "gpu": "H200 as published", "native": "native core"}
    empty = exhibit_frame(PAPER, TABLE, runs_of(PAPER, [two]))
    assert pages.heading(PAPER, TABLE, TABLE.column("gpu"), empty) == "GPU as published"


def test_all_papers_with_cells_of_the_records_have_a_page(make_measured, tmp_path, monkeypatch):
    other = replace(PAPER, name="valleys", exhibits=PAPER.exhibits[1:])
    monkeypatch.setattr(pages, "names", lambda: [PAPER, other])
    monkeypatch.setattr(pages, "load", lambda paper: paper)
    of_gpu = pages.write_all([climbs(make_measured, "small", 0.1, **GPU)], tmp_path)
    assert {file.stem for file in of_gpu if file.suffix == ".md"} == {"hills"}
    of_core = pages.write_all([climbs(make_measured, "small", 1.0)], tmp_path)
    assert {file.stem for file in of_core if file.suffix == ".md"} == {"hills", "valleys"}
    with pytest.raises(UserError, match="no paper has a row for these records"):
        pages.write_all([climbs(make_measured, "small", 1.0, workload="lcs")], tmp_path)


@pytest.mark.parametrize("name", ["hills", *names()])
def test_pages_follow_the_rules(name, make_measured, tmp_path, monkeypatch):
    """DESIGN, section 4: narrow tables, a number in a cell, no footnotes, few words."""
    monkeypatch.setattr(style, "is_installed", lambda: False)
    paper, records = (PAPER, hills(make_measured)) if name == "hills" else (load(name), [])
    if not records:
        records = [*made_up_records(paper, make_measured)]
    page, *_ = pages.write(paper, paper.exhibits, records, tmp_path)
    lines = page.read_text(encoding="utf-8").splitlines()
    tables = [line for line in lines if line.startswith("|")]
    assert all(line.count("|") <= MOST_COLUMNS + 1 for line in tables)
    assert "<br>" not in page.read_text() and "<details>" not in page.read_text()
    cells = [cell for line in tables for cell in line.strip("|").split(" | ")]
    assert not [cell for cell in cells if re.search(r"\[[a-z](, [a-z])*\]$|\*$", cell.strip()) and "**" not in cell]
    assert [cell for cell in cells if re.fullmatch(r"[\d.,]+ [\d.,]+.*|.* \[[\d., ]+\]", cell.strip())] == []
    assert len(" ".join(line for line in lines if not line.startswith("|")).split()) <= MOST_WORDS


def made_up_records(paper, make_measured):
    """A run of one core for each row of a paper that one can run."""
    from reports.papers.placement import run_choice

    for exhibit in paper.exhibits:
        for row in exhibit.rows:
            for column in exhibit.columns:
                choice = run_choice(paper, exhibit, row, column)
                if choice is not None and not column.peer and not choice.series.network:
                    yield from made_up_record(choice, exhibit, make_measured)
                    break


def made_up_record(choice, exhibit, make_measured):
    kind = {"gpu": "cuda", "cores": "threads", "core": "cpu"}[choice.series.kinds[0]]
    asked = {name: value for name, value in choice.options.items() if name not in ("peers", "profile")}
    record = climbs(
        make_measured,
        choice.instance or "made-up",
        0.5,
        workload=choice.workload,
        parameters={**exhibit.amount, **asked},
        execution={"mapping": asked.get("mapping", "native")},
        backend=(choice.series.backends or (kind,))[0],
        device_kind=choice.series.kinds[0],
    )
    if choice.has(record):
        yield record
