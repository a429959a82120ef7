"""Reader of a paper's TOML file. An error names the file, the exhibit and the key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from core.errors import UserError
from reports.papers.measures import MEASURES
from reports.papers.paper import (
    INSTANCE,
    KINDS,
    PROCESSORS,
    SCALES,
    WORKLOAD,
    Disagreement,
    Exhibit,
    ExhibitColumn,
    ExhibitRow,
    Figure,
    Machine,
    Paper,
    Plot,
    Scale,
    Series,
)
from reports.papers.toml_file import DataFile

FOLDER = Path(__file__).parent
ROW = ("label", "spec", "figures", "percentages", "workload", "options", "series")
"""What a row may say beside its key."""
EXHIBIT_KEYS = {"rows", "figure", "table", *SCALES}
"""What an exhibit says otherwise than `Exhibit` does."""


class PrintedNumber(float):
    """A number that remembers its digits as printed: 3.0 is not 3, and 1.50 is not 1.5."""

    def __new__(cls, text: str) -> PrintedNumber:
        """Read the number, and keep its text."""
        made = super().__new__(cls, text)
        made.text = text
        return made

    text: str

    def __str__(self) -> str:
        """The digits as printed."""
        return self.text


def names() -> list[str]:
    """All papers, by their short names."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


@cache
def load(name: str) -> Paper:
    """Read a paper.

    Raises
    ------
    UserError
        There is no such paper; says which there are.
    UserError
        Its file is not as expected.
    """
    if name not in names():
        raise UserError(f"expected one of the papers {', '.join(names())}, found {name!r}")
    return read(FOLDER / f"{name}.toml")


def papers_of_workload(workload: str) -> list[Paper]:
    """Papers that measured a workload."""
    return [paper for paper in map(load, names()) if workload in paper.workloads()]


def read(path: Path) -> Paper:
    """Read a file.

    Raises
    ------
    UserError
        It cannot be read, is no TOML, or a key is missing, unknown or of another kind.
    """
    return _Reader(path, PrintedNumber).paper()


