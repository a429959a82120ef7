"""The tables of the page of results, made from the gallery's records.

`results.toml`, next to the records, defines their figures; each table is between two marks:

<!-- table NAME: made by python -m reports results -->
...
<!-- end NAME -->
"""

from __future__ import annotations

import os
import re
import textwrap
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from msgspec import structs

from core.errors import UserError
from reports.pages import gallery, provenance
from reports.pages.gallery import GalleryReport, difference
from reports.pages.printed import prose_figures
from reports.papers.exhibits import Datum, FilledExhibit, fill_exhibit, gather_evidence
from reports.papers.figure_choices import DATA, FigureChoice, ResultsTable, column_headings, find_exhibit, read
from reports.papers.measures import RATIOS
from reports.papers.paper import PROCESSORS, Paper
from reports.papers.placement import find_series, has_options
from reports.papers.tables import NOT_RUN, cell_text
from reports.records.files import Record
from reports.records.parameters import run_parameters
from reports.text.formatting import number
from reports.text.tables import TextTable

WIDTH = 120
MARK = re.compile(r"\s*<!--\s*(table|end)\b.*", re.IGNORECASE)
"""A line that is a mark, or looks like one."""
BEGIN = re.compile(r"<!-- table (?P<name>\S+): made by python -m reports results -->")
END = re.compile(r"<!-- end (?P<name>\S+) -->")
EXPECTED = "`<!-- table NAME: made by python -m reports results -->` or `<!-- end NAME -->`"
MEASURES_OF_NOTES = {"no time of": {"peers", "over_peer"}}
"""Beginnings of notes, and the measures that they are about; others are about a run."""


class UnfilledError(UserError):
    """A table without a recorded run, or without records."""

    exit_code = 1


# --- a table from records ---


def filled_table(table: ResultsTable, records: Sequence[Record], report: str) -> tuple[str, list[str]]:
    """Fill a table: its text, and labels of the rows left out without a run of ours.

    Raises `UnfilledError` without any run, and `UnequalWorkError` if runs of the same instance, seed and parameters
    differ.
    """
    paper, evidence = table.paper, gather_evidence(table.paper, records)

    @cache
    def exhibit_of(name: str, title: str, shows: tuple[str, ...]) -> FilledExhibit:
        exhibit = next(exhibit for exhibit in paper.exhibits if (exhibit.name, exhibit.title) == (name, title))
        return fill_exhibit(structs.replace(exhibit, shows=shows or exhibit.shows), evidence, paper.machines)

    def data_of(choice: FigureChoice) -> Sequence[Datum]:
        exhibit = find_exhibit(paper, choice)
        return _candidates(exhibit_of(exhibit.name, exhibit.title, choice.shows), choice, paper)

    rows, left_out = [], []
    for row, choices in zip(table.choice.rows, table.cells, strict=True):
        cells = _on_one_machine([(choice, data_of(choice)) for choice in choices])
        if any(datum.row for _, data in cells for datum in data):
            rows.append((row.label, cells))
        else:
            left_out.append(row.label)
    if not rows:
        raise UnfilledError(f"table {table.choice.name}: no run of ours is recorded for any of its rows")
    used = [datum for _, cells in rows for _, data in cells for datum in data if datum.row]
    common = [note for note in used[0].notes if all(note in datum.notes for datum in used)]
    marks: dict[str, str] = {}

    def words(choice: FigureChoice, data: Sequence[Datum]) -> str:
        if choice.machine:
            return "<br>".join(_published_text(datum, choice) for datum in data)
        marked = [replace(datum, notes=tuple(note for note in datum.notes if note not in common)) for datum in data]
        return cell_text(marked, marks) or (NOT_RUN if _might_run(paper, choice) else "")

    headings = (table.choice.first, *(f">{column.heading}" for column in table.choice.columns))
    table_text = TextTable("", headings, [[label, *(words(*cell) for cell in cells)] for label, cells in rows])
    notes = [f"- **{mark}**: {note}." for note, mark in marks.items()] + [f"- All our runs: {note}." for note in common]
    parts = [str(table_text), "\n".join(_wrapped(note, "  ") for note in notes), _origin(table, used, report)]
    return "\n\n".join(filter(None, parts)) + "\n", left_out


def _on_one_machine(cells: Sequence[tuple[FigureChoice, Sequence[Datum]]]) -> list[tuple[FigureChoice, list[Datum]]]:
    """Return the cells of a row without runs on other machines than that of most cells, if a cell has one on it."""
    machines = [machine for _, data in cells for machine in dict.fromkeys(one.row.machine for one in data if one.row)]
    usual = Counter(machines).most_common(1)[0][0] if machines else ""
    there = [(choice, [one for one in data if one.row and one.row.machine == usual]) for choice, data in cells]
    return [(choice, kept or list(data)) for (choice, kept), (_, data) in zip(there, cells, strict=True)]


def _candidates(filled: FilledExhibit, choice: FigureChoice, paper: Paper) -> Sequence[Datum]:
    if not choice.machine:
        return [_shortened(filled, datum, choice) for datum in filled.ours if _fits(filled, datum, choice)]
    headings, wanted = column_headings(filled.exhibit, choice), (choice.line, paper.machines[choice.machine].short)
    return [
        datum
        for datum in filled.published
        if (datum.line, datum.whose) == wanted and datum.column in headings and any(datum.words)
    ]


def _might_run(paper: Paper, choice: FigureChoice) -> bool:
    exhibit = find_exhibit(paper, choice)
    series = next(series for series in exhibit.series if series.name == choice.series)
    return not choice.line or series.runs(exhibit.line(choice.line))


