"""A table of text, printed as Markdown, LaTeX or for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeVar

from reports.text import latex

TERMINAL = 80
"""Columns of a terminal."""
NARROWEST = 12
"""Columns of a terminal that a wrapped column keeps."""
LINE_BREAK = "<br>"
"""Separates lines inside a cell."""
MOST_LATEX_LINES = 45
"""Lines of a LaTeX table that fit on a page."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class TextTable:
    """A table of text.

    Attributes
    ----------
    caption : str
        A sentence without its full stop.
    headings : tuple of str
        Of the columns. A column of a heading that begins with ``>`` is aligned on the right, as in a format string.
    rows : sequence of sequence of str
    notes : sequence of str
        Sentences below a LaTeX table, without full stops; pages have them in sections of their own.
    """

    caption: str
    headings: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        caption: str,
        items: Iterable[Item],
        columns: Mapping[str, Callable[[Item], Any]],
        optional: Sequence[str] = (),
    ) -> TextTable:
        """Make a table with a row for each item.

        Parameters
        ----------
        caption, items
        columns : mapping
            From a heading to the function that makes the cell of an item.
        optional : sequence of str
            Headings of columns that are omitted if all of their cells are empty.
        """
        rows = [{heading: str(cell(item)) for heading, cell in columns.items()} for item in items]
        shown = [one for one in columns if one not in optional or any(row[one] for row in rows)]
        return cls(caption, tuple(shown), [[row[heading] for heading in shown] for row in rows])

    @property
    def titles(self) -> list[str]:
        """Headings without the sign of their side."""
        return [heading.removeprefix(">") for heading in self.headings]

    @property
    def right(self) -> list[bool]:
        """True for columns aligned on the right."""
        return [heading.startswith(">") for heading in self.headings]

    def __str__(self) -> str:
        """Return the table as Markdown, without a line end behind the last row."""
        sides = ["--:" if right else "---" for right in self.right]
        lines = [f"| {' | '.join(self.titles)} |", f"|{'|'.join(sides)}|"]
        return "\n".join([*lines, *(f"| {' | '.join(map(_in_markdown, row))} |" for row in self.rows)])

    def terminal(self, width: int = TERMINAL) -> str:
        """Return aligned columns, two spaces apart; cells that do not fit into the width are wrapped."""
        widths = [
            max(len(line) for cell in column for line in cell.split(LINE_BREAK))
            for column in zip(self.titles, *self.rows, strict=True)
        ]
        while sum(widths) + 2 * (len(widths) - 1) > width:
            shrinkable = [(not self.right[k], wide, -k) for k, wide in enumerate(widths) if wide > NARROWEST]
            if not shrinkable:
                break
            widths[-max(shrinkable)[2]] -= 1
        rule = ["-" * wide for wide in widths]
        return "\n".join(line for row in (self.titles, rule, *self.rows) for line in self._terminal_row(row, widths))

    def _terminal_row(self, row: Sequence[str], widths: Sequence[int]) -> list[str]:
        cells = [
            [line for part in cell.split(LINE_BREAK) for line in _wrapped(part, wide, "" if right else " ")]
            for cell, wide, right in zip(row, widths, self.right, strict=True)
        ]
        sides = [">" if right else "<" for right in self.right]
        return [
            "  ".join(f"{part:{side}{wide}}" for part, side, wide in zip(line, sides, widths, strict=True)).rstrip()
            for line in zip_longest(*cells, fillvalue="")
        ]

    def latex(self) -> str:
        """Return LaTeX tables no wider than the text, with the rules of booktabs; several for more than a page."""
        pages: list[list[Sequence[str]]] = [[]]
        lines = 0
        for row in self.rows:
            lines += max(cell.count(LINE_BREAK) + 1 for cell in row)
            if lines > MOST_LATEX_LINES and pages[-1]:
                pages.append([])
                lines = 0
            pages[-1].append(row)
        return "\n".join(
            latex.table(
                self.caption + (", continued" if place else ""),
                "".join("r" if right else "l" for right in self.right),
                [
                    [latex.cell(cell.split(LINE_BREAK), side) for cell, side in zip(row, self.right, strict=True)]
                    for row in (self.titles, *rows)
                ],
                self.notes if place == len(pages) - 1 else (),
            )
            for place, rows in enumerate(pages)
        )


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=indent, break_on_hyphens=False) or [""]


def _in_markdown(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")
