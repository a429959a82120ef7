"""Choices of papers' figures for tables of a page: the file `results.toml`, read and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from reports.papers.files import load, names
from reports.papers.measures import MEASURES
from reports.papers.paper import Exhibit, Paper
from reports.toml_file import DataFile

DATA = "results.toml"


class FigureChoice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The figure of a cell: a published one if a machine of the paper is named, else one of ours.

    Attributes
    ----------
    exhibit, line
        `table 4`, and the key of its row.
    machine, column
        For a published figure: the key of the machine, and the heading of the column; the latter may be empty if
        `where` selects the column, or the machine has only one.
    where : mapping
        Options of our run, which also select the paper's column if options distinguish columns: strategy, ants ...
    series, backend
        Series and backend of our run; any backend if empty.
    ranks
        Ranks of our run; 0 for any number.
    shows
        Measures in the cell; by default those of the exhibit's cells, or all published ones.
    """

    exhibit: str = ""
    line: str = ""
    machine: str = ""
    column: str = ""
    where: dict[str, Any] = {}
    series: str = ""
    backend: str = ""
    ranks: int = 0
    shows: tuple[str, ...] = ()


class RowChoice(FigureChoice, frozen=True, kw_only=True):
    """A row's part of a choice."""

    label: str


class ColumnChoice(FigureChoice, frozen=True, kw_only=True):
    """A column's part of a choice."""

    heading: str


class TableChoice(FigureChoice, frozen=True, kw_only=True):
    """A table of the file: the common part of its cells, and rows and columns."""

    name: str
    paper: str
    first: str
    rows: list[RowChoice]
    columns: list[ColumnChoice]


class ResultsContent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file: the page with the tables, and the tables, each a `TableChoice`."""

    page: str
    tables: list[dict[str, Any]]


class ResultsTable(NamedTuple):
    """A table of the page: its entry in the file, its paper, and the choice of each cell, by row and column."""

    choice: TableChoice
    paper: Paper
    cells: list[list[FigureChoice]]


def page_path(folder: Path) -> Path:
    """Return the path of the page, which the file names relative to the folder; raises as `read`."""
    return folder / _content(folder)[1].page


def read(folder: Path) -> dict[str, ResultsTable]:
    """Read the tables, by name. Raises `UserError` with table, value and expected value."""
    file, content = _content(folder)
    tables: dict[str, ResultsTable] = {}
    for said in content.tables:
        place = f"table {said.get('name', '?')}"
        table = file.part(TableChoice, said, place)
        if table.name in tables:
            file.wrong(place, "this name twice", "names that differ")
        file.among(place, "paper", [table.paper], names())
        paper = load(table.paper)
        cells = [
            [_choice(file, place, paper, said | row | column) for column in said["columns"]] for row in said["rows"]
        ]
        tables[table.name] = ResultsTable(table, paper, cells)
    return tables


def _content(folder: Path) -> tuple[DataFile, ResultsContent]:
    file = DataFile(folder / DATA)
    return file, file.part(ResultsContent, file.content, "the file")


def _choice(file: DataFile, place: str, paper: Paper, said: Mapping[str, Any]) -> FigureChoice:
    """Return the figure of a row and a column, after checking that the paper has it."""
    choice = msgspec.convert(
        {name: said[name] for name in FigureChoice.__struct_fields__ if name in said}, FigureChoice
    )
    at = f"{place}, {said['label']}, {said['heading']}"
    file.among(at, "measure", choice.shows, list(MEASURES))
    file.among(at, "exhibit", [choice.exhibit], [exhibit.name for exhibit in paper.exhibits if not exhibit.of])
    exhibit = find_exhibit(paper, choice)
    if choice.line or choice.machine:
        file.among(at, "line", [choice.line], [line.key for line in exhibit.lines])
    if not choice.machine:
        file.among(at, "series", [choice.series], [series.name for series in exhibit.series])
        return choice
    file.among(at, "machine", [choice.machine], list(dict.fromkeys(column.machine for column in exhibit.columns)))
    if not column_headings(exhibit, choice):
        choice_text = f"the column {choice.column or dict(choice.where)!r} of {choice.machine}"
        there = [f"{column.heading!r} of {column.machine}" for column in exhibit.columns]
        file.wrong(at, choice_text, f"one of {', '.join(there)}")
    return choice


def find_exhibit(paper: Paper, choice: FigureChoice) -> Exhibit:
    """Return the exhibit of a choice: the first half of a table that has the row."""
    exhibits = [exhibit for exhibit in paper.exhibits if exhibit.name == choice.exhibit and not exhibit.of]
    return next(
        (exhibit for exhibit in exhibits if any(line.key == choice.line for line in exhibit.lines)), exhibits[0]
    )


def column_headings(exhibit: Exhibit, choice: FigureChoice) -> Sequence[str]:
    """Return the headings of a choice's columns, for the paper's machine if it names one."""
    return [
        column.heading
        for column in exhibit.columns
        if choice.machine in ("", column.machine)
        and choice.column in ("", column.heading)
        and choice.where.items() <= column.parameters.items()
    ]