def _origin(table: ResultsTable, used: Sequence[Datum], report: str) -> str:
    """Return a sentence that names the report, the machines, ours and the paper's, the days and the repetitions."""
    records = list({datum.row.record.identity: datum.row.record for datum in used if datum.row}.values())
    details = [provenance.devices(records), provenance.dates(records), f"medians of {provenance.repetitions(records)}"]
    words = f"From [the report]({report}): {'; '.join(filter(None, details))}, end to end without compilation."
    machines = dict.fromkeys(choice.machine for row in table.cells for choice in row if choice.machine)
    if machines:
        words += f" The paper's: {'; '.join(table.paper.machines[machine].name for machine in machines)}."
    stale = provenance.stale_line(records, f"make gallery-records ONLY={table.paper.name}")
    return "\n\n".join(filter(None, [_wrapped(words), stale]))


def _fits(filled: FilledExhibit, datum: Datum, choice: FigureChoice) -> bool:
    assert datum.row is not None
    record = datum.row.record
    series = find_series(filled.exhibit, record)
    return (
        series is not None
        and (series.name, choice.line or datum.line) == (choice.series, datum.line)
        and has_options(record, choice.where)
        and choice.backend in ("", record.backend)
        and choice.ranks in (0, record.ranks)
    )


def _shortened(filled: FilledExhibit, datum: Datum, choice: FigureChoice) -> Datum:
    """Return a run of ours in the page's form.

    Headings name its device and settings, and a note on a figure that no cell shows is omitted.
    """
    assert datum.row is not None
    asked = run_parameters(datum.row.record)
    measures = {*(choice.shows or filled.exhibit.shows)}
    notes = [
        note
        for note in datum.notes
        if not all(part.partition(" = ")[0] in asked for part in note.split(", "))
        and all(measures & wanted for begins, wanted in MEASURES_OF_NOTES.items() if note.startswith(begins))
    ]
    words = datum.words[1:] if filled.exhibit.row_by == PROCESSORS else datum.words
    return replace(datum, words=words, notes=tuple(notes))


def _published_text(datum: Datum, choice: FigureChoice) -> str:
    """Return a published figure as printed, or its requested measures, some of which may be derived ratios."""
    if not choice.shows:
        return "<br>".join(filter(None, datum.words))
    values = [(name, datum.values[name]) for name in choice.shows if name in datum.values]
    return "<br>".join(number(value) + ("x" if name in RATIOS else "") for name, value in values)


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


# --- the page ---


class FilledPage(NamedTuple):
    """A page with its tables from the records, failures, and remarks for readers."""

    before: str
    after: str
    troubles: tuple[str, ...]
    notes: tuple[str, ...]


def fill(page: Path, folder: Path) -> FilledPage:
    """Put the tables of a page between their marks; a table that cannot be made stays as it is.

    ``folder`` has the records, `gallery.toml` and `results.toml`.

    Raises
    ------
    UserError
        The page cannot be read, its marks are damaged, or one of the two files is wrong.
    UnequalWorkError, RecordError
        Records cannot be compared, or one of them is damaged.
    """
    tables = read(folder)
    entries = {entry.name: entry for entry in gallery.read(folder)}
    try:
        before = page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{page}: cannot read it: {error}") from None
    lines = before.splitlines()
    places = blocks(page, lines, tables)
    absent = [name for name in tables if name not in places]
    if absent:
        raise UserError(f"{page}: expected a place for the table {absent[0]!r} of {folder / DATA}, found none")
    troubles: list[str] = []
    notes: list[str] = []
    for name, (begin, end) in reversed(places.items()):
        try:
            text, left_out = _filled(tables[name], entries, folder, page)
        except UnfilledError as error:
            troubles.insert(0, f"{page}:{begin + 1}: {error}")
            continue
        lines[begin + 1 : end] = ["", *text.splitlines(), ""]
        if left_out:
            notes.insert(0, f"table {name}: no run of ours is recorded for {'; '.join(left_out)}")
    return FilledPage(before, "\n".join(lines) + "\n", tuple(troubles), tuple(notes))


def _filled(
    table: ResultsTable, entries: Mapping[str, GalleryReport], folder: Path, page: Path
) -> tuple[str, list[str]]:
    """Return a table from its paper's records, as `filled_table`; also without records."""
    name, paper = table.choice.name, table.paper.name
    if paper not in entries:
        raise UserError(f"{folder / gallery.DATA}: expected a report {paper!r}, which table {name} is from")
    records = entries[paper].records(folder)
    if not records:
        raise UnfilledError(f"table {name}: {entries[paper].absent(folder)}")
    return filled_table(table, records, Path(os.path.relpath(folder, page.parent), f"{paper}.md").as_posix())


def blocks(page: Path, lines: list[str], tables: Collection[str]) -> dict[str, tuple[int, int]]:
    """Find the places of the tables: the indices of the lines of their two marks.

    Raises `UserError` with the line if a mark is misspelt, has no partner, names no table, or names one twice.
    """
    places: dict[str, tuple[int, int]] = {}
    begun, first = "", 0
    for index, line in enumerate(lines):
        if not MARK.fullmatch(line):
            continue
        at = f"{page}:{index + 1}"
        begin, end = BEGIN.fullmatch(line), END.fullmatch(line)
        if begun and end and end["name"] == begun:
            places[begun] = first, index
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
        elif begin["name"] in places:
            twice = places[begin["name"]][0] + 1
            raise UserError(f"{at}: found the table {begin['name']!r} again, which line {twice} has already")
        else:
            begun, first = begin["name"], index
    if begun:
        raise UserError(f"{page}:{first + 1}: found no end of table {begun!r}, expected `<!-- end {begun} -->`")
    return places


def differences(page: Path, filled: FilledPage) -> list[str]:
    """Return the lines in which a page differs from its records, and figures outside its tables."""
    return difference(page, filled.before, filled.after) + prose_figures(page, filled.before)