class _Reader(DataFile):
    """Turns a file's tables into the classes of `reports.papers.paper`."""

    def paper(self) -> Paper:
        """The whole file."""
        content = self.known(
            self.content,
            "the file",
            needed=("name", "citation", "measured", "machines", "series", "exhibits"),
            may=("legend", "first", "plain", "same", "scales", "disagreements", "extra"),
        )
        series = {name: self._series(name, one) for name, one in content["series"].items()}
        exhibits = tuple(self._exhibit(one, series) for one in content["exhibits"])
        numbers = [one.number for one in exhibits if not one.of]
        for one in exhibits:
            if one.of and one.of not in numbers:
                self.wrong(one.name, f"of = {one.of!r}", f"the number of an exhibit with data: {numbers}")
            if one.of and one.plot and one.plot.row:
                source = next(other for other in exhibits if other.number == one.of and not other.of)
                self.among(f"{one.name}, plot", "row", [one.plot.row], [line.key for line in source.lines])
        return Paper(
            content["name"],
            content["citation"],
            content["measured"],
            tuple(content.get("legend", ())),
            {key: self._machine(key, one) for key, one in content["machines"].items()},
            exhibits,
            tuple(content.get("first", ())),
            content.get("plain", {}),
            tuple(content.get("same", ())),
            tuple(self._disagreement(one) for one in content.get("disagreements", ())),
            content.get("extra", {}),
        )

    # --- parts ---

    def _machine(self, key: str, content: dict[str, Any]) -> Machine:
        return Machine(**self.known(content, f"machine {key}", ("short", "name")))

    def _series(self, name: str, content: dict[str, Any]) -> Series:
        place = f"series {name}"
        content = self.known(content, place, ("heading",), _names_of(Series))
        kinds = tuple(content.get("kinds", KINDS))
        if not set(kinds) <= set(KINDS):
            self.wrong(place, f"kinds {list(kinds)}", f"some of {', '.join(KINDS)}")
        lists: dict[str, Any] = {key: tuple(content[key]) for key in ("backends", "ranks", "rows") if key in content}
        # A table of ranks shows what ranks do together, and not a run that the first of them does faster alone.
        share = {"distribute": "always"} if max(lists.get("ranks", (1,)), default=1) > 1 else {}
        options = {**content.get("options", {}), **share}
        return Series(**{**content, **lists, "name": name, "kinds": kinds, "options": options})

    def _exhibit(self, content: dict[str, Any], series: Mapping[str, Series]) -> Exhibit:
        kind = "figure" if "figure" in content else "table"
        place = f"{kind} {content.get(kind, '?')}"
        may = {*_names_of(Exhibit), "rows", "quick", "standard", "full", "figure", "table"} - {
            "kind",
            "number",
            "row_by",
        }
        content = self.known(content, place, (kind, "title"), may)
        if "of" in content:
            return Exhibit(kind, content[kind], content["title"], of=content["of"], plot=self._plot(content, place))
        columns = tuple(self._column(one, place) for one in content.get("columns", ()))
        row_by, lines = self._lines(content.get("rows", ()), len(columns), place)
        self.among(place, "series", content.get("series", ()), list(series))
        made = Exhibit(
            kind,
            content[kind],
            content["title"],
            section=content.get("section", ""),
            workload=content.get("workload", ""),
            options=content.get("options", {}),
            amount=content.get("amount", {}),
            shows=tuple(content.get("shows", ("seconds", "speedup"))),
            row_by=row_by,
            columns=columns,
            lines=lines,
            series=tuple(series[name] for name in content.get("series", ())),
            scales={name: self._scale(name, content, lines, place) for name in SCALES},
            reference=content.get("reference", {}),
            keep=content.get("keep", ""),
            note=content.get("note", ""),
            never_ours=content.get("never_ours", ""),
            plot=self._plot(content, place) if "plot" in content else None,
        )
        self._check_measures(made, place)
        return made

    def _column(self, content: dict[str, Any], place: str) -> ExhibitColumn:
        reserved = {"heading", "machine", "holds"}
        parameters = {name: value for name, value in content.items() if name not in reserved}
        machine = content.get("machine", "")
        if machine and machine not in self.content["machines"]:
            self.wrong(place, f"the machine {machine!r}", f"some of {', '.join(self.content['machines'])}")
        words = ", ".join(
            f"{value:,} {name}" if isinstance(value, int) else value for name, value in parameters.items()
        )
        return ExhibitColumn(
            content.get("heading", words), machine, tuple(content.get("holds", ("seconds",))), parameters
        )

    def _lines(self, rows: Sequence[Mapping[str, Any]], columns: int, place: str) -> tuple[str, tuple[ExhibitRow, ...]]:
        row_by = INSTANCE
        lines = []
        for row in rows:
            by = next((name for name in (INSTANCE, PROCESSORS, WORKLOAD) if name in row), None)
            if by is None:
                self.wrong(place, f"a row with the keys {sorted(row)}", "instance, processors or workload")
            # A row that names an instance may name the workload that runs it too.
            row_by, key = by, str(row[by])
            self.known(row, f"{place}, row {key}", (by,), ROW)
            figures = tuple(_as_figure(one) for one in row.get("figures", ()))
            if figures and len(figures) != columns:
                self.wrong(f"{place}, row {key}", f"{len(figures)} figures", f"{columns}, one for each column")
            shares = tuple(map(tuple, row.get("percentages", ())))
            options = row.get("options", {})
            spec = str(row.get("spec", key if by == INSTANCE and not options else ""))
            label, driver, series = str(row.get("label", key)), row.get(WORKLOAD, ""), tuple(row.get("series", ()))
            lines.append(ExhibitRow(key, label, spec, figures, shares, driver, options, series))
        return row_by, tuple(lines)

    def _scale(self, name: str, content: Mapping[str, Any], lines: Sequence[ExhibitRow], place: str) -> Scale:
        """What an exhibit says of a scale, over what its paper says."""
        own = content.get(name, {})
        said = {**self.content.get("scales", {}).get(name, {}), **own}
        self.known(said, f"{place}, {name}", (), ("rows", "amount", "repeats", "seeds", "columns"))
        keys = tuple(map(str, said.get("rows", [line.key for line in lines])))
        unknown = [key for key in keys if key not in {line.key for line in lines}]
        if unknown:
            self.wrong(f"{place}, {name}", f"the row {unknown[0]!r}", "a row of the exhibit")
        amount = {**content.get("amount", {}), **self.content.get("scales", {}).get(name, {}).get("amount", {})}
        amount.update(own.get("amount", {}))
        return Scale(keys, amount, said.get("repeats", 3), tuple(said.get("seeds", (0,))), said.get("columns", {}))

    def _plot(self, content: Mapping[str, Any], place: str) -> Plot:
        said = self.known(content["plot"], f"{place}, plot", ("measure",), _names_of(Plot))
        return Plot(**{**said, "only": tuple(said.get("only", ())), "machines": tuple(said.get("machines", ()))})

    def _disagreement(self, content: Mapping[str, Any]) -> Disagreement:
        said = self.known(content, "disagreements", ("where", "says", "finding"), ("exhibits", "quote"))
        return Disagreement(said["where"], said["says"], said["finding"], tuple(map(str, said.get("exhibits", ()))))

    # --- checks ---

    def _check_measures(self, made: Exhibit, place: str) -> None:
        held = [part for column in made.columns for part in column.holds]
        self.among(place, "measure", [*made.shows, *held], list(MEASURES))


def _as_figure(value: Any) -> Figure:
    return tuple(value) if isinstance(value, list) else (value,)


def _names_of(kind: type) -> set[str]:
    return {one.name for one in fields(kind)}
