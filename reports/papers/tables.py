"""An exhibit as a table of text, in the paper's layout, with our figures next to the published ones.

If series distinguish columns, ours are right of the paper's columns; if options do (strategies, colony sizes), ours are
in the paper's columns, in rows below the published one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from reports.papers.exhibits import Datum, FilledExhibit
from reports.papers.paper import INSTANCE, PROCESSORS, Exhibit, ExhibitRow
from reports.text.formatting import letters
from reports.text.tables import TextTable

HEADINGS = {INSTANCE: "instance", PROCESSORS: "processors"}
NOT_RUN, NOT_MODELLED = "not run", "not modelled"


@dataclass(frozen=True)
class AnnotatedTable:
    """A table, and the meaning of its marks: (mark, sentence without its full stop)."""

    table: TextTable
    notes: tuple[tuple[str, str], ...]


def make_table(shown: FilledExhibit) -> AnnotatedTable | None:
    """Make the table of an exhibit; None without a figure."""
    if not shown.published and not shown.ours:
        return None
    marks: dict[str, str] = {}
    table = _in_papers_columns(shown, marks) if shown.exhibit.by_options else _in_own_columns(shown, marks)
    return AnnotatedTable(table, tuple((mark, note) for note, mark in marks.items()))


def caption(exhibit: Exhibit) -> str:
    """`Table 4 (section 6.2): PPP, Hamming distance of two`."""
    section = f" (section {exhibit.section})" if exhibit.section else ""
    return f"{exhibit.kind.capitalize()} {exhibit.number}{section}: {exhibit.title}"


def _in_own_columns(shown: FilledExhibit, marks: dict[str, str]) -> TextTable:
    exhibit = shown.exhibit
    printed = [column for column in exhibit.columns if any(line.figures for line in exhibit.lines)]
    modelled = [*dict.fromkeys(datum.column for datum in shown.modelled), *shown.not_modelled]
    own = _own_headings(shown)
    headings = [HEADINGS.get(exhibit.row_by, exhibit.row_by)]
    headings += [
        ">" + (f"{_machine(shown, place)}: {column.heading}" if column.machine else column.heading)
        for place, column in enumerate(printed)
    ]
    headings += [f">ours, {heading}" for heading in (*modelled, *own)]
    rows = []
    for line in shown.lines:
        figures = (
            [cell_text([datum], marks) for datum in shown.published if datum.line == line.key] if line.figures else []
        )
        cells = [figures[place] if place < len(figures) else "" for place in range(len(printed))]
        own_cells = [_modelled_cell(shown, line, heading, marks) for heading in modelled]
        own_cells += [_own_cell(shown, line, heading, marks) for heading in own]
        rows.append([line.label, *cells, *own_cells])
    return TextTable(caption(exhibit), tuple(headings), rows)


def _own_cell(shown: FilledExhibit, line: ExhibitRow, heading: str, marks: dict[str, str]) -> str:
    """Return our cell of a row; its mark has the reason if a whole column is empty."""
    data = [datum for datum in shown.ours if (datum.line, datum.column) == (line.key, heading)]
    if data:
        return cell_text(data, marks)
    series, why = next(((one, why) for one, why in shown.absent if one.heading == heading), (None, ""))
    if series is None:
        return NOT_RUN
    return f"{NOT_RUN} [{_mark(f'{NOT_RUN}: {why}', marks)}]" if series.runs(line) else ""


def _modelled_cell(shown: FilledExhibit, line: ExhibitRow, heading: str, marks: dict[str, str]) -> str:
    """Return the cell of the cluster model; its mark reports a missing run on one core."""
    if heading in shown.not_modelled:
        return f"{NOT_MODELLED} [{_mark(f'{NOT_MODELLED}: no run of this work on one core', marks)}]"
    return cell_text([datum for datum in shown.modelled if (datum.line, datum.column) == (line.key, heading)], marks)


def _machine(shown: FilledExhibit, place: int) -> str:
    """Return the machine of a published column: that of the figure at its place in the first row with figures."""
    first = next(line for line in shown.exhibit.lines if line.figures)
    data = [datum for datum in shown.published if datum.line == first.key]
    return data[place].whose


def _in_papers_columns(shown: FilledExhibit, marks: dict[str, str]) -> TextTable:
    exhibit = shown.exhibit
    columns = [column.heading for column in exhibit.columns]
    headings = (HEADINGS.get(exhibit.row_by, exhibit.row_by), "whose", *(f">{heading}" for heading in columns))
    rows = []
    for line in shown.lines:
        first = True
        for data in _by_whose(shown, line):
            cells = [cell_text([datum for datum in data if datum.column == one], marks) for one in columns]
            rows.append([line.label if first else "", data[0].whose + ("" if data[0].row else ", published"), *cells])
            first = False
    return TextTable(caption(exhibit), headings, rows)


def _by_whose(shown: FilledExhibit, line: ExhibitRow) -> Iterable[Sequence[Datum]]:
    """Yield the figures of a row: those of each published machine, then ours of each series and device."""
    order = _series_order(shown.exhibit)
    for data in (shown.published, sorted(shown.ours, key=lambda datum: order(datum.whose or datum.column))):
        of_line = [datum for datum in data if datum.line == line.key]
        for whose in dict.fromkeys(datum.whose for datum in of_line):
            yield [datum for datum in of_line if datum.whose == whose]


def _own_headings(shown: FilledExhibit) -> list[str]:
    headings = [*(datum.column for datum in shown.ours), *(series.heading for series, _ in shown.absent)]
    return sorted(dict.fromkeys(headings), key=_series_order(shown.exhibit))


def _series_order(exhibit: Exhibit) -> Callable[[str], int]:
    places = {name: place for place, one in enumerate(exhibit.series) for name in (one.heading, one.on_cores)}
    return lambda heading: places.get(heading.partition(": ")[0], len(places))


def cell_text(data: Sequence[Datum], marks: dict[str, str]) -> str:
    """Return the lines of a cell, each run with the marks of its notes."""
    said = []
    for datum in data:
        letters = [_mark(note, marks) for note in datum.notes]
        said.append("<br>".join(filter(None, datum.words)) + (f" [{', '.join(letters)}]" if letters else ""))
    return "<br>".join(filter(None, said))


def _mark(note: str, marks: dict[str, str]) -> str:
    return marks.setdefault(note, letters(len(marks)))
