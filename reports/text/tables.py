"""A table of text, which becomes Markdown here and LaTeX in `reports.text.latex`."""

from __future__ import annotations

from dataclasses import dataclass

from reports.text.formatting import cell


@dataclass(frozen=True)
class TextTable:
    """A table in words.

    Attributes
    ----------
    caption : str
        What it shows, a sentence without its full stop.
    headings : tuple of str
        Of the columns. One that begins with ``>`` is of a column of numbers, which stand at the right; the sign is no
        part of the heading.
    rows : list of list of str
        As many cells in each as there are headings.
    """

    caption: str
    headings: tuple[str, ...]
    rows: list[list[str]]

    @property
    def titles(self) -> list[str]:
        """Headings without the sign of their side."""
        return [heading.removeprefix(">") for heading in self.headings]

    @property
    def right(self) -> list[bool]:
        """Which columns stand at the right."""
        return [heading.startswith(">") for heading in self.headings]

    def __str__(self) -> str:
        """The table in Markdown, without a line end behind the last row."""
        sides = ["--:" if right else "---" for right in self.right]
        lines = [f"| {' | '.join(self.titles)} |", f"|{'|'.join(sides)}|"]
        return "\n".join([*lines, *(f"| {' | '.join(map(cell, row))} |" for row in self.rows)])
