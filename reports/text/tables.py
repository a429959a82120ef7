"""A table of text, printed as Markdown, LaTeX or for a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TypeVar

from core.errors import UserError

TERMINAL = 80
NARROWEST = 12
"""Least width of a wrapped column."""
LINE_BREAK = "<br>"
"""Separator of lines inside a cell."""
NUMBER_AND_UNIT = re.compile(r"(?<=\d) (?=[mµ]?s\b|%)")

Item = TypeVar("Item")


@dataclass(frozen=True)
class TextTable:
    """A table of text.

    Attributes
    ----------
    caption
        A sentence without its full stop.
    headings
        Of the columns. A column of a heading that begins with ``>`` is aligned on the right, as in a format string.
    """

    caption: str
    headings: tuple[str, ...]
    rows: Sequence[Sequence[str]]

    @classmethod
    def of(
        cls,
        caption: str,
        items: Iterable[Item],
        columns: Mapping[str, Callable[[Item], object]],
        optional: Sequence[str] = (),
    ) -> TextTable:
        """Make a table with a row for each item.

        ``columns`` maps a heading to the function that makes the cell of an item; ``optional`` headings are omitted if
        all of their cells are empty.
        """
        rows = [{heading: str(cell(item)) for heading, cell in columns.items()} for item in items]
        shown = [column for column in columns if column not in optional or any(row[column] for row in rows)]
        return cls(caption, tuple(shown), [[row[heading] for heading in shown] for row in rows])

    @property
    def titles(self) -> list[str]:
        return [heading.removeprefix(">") for heading in self.headings]

    @property
    def right(self) -> list[bool]:
        return [heading.startswith(">") for heading in self.headings]

    def __str__(self) -> str:
        sides = ["--:" if right else "---" for right in self.right]
        lines = [f"| {' | '.join(self.titles)} |", f"|{'|'.join(sides)}|"]
        rows = ([" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in self.rows)
        return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])

    def terminal(self, width: int = TERMINAL, *, ruled: bool = True) -> str:
        """Return aligned columns, two spaces apart; cells are wrapped to the width.

        ``ruled`` draws a line below the headings.
        """
        headings, *rows = self._wrapped(width)
        widths = [max(map(len, chain(*column))) for column in zip(headings, *rows, strict=True)]
        rules = [[["-" * wide] for wide in widths]] if ruled else []
        sides = [">" if right else "<" for right in self.right]
        lines = [line for row in (headings, *rules, *rows) for line in zip_longest(*row, fillvalue="")]
        return "\n".join(
            "  ".join(f"{part:{side}{wide}}" for part, side, wide in zip(line, sides, widths, strict=True)).rstrip()
            for line in lines
        )

    def latex(self) -> str:
        """Return a LaTeX table with the rules of booktabs below a comment with its caption.

        Raises `UserError` without pandas.
        """
        try:
            import pandas
        except ImportError:
            raise UserError("tables for LaTeX need pandas: pip install 'onekernel[report]'") from None
        rows = [[" ".join(cell.replace(LINE_BREAK, " ").split()) for cell in row] for row in self.rows]
        styled = pandas.DataFrame(rows, columns=self.titles).style.hide(axis="index")
        styled = styled.format(escape="latex").format_index(escape="latex", axis="columns")
        sides = "".join("r" if is_right else "l" for is_right in self.right)
        return f"% {' '.join(self.caption.split())}\n{styled.to_latex(column_format=sides, hrules=True)}"

    def _wrapped(self, width: int) -> list[list[list[str]]]:
        """Return the lines of all cells, headings first; the widest columns of words, then of numbers, are wrapped."""
        table = [[cell.split(LINE_BREAK) for cell in row] for row in (self.titles, *self.rows)]
        widths = [max(map(len, chain(*column))) for column in zip(*table, strict=True)]
        while sum(widths) + 2 * (len(widths) - 1) > width:
            shrinkable = [(not self.right[k], wide, -k) for k, wide in enumerate(widths) if wide > NARROWEST]
            if not shrinkable:
                break
            widths[-max(shrinkable)[2]] -= 1
        return [
            [
                [line for part in cell for line in _lines(part, wide, "" if right else " ")]
                for cell, wide, right in zip(row, widths, self.right, strict=True)
            ]
            for row in table
        ]


def _lines(text: str, width: int, indent: str) -> list[str]:
    kept = NUMBER_AND_UNIT.sub("\xa0", text)  # textwrap breaks no line there
    lines = textwrap.wrap(kept, width, subsequent_indent=indent, break_on_hyphens=False) or [""]
    return [line.replace("\xa0", " ") for line in lines]
