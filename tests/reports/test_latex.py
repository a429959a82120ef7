"""Tables for LaTeX: the same cells as in Markdown, and no character that LaTeX would take for something else."""

import re

import pytest

from reports import experiment, latex
from reports.compare_tables import tables
from reports.comparison import NotRun
from reports.text_table import Table

SPECIAL = '\\{}$&%#_~^<>|`"[]*'


def printed(text):
    """What LaTeX prints for an escaped text, found by rules of its own."""
    names = {
        "textbackslash": "\\",
        "textasciitilde": "~",
        "textasciicircum": "^",
        "textless": "<",
        "textgreater": ">",
        "textbar": "|",
        "textasciigrave": "`",
        "textquotedbl": '"',
        "textmu": "µ",
        "textpm": "±",
    }
    found, position = "", 0
    while position < len(text):
        for pattern, meaning in (
            (r"\\([a-z]+)\{\}", lambda match: names[match[1]]),
            (r"\\([{}$&%#_])", lambda match: match[1]),
            (r"\{([\[\]*])\}", lambda match: match[1]),
            (r"\{\}", lambda match: ""),
            (r"[^\\{}$&%#_~^<>|`\"\[\]*]", lambda match: match[0]),
        ):
            match = re.compile(pattern).match(text, position)
            if match:
                found, position = found + meaning(match), match.end()
                break
        else:
            raise AssertionError(f"LaTeX would not print {text[position:]!r} as it is")
    assert "--" not in text
    return found


def cells(text):
    """Every table as a list of rows of cells, as LaTeX prints them."""
    found = []
    for body in re.findall(r"\\toprule\n(.*?)\n\\bottomrule", text, re.S):
        lines = [line for line in body.splitlines() if line != r"\midrule"]
        assert all(line.endswith(r" \\") for line in lines)
        found.append([[printed(cell) for cell in line[:-3].split(" & ")] for line in lines])
    return found


@pytest.mark.parametrize(
    "text", [*SPECIAL, SPECIAL, "a--b---c", "12 µs [1, 2] ± 3", "généré", "100 % of a_b & c", "plain"]
)
def test_any_text_is_printed_as_it_is(text):
    assert printed(latex.escape(text)) == text


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


def test_every_table_of_the_markdown_report_is_there_with_the_same_cells(section, tmp_path):
    report, written, *_ = experiment.write([section], tmp_path, "ihc")
    in_markdown = [
        [
            [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            for line in block.splitlines()
        ]
        for block in re.findall(r"(?:^\|.*\|\n?)+", report.read_text(), re.M)
    ]
    assert len(in_markdown) == 4
    assert cells(written.read_text()) == [[rows[0], *rows[2:]] for rows in in_markdown]


def test_tables_are_named_and_no_wider_than_a_page(section, make_record, section_of):
    found = tables(section)
    assert list(found) == ["results", "not_run", "times", "conditions"]
    assert max(len(found[name].headings) for name in ("results", "not_run", "times", "conditions")) <= 8
    assert list(tables(section_of([make_record(workload="lcs")]))) == ["results", "times", "conditions"]
