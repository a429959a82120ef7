"""Tables for LaTeX: the same cells as in Markdown, and no character that LaTeX would take for something else."""

import pytest

from reports import latex
from reports.compare_tables import tables
from reports.comparison import NotRun
from reports.text_table import Table


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("\\{}$&%#_", r"\textbackslash{}\{\}\$\&\%\#\_"),
        ("~^<>|", r"\textasciitilde{}\textasciicircum{}\textless{}\textgreater{}\textbar{}"),
        ('`"[]*', r"\textasciigrave{}\textquotedbl{}{[}{]}{*}"),
        ("a--b---c", "a-{}-b-{}-{}-c"),
        ("12 µs ± 3, généré", r"12 \textmu{}s \textpm{} 3, généré"),
    ],
)
def test_any_text_is_printed_as_it_is(text, escaped):
    assert latex.escape(text) == escaped


def test_white_space_becomes_single_spaces():
    assert latex.escape(" two\n\nlines\tand | more ") == r"two lines and \textbar{} more"


def test_a_table_has_rules_of_booktabs_and_numbers_at_the_right():
    content = Table("50 % of all", ("name", ">time"), [["a_b", "1"], ["", "[2]"]])
    assert latex.table(content).splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\caption{50 \% of all}",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"name & time \\",
        r"\midrule",
        r"a\_b & 1 \\",
        r" & {[}2{]} \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


@pytest.fixture
def section(make_record, section_of):
    runs = [
        make_record(times=[2.0, 2.1, 2.2], ways={"scan": "full"}),
        make_record(times=[2e-6], ways={"scan": "pruned"}, backend="cuda", details={"device_name": "a | b_c & d"}),
    ]
    return section_of(runs, [NotRun("opencl", "", 1, "100 % broken: #7")])


def test_tables_are_named_and_no_wider_than_a_page(section, make_record, section_of):
    found = tables(section)
    assert list(found) == ["results", "not_run", "times", "conditions"]
    assert max(len(found[name].headings) for name in ("results", "not_run", "times", "conditions")) <= 8
    assert list(tables(section_of([make_record(workload="lcs")]))) == ["results", "times", "conditions"]
