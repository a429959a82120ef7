"""The tables of the page of results, filled from records: Markdown with what has to be said of its figures below."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from core.errors import UserError
from reports.pages import provenance
from reports.pages.results_choices import FigureChoice, ResultsTable, column_headings, find_exhibit
from reports.papers.exhibits import Datum, FilledExhibit, fill_exhibit, gather_evidence
from reports.papers.paper import PROCESSORS
from reports.papers.placement import find_series, has_options
from reports.papers.plots import RATIOS
from reports.papers.tables import NOT_RUN, cell_text
from reports.records.files import Record
from reports.records.parameters import run_parameters
from reports.text.formatting import number
from reports.text.tables import TextTable

WIDTH = 120

MEASURES_OF_NOTES = {"its baseline": {"speedup"}, "no baseline": {"speedup"}, "no time of": {"peers", "over_peer"}}
"""Beginnings of notes, and the measures that they are about; others are about a run."""

ResultsCell = tuple[FigureChoice, Sequence[Datum]]
"""What is asked for in a cell, and what was found."""


class UnfilledError(UserError):
    """A table for which no run is recorded, or not even records are there."""

    exit_code = 1


class FilledTable:
    """A table of the page, filled: its text, and the rows that are left out since nothing of ours ran for them.

    Raises
    ------
    UnfilledError
        None of its rows has a run of ours.
    UnequalWorkError
        Two runs of the same instance, seed and parameters did not do the same work.
    """

    def __init__(self, table: ResultsTable, records: Sequence[Record], report: str) -> None:
        self.table = table
        self.report = report
        self.left_out: list[str] = []
        self._evidence = gather_evidence(table.paper, records)
        self._shown: dict[tuple[str, str, tuple[str, ...]], FilledExhibit] = {}
        self._marks: dict[str, str] = {}
        rows = self._rows()
        self._used = [datum for _, cells in rows for _, data in cells for datum in data if datum.row]
        self._common = [note for note in self._first_notes() if all(note in datum.notes for datum in self._used)]
        self.text = self._text(rows)

    def _rows(self) -> list[tuple[str, list[ResultsCell]]]:
        """The rows for which something of ours is recorded, with what stands in their cells."""
        rows = []
        for label, choices in zip(self.table.rows, self.table.cells, strict=True):
            cells = [(choice, self._data(choice)) for choice in choices]
            if any(datum.row for _, data in cells for datum in data):
                rows.append((label, cells))
            else:
                self.left_out.append(label)
        if not rows:
            raise UnfilledError(f"table {self.table.name}: no run of ours is recorded for any of its rows")
        return rows

    def _first_notes(self) -> Sequence[str]:
        return self._used[0].notes

    def _text(self, rows: Sequence[tuple[str, Sequence[ResultsCell]]]) -> str:
        headings = (self.table.first, *(f">{heading}" for heading in self.table.columns))
        made = TextTable("", headings, [[label, *(self._words(*cell) for cell in cells)] for label, cells in rows])
        notes = [f"- **{mark}**: {note}." for note, mark in self._marks.items()]
        notes += [f"- All our runs: {note}." for note in self._common]
        parts = [str(made), "\n".join(_wrapped(one, "  ") for one in notes), self._origin()]
        return "\n\n".join(filter(None, parts)) + "\n"

    # --- cells ---

    def _data(self, choice: FigureChoice) -> Sequence[Datum]:
        """What may stand in a cell."""
        filled = self._filled(choice)
        if choice.published:
            headings = column_headings(filled.exhibit, choice)
            whose = self.table.paper.machines[choice.machine].short
            return [
                one
                for one in filled.published
                if (one.line, one.whose) == (choice.line, whose) and one.column in headings and any(one.words)
            ]
        return [_shortened(filled, one, choice) for one in filled.ours if _chosen(filled, one, choice)]

    def _filled(self, choice: FigureChoice) -> FilledExhibit:
        """The exhibit of a choice, with cells that say what is asked for; made once."""
        exhibit = find_exhibit(self.table.paper, choice)
        key = exhibit.name, exhibit.title, choice.shows
        if key not in self._shown:
            wanted = structs.replace(exhibit, shows=choice.shows or exhibit.shows)
            self._shown[key] = fill_exhibit(wanted, self._evidence, self.table.paper.machines)
        return self._shown[key]

    def _words(self, choice: FigureChoice, data: Sequence[Datum]) -> str:
        if choice.published:
            return "<br>".join(_published(one, choice) for one in data)
        marked = [replace(one, notes=tuple(note for note in one.notes if note not in self._common)) for one in data]
        return cell_text(marked, self._marks) or (NOT_RUN if self._might_run(choice) else "")

    def _might_run(self, choice: FigureChoice) -> bool:
        """Whether the paper's data have a run for a cell."""
        exhibit = find_exhibit(self.table.paper, choice)
        series = next(one for one in exhibit.series if one.name == choice.series)
        return not choice.line or series.runs(exhibit.line(choice.line))

    # --- where the figures come from ---

    def _origin(self) -> str:
        """A sentence that names the report, the machines, ours and the paper's, the days and the repetitions."""
        records = list({datum.row.record.identity: datum.row.record for datum in self._used if datum.row}.values())
        told = [provenance.devices(records), provenance.dates(records), f"medians of {provenance.repetitions(records)}"]
        words = f"From [the report]({self.report}): {'; '.join(filter(None, told))}, end to end without compilation."
        machines = dict.fromkeys(choice.machine for row in self.table.cells for choice in row if choice.published)
        named = [self.table.paper.machines[one] for one in machines]
        if named:
            words += f" The paper's: {'; '.join(machine.name for machine in named)}."
        return _wrapped(words)


def _chosen(filled: FilledExhibit, datum: Datum, choice: FigureChoice) -> bool:
    """Whether a run of ours is one that a choice means."""
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
    """A run of ours as the page tells it.

    Headings name its device and its settings, and a note on a figure that no cell shows says nothing.
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


def _published(datum: Datum, choice: FigureChoice) -> str:
    """A published figure: as printed, or the measures that are asked for, of which a paper's ratios may be derived."""
    if not choice.shows:
        return "<br>".join(filter(None, datum.words))
    values = [(name, datum.values[name]) for name in choice.shows if name in datum.values]
    return "<br>".join(number(value) + ("x" if name in RATIOS else "") for name, value in values)


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
