"""An exhibit as a table of text, in the paper's layout, with our figures next to the published ones.

If series distinguish columns, ours are right of the paper's columns; if options do (strategies, colony sizes), ours are
in the paper's columns, in rows below the published one. A table with more columns than a page shows has parts, one
below the other: published columns, modelled ones, and ours by kind of device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from reports.comparison.cautions import DOUBTFUL
from reports.papers.exhibits import MODELLED, OF_SPEEDUPS, Datum, FilledExhibit, is_number
from reports.papers.measures import MEASURES, NOT_PROFILED, RATIOS
from reports.papers.paper import INSTANCE, PROCESSORS, Exhibit, ExhibitRow
from reports.text.formatting import letters, listed, number
from reports.text.tables import TextTable

HEADINGS = {INSTANCE: "instance", PROCESSORS: "processors"}
NOT_RUN, NOT_MODELLED = "not run", "not modelled"
PUBLISHED, ONE_CORE = "published", "one core"
DEVICES, RANKS, EMULATED = "all cores and GPUs", "several ranks", "emulated hosts"
NO_RUNS = (PUBLISHED, MODELLED)
GROUPS = (PUBLISHED, MODELLED, ONE_CORE, DEVICES, RANKS, EMULATED)
"""Groups of columns, in the order of the parts of a table."""
JOINED = {ONE_CORE, DEVICES}
"""Groups that may share a part."""
MOST_COLUMNS = 9
"""Largest number of columns, beside that of the rows' names, that a page of usual width shows."""


class TablePart(NamedTuple):
    """A table, and its title below that of the exhibit; the title is empty if it is the whole exhibit."""

    title: str
    table: TextTable


@dataclass(frozen=True)
class AnnotatedTable:
    """A table, in parts if it is too wide, and the meaning of its marks: (mark, sentence without its full stop)."""

    parts: tuple[TablePart, ...]
    notes: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        """Return the parts as Markdown, each below its title."""
        return "\n\n".join(f"{title}:\n\n{table}" if title else str(table) for title, table in self.parts)

    @property
    def table(self) -> TextTable:
        """The first part, which is all of a table that is not too wide."""
        return self.parts[0].table


def make_table(shown: FilledExhibit) -> AnnotatedTable | None:
    """Make the table of an exhibit; None without a figure."""
    if not shown.published and not shown.ours:
        return None
    marks: dict[str, str] = {}
    if shown.exhibit.by_options:
        parts = [TablePart("", _in_papers_columns(shown, marks))]
    else:
        columns = _columns(shown, marks)
        split = [columns] if shown.exhibit.row_by == PROCESSORS else list(_split(columns))
        titles = [", ".join(dict.fromkeys(column.group for column in part)) for part in split if len(split) > 1]
        titles = [title + ", continued" * (title in titles[:place]) for place, title in enumerate(titles)] or [""]
        parts = [_part(shown, part, title) for part, title in zip(split, titles, strict=True)]
    return AnnotatedTable(tuple(parts), tuple((mark, note) for note, mark in marks.items()))


def caption(exhibit: Exhibit) -> str:
    """`Table 4 (section 6.2): PPP, Hamming distance of two`."""
    section = f" (section {exhibit.section})" if exhibit.section else ""
    return f"{exhibit.kind.capitalize()} {exhibit.number}{section}: {exhibit.title}"


# --- tables of ratios alone ---


def make_ratio_tables(shown: FilledExhibit) -> list[TablePart]:
    """Make a table of each ratio of an exhibit, published and ours, without times, intervals and notes.

    A table has the rows and columns with a ratio of ours, and the published columns of that ratio. `DOUBTFUL` marks a
    ratio with a wide interval or over a doubtful time. A ratio that fewer than two of our runs have gets no table. The
    published figures come first, in a separate table, if no table has published ratios.
    """
    found = {measure: _ratio_table(shown, measure) for measure in RATIOS if measure in shown.exhibit.shows}
    tables = {measure: table for measure, table in found.items() if table}
    has_published = any(tables.keys() & datum.values.keys() for datum in shown.published)
    if not tables or has_published or shown.exhibit.by_options:
        return list(tables.values())
    published = [column for column in _columns(shown, {}) if column.group == PUBLISHED]
    return [*([_part(shown, published, PUBLISHED)] if published else []), *tables.values()]


