"""The gallery: its pages and index come from the records of a folder, and a check shows where they do not."""

import json
import re
import shlex
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.errors import UserError
from docs.pages import from_records
from drivers.experiments.presets.bench import bench_parser
from drivers.experiments.presets.overview import overview_parser
from reports.pages import gallery as gallery_pages
from reports.pages.gallery import differences, outdated_pages, read, write
from reports.papers.files import names
from reports.records.files import append
from tests.conftest import ROOT
from tests.reports.made_up_gallery import DATA, GPU, fill


@pytest.fixture
def made_up_paper(monkeypatch):
    """Stand in for the page of the paper, whose own tests are elsewhere."""

    def write_page(paper, exhibits, records, folder, made_by=""):
        (folder / "oneil2011.md").write_text(f"# {paper.title}\n\n{len(records)} runs by `{made_by}`\n")
        (folder / "oneil2011.csv").write_text("row,column,value\n")
        (folder / "oneil2011-figure-1.svg").write_text("<svg/>")
        return [folder / f"oneil2011{end}" for end in (".md", ".csv", "-figure-1.svg")]

    verdicts = [
        ("Table B", "cannot be tested here", ""),
        ("Figure 1", "holds", "×62 to ×690"),
        ("Figure 2", "holds", ""),
    ]
    paper = SimpleNamespace(title="O'Neil, Tamir, Burtscher 2011: hill climbing", exhibits=())
    monkeypatch.setattr(gallery_pages, "load", lambda name: paper)
    monkeypatch.setattr(gallery_pages.pages_paper, "write", write_page)
    monkeypatch.setattr(gallery_pages.pages_paper, "summary", lambda paper, records: verdicts)


@pytest.fixture(scope="module")
def folder_of_records(tmp_path_factory, make_measured):
    folder = tmp_path_factory.mktemp("made") / "gallery"
    fill(folder, make_measured)
    return folder


@pytest.fixture
def gallery(folder_of_records, made_up_paper, tmp_path):
    pytest.importorskip("matplotlib")
    folder = Path(shutil.copytree(folder_of_records, tmp_path / "gallery"))
    written, absent = write(folder, folder)
    assert written[0] == folder / "index.md" and not absent
    return folder


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_index_has_picture_verdict_and_figures_of_every_page(gallery, is_golden):
    is_golden((gallery / "index.md").read_text(encoding="utf-8"), "gallery-index.md")


def test_pages_have_their_records_and_commands(gallery):
    pages = ["index.md", "oneil2011.md", "oneil2011.csv", "oneil2011-figure-1.svg"]
    pages += ["overview.md", "overview.svg", "ranks.md", "ranks.svg"]
    records = ["gallery.toml", "oneil2011.jsonl", "overview.jsonl", "ranks.jsonl"]
    assert set(contents(gallery)) == {*pages, *records}
    assert "2 runs by `make paper PAPER=oneil2011`" in (gallery / "oneil2011.md").read_text()
    overview = (gallery / "overview.md").read_text()
    assert "\n```\nonekernel overview --seconds-each 2\n```\n" in overview
    assert "| lcs, letters | 2.00 k cells/s |  | 1.00 k | 0.50 |" in overview


def test_pages_that_are_what_the_records_say_pass_the_check(gallery, reports):
    there = contents(gallery)
    code, printed, errors = reports("gallery", "--folder", gallery, "--check")
    assert (code, printed) == (0, "")
    assert [line.partition(":")[0] for line in errors.splitlines()] == ["note"] * 3
    assert contents(gallery) == there


def test_records_of_earlier_programs_are_one_line_and_do_not_fail_the_check(gallery, reports, monkeypatch):
    page = gallery / "oneil2011.md"
    stale = "Records of earlier programs: 2 of 2 runs; `make paper PAPER=oneil2011` makes new ones."
    assert page.read_text().split("\n\n")[1] == stale
    assert f"{page}: {stale}" in reports("gallery", "--folder", gallery, "--check")[2]
    monkeypatch.setattr("reports.pages.gallery.is_stale", lambda record: False)
    assert reports("gallery", "--folder", gallery, "--check") == (0, "", "")
    write(gallery, gallery)
    assert "earlier programs" not in page.read_text()


