"""Reader of a paper's TOML file. An error names the file, the exhibit and the key."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from msgspec import structs

from core.errors import UserError
from reports.papers.measures import MEASURES, PHASES
from reports.papers.paper import MOST_COLUMNS, MOST_CURVES, MOST_PANELS, SCALES, Exhibit, Machine, Paper, Scale, Series
from reports.papers.verdicts import AGGREGATES, references
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

    def __format__(self, form: str) -> str:
        """Return its digits with separated thousands for `,`; a number's usual format for others."""
        whole, point, digits = self.text.partition(".")
        return f"{int(whole):,}{point}{digits}" if form == "," and whole.isdigit() else super().__format__(form)


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


@cache
def load(name: str) -> Paper:
    """Read a paper. Raises `UserError` with the known names for an unknown one, and for a wrong file."""
    if name not in names():
        raise UserError(f"expected one of the papers {', '.join(names())}, found {name!r}")
    return read(FOLDER / f"{name}.toml")


def read(path: Path) -> Paper:
    """Read a file. Raises `UserError` if that fails, or a key is missing, unknown or of another type."""
    file = DataFile(path, PrintedNumber)
    file.content = _plain_numbers(file.content)
    series = {
        name: file.part(Series, {"name": name, **one}, f"series {name}") for name, one in file.tables("series").items()
    }
    machines = {name: file.part(Machine, one, f"machine {name}") for name, one in file.tables("machines").items()}
    scales = file.tables("scales")
    file.among("scales", "scale", list(scales), SCALES)
    tables = file.part(list[dict[str, Any]], file.content.get("exhibits", []), "exhibits")
    own = {name: value for name, value in file.content.items() if name != "scales"}
    exhibits = [_exhibit(file, one, scales) for one in tables]
    paper = file.part(Paper, {**own, "machines": machines, "series": series, "exhibits": exhibits}, "the file")
    for one in paper.exhibits:
        _check(file, paper, one)
    return paper


def _plain_numbers(content: Any) -> Any:
    """Return content with ordinary numbers everywhere but in published figures."""
    if isinstance(content, dict):
        return {name: value if name == "figures" else _plain_numbers(value) for name, value in content.items()}
    if isinstance(content, list):
        return [_plain_numbers(one) for one in content]
    return float(content) if isinstance(content, PrintedNumber) else content


def _exhibit(file: DataFile, content: Mapping[str, Any], scales: Mapping[str, Mapping[str, Any]]) -> Exhibit:
    """Convert an exhibit, with its scales in full: defaults are those of the paper, and the paper's amount."""
    place = str(content.get("name", "an exhibit"))
    bare = file.part(Exhibit, {name: value for name, value in content.items() if name not in SCALES}, place)
    full = {}
    for name in SCALES:
        usual, given = scales.get(name, {}), content.get(name, {})
        amount = {**bare.amount, **usual.get("amount", {}), **given.get("amount", {})}
        full[name] = file.part(Scale, {**usual, **given, "amount": amount}, f"{place}, {name}")
    return structs.replace(bare, scales=full)


def _check(file: DataFile, paper: Paper, exhibit: Exhibit) -> None:
    """Check that the names in an exhibit exist, and that its table is no wider than a page."""
    place = exhibit.name
    rows, columns = [row.name for row in exhibit.rows], [column.key for column in exhibit.columns]
    published = {column.key: column for column in exhibit.published}
    for one in exhibit.published:
        file.among(place, "machine", [one.machine] if one.machine else [], list(paper.machines))
    for row in exhibit.rows:
        if row.figures and len(row.figures) != len(published):
            expected = f"{len(published)}, one for each published column"
            file.wrong(f"{place}, row {row.name}", f"{len(row.figures)} figures", expected)
    for column in exhibit.columns:
        where = f"{place}, column {column.key}"
        file.among(where, "series", [column.series] if column.series else [], list(paper.series))
        file.among(where, "measure", [column.measure], list(MEASURES))
        file.among(where, "column", [column.over] if column.over else [], columns)
        file.among(where, "row", column.rows, rows)
        if column.published:
            file.among(where, "published column", [column.published], [*published])
            file.among(where, "part", [column.part] if column.part else [], published[column.published].holds)
    file.among(place, "phase", list(exhibit.phases), PHASES)
    if exhibit.checks and exhibit.untested:
        file.wrong(place, "checks and untested", "one of them")
    for check in exhibit.checks:
        file.among(f"{place}, check", "column", [check.column, *([check.than] if check.than else [])], columns)
        file.among(f"{place}, check", "row", check.rows, rows)
    for name in ("answer", "holds", "fails"):
        _check_references(file, exhibit, name)
    for name, scale in exhibit.scales.items():
        file.among(f"{place}, {name}", "row", [*scale.rows, *scale.row_amounts], rows)
        file.among(f"{place}, {name}", "row", [*chain(*scale.column_rows.values(), *scale.once.values())], rows)
        file.among(f"{place}, {name}", "series", [*scale.once], [*paper.series])
        file.among(f"{place}, {name}", "column", [*scale.columns, *scale.column_rows], columns)
    if exhibit.plot:
        file.among(f"{place}, plot", "column", exhibit.plot.columns, columns)
        file.among(f"{place}, plot", "panel", exhibit.plot.panels, [row.panel for row in exhibit.rows])
        if len(exhibit.plot.columns) > MOST_CURVES or len(exhibit.plot.panels) > MOST_PANELS:
            found = f"{len(exhibit.plot.columns)} columns and {len(exhibit.plot.panels)} panels"
            file.wrong(f"{place}, plot", found, f"at most {MOST_CURVES} and {MOST_PANELS}")
    for what, items in (("row", rows), ("column", columns)):
        if len(set(items)) != len(items):
            file.wrong(place, f"a {what} twice", f"{what}s of different names")
    if len(list(exhibit.shown())) > MOST_COLUMNS:
        file.wrong(place, f"{len(list(exhibit.shown()))} columns", f"at most {MOST_COLUMNS} beside the rows' names")


def _check_references(file: DataFile, exhibit: Exhibit, name: str) -> None:
    """Check that the references of a sentence are columns, rows and aggregates."""
    place, template = f"{exhibit.name}, {name}", str(getattr(exhibit, name))
    try:
        found = [*references(template)]
    except ValueError as error:
        file.wrong(place, f"{template!r} ({error})", "references such as {KEY.min}")
    for column, row, aggregate in found:
        file.among(place, "column", [column], [one.key for one in exhibit.columns])
        if row:
            file.among(place, "row", [row], [one.name for one in exhibit.rows])
        else:
            file.among(place, "reference", [aggregate], AGGREGATES)
