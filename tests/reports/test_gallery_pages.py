"""The gallery: its reports and index come from the records of a folder, and a check says where they do not."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.errors import UserError
from drivers.experiments.presets.bench import bench_parser
from drivers.experiments.presets.overview import overview_parser
from reports.pages import provenance
from reports.pages.comparison import lines
from reports.pages.gallery import differences, overview_of, read, write
from reports.rates import rate_sections
from reports.records.files import load
from tests.conftest import ROOT
from tests.reports.made_up_gallery import DATA, climb, fill


@pytest.fixture(scope="module")
def made_gallery(tmp_path_factory, make_record):
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("made") / "gallery"
    fill(folder, make_record)
    written, absent = write(folder, folder)
    assert written[0] == folder / "index.md" and not absent
    return folder


@pytest.fixture
def gallery(made_gallery, tmp_path):
    return Path(shutil.copytree(made_gallery, tmp_path / "gallery"))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_index_tells_of_every_report_what_its_records_say(made_gallery, is_golden):
    is_golden((made_gallery / "index.md").read_text(encoding="utf-8"), "gallery-index.md")


def test_reports_name_the_commands_of_such_records_and_have_pictures_as_svg_alone(made_gallery):
    pages = [
        "index.md",
        "oneil2011-figure-1.svg",
        "oneil2011-figure-2.svg",
        "oneil2011.md",
        "overview.md",
    ]
    records = ["gallery.toml", "oneil2011.jsonl", "overview.jsonl"]
    assert set(contents(made_gallery)) == {*pages, "overview.svg", *records}
    recorded = "Recorded 2026-11-22 to 2026-11-24; the versions of onekernel are in the lines of the machines."
    made_by = f"\n\n{recorded} `make paper PAPER=oneil2011` makes such records.\n\n"
    assert made_by in (made_gallery / "oneil2011.md").read_text()
    overview = (made_gallery / "overview.md").read_text()
    assert "\nMade by `python -m drivers.overview --seconds-each 2`.\n" in overview
    assert "| lcs | letters | 3 T cells | 4.00 s, 1.00x | 8.00 s, 0.500x |" in overview


def test_what_the_same_work_took_elsewhere_marks_its_ratios_on_every_page(gallery, reports):
    elsewhere = """
