"""Tables for LaTeX: the same cells as in Markdown, and no character that LaTeX would take for something else."""

import pytest

from reports.text import latex


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("\\{}$&%#_", r"\textbackslash{}\{\}\$\&\%\#\_"),
        ("~^<>|", r"\textasciitilde{}\textasciicircum{}\textless{}\textgreater{}\textbar{}"),
        ('`"[]*', r"\textasciigrave{}\textquotedbl{}{[}{]}{*}"),
        ("a--b---c", "a-{}-b-{}-{}-c"),
        (" two\n\nlines\tand | more ", r"two lines and \textbar{} more"),
        ("12 µs ± 3, généré", r"12 \textmu{}s \textpm{} 3, généré"),
    ],
)
def test_any_text_is_printed_as_it_is(text, escaped):
    assert latex.escape(text) == escaped
