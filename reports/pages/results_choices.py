"""Figures in the tables of the page of results, as data: `results.toml` next to its records.

A row and a column of such a table each say a part of which figure stands where they meet; together they are a
`FigureChoice`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from reports.papers.files import load, names
from reports.papers.measures import MEASURES
from reports.papers.paper import Exhibit, Paper
from reports.toml_file import DataFile

DATA = "results.toml"


class FigureChoice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which figure stands in a cell: a published one where a machine of the paper is named, else one of ours.

    Attributes
    ----------
    exhibit, line : str
        `table 4`, and the key of its row.
    machine, column : str
        Of a published figure: the key of the machine, and the heading of the column; the latter may be empty where
        `where` tells columns, or the machine has one alone.
    where : mapping
        Options that a run of ours was asked for, and that tell the paper's columns where options do: strategy, ants ...
    series, backend : str
        Of ours; without a backend those of all.
    ranks : int
        Of ours; 0: any number.
    shows : tuple of str
        Measures that the cell says; empty: what the exhibit's cells say, or all that is printed.
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

    @property
    def published(self) -> bool:
        """Whether it is a figure of the paper."""
        return bool(self.machine)


class RowChoice(FigureChoice, frozen=True, kw_only=True):
    """The part of a choice that a row says."""

    label: str


class ColumnChoice(FigureChoice, frozen=True, kw_only=True):
    """The part of a choice that a column says."""

    heading: str


class TableChoice(FigureChoice, frozen=True, kw_only=True):
    """A table of the file: what all its cells say, and rows and columns."""

    name: str
    paper: str
    first: str
    rows: list[RowChoice]
    columns: list[ColumnChoice]


class ResultsContent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file: the page that has the tables, and the tables, each a `TableChoice`."""

    page: str
    tables: list[dict[str, Any]]


@dataclass(frozen=True)
class ResultsTable:
    """A table of the page: a paper, and choices by row and column; `first` is the heading above the rows."""

    name: str
    paper: Paper
    first: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[FigureChoice, ...], ...]


def page_path(folder: Path) -> Path:
    """The page that has the tables; the file says where it is, seen from the folder.

    Raises
    ------
    UserError
        As `read`.
    """
    return folder / _content(folder)[1].page


def read(folder: Path) -> dict[str, ResultsTable]:
    """Read the tables, by name.

    Raises
    ------
    UserError
        The file is not as expected: says the table, what was found and what was expected.
    """
    file, content = _content(folder)
    tables: dict[str, ResultsTable] = {}
    for said in content.tables:
        place = f"table {said.get('name', '?')}"
        table = file.part(TableChoice, said, place)
        if table.name in tables:
            file.wrong(place, "this name twice", "names that differ")
        file.among(place, "paper", [table.paper], names())
        paper = load(table.paper)
        tables[table.name] = ResultsTable(
            table.name,
            paper,
            table.first,
            tuple(row.label for row in table.rows),
            tuple(column.heading for column in table.columns),
            tuple(
                tuple(_choice(file, place, paper, said, row, column) for column in said["columns"])
                for row in said["rows"]
            ),
        )
    return tables


def _content(folder: Path) -> tuple[DataFile, ResultsContent]:
    """The file, and what it says as a whole."""
    file = DataFile(folder / DATA)
    return file, file.part(ResultsContent, file.content, "the file")


def _choice(
    file: DataFile,
    place: str,
    paper: Paper,
    usual: Mapping[str, Any],
    row: Mapping[str, Any],
    column: Mapping[str, Any],
) -> FigureChoice:
    """What stands where a row and a column meet, after a look at whether the paper has it."""
    said = {**usual, **row, **column}
    choice = msgspec.convert(
        {name: said[name] for name in FigureChoice.__struct_fields__ if name in said}, FigureChoice
    )
    at = f"{place}, {row['label']}, {column['heading']}"
    file.among(at, "measure", choice.shows, list(MEASURES))
    exhibits = [one for one in paper.exhibits if not one.of]
    file.among(at, "exhibit", [choice.exhibit], [one.name for one in exhibits])
    exhibit = find_exhibit(paper, choice)
    if choice.line or choice.published:
        file.among(at, "line", [choice.line], [one.key for one in exhibit.lines])
    if choice.published:
        _check_column(file, at, exhibit, choice)
    else:
        file.among(at, "series", [choice.series], [one.name for one in exhibit.series])
    return choice


def _check_column(file: DataFile, at: str, exhibit: Exhibit, choice: FigureChoice) -> None:
    file.among(at, "machine", [choice.machine], list(dict.fromkeys(one.machine for one in exhibit.columns)))
    if column_headings(exhibit, choice):
        return
    there = [f"{one.heading!r} of {one.machine}" for one in exhibit.columns]
    file.wrong(
        at, f"the column {choice.column or dict(choice.where)!r} of {choice.machine}", "one of " + ", ".join(there)
    )


def find_exhibit(paper: Paper, choice: FigureChoice) -> Exhibit:
    """The exhibit of a choice: of several halves of a table the first that has the row."""
    found = [one for one in paper.exhibits if one.name == choice.exhibit and not one.of]
    return next((one for one in found if any(line.key == choice.line for line in one.lines)), found[0])


def column_headings(exhibit: Exhibit, choice: FigureChoice) -> Sequence[str]:
    """Headings of the columns that a choice may mean, of the paper's machine where it names one."""
    return [
        one.heading
        for one in exhibit.columns
        if choice.machine in ("", one.machine)
        and choice.column in ("", one.heading)
        and choice.where.items() <= one.parameters.items()
    ]
