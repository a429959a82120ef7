"""The tables of the page of results come from the gallery's records, and a check says where they do not."""

import pytest

from core.errors import UserError
from reports.pages import results
from reports.papers.figure_choices import page_path, read
from reports.records.files import append
from tests.conftest import ROOT
from tests.reports.made_up_gallery import GPU, README, TABLE, climb, fill


@pytest.fixture
def page(tmp_path, make_record):
    fill(tmp_path / "gallery", make_record)
    path = tmp_path / "README.md"
    path.write_text(README)
    return path


def filled(page):
    return results.fill(page, page.parent / "gallery")


# --- what a table says ---


def test_a_block_is_what_its_records_say_and_the_rest_of_the_page_stays(page, is_golden):
    result = filled(page)
    assert not result.troubles
    is_golden(result.after, "results-block.md")
    assert result.notes == ("table climbs: no run of ours is recorded for eight cores",)


def test_runs_of_less_work_than_the_papers_say_so_below_the_table(tmp_path, make_record, page):
    fill(tmp_path / "small", make_record, climbers=1_000)
    text = results.fill(page, tmp_path / "small").after
    assert "1,000 climbers, not 100,000: seconds do not compare with the paper's, ratios do.\n" in text
    assert "1,000 climbers, not 100,000: seconds do not compare with the paper's.\n" in text
    append(page.parent / "gallery" / "oneil2011.jsonl", climb(make_record, (9.0,), climbers=1_000))
    assert "9.00 s" not in filled(page).after, "of runs of several lengths the longest counts"


def test_other_records_than_the_table_s_are_not_in_it(page, make_record):
    before = filled(page).after
    other = climb(make_record, (7.0,), backend="opencl", device_kind="gpu", details=GPU["details"])
    append(page.parent / "gallery" / "oneil2011.jsonl", other)
    assert filled(page).after == before


def test_a_row_has_the_runs_of_one_machine(page, make_record):
    for times, backend in (((9.0,), {}), ((0.7,), GPU)):
        run = climb(make_record, times, **backend, environment={"cpu_model": "another", "cores": 8})
        append(page.parent / "gallery" / "oneil2011.jsonl", run)
    text = filled(page).after
    assert "9.00 s" not in text and "700 ms" not in text


# --- the page's marks ---

BEGIN, END = "<!-- table climbs: made by python -m reports results -->", "<!-- end climbs -->"


@pytest.mark.parametrize(
    ("lines", "line", "message"),
    [
        (["", BEGIN, "text"], 2, "found no end of table 'climbs', expected `<!-- end climbs -->`"),
        ([BEGIN, END, BEGIN, END], 3, "found the table 'climbs' again, which line 1 has already"),
        ([BEGIN.replace("climbs", "ants"), END], 1, "found the table 'ants', expected one of climbs"),
        ([BEGIN, END.replace("climbs", "ants")], 2, "expected `<!-- end climbs -->`, as line 1 begins"),
        (["<!-- table climbs -->", END], 1, "found '<!-- table climbs -->', expected `<!-- table NAME: made by"),
        ([BEGIN, "<!-- END climbs -->"], 2, "found '<!-- END climbs -->', expected `<!-- end climbs -->`"),
        ([f"text {BEGIN}", END], 2, "found the end of 'climbs'"),
    ],
)
def test_a_damaged_mark_is_one_error_with_its_line(page, lines, line, message):
    page.write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError) as error:
        filled(page)
    assert str(error.value).startswith(f"{page}:{line}: ")
    assert message in str(error.value)


def test_a_table_without_a_place_in_the_page_is_told(page):
    page.write_text("# Nothing\n")
    with pytest.raises(
        UserError, match=r"README.md: expected a place for the table 'climbs' of .*results.toml, found none"
    ):
        filled(page)


