"""Tables for LaTeX, with the rules of the package booktabs."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

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
"""Text for each character that LaTeX would take for something else, print as another, or refuse."""
LAST_OF_T1 = "\u017f"
"""Last letter of those that the encoding T1 prints as they are."""

HEAD = r"""% Made by onekernel. A document that reads this file with \input needs \usepackage[T1]{fontenc},
% \usepackage{booktabs} and \usepackage{graphicx}.
"""
FITTED = r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%"


def escape(text: str) -> str:
    """Return text that LaTeX prints as it is, in one line; a letter that it does not know becomes the nearest, or ?."""
    plain = "".join(map(_known, " ".join(text.split())))
    # Two hyphens would become a dash.
    return plain.replace("--", "-\0-").replace("--", "-\0-").translate(ESCAPES).replace("\0", "{}")


def _known(letter: str) -> str:
    if ord(letter) in ESCAPES or letter <= LAST_OF_T1:
        return letter
    return unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode() or "?"


def cell(lines: Sequence[str], right: bool) -> str:
    """Return the text of a cell; several lines are stacked."""
    if len(lines) == 1:
        return escape(lines[0])
    side = "r" if right else "l"
    return rf"\shortstack[{side}]{{" + r" \\ ".join(map(escape, lines)) + "}"


def table(caption: str, sides: str, lines: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    """Return a table that is no wider than the text: headings first, a row per line, notes below."""
    headings, *rows = [" & ".join(line) + r" \\" for line in lines]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape(caption)}}}",
            FITTED,
            rf"\begin{{tabular}}{{{sides}}}",
            r"\toprule",
            headings,
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}}",
            *([r"\par\medskip\footnotesize\raggedright\sloppy"] if notes else []),
            *(rf"{escape(note)}.\par" for note in notes),
            r"\end{table}",
            "",
        ]
    )


def document(tables: Iterable[str]) -> str:
    """Return the text of a file with these tables."""
    return "\n".join([HEAD, *tables])
