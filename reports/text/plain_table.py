"""Tables for a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Container, Sequence

COLUMNS = 80
NARROWEST_NAME = 12


def plain_text(
    headings: Sequence[str], cells: Sequence[Sequence[str]], right: Container[int] = (1, 2, 3, 4)
) -> list[str]:
    """Return the lines of a table with aligned columns, two spaces apart. Long names in the first column are wrapped.

    Parameters
    ----------
    headings, cells
    right
        Columns aligned on the right, such as numbers.
    """
    widths = [max(len(line[column]) for line in (headings, *cells)) for column in range(len(headings))]
    room = COLUMNS - sum(widths[1:]) - 2 * (len(widths) - 1)
    widths[0] = min(widths[0], max(room, NARROWEST_NAME))
    found = [_aligned(line, widths, right) for line in (headings, ["-" * width for width in widths])]
    for name, *others in cells:
        first, *more = textwrap.wrap(name, widths[0], subsequent_indent=" ", break_on_hyphens=False) or [""]
        found += [_aligned([first, *others], widths, right), *more]
    return found


def _aligned(line: Sequence[str], widths: Sequence[int], right: Container[int]) -> str:
    parts = (
        text.rjust(width) if column in right else text.ljust(width)
        for column, (text, width) in enumerate(zip(line, widths, strict=True))
    )
    return "  ".join(parts).rstrip()