# --- the file that says what tables show ---


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('paper = "oneil2011"', 'paper = "nobody"', "table climbs: found the paper 'nobody'"),
        ('"figure 1"', '"table 7"', "table climbs, one core, paper, ms: found the exhibit 'table 7'"),
        ('line = "core:1"', 'line = "core:9"', "found the line 'core:9', expected some of core:1"),
        ('"gpu:1", series = "full"', '"gpu:1", series = "fast"', "found the series 'fast', expected some of sequent"),
        ('machine = "paper"', 'machine = "theirs"', "found the machine 'theirs', expected some of paper"),
        ('column = "median, ms"', 'column = "mean"', "found the column 'mean' of paper, expected one of 'median"),
        ('shows = ["seconds"]', 'shows = ["sheep"]', "found the measure 'sheep'"),
        (
            'label = "GPU",',
            'label = "GPU", colour = "red",',
            "table climbs: Object contains unknown field `colour` - at `$.rows[",
        ),
        ('first = "on"', "", "table climbs: Object missing required field `first`"),
    ],
)
def test_a_mistake_in_what_tables_show_is_told(tmp_path, old, new, message):
    assert old in TABLE
    (tmp_path / "results.toml").write_text(TABLE.replace(old, new))
    with pytest.raises(UserError) as error:
        read(tmp_path)
    assert message in str(error.value)
    assert str(error.value).startswith(f"{tmp_path / 'results.toml'}: table climbs")


def test_a_name_that_two_tables_have_is_told(tmp_path):
    (tmp_path / "results.toml").write_text(TABLE + "[[tables]]" + TABLE.partition("[[tables]]")[2])
    with pytest.raises(UserError, match="table climbs: found this name twice"):
        read(tmp_path)


@pytest.mark.parametrize(("old", "new"), [('page = "../README.md"', ""), ('"../README.md"', "3")])
def test_a_file_that_does_not_name_its_page_is_told(tmp_path, old, new):
    (tmp_path / "results.toml").write_text(TABLE.replace(old, new))
    with pytest.raises(UserError, match="page"):
        page_path(tmp_path)


# --- the command ---


@pytest.fixture
def command(page, reports):
    """Run the command on the page; return the exit code and its output on the page."""

    def run(*arguments):
        code, _, errors = reports("results", "--page", page, "--folder", page.parent / "gallery", *arguments)
        return code, errors

    return run


def test_the_check_passes_after_the_command_and_fails_after_a_hand_has_changed_a_figure(page, command):
    code, err = command("--check")
    assert code == 1 and "-old" in err.splitlines()
    assert page.read_text() == README
    assert command()[0] == 0
    assert command("--check")[0] == 0
    page.write_text(page.read_text().replace("×100 [", "×110 ["))
    code, err = command("--check")
    assert code == 1
    assert any(line.startswith("-") and "×110 [" in line for line in err.splitlines())


def test_a_figure_outside_the_tables_fails_the_check_unless_a_table_has_it(page, command):
    command()
    text = page.read_text()
    page.write_text(text.replace("More.", "One core took 2.10 s, in `100 s`."))
    assert "| 2.10 s" in text and command("--check")[0] == 0
    page.write_text(text.replace("More.", "CUDA took 24.7 ms, which is 710 times as fast."))
    code, errors = command("--check")
    assert code == 1
    assert [line.split(": ")[1] for line in errors.splitlines() if line.startswith(f"{page}: ")] == [
        "24.7 ms",
        "710 times",
    ]


@pytest.mark.parametrize("arguments", [(), ("--check",)])
def test_missing_records_are_named_with_the_command_that_makes_them_and_the_table_stays(page, command, arguments):
    records = page.parent / "gallery" / "oneil2011.jsonl"
    records.unlink()
    code, err = command(*arguments)
    assert code == 1
    assert f"{page}:3: table climbs: {records}: no records" in err
    assert "`python -m drivers.reproduce oneil2011 && " in err
    assert page.read_text() == README


def test_records_of_which_none_belongs_to_the_table_are_no_table(page, make_record, command):
    records = page.parent / "gallery" / "oneil2011.jsonl"
    records.unlink()
    append(records, climb(make_record, (1.0,), backend="joblib"))
    assert command() == (1, f"{page}:3: table climbs: no run of ours is recorded for any of its rows\n")


def test_a_mistake_of_the_user_ends_with_one_line_and_exit_code_2(page, command):
    page.write_text(BEGIN + "\n")
    code, errors = command("--check")
    assert (code, errors.count("\n")) == (2, 1) and errors.startswith(f"error: {page}:1: ")


@pytest.mark.slow
def test_the_repository_s_tables_are_what_the_gallery_s_records_say():
    gallery = ROOT / "reports" / "gallery"
    page = page_path(gallery)
    assert page.resolve() == ROOT / "docs" / "results.md"
    result = results.fill(page, gallery)
    assert not result.troubles, "`make gallery`, after the commands that these name"
    assert not results.differences(page, result), "`make gallery` mends it"