def _ratio_table(shown: FilledExhibit, measure: str) -> TablePart | None:
    compared = [datum for datum in shown.ours if measure != "speedup" or (datum.row and datum.row.base)]
    ours = [datum for datum in compared if measure in datum.values]
    if len(ours) < 2:
        return None
    there, by_processors = {datum.line for datum in ours}, shown.exhibit.row_by == PROCESSORS
    bare = replace(
        shown,
        lines=tuple(line for line in shown.lines if line.key in there),
        published=tuple(_only_ratio(datum, measure) for datum in shown.published),
        ours=tuple(_only_ratio(one, measure, one.words[0] if by_processors else "") for one in ours),
        modelled=tuple(_only_ratio(datum, measure, datum.whose) for datum in shown.modelled),
        not_modelled=(),
        absent=(),
    )
    title = MEASURES[measure].axis.capitalize()
    if shown.exhibit.by_options:
        table = _in_papers_columns(bare, {})
        return TablePart(title, replace(table, rows=[row for row in table.rows if set(row[2:]) - {"", number(1)}]))
    columns = [column for column in _columns(bare, {}) if any(_has_figure(column.cell(line)) for line in bare.lines)]
    table = _part(bare, columns, "").table
    return TablePart(title, replace(table, rows=[[cell.removeprefix(NOT_RUN) for cell in row] for row in table.rows]))


def _only_ratio(datum: Datum, measure: str, label: str = "") -> Datum:
    """Return a figure with nothing but its ratio, in the published digits, and a label before it if there is one."""
    value = datum.values.get(measure)
    if value is None:
        return replace(datum, words=(), notes=())
    printed = [part for part in datum.words[0].split("×") if is_number(part)]
    text = next((part for part in printed if float(part) == value), number(value))
    doubtful = measure in datum.uncertain or any(note.startswith(OF_SPEEDUPS) for note in datum.notes)
    text += DOUBTFUL * doubtful
    return replace(datum, words=(f"{label}: {text}" if label else text,), notes=())


# --- columns of ours beside those of the paper ---


class TableColumn(NamedTuple):
    """A column: its heading, its group (`GROUPS`), and the function that makes the cell of a row."""

    heading: str
    group: str
    cell: Callable[[ExhibitRow], str]


def _columns(shown: FilledExhibit, marks: dict[str, str]) -> list[TableColumn]:
    """Return the columns in their order: published, modelled, and ours by group."""
    # Every row with figures has one for each column, and the first such row comes first.
    columns = [
        TableColumn(
            f"{datum.whose}: {datum.column}" if datum.whose else datum.column,
            PUBLISHED,
            partial(_published_cell, shown, place, marks),
        )
        for place, datum in enumerate(shown.published[: len(shown.exhibit.columns)])
    ]
    modelled = [*dict.fromkeys(datum.column for datum in shown.modelled), *shown.not_modelled]
    columns += [TableColumn(name, MODELLED, partial(_modelled_cell, shown, name, marks)) for name in modelled]
    ours = dict.fromkeys([*(datum.column for datum in shown.ours), *(series.heading for series, _ in shown.absent)])
    columns += [
        TableColumn(name, group_of(shown.exhibit, name), partial(_own_cell, shown, name, marks))
        for name in sorted(ours, key=_series_order(shown.exhibit))
    ]
    return columns


def group_of(exhibit: Exhibit, heading: str) -> str:
    """Return the group of a column of ours, by the series that its heading begins with."""
    series = exhibit.series[_series_order(exhibit)(heading)]
    if series.network:
        return EMULATED
    if max(series.ranks) > 1:
        return RANKS
    return ONE_CORE if series.kinds == ("core",) else DEVICES