[[elsewhere]]
workload = "ihc"
instance = "kroE100"
parameters = { climbers = 100000 }
execution = { scan = "full", mapping = "native" }
device_kind = "core"
seconds = 1.5
where = "a quiet host"
"""
    (gallery / "gallery.toml").write_text(elsewhere + DATA)
    code, said, _ = reports("gallery", "--folder", gallery)
    assert (code, said.splitlines()[0]) == (0, str(gallery / "index.md"))
    excluded = "the interval excludes the median of a quiet host"
    assert f"its baseline: {excluded}" in (gallery / "oneil2011.md").read_text()
    doubts = f"The baselines of 1 of 1 ratio are doubtful: {excluded}"
    assert doubts in (gallery / "index.md").read_text()
    overview = (gallery / "overview.md").read_text()
    assert "the interval excludes the median of a quiet host: cpu on ihc 1.50 s" in overview
    assert "| 2.00 s*, 1.00x* | 500 ms, 4.00x* |" in overview
    assert "ours, native mapping, every move*" in (gallery / "oneil2011-figure-2.svg").read_text()
    unknown = elsewhere.replace("seconds", "minutes")
    (gallery / "gallery.toml").write_text(unknown + DATA)
    with pytest.raises(UserError, match="elsewhere: Object contains unknown field `minutes`"):
        read(gallery)


def test_pages_that_are_what_the_records_say_pass_the_check(made_gallery, reports):
    there = contents(made_gallery)
    code, printed, errors = reports("gallery", "--folder", made_gallery, "--check")
    assert (code, printed) == (0, "")
    assert [line.partition(":")[0] for line in errors.splitlines()] == ["note"] * 2
    assert contents(made_gallery) == there


def test_stale_runs_are_said_and_do_not_fail_the_check(gallery, reports, monkeypatch):
    page, advice = gallery / "oneil2011.md", "make paper PAPER=oneil2011` makes new ones."
    stale = "Stale: 3 of 3 runs (earlier or unrecorded kernels); "
    assert page.read_text().split("\n\n")[2] == f"{stale}`{advice}"
    assert f"{page}: {stale}" in reports("gallery", "--folder", gallery, "--check")[2]
    monkeypatch.setattr("reports.pages.provenance.is_stale", lambda record: False)
    assert reports("gallery", "--folder", gallery, "--check") == (0, "", "")
    write(gallery, gallery)
    assert "Stale" not in page.read_text()


def test_the_check_says_which_lines_of_which_page_differ_and_which_picture_is_missing(gallery, reports):
    page = gallery / "oneil2011.md"
    page.write_text(page.read_text().replace("×100 ", "×200 "))
    (gallery / "overview.svg").unlink()
    code, _, errors = reports("gallery", "--folder", gallery, "--check")
    differing = errors.splitlines()
    assert code == 1
    assert any(line.startswith("---") and str(page) in line for line in differing)
    assert any(line.startswith("-|") and "×200 " in line for line in differing)
    assert any(line.startswith("+|") and "×100 " in line for line in differing)
    assert f"{gallery / 'overview.svg'}: missing; `python -m reports gallery` makes it" in differing
    assert not any("index.md" in line for line in differing)


def test_damaged_records_are_one_error(gallery, reports):
    record = json.loads((gallery / "oneil2011.jsonl").read_text().splitlines()[0])
    (gallery / "oneil2011.jsonl").write_text(json.dumps(record | {"ranks": 0}) + "\n")
    code, _, errors = reports("gallery", "--folder", gallery, "--check")
    assert (code, errors.count("\n")) == (2, 1) and errors.startswith("error: ")


def test_a_report_without_records_is_named_with_its_command_and_the_others_are_made(gallery):
    for name in ("oneil2011.jsonl", "oneil2011.md"):
        (gallery / name).unlink()
    _, absent = write(gallery, gallery)
    assert len(absent) == 1
    assert absent[0].startswith(f"{gallery / 'oneil2011.jsonl'}: no records; ")
    assert "`make paper PAPER=oneil2011`" in absent[0]
    assert (gallery / "overview.md").exists() and not (gallery / "oneil2011.md").exists()
    assert "Hill climbing" not in (gallery / "index.md").read_text()


def test_a_workload_whose_runs_did_different_work_is_refused_and_the_others_are_shown(gallery):
    records = load(gallery / "overview.jsonl")
    overview = overview_of([*records[:3], replace(records[3], hash="ffff")])
    assert [(line.workload, line.comparison is None) for line in overview.lines] == [("ihc", False), ("lcs", True)]
    assert "unequal work" in overview.lines[1].refused


def test_records_tell_where_and_when_they_were_made(make_record):
    runs = [
        climb(make_record, (1.0, 1.0), backend="cuda", details={"device_name": "NVIDIA Card"}),
        climb(make_record, (1.0,), backend="opencl", device_kind="gpu", details={"device_name": "NVIDIA Card 141GB"}),
    ]
    assert provenance.devices(runs) == "NVIDIA Card 141GB and Test CPU, 2 cores"
    assert provenance.dates(runs) == "2026-11-22 to 2026-11-23"
    assert provenance.dates([make_record()]) == ""
    assert provenance.runs(runs) == "2 runs, 3 repetitions in all"
    assert provenance.repetitions(runs) == "1 to 2 repetitions"
    two_hosts = make_record(environment={**runs[0].environment, "host_count": 2})
    assert provenance.devices([two_hosts]) == "Test CPU, 2 cores on each of 2 hosts"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "oneil2011"', 'name = "nobody"', "report nobody: found the name 'nobody', expected some of luong2013"),
        (
            'exhibit = "figure 1"',
            'exhibit = "figure 9"',
            "found the exhibit 'figure 9', expected some of figure 1, tab",
        ),
        ('note = "A note."', 'measure = "sheep"', "report oneil2011: found the measure 'sheep'"),
        ('note = "A note."', 'remark = "A note."', "report oneil2011: Object contains unknown field `remark`"),
        ('title = "Hill climbing"', "", "report oneil2011: Object missing required field `title`"),
        ("[[reports]]", "[[reports", "expected TOML, found"),
    ],
)
def test_a_mistake_in_the_list_of_reports_is_told(tmp_path, old, new, message):
    (tmp_path / "gallery.toml").write_text(DATA.replace(old, new))
    with pytest.raises(UserError) as error:
        read(tmp_path)
    assert message in str(error.value)
    assert str(error.value).startswith(f"{tmp_path / 'gallery.toml'}: ")


def test_records_of_the_repository_s_gallery_name_no_folder_of_a_machine():
    records = [one for path in (ROOT / "reports/gallery").glob("*.jsonl") for one in load(path)]
    sources = {record.details.get("instance_source", "") for record in records}
    assert sources and [source for source in sources if source.startswith("file /")] == []


def test_the_repository_s_gallery_has_commands_that_the_programs_take():
    parsers = {"drivers.bench": bench_parser(), "drivers.overview": overview_parser(None)}
    for command in (command for entry in read(ROOT / "reports" / "gallery") for command in entry.commands):
        python, module, program, *words = shlex.split(command)
        assert (python, module) == ("python", "-m")
        parsers[program].parse_args(words)


def test_the_readme_shows_what_onekernel_compare_printed_from_its_records():
    (block,) = re.findall(r"^```text\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    printed = {*lines(rate_sections(load(ROOT / "reports/gallery/readme.jsonl")))}
    assert [line for line in block.splitlines() if line not in printed] == ["..."] * block.count("...\n")


@pytest.mark.slow
def test_the_repository_s_pages_are_what_their_records_say_and_its_pictures_can_be_read(legible):
    pytest.importorskip("matplotlib")
    assert differences(ROOT / "reports" / "gallery") == [], "`make gallery` mends it"
    pictures = {path.stem for path in (ROOT / "reports" / "gallery").glob("*.svg")}
    assert set(legible) == pictures