def test_the_check_shows_which_lines_of_which_page_differ_and_which_picture_is_missing(gallery, reports):
    page = gallery / "overview.md"
    page.write_text(page.read_text().replace("| 0.50 |", "| 0.60 |"))
    (gallery / "oneil2011.csv").write_text("row,column,value\n1,2,3\n")
    (gallery / "ranks.svg").unlink()
    picture, records = gallery / "overview.svg", gallery / "oneil2011.jsonl"
    picture.write_text(picture.read_text().replace(">0.500<", ">0.600<"))
    records.write_text(records.read_text().replace('"commit": "', '"commit": "c0ffee+changes', 1))
    code, _, errors = reports("gallery", "--folder", gallery, "--check")
    differing = errors.splitlines()
    assert code == 1
    assert any(line.startswith("---") and str(page) in line for line in differing)
    assert any(line.startswith("-|") and "| 0.60 |" in line for line in differing)
    assert any(line.startswith("+|") and "| 0.50 |" in line for line in differing)
    assert "-1,2,3" in differing
    assert f"{gallery / 'ranks.svg'}: missing; `onekernel report gallery` makes it" in differing
    assert f"{records}: 1 records of a commit with changes" in errors
    assert {"-0.600", "+0.500"} <= {*differing} - {f"--- {gallery / 'ranks.md'}"} == {*differing}


def test_damaged_records_are_one_error(gallery, reports):
    record = json.loads((gallery / "overview.jsonl").read_text().splitlines()[0])
    (gallery / "overview.jsonl").write_text(json.dumps(record | {"ranks": 0}) + "\n")
    code, _, errors = reports("gallery", "--folder", gallery, "--check")
    assert (code, errors.count("\n")) == (2, 1) and errors.startswith("error: ")


def test_a_page_without_records_is_a_message_with_its_command_and_the_others_are_made(gallery):
    for path in gallery.glob("oneil2011*"):
        path.unlink()
    _, absent = write(gallery, gallery)
    (message,) = absent
    assert message.startswith(f"{gallery / 'oneil2011.jsonl'}: no records; ")
    assert "`make paper PAPER=oneil2011`" in message
    assert (gallery / "overview.md").exists() and not (gallery / "oneil2011.md").exists()
    assert "oneil2011" not in (gallery / "index.md").read_text()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "oneil2011"', 'name = "nobody"', "found the name 'nobody', expected some of luong2013"),
        ('name = "oneil2011"', 'name = "oneil2011"\nnote = "A note."', "Object contains unknown field `note`"),
        ('name = "oneil2011"', "", "Object missing required field `name`"),
        ("[[reports]]", "[[elsewhere]]\n[[reports]]", "found the key 'elsewhere', expected some of reports"),
        ("[[reports]]", "[[reports", "expected TOML, found"),
    ],
)
def test_a_mistake_in_the_list_of_pages_is_an_error_with_its_place(tmp_path, old, new, message):
    (tmp_path / "gallery.toml").write_text(DATA.replace(old, new))
    with pytest.raises(UserError) as error:
        read(tmp_path)
    assert message in str(error.value)
    assert str(error.value).startswith(f"{tmp_path / 'gallery.toml'}: ")


# --- the repository's ---


def test_records_of_the_repository_s_gallery_name_no_folder_of_a_machine():
    lines = [line for path in (ROOT / "reports/gallery").glob("*.jsonl") for line in path.read_text().splitlines()]
    sources = {json.loads(line)["details"].get("instance_source", "") for line in lines}
    assert [source for source in sources if source.startswith("file /")] == []


def test_the_repository_s_gallery_has_all_papers_and_commands_that_the_programs_take():
    pages, ranks = read(ROOT / "reports" / "gallery"), gallery_pages.ranks
    assert {page.name for page in pages} - {"ranks"} == {*names(), "overview"}
    parsers = {"bench": bench_parser(), "overview": overview_parser(None)}
    for command in [ranks.PLAN["command"].format(backend="opencl"), *(one for page in pages for one in page.commands)]:
        onekernel, program, *words = shlex.split(command)
        assert onekernel == "onekernel"
        parsers[program].parse_args(words)


