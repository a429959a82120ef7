"""Reader of a paper's TOML file. An error names the file, the exhibit and the key."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import structs

from core.errors import UserError
from reports.papers.measures import MEASURES
from reports.papers.paper import SCALES, Exhibit, Machine, Paper, Scale, Series
from reports.toml_file import DataFile

FOLDER = Path(__file__).parent


class PrintedNumber(float):
    """A number that remembers its printed digits: 3.0 is not 3, and 1.50 is not 1.5."""

    def __new__(cls, text: str) -> PrintedNumber:
        printed = super().__new__(cls, text)
        printed.text = text
        return printed

    text: str

    def __str__(self) -> str:
        return self.text


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


@cache
def load(name: str) -> Paper:
    """Read a paper. Raises `UserError` with the known names for an unknown one, and for a wrong file."""
    if name not in names():
        raise UserError(f"expected one of the papers {', '.join(names())}, found {name!r}")
    return read(FOLDER / f"{name}.toml")


def papers_of_workload(workload: str) -> list[Paper]:
    return [paper for paper in map(load, names()) if workload in paper.workloads()]


def read(path: Path) -> Paper:
    """Read a file. Raises `UserError` if that fails, or a key is missing, unknown or of another type."""
    file = DataFile(path, PrintedNumber)
    series = {
        name: file.part(Series, {"name": name, **one}, f"series {name}") for name, one in file.tables("series").items()
    }
    machines = {name: file.part(Machine, one, f"machine {name}") for name, one in file.tables("machines").items()}
    scales = file.tables("scales")
    file.among("scales", "scale", list(scales), SCALES)
    tables = file.part(list[dict[str, Any]], file.content.get("exhibits", []), "exhibits")
    exhibits = [_exhibit(file, one, series, scales) for one in tables]
    own = {name: value for name, value in file.content.items() if name not in ("series", "scales")}
    paper = file.part(Paper, {**own, "machines": machines, "exhibits": exhibits}, "the file")
    for one in paper.exhibits:
        _check(file, paper, one)
    return paper


def _exhibit(
    file: DataFile, content: Mapping[str, Any], series: Mapping[str, Series], scales: Mapping[str, Mapping[str, Any]]
) -> Exhibit:
    """Convert an exhibit, with its series by their names and its scales in full."""
    place = next((f"{kind} {content[kind]}" for kind in ("table", "figure") if kind in content), "an exhibit")
    names = file.part(list[str], content.get("series", []), f"{place}, series")
    file.among(place, "series", names, list(series))
    own = {name: value for name, value in content.items() if name not in SCALES}
    bare = file.part(Exhibit, {**own, "series": [series[name] for name in names]}, place)
    if not bare.number:
        file.wrong(place, "no number", "a key table or figure")
    if bare.of:
        return bare
    return structs.replace(bare, scales={name: _scale(file, name, bare, content, scales) for name in SCALES})


def _scale(
    file: DataFile, name: str, exhibit: Exhibit, content: Mapping[str, Any], scales: Mapping[str, Mapping[str, Any]]
) -> Scale:
    """Convert an exhibit's scale, with defaults from the paper. By default all rows run."""
    place, keys = f"{exhibit.name}, {name}", [line.key for line in exhibit.lines]
    usual, own = (file.part(Scale, table.get(name, {}), place) for table in (scales, content))
    amount = {**exhibit.amount, **usual.amount, **own.amount}
    scale = file.part(Scale, {"rows": keys, **scales.get(name, {}), **content.get(name, {}), "amount": amount}, place)
    file.among(place, "row", [*scale.keys, *scale.row_amounts], keys)
    return scale


def _check(file: DataFile, paper: Paper, exhibit: Exhibit) -> None:
    """Check that the names in an exhibit exist."""
    for column in exhibit.columns:
        file.among(exhibit.name, "machine", [column.machine] if column.machine else [], list(paper.machines))
        file.among(exhibit.name, "measure", column.holds, list(MEASURES))
    file.among(exhibit.name, "measure", exhibit.shows, list(MEASURES))
    for line in exhibit.lines:
        if not line.key:
            file.wrong(exhibit.name, f"the row {line.label!r}", "one of the keys instance, processors, workload")
        if line.figures and len(line.figures) != len(exhibit.columns):
            expected = f"{len(exhibit.columns)}, one for each column"
            file.wrong(f"{exhibit.name}, row {line.key}", f"{len(line.figures)} figures", expected)
    if exhibit.of:
        numbers = [other.number for other in paper.exhibits if not other.of]
        file.among(exhibit.name, "of", [exhibit.of], numbers)
        rows = [exhibit.plot.row] if exhibit.plot and exhibit.plot.row else []
        file.among(f"{exhibit.name}, plot", "row", rows, [line.key for line in paper.drawn(exhibit).lines])
