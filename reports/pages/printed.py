"""Figures of hand-written pages, checked against records."""

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


FIGURE = re.compile(r"(?<![\w.,])\d[\d.,]*\s?(?:ns|µs|ms|s|min|h|x|times)\b|×\d[\d.,]*")
CODE_AND_TABLES = re.compile(r"^```.*?^```$|`[^`]*`|<!-- table .*?<!-- end \S+ -->", re.MULTILINE | re.DOTALL)
"""Code, and tables made from records."""


def prose_figures(page: Path, text: str) -> list[str]:
    """Return a line for each time or ratio in the prose of a page that is in none of its tables and blocks."""
    recorded = "".join(CODE_AND_TABLES.findall(text))
    figures = [one for one in dict.fromkeys(FIGURE.findall(CODE_AND_TABLES.sub("", text))) if one not in recorded]
    return [f"{page}: {figure}: expected a figure of a table or a block of this page" for figure in figures]


class PrintedOutput(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A page, relative to the gallery, with blocks printed by `onekernel compare`, and the gallery's records."""

    page: str
    records: str


def printed_differences(output: PrintedOutput, folder: Path) -> list[str]:
    """Return the lines of a page's blocks that its records do not give, except `...`, and figures in its prose.

    Raises `UserError` if the page cannot be read or has no block, or its records are damaged.
    """
    page, records = folder / output.page, folder / output.records
    try:
        text = page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{page}: cannot read it: {error}") from None
    blocks = BLOCK.findall(text)
    if not blocks:
        raise UserError(f"{page}: expected a block of text that `onekernel compare` printed, found none")
    if not records.exists():
        return [f"{records}: no records, expected those of the figures in {page}"]
    sections = compare_records(load(records))
    printed = {line for place, one in enumerate(sections) for line in terminal.lines(one, explained=place == 0)}
    lines = [line for block in blocks for line in block.splitlines() if line.strip() not in ("", LEFT_OUT)]
    absent = [f"{page}: not in {records}: {line}" for line in lines if line not in printed]
    return absent + prose_figures(page, text)