def test_the_readme_and_docs_quote_what_the_gallery_s_records_say(monkeypatch):
    assert outdated_pages(ROOT / "reports" / "gallery") == {}, "`make gallery` mends it"
    read_text = Path.read_text
    monkeypatch.setattr(
        Path, "read_text", lambda path, **how: re.sub(r"\| ([\d.]+) \|", r"| 7\1 |", read_text(path, **how))
    )
    assert {page.name for page in outdated_pages(ROOT / "reports" / "gallery")} >= {"README.md", "papers.md"}


def test_a_page_has_what_records_say_below_their_names(make_measured, tmp_path, monkeypatch):
    monkeypatch.setattr("docs.pages.GALLERY", tmp_path)
    text = """# Title

<!-- reports/gallery/readme.jsonl -->
```text
old
```

<!-- reports/gallery/overview.jsonl: lcs aco -->

| old |

The end.
"""
    assert from_records(text) == text
    fill(tmp_path, make_measured)
    (tmp_path / "oneil2011.jsonl").rename(tmp_path / "readme.jsonl")
    new = from_records(text)
    assert "old" not in new and new.endswith(" 1.00 k | 0.50 |  |\n\nThe end.\n")
    assert "```text\ncuda is 100 times as fast as one core.\n\nrun" in new
    assert "kroA100" not in new and "| lcs, letters | 2.00 k cells/s |" in new.replace("\xa0", " ")
    assert from_records(new) == new


@pytest.mark.parametrize(
    ("core_s", "gpu_s", "line"),
    [
        (0.02, 2.0, "| climbs | 250 ms | 25.0 s | Test GPU | 0.0100 | `onekernel reproduce oneil2011` |"),
        (2.0, 0.02, "The GPU is faster in: climbs (×100)."),
        (2.0, 2.0, "Intervals allow both answers in: climbs."),
    ],
)
def test_a_page_has_a_paper_s_verdicts_and_what_a_gpu_does_not_pay_for(
    core_s, gpu_s, line, make_measured, tmp_path, monkeypatch
):
    monkeypatch.setattr("docs.pages.GALLERY", tmp_path)
    text = """<!-- reports/gallery/oneil2011.jsonl -->

- old:
  old

<!-- reports/gallery/*.jsonl: seconds of one core and of a GPU
climbs: oneil2011, figure 1, CUDA, one GPU: native-core, figure 1/native
climbs without a GPU: oneil2011, figure 1, sequential: native-core, native
climbs without records: oneil2011, figure 1, CUDA, one GPU: published-core, published
-->

| old |

It takes 7 s<!-- reports/gallery/oneil2011, figure 1, CUDA, one GPU: native -->.
"""
    assert from_records(text) == text
    climbs = {"instance": "kroE100", "parameters": {"climbers": 2000, "start": "oneil2011"}}
    climbs["execution"] = {"mapping": "native", "scan": "full"}
    for record in (make_measured([core_s] * 6, **climbs), make_measured([gpu_s] * 6, **climbs, **GPU)):
        append(tmp_path / "oneil2011.jsonl", record)
    new = from_records(text)
    assert ".\n- Cannot be tested here: figures 1 and 2; table 1; table C.\n- Not run: table A; table B." in new
    line += f"\n\nIt takes {'25.0 s' if gpu_s > 1 else '250 ms'}<!-- "
    assert line in new.replace("\xa0", " ") and "climbs without" not in new.partition("-->\n\n|")[2]
    assert "old" not in new and from_records(new) == new


@pytest.mark.slow
def test_the_repository_s_pages_are_what_their_records_say_and_its_pictures_can_be_read(legible):
    pytest.importorskip("matplotlib")
    assert differences(ROOT / "reports" / "gallery") == [], "`make gallery` mends it"
