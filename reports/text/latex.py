"""Tables for LaTeX, with the rules of the package booktabs."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

FLOAT, MOST_FLOATS = r"\begin{table}", 40
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
        "µ": r"\textmu{}",
        "±": r"\textpm{}",
        "×": r"\ensuremath{\times}",
        "∞": r"\ensuremath{\infty}",
        "≤": r"\ensuremath{\leq}",
        "≥": r"\ensuremath{\geq}",
        "≈": r"\ensuremath{\approx}",
        "→": r"\ensuremath{\rightarrow}",
        "−": r"\ensuremath{-}",
        "·": r"\ensuremath{\cdot}",
        "°": r"\textdegree{}",
        "®": r"\textregistered{}",
        "™": r"\texttrademark{}",
        "…": r"\dots{}",
        "–": "--",
        "—": "---",
        "[": "{[}",  # behind a line's end or a rule these three would be read as belonging to it
        "]": "{]}",
        "*": "{*}",
    }
)
"""Text for each character that LaTeX would interpret, print as another, or refuse."""
LAST_OF_T1 = "\u017f"
"""Last letter that the encoding T1 prints unchanged."""

HEAD = r"""% Made by onekernel. A document that reads this file with \input needs \usepackage[T1]{fontenc},
% \usepackage{booktabs} and \usepackage{graphicx}.
"""
MOST_NOTES = 20
"""More notes than these are printed in a smaller size, so that they fit the page."""
FITTED = r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%"


def escape(text: str) -> str:
    """Return text that LaTeX prints unchanged, in one line; an unknown letter becomes the nearest, or ?."""
    plain = "".join(map(_known, " ".join(text.split())))
    # Two hyphens would become a dash.
    return plain.replace("--", "-\0-").replace("--", "-\0-").translate(ESCAPES).replace("\0", "{}")


def _known(letter: str) -> str:
    if ord(letter) in ESCAPES or letter <= LAST_OF_T1:
        return letter
    return unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode() or "?"


def table(caption: str, right: Sequence[bool], rows: Sequence[Sequence[Sequence[str]]], notes: Sequence[str]) -> str:
    """Return a table that is no wider than the text.

    ``right`` marks columns aligned on the right, ``rows`` has the lines of each cell, headings first, and ``notes`` are
    sentences below it, without full stops.
    """
    sides = ["r" if is_right else "l" for is_right in right]
    size = r"\footnotesize" if len(notes) <= MOST_NOTES else r"\scriptsize"
    headings, *body = [" & ".join(map(_cell, row, sides)) + r" \\" for row in rows]
    return "\n".join(
        [
            FLOAT,
            r"\centering",
            rf"\caption{{{escape(caption)}}}",
            FITTED,
            rf"\begin{{tabular}}{{{''.join(sides)}}}",
            r"\toprule",
            headings,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}}",
            *([rf"\par\medskip{size}\raggedright\sloppy"] if notes else []),
            *(rf"{escape(note)}.\par" for note in notes),
            r"\end{table}",
            "",
        ]
    )


def _cell(lines: Sequence[str], side: str) -> str:
    stacked = r" \\ ".join(map(escape, lines))
    return stacked if len(lines) == 1 else rf"\shortstack[{side}]{{{stacked}}}"


def document(tables: Iterable[str]) -> str:
    """Return a file of tables. LaTeX refuses more than 52 floats without a place, so pages end before."""
    head, *floats = "\n".join([HEAD, *tables]).split(FLOAT)
    breaks = ("\\clearpage\n" if k and k % MOST_FLOATS == 0 else "" for k in range(len(floats)))
    return head + "".join(before + FLOAT + rest for before, rest in zip(breaks, floats, strict=True))
