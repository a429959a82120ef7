"""Papers' files: accepted content, and error messages for their authors."""

import pytest

from core.errors import UserError
from reports.papers.files import FOLDER, load, names, papers_of_workload, read

HEAD = """
name = "made2026"
citation = "Made up"
measured = "seconds"
{more}

[machines]
k = {{ short = "K", name = "Kay" }}

[series.core]
heading = "one core"
kinds = ["core"]
options = {{ mapping = "native" }}

[[exhibits]]
"""
TABLE = """
table = "1"
title = "times"
workload = "qap"
options = { algorithm = "tabu" }
amount = { iterations = 100 }
series = ["core"]
columns = [
    { machine = "k", heading = "GPU", holds = ["seconds", "speedup"] },
    { machine = "k", parameters = { strategy = "fine", ants = 1024 } },
]
rows = [
    { instance = "tai12a", figures = [[1.50, 3.0], []] },
    { instance = "twenty", label = "20", spec = "uniform:20:seed=1", figures = [[2, 0.5], 4] },
    { instance = "big", options = { items = 5 }, series = ["core"] },
]
quick = { rows = ["tai12a"], amount = { iterations = 5 }, columns = { ants = [1024] } }
plot = { measure = "speedup" }
"""


@pytest.fixture
def make_paper(tmp_path):
    """Write a paper's file, with replaced parts, and read it."""

    def make(table=TABLE, more="", **replaced):
        text = HEAD.format(more=more) + table
        for old, new in replaced.items():
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "made2026.toml"
        path.write_text(text)
        return read(path)

    return make


def test_digits_are_kept_as_printed(make_paper):
    (table,) = make_paper().exhibits
    assert [tuple(map(str, figure)) for figure in table.lines[0].figures] == [("1.50", "3.0"), ()]
    assert table.lines[0].figures[0] == (1.5, 3.0)


def test_rows_columns_and_scales_are_those_of_the_file(make_paper):
    (table,) = make_paper(
        more="[scales.full]\nrepeats = 30\n[scales.quick]\nrepeats = 2\namount = { walks = 3 }"
    ).exhibits
    named = [(line.key, line.label, line.spec) for line in table.lines]
    assert named == [("tai12a",) * 3, ("twenty", "20", "uniform:20:seed=1"), ("big", "big", "")]
    assert [column.heading for column in table.columns] == ["GPU", "fine, 1,024 ants"]
    assert table.columns[1].parameters == {"strategy": "fine", "ants": 1024} and table.by_options
    quick, full = table.scales["quick"], table.scales["full"]
    assert (quick.keys, quick.amount, quick.repeats) == (("tai12a",), {"iterations": 5, "walks": 3}, 2)
    assert quick.columns == {"ants": [1024]}
    assert (full.keys, full.amount, full.repeats) == (("tai12a", "twenty", "big"), {"iterations": 100}, 30)
    core = table.series[0]
    assert core.runs(table.line("big")) and not core.published


DRAWN = '\n[[exhibits]]\nfigure = "7"\ntitle = "drawn"\nof = "1"\nplot = { measure = "seconds" }\n'


def test_a_figure_that_draws_a_table_has_its_data(make_paper):
    paper = make_paper(TABLE + DRAWN)
    figure = paper.exhibits[1]
    assert paper.drawn(figure) is paper.exhibits[0] and paper.drawn(paper.exhibits[0]) is paper.exhibits[0]
    assert paper.chosen("figure", "7") == (figure,) and len(paper.chosen()) == 2
    with pytest.raises(UserError, match=r"figure 7, plot: found the row 'x', expected some of "):
        make_paper(TABLE + DRAWN.replace('"seconds"', '"seconds", row = "x"'))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('table = "1"', 'table = "1"\ncolour = "red"', r"table 1: Object contains unknown field `colour`"),
        ('title = "times"', "", r"table 1: Object missing required field `title`"),
        ('series = ["core"]\ncol', 'series = ["gpu"]\ncol', r"table 1: found the series 'gpu', expected some of core"),
        ('"speedup"] }', '"speed"] }', r"table 1: found the measure 'speed', expected some of seconds"),
        ("[[1.50, 3.0], []]", "[[1.50, 3.0]]", r"row tai12a: found 1 figures, expected 2, one for each column"),
        ('instance = "big"', 'inst = "big"', r"table 1: Object contains unknown field `inst` - at `\$.rows\[2\]`"),
        ('rows = ["tai12a"]', 'rows = ["x"]', r"table 1, quick: found the row 'x', expected some of tai12a"),
        ('kinds = ["core"]', 'kinds = ["x"]', r"series core: Invalid enum value 'x' - at `\$.kinds\[0\]`"),
        ('citation = "Made up"', "", r"the file: Object missing required field `citation`"),
        (
            'plot = { measure = "speedup" }',
            'plot = { colour = "red" }',
            r"table 1: Object .* field `(colour|measure)` - at `\$.plot`",
        ),
        ('title = "times"', 'title = "times', r"made2026\.toml: expected TOML, found "),
        ('workload = "qap"', 'of = "9"', r"table 1: found the of '9', expected some of nothing"),
    ],
)
def test_a_mistake_is_told_with_its_place(make_paper, old, new, message):
    with pytest.raises(UserError, match=message):
        make_paper(**{old: new})


def test_all_papers_are_read_and_every_workload_has_its_paper():
    assert names() == ["luong2013", "menezes2019", "oconnell2014", "oneil2011", "xavier2022"]
    papers = {
        workload: [paper.name for paper in papers_of_workload(workload)] for workload in ("ihc", "aco", "ppp", "lcs")
    }
    assert papers == {"ihc": ["oneil2011"], "aco": ["menezes2019"], "ppp": ["luong2013"], "lcs": ["oconnell2014"]}
    assert papers_of_workload("no such workload") == []


@pytest.mark.parametrize("name", names())
def test_every_series_of_a_paper_is_used_and_every_table_has_both_mappings(name):
    paper = load(name)
    exhibits = [exhibit for exhibit in paper.exhibits if not exhibit.of and not exhibit.never_ours]
    used = {series.name for exhibit in exhibits for series in exhibit.series}
    text = (FOLDER / f"{name}.toml").read_text()
    assert all(f"[series.{one}]" in text for one in used)
    assert text.count("[series.") == len(used)
    for exhibit in exhibits:
        if exhibit.kind == "table" and exhibit.number not in ("I", "A", "B"):
            assert any(series.published for series in exhibit.series), exhibit.name
            assert any(not series.published for series in exhibit.series), exhibit.name


@pytest.mark.parametrize("name", names())
def test_what_a_paper_runs_is_an_option_of_its_driver(name):
    from drivers.workload.registry import get_workload

    paper = load(name)
    for exhibit in paper.exhibits:
        for workload in exhibit.workloads() if not exhibit.of else ():
            known = {field.name for field, _ in get_workload(workload).options.declared()}
            asked = {*exhibit.options, *(key for series in exhibit.series for key in series.options)}
            asked |= {key for scale in exhibit.scales.values() for key in scale.amount}
            asked |= {key for column in exhibit.columns for key in column.parameters}
            asked |= {key for line in exhibit.lines if line.workload in ("", workload) for key in line.options}
            assert asked <= known, (exhibit.name, workload, asked - known)
