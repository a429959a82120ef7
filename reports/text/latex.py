"""Tables for LaTeX, with the rules of the package booktabs."""

from __future__ import annotations

from collections.abc import Sequence

from reports.text.tables import TextTable

ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "%": r"\%",
        "#": r"\#",
        "_": r"\_",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "`": r"\textasciigrave{}",
        '"': r"\textquotedbl{}",
        "\N{MICRO SIGN}": r"\textmu{}",
        "\N{PLUS-MINUS SIGN}": r"\textpm{}",
        "[": "{[}",  # behind a line's end or a rule these three would be read as belonging to it
        "]": "{]}",
        "*": "{*}",
    }
)
"""What stands for each character that LaTeX would take for something else, or print as another."""

HEAD = r"""% Made by onekernel. A document that reads this file with \input needs \usepackage[T1]{fontenc}
% and \usepackage{booktabs}.
"""


def escape(text: str) -> str:
    """Return text that LaTeX prints as it is, in one line: white space becomes single spaces."""
    # Two hyphens would become a dash.
    return " ".join(text.split()).translate(ESCAPES).replace("--", "-{}-").replace("--", "-{}-")


def table(content: TextTable) -> str:
    """Return a table with its caption, a row per line."""
    sides = "".join("r" if right else "l" for right in content.right)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(content.caption)}}}",
        rf"\begin{{tabular}}{{{sides}}}",
        r"\toprule",
        _line(content.titles),
        r"\midrule",
        *map(_line, content.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def document(tables: Sequence[TextTable]) -> str:
    """Return the text of a file with these tables."""
    return "\n".join([HEAD, *map(table, tables)])


def _line(cells: Sequence[str]) -> str:
    return " & ".join(map(escape, cells)) + r" \\"
