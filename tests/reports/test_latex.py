"""Tables for LaTeX: the same cells as in Markdown, and no character that LaTeX would take for something else."""

import pytest

from reports import latex
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
