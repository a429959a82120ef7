"""The tables of the page of results: each stands between two marks, and is made from the gallery's records.

<!-- table NAME: made by python -m reports results -->
...
<!-- end NAME -->
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from core.errors import UserError
from reports.pages import gallery, results_choices
from reports.pages.gallery import GalleryReport, difference
from reports.pages.results_choices import ResultsTable
from reports.pages.results_tables import FilledTable, UnfilledError

MARK = re.compile(r"\s*<!--\s*(table|end)\b.*", re.IGNORECASE)
"""A line that is a mark, or was meant as one."""
BEGIN = re.compile(r"<!-- table (?P<name>\S+): made by python -m reports results -->")
END = re.compile(r"<!-- end (?P<name>\S+) -->")
EXPECTED = "`<!-- table NAME: made by python -m reports results -->` or `<!-- end NAME -->`"


@dataclass(frozen=True)
class FilledPage:
    """A page with its tables from the records, what of it could not be made, and what a reader should know."""

    before: str
    after: str
    troubles: tuple[str, ...]
    notes: tuple[str, ...]


def fill(page: Path, folder: Path) -> FilledPage:
    """Put the tables of a page between their marks; one that cannot be made stays as it is.

    Parameters
    ----------
    page : Path
    folder : Path
        Of the records, with `gallery.toml` and `results.toml`.

    Raises
    ------
    UserError
        The page cannot be read, its marks are damaged, or one of the two files is not as expected.
    UnequalWorkError, RecordError
        Records cannot be compared, or one of them is damaged.
    """
    tables = results_choices.read(folder)
    entries = {entry.name: entry for entry in gallery.read(folder)}
    try:
        before = page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{page}: cannot read it: {error}") from None
    lines = before.splitlines()
    found = blocks(page, lines, tables)
    absent = [name for name in tables if name not in found]
    if absent:
        raise UserError(
            f"{page}: expected a place for the table {absent[0]!r} of {folder / results_choices.DATA}, found none"
        )
    troubles: list[str] = []
    notes: list[str] = []
    for name, (begin, end) in reversed(found.items()):
        table = tables[name]
        try:
            filling = _filling(table, entries, folder, page)
        except UnfilledError as error:
            troubles.insert(0, f"{page}:{begin + 1}: {error}")
            continue
        lines[begin + 1 : end] = ["", *filling.text.splitlines(), ""]
        if filling.left_out:
            notes.insert(0, f"table {table.name}: no run of ours is recorded for {'; '.join(filling.left_out)}")
    return FilledPage(before, "\n".join(lines) + "\n", tuple(troubles), tuple(notes))


def _filling(table: ResultsTable, entries: Mapping[str, GalleryReport], folder: Path, page: Path) -> FilledTable:
    """A table from its paper's records.

    Raises
    ------
    UnfilledError
        There are none, or none of them belongs to it; says what makes them.
    """
    name = table.paper.name
    if name not in entries:
        raise UserError(f"{folder / gallery.DATA}: expected a report {name!r}, which table {table.name} is from")
    records = entries[name].records(folder)
    if not records:
        raise UnfilledError(f"table {table.name}: {entries[name].absent(folder)}")
    report = Path(os.path.relpath(folder, page.parent), f"{name}.md").as_posix()
    return FilledTable(table, records, report)


def blocks(page: Path, lines: list[str], tables: Collection[str]) -> dict[str, tuple[int, int]]:
    """Find the places of the tables: the numbers, from 0, of the lines of their two marks.

    Raises
    ------
    UserError
        A mark is misspelt, has no other, names no table, or names one for the second time; says the line.
    """
    found: dict[str, tuple[int, int]] = {}
    begun, first = "", 0
    for number, line in enumerate(lines):
        if not MARK.fullmatch(line):
            continue
        at = f"{page}:{number + 1}"
        begin, end = BEGIN.fullmatch(line), END.fullmatch(line)
        if begun and end and end["name"] == begun:
            found[begun] = first, number
            begun = ""
        elif begun:
            raise UserError(
                f"{at}: found {line.strip()!r}, expected `<!-- end {begun} -->`, as line {first + 1} begins"
            )
        elif end:
            raise UserError(f"{at}: found the end of {end['name']!r}, expected its beginning before")
        elif not begin:
            raise UserError(f"{at}: found {line.strip()!r}, expected {EXPECTED}")
        elif begin["name"] not in tables:
            raise UserError(f"{at}: found the table {begin['name']!r}, expected one of {', '.join(tables)}")
        elif begin["name"] in found:
            twice = found[begin["name"]][0] + 1
            raise UserError(f"{at}: found the table {begin['name']!r} again, which line {twice} has already")
        else:
            begun, first = begin["name"], number
    if begun:
        raise UserError(f"{page}:{first + 1}: found no end of table {begun!r}, expected `<!-- end {begun} -->`")
    return found


def differences(page: Path, filled: FilledPage) -> list[str]:
    """The lines in which a page is not what the records say."""
    return difference(page, filled.before, filled.after)
