"""Tables for LaTeX: the same cells as in Markdown, no wider than the text, and LaTeX accepts every character."""

import re
import shutil
import subprocess

import pytest

from reports.pages import comparison
from reports.records.files import load
from reports.text import latex
from reports.text.tables import TERMINAL, TextTable
from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("\\{}$&%#_", r"\textbackslash{}\{\}\$\&\%\#\_"),
        ("~^<>|", r"\textasciitilde{}\textasciicircum{}\textless{}\textgreater{}\textbar{}"),
        ('`"[]*', r"\textasciigrave{}\textquotedbl{}{[}{]}{*}"),
        ("a--b---c", "a-{}-b-{}-{}-c"),
        (" two\n\nlines\tand | more ", r"two lines and \textbar{} more"),
        ("12 µs ± 3, généré", r"12 \textmu{}s \textpm{} 3, généré"),
        ("2×[1, ∞]", r"2\ensuremath{\times}{[}1, \ensuremath{\infty}{]}"),
        ("1–2 … ﬁ 漢", r"1--2 \dots{} fi ?"),
    ],
)
def test_any_text_is_printed_as_it_is(text, escaped):
    assert latex.escape(text) == escaped


def gallery_comparisons():
    by_workload = {}
    for record in load(ROOT / "reports" / "gallery" / "overview.jsonl"):
        by_workload.setdefault(record.workload, []).append(record)
    for records in by_workload.values():
        yield from comparison.all_tables(comparison.compare_records(records))


@pytest.mark.slow
def test_all_tables_compile_and_none_is_wider_than_the_text(tmp_path):
    if not shutil.which("pdflatex"):
        pytest.skip("no pdflatex: install texlive-latex-recommended")
    wide = TextTable(
        "50 % of a_b & c", ("a" * 30, ">∞ × µ ± – … ≥ → Ω 漢 \\ ^ ~"), [["word " * 99, "1<br>2"]] * 99, ["_"]
    )
    tables = [wide, *gallery_comparisons()]
    (tmp_path / "tables.tex").write_text(latex.document(table.latex() for table in tables), encoding="utf-8")
    files = [tmp_path / "tables.tex"]
    files += [path for folder in ("reports/gallery", "tests/reports/golden") for path in (ROOT / folder).glob("*.tex")]
    packages = [r"\usepackage[T1]{fontenc}", r"\usepackage{booktabs}", r"\usepackage{graphicx}"]
    body = [rf"\input{{{path}}}\clearpage" for path in files]
    text = [r"\documentclass{article}", *packages, r"\begin{document}", *body, r"\end{document}"]
    (tmp_path / "all.tex").write_text("\n".join(text))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert len(files) > 6 and re.findall(r"Overfull .*|.*Float too large.*", done.stdout) == []


def test_a_table_is_wrapped_to_the_terminal():
    table = TextTable("", ("name", ">time", "notes"), [["a b " * 30, "12 ms", "c " * 30], ["d", "1 s<br>2 s", ""]])
    lines = table.terminal().splitlines()
    assert max(map(len, lines)) <= TERMINAL and len(set(map(len, lines[1:2]))) == 1
    assert "12 ms" in lines[2] and [line.split()[-1] for line in lines[-2:]] == ["s", "s"]
    assert table.terminal(400).count("\n") == 4