def _split(columns: Sequence[TableColumn]) -> Iterator[list[TableColumn]]:
    """Yield the columns of each part of a table: all of them, or groups that fit a page together, or a part of one."""
    if len(columns) <= MOST_COLUMNS:
        yield list(columns)
        return
    part: list[TableColumn] = []
    for group in GROUPS:
        added = [column for column in columns if column.group == group]
        together = {group, *(column.group for column in part)} <= JOINED and len(part) + len(added) <= MOST_COLUMNS
        if part and added and not together:
            yield part
            part = []
        part += added
        if len(part) > MOST_COLUMNS:
            size = -(-len(part) // -(-len(part) // MOST_COLUMNS))
            while len(part) > size:
                yield part[:size]
                part = part[size:]
    yield part


def _part(shown: FilledExhibit, columns: Sequence[TableColumn], title: str) -> TablePart:
    """Return a part of a table. One with a title has only the rows with a figure, and its title names the others."""
    rows = [(line.label, [column.cell(line) for column in columns]) for line in shown.lines]
    filled = rows if not title else [row for row in rows if any(map(_has_figure, row[1]))] or rows
    headings = [f">{'' if column.group in NO_RUNS else 'ours, '}{column.heading}" for column in columns]
    first = HEADINGS.get(shown.exhibit.row_by, shown.exhibit.row_by)
    name = caption(shown.exhibit) + (f" ({title})" if title else "")
    table = TextTable(name, (first, *headings), [[label, *cells] for label, cells in filled])
    absent = [row[0] for row in rows if row not in filled and columns[0].group != PUBLISHED]
    return TablePart(title[:1].upper() + title[1:] + (f" (not run: {listed(absent)})" if absent else ""), table)


def _has_figure(cell: str) -> bool:
    return bool(cell) and not cell.startswith((NOT_RUN, NOT_MODELLED))


def _published_cell(shown: FilledExhibit, place: int, marks: dict[str, str], line: ExhibitRow) -> str:
    data = [datum for datum in shown.published if datum.line == line.key] if line.figures else []
    return cell_text([data[place]], marks) if place < len(data) else ""


def _own_cell(shown: FilledExhibit, heading: str, marks: dict[str, str], line: ExhibitRow) -> str:
    """Return our cell of a row; its mark has the reason if a whole column is empty."""
    data = [datum for datum in shown.ours if (datum.line, datum.column) == (line.key, heading)]
    if data:
        return cell_text(data, marks)
    series, why = next(((one, why) for one, why in shown.absent if one.heading == heading), (None, ""))
    if series is None:
        return NOT_RUN
    return f"{NOT_RUN} [{_mark(f'{NOT_RUN}: {why}', marks)}]" if series.runs(line) else ""


def _modelled_cell(shown: FilledExhibit, heading: str, marks: dict[str, str], line: ExhibitRow) -> str:
    """Return the cell of the cluster model; its mark reports a missing run on one core."""
    if heading in shown.not_modelled:
        return f"{NOT_MODELLED} [{_mark(f'{NOT_MODELLED}: no run of this work on one core', marks)}]"
    return cell_text([datum for datum in shown.modelled if (datum.line, datum.column) == (line.key, heading)], marks)


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


def _series_order(exhibit: Exhibit) -> Callable[[str], int]:
    places = {name: place for place, one in enumerate(exhibit.series) for name in (one.heading, one.on_cores)}
    return lambda heading: places.get(heading.partition(": ")[0], len(places))


def cell_text(data: Sequence[Datum], marks: dict[str, str]) -> str:
    """Return the lines of a cell, each run with the marks of its notes; runs without a profile only if none has one."""
    texts = []
    for datum in [one for one in data if NOT_PROFILED not in one.words] or data[:1]:
        letters = [_mark(note, marks) for note in datum.notes]
        lines = [NOT_PROFILED] if NOT_PROFILED in datum.words else filter(None, datum.words)
        texts.append("<br>".join(lines) + (f" [{', '.join(letters)}]" if letters else ""))
    return "<br>".join(filter(None, texts))


def _mark(note: str, marks: dict[str, str]) -> str:
    return marks.setdefault(note, letters(len(marks)))
