"""Terminal output on a page, checked against the records that it was printed from."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from core.errors import UserError
from reports.pages import terminal
from reports.pages.comparison import compare_records
from reports.records.files import load

LEFT_OUT = "..."
BLOCK = re.compile(r"^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class PrintedOutput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A page with blocks of text that `onekernel compare` printed.

    Attributes
    ----------
    page : str
        The page, relative to the gallery.
    records : str
        File of records in the gallery.
    """

    page: str
    records: str


def printed_differences(one: PrintedOutput, folder: Path) -> list[str]:
    """Return the lines of a page's blocks that its records do not give, `...` left out.

    Raises
    ------
    UserError
        The page cannot be read or has no block, or its records are damaged.
    """
    page, records = folder / one.page, folder / one.records
    try:
        blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{page}: cannot read it: {error}") from None
    if not blocks:
        raise UserError(f"{page}: expected a block of text that `onekernel compare` printed, found none")
    if not records.exists():
        return [f"{records}: no records, expected those of the figures in {page}"]
    sections = compare_records(load(records))
    given = {line for place, one in enumerate(sections) for line in terminal.lines(one, explained=place == 0)}
    lines = [line for block in blocks for line in block.splitlines() if line.strip() not in ("", LEFT_OUT)]
    return [f"{page}: not in {records}: {line}" for line in lines if line not in given]
