"""Papers' files: accepted content, and error messages for their authors."""

import pytest

from core.errors import UserError
from reports.papers.files import FOLDER, load, names, read
from tests.reports.made_up_gallery import FOLDER as MADE_UP

TEXT = (MADE_UP / "hills.toml").read_text(encoding="utf-8")


@pytest.fixture
def make_paper(tmp_path):
    """Write the made-up paper's file with a replaced part, and read it."""

    def make(old="", new=""):
        assert old in TEXT
        path = tmp_path / "hills.toml"
        path.write_text(TEXT.replace(old, new, 1), encoding="utf-8")
        return read(path)

    return make


def test_digits_are_kept_as_printed(make_paper):
    table = make_paper().exhibits[0]
    assert [tuple(map(str, figure)) for figure in table.row("small").figures] == [("3.0",), ("1.50", "2.0")]
    assert table.row("small").figures[1] == (1.5, 2.0) and table.row("lost").figures == ((9,), ())


def test_rows_columns_and_scales_are_those_of_the_file(make_paper):
    paper = make_paper(
        'title = "lengths"', 'title = "lengths"\nquick = { rows = ["small"], amount = { climbers = 5 } }'
    )
    table, lengths = paper.exhibits
    assert [(row.name, row.instance) for row in table.rows][2:] == [("huge", "huge"), ("lost", "")]
    assert table.names == ("table 1", "figure 1") and table.column("paper_gain").over == "paper"
    assert [column.key for column in table.shown()] == ["paper", "paper_gain", "core", "cores", "gpu", "gain"]
    assert (table.scales["quick"].amount, table.scales["full"].amount) == ({"climbers": 10}, {"climbers": 100_000})
    quick = lengths.scales["quick"]
    assert (quick.rows, quick.amount, quick.measure) == (("small",), {"climbers": 5}, 1.0)


def test_exhibits_are_chosen_by_any_of_their_names(make_paper):
    paper = make_paper()
    assert paper.chosen("table", "1") == paper.chosen("figure", "1") == paper.exhibits[:1]
    with pytest.raises(UserError, match=r"--table 7: expected one of 1, 2"):
        paper.chosen("table", "7")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('section = "3"', 'colour = "red"', r"table 1: Object contains unknown field `colour`"),
        ('title = "lengths"', "", r"table 2: Object missing required field `title`"),
        ('series = "core" }', 'series = "gpus" }', r"column core: found the series 'gpus', expected some of core"),
        ('measure = "cost"', 'measure = "price"', r"length: found the measure 'price', expected some of seconds"),
        ('over = "core"', 'over = "cpu"', r"table 1, column gain: found the column 'cpu', expected some of paper"),
        (
            'published = "old core"',
            'published = "core"',
            r"found the published column 'core', expected some of old core",
        ),
        ("[3.0, [1.50, 2.0]]", "[3.0]", r"table 1, row small: found 1 figures, expected 2, one for each published"),
        ('kinds = ["cores"]', 'kinds = ["x"]', r"series cores: Invalid enum value 'x' - at `\$.kinds\[0\]`"),
        ('name = "huge", x', 'name = "small", x', r"table 1: found a row twice, expected rows of different names"),
        ('rule = "grows"', 'rule = "rises"', r"table 1: Invalid enum value 'rises' - at `\$.checks\[0\].rule`"),
        ("{gain.min}", "{gains.min}", r"table 1, answer: found the column 'gains', expected some of paper"),
        ("{gain.min}", "{gain.least}", r"table 1, answer: found the reference 'least', expected some of min, max"),
        ("{gain.min}", "{gain", r"table 1, answer: found '×\{gain .* expected references such as \{KEY.min\}"),
        ("{paper_gain[large]}", "{paper_gain[vast]}", r"table 1, holds: found the row 'vast', expected some of small"),
        (
            'over = "paper", hidden',
            'over = "paper", model = { hosts = 2 }, hidden',
            r"missing required field `network`",
        ),
        (
            'plot = { columns = ["paper", "core"',
            'plot = { columns = ["paper_gpu", "native", "paper", "core"',
            r"table 1, plot: found 6 columns and 0 panels, expected at most 5 and 2",
        ),
        ("[machines]", "[machines", r"hills\.toml: expected TOML, found "),
    ],
)
def test_an_error_names_its_place(make_paper, old, new, message):
    with pytest.raises(UserError, match=message):
        make_paper(old, new)


def test_a_table_wider_than_a_page_is_refused(tmp_path):
    path = tmp_path / "hills.toml"
    path.write_text(TEXT.replace(", hidden = true", ""), encoding="utf-8")
    with pytest.raises(UserError, match="table 1: found 10 columns, expected at most 7 beside the rows' names"):
        read(path)


def test_all_papers_are_read():
    assert names() == ["luong2013", "menezes2019", "oconnell2014", "oneil2011", "xavier2022"]


def test_all_exhibits_of_the_papers_are_there():
    assert sum(len(exhibit.names) for name in names() for exhibit in load(name).exhibits) >= 32


@pytest.mark.parametrize("name", names())
def test_every_series_of_a_paper_is_used(name):
    used = {column.series for exhibit in load(name).exhibits for column in exhibit.columns if column.series}
    assert used == set(load(name).series)
    assert (FOLDER / f"{name}.toml").read_text(encoding="utf-8").count("[series.") == len(used)


@pytest.mark.parametrize("name", ["luong2013", "xavier2022"])
def test_scales_run_the_columns_of_checks_so_that_a_page_has_a_verdict_or_a_reason(name):
    for exhibit in load(name).exhibits:
        checked = {key for check in exhibit.checks for key in (check.column, check.than) if key}
        assert all(checked <= {*scale.columns} for scale in exhibit.scales.values() if scale.columns), exhibit.name


@pytest.mark.parametrize("name", names())
def test_a_paper_runs_options_of_its_drivers(name):
    from drivers.workload.registry import get_workload

    paper = load(name)
    for exhibit in paper.exhibits:
        for workload in exhibit.workloads():
            known = {field.name for field, _ in get_workload(workload).options.declared()} if workload else set()
            rows = [row for row in exhibit.rows if (row.workload or exhibit.workload) == workload]
            names = {row.name for row in rows}
            columns = [one for one in exhibit.columns if one.series and (not one.rows or names.intersection(one.rows))]
            series = {column.series for column in columns}
            asked = {*exhibit.options, *(key for one in series for key in paper.series[one].options)}
            asked |= {key for scale in exhibit.scales.values() for key in scale.amount if series}
            asked |= {key for column in columns for key in column.options}
            asked |= {key for row in rows for key in row.options}
            assert asked <= known, (exhibit.name, workload, asked - known)
