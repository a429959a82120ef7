"""Papers as data: what each of a paper's tables and figures printed, and what is run to print it again.

A paper is a file `reports/papers/NAME.toml`. Its tables and figures are *exhibits*. An exhibit has rows and columns with
the published figures, and names *series*: ways in which we run its work, each on some kinds of devices. What is read
here is checked, so that whoever adds a table by writing TOML is told the file, the exhibit and the key.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal

from core.errors import UserError

FOLDER = Path(__file__).parent / "papers"
SCALES = ("quick", "standard", "full")
KINDS = ("core", "cores", "gpu")
INSTANCE, PROCESSORS, WORKLOAD = "instance", "processors", "workload"
"""What the rows of an exhibit may be; the second: kind and number of the processors, `cores:8`."""

Figure = tuple[Any, ...]
"""A published cell: numbers or texts as printed; empty where nothing is printed."""


class PaperError(UserError):
    """A paper's file that is not what this module expects; says which file, where, what was found and expected."""


@dataclass(frozen=True)
class Column:
    """A published column.

    Attributes
    ----------
    heading : str
        As people read it.
    machine : str
        Whose figures they are: a key of the paper's machines; empty where the column is no measurement.
    holds : tuple of str
        What the parts of its cells are, names of `reports.measures`: seconds, speedup ...
    parameters : mapping
        Options of a run that stands in this column, where columns are told by options: strategy, ants ...
    """

    heading: str
    machine: str
    holds: tuple[str, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Line:
    """A row: its key, how it is called, the instance to run, and its published cells, one for each column.

    `percentages` are those that a cell has besides, in the paper's order.
    """

    key: str
    label: str
    spec: str
    figures: tuple[Figure, ...] = ()
    percentages: tuple[Figure, ...] = ()
    workload: str = ""


@dataclass(frozen=True)
class Series:
    """A way in which we run an exhibit's work.

    Attributes
    ----------
    name, heading : str
    options : mapping
        Of the workload's driver; a run belongs to the series if it was asked for these.
    kinds : tuple of str
        Kinds of devices that it runs on, the preferred first: on a machine without any of the first it runs on the next.
    everywhere : bool
        Whether it runs on devices of all its kinds and not of the preferred one alone.
    backends : tuple of str
        Only these; empty: any.
    ranks : tuple of int
        Numbers of MPI ranks.
    hosts : int
        Hosts that its ranks have to be on at least.
    why_not : str
        Why it cannot run on a machine that has none of its devices, ranks or hosts.
    """

    name: str
    heading: str
    options: Mapping[str, Any] = field(default_factory=dict)
    kinds: tuple[str, ...] = KINDS
    everywhere: bool = False
    backends: tuple[str, ...] = ()
    ranks: tuple[int, ...] = (1,)
    hosts: int = 1
    why_not: str = ""

    @property
    def published(self) -> bool:
        """Whether it lays the work on a device as the paper does."""
        return self.options.get("mapping") == "published"


@dataclass(frozen=True)
class Scale:
    """How much of an exhibit is run: `keys` of its rows, `amount` of work, repetitions and seeds of each run.

    `columns` restricts those that are told by options, by the values of these.
    """

    keys: tuple[str, ...]
    amount: Mapping[str, Any]
    repeats: int = 3
    seeds: tuple[int, ...] = (0,)
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Plot:
    """How an exhibit is drawn: a `measure` over the rows, or over the values of an option `over` for one `row`.

    `kind` is lines or bars; `panels`: a panel for each of the paper's machines and of our series and devices, each with
    an axis of its own, as for times that do not compare; without it all stand in one.
    """

    measure: str
    kind: Literal["lines", "bars"] = "lines"
    over: str = ""
    row: str = ""
    curves: str = ""
    panels: bool = False
    axis: str = ""
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of a paper.

    Attributes
    ----------
    kind, number, section, title : str
        `kind` is table or figure.
    workload : str
        Driver that runs it; of several, rows name theirs.
    options : mapping
        Of the driver, the same in all runs: what the exhibit measures. A run with others does not belong to it.
    amount : mapping
        How much the paper ran (iterations, walks ...): a run of ours may have another amount, and then says so.
    shows : tuple of str
        What a cell of ours says, names of `reports.measures`.
    columns, lines
        As published.
    series : tuple of Series
    scales : mapping
        By name, see `SCALES`.
    reference : mapping
        Options of the column that the measure `over_first` divides by.
    note : str
        The published data's remark on its own figures.
    never_ours : str
        Why no run of ours can stand in it; empty where one can.
    plot : Plot or None
    of : str
        For a figure that draws a table: the table's number.
    """

    kind: str
    number: str
    title: str
    section: str = ""
    workload: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    amount: Mapping[str, Any] = field(default_factory=dict)
    shows: tuple[str, ...] = ()
    row_by: str = INSTANCE
    columns: tuple[Column, ...] = ()
    lines: tuple[Line, ...] = ()
    series: tuple[Series, ...] = ()
    scales: Mapping[str, Scale] = field(default_factory=dict)
    reference: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    never_ours: str = ""
    plot: Plot | None = None
    of: str = ""

    @property
    def name(self) -> str:
        """`table 4`, `figure 5.1`."""
        return f"{self.kind} {self.number}"

    @property
    def by_options(self) -> bool:
        """Whether columns are told by options of a run, so that ours stand in the paper's columns."""
        return any(column.parameters for column in self.columns)

    def workloads(self) -> tuple[str, ...]:
        """All drivers that run it."""
        return tuple(dict.fromkeys(line.workload or self.workload for line in self.lines)) or (self.workload,)

    def line(self, key: str) -> Line:
        """The row of a key."""
        return next(line for line in self.lines if line.key == key)


@dataclass(frozen=True)
class Disagreement:
    """What a paper says in one place and does not bear out in another, and the exhibits that it touches, if any."""

    where: str
    says: str
    finding: str
    exhibits: tuple[str, ...] = ()


@dataclass(frozen=True)
class Paper:
    """Everything that one file says.

    Attributes
    ----------
    name, citation, measured : str
    legend : tuple of str
        Sentences that explain the paper's words.
    machines : mapping
        Those that it measured on, in words, by key.
    exhibits : tuple of Exhibit
    first, plain
        Which run on one core a speed-up of ours is over, see `reports.comparison.Likeness`.
    disagreements : tuple of Disagreement
    extra : mapping
        What else the file has, for readers of one paper's facts: metrics of a profiler ...
    """

    name: str
    citation: str
    measured: str
    legend: tuple[str, ...]
    machines: Mapping[str, str]
    exhibits: tuple[Exhibit, ...]
    first: tuple[str, ...] = ()
    plain: Mapping[str, Any] = field(default_factory=dict)
    disagreements: tuple[Disagreement, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)

    def workloads(self) -> tuple[str, ...]:
        """All drivers that run one of its exhibits."""
        return tuple(dict.fromkeys(one for exhibit in self.exhibits for one in exhibit.workloads() if one))

    def chosen(self, kind: str | None = None, number: str | None = None) -> tuple[Exhibit, ...]:
        """Its exhibits, or those of a kind and number; a table's number may stand twice, for its two halves.

        Raises
        ------
        UserError
            It has none of that number; says which it has.
        """
        found = tuple(one for one in self.exhibits if kind is None or (one.kind, one.number) == (kind, number))
        if not found:
            there = ", ".join(dict.fromkeys(one.number for one in self.exhibits if one.kind == kind))
            raise UserError(f"--{kind} {number}: expected one of {there or 'no ' + str(kind)} in {self.name}")
        return found

    def drawn(self, exhibit: Exhibit) -> Exhibit:
        """The exhibit that has the data of a figure: the table that it draws, or itself."""
        if not exhibit.of:
            return exhibit
        return next(one for one in self.exhibits if one.number == exhibit.of and not one.of)


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
    PaperError
        Its file is not as expected.
    """
    if name not in names():
        raise UserError(f"expected one of the papers {', '.join(names())}, found {name!r}")
    return read(FOLDER / f"{name}.toml")


def of_workload(workload: str) -> list[Paper]:
    """Papers that measured a workload."""
    return [paper for paper in map(load, names()) if workload in paper.workloads()]


def read(path: Path) -> Paper:
    """Read a file.

    Raises
    ------
    PaperError
        It cannot be read, is no TOML, or a key is missing, unknown or of another kind.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PaperError(f"{path}: expected a paper as TOML, found {error}") from None
    return _Reader(path, content).paper()


class _Reader:
    """Turns a file's tables into the classes above, and names the place of whatever is wrong."""

    def __init__(self, path: Path, content: dict[str, Any]) -> None:
        self.path = path
        self.content = content

    def paper(self) -> Paper:
        content = self._known(
            self.content,
            "the file",
            needed=("name", "citation", "measured", "machines", "series", "exhibits"),
            may=("legend", "first", "plain", "scales", "disagreements", "extra"),
        )
        series = {name: self._series(name, one) for name, one in content["series"].items()}
        exhibits = tuple(self._exhibit(one, series) for one in content["exhibits"])
        numbers = [one.number for one in exhibits if not one.of]
        for one in exhibits:
            if one.of and one.of not in numbers:
                raise self._wrong(one.name, f"of = {one.of!r}", f"the number of an exhibit with data: {numbers}")
        return Paper(
            content["name"],
            content["citation"],
            content["measured"],
            tuple(content.get("legend", ())),
            content["machines"],
            exhibits,
            tuple(content.get("first", ())),
            content.get("plain", {}),
            tuple(self._disagreement(one) for one in content.get("disagreements", ())),
            content.get("extra", {}),
        )

    # --- parts ---

    def _series(self, name: str, content: dict[str, Any]) -> Series:
        place = f"series {name}"
        content = self._known(content, place, ("heading",), _names_of(Series))
        kinds = tuple(content.get("kinds", KINDS))
        if not set(kinds) <= set(KINDS):
            raise self._wrong(place, f"kinds {list(kinds)}", f"some of {', '.join(KINDS)}")
        lists = {key: tuple(content[key]) for key in ("backends", "ranks") if key in content}
        return Series(**{**content, **lists, "name": name, "kinds": kinds})

    def _exhibit(self, content: dict[str, Any], series: Mapping[str, Series]) -> Exhibit:
        kind = "figure" if "figure" in content else "table"
        place = f"{kind} {content.get(kind, '?')}"
        may = {*_names_of(Exhibit), "rows", "quick", "standard", "full", "figure", "table"} - {"kind", "number", "row_by"}
        content = self._known(content, place, (kind, "title"), may)
        if "of" in content:
            return Exhibit(kind, content[kind], content["title"], of=content["of"], plot=self._plot(content, place))
        columns = tuple(self._column(one, place) for one in content.get("columns", ()))
        row_by, lines = self._lines(content.get("rows", ()), len(columns), place)
        unknown = [name for name in content.get("series", ()) if name not in series]
        if unknown:
            raise self._wrong(place, f"the series {unknown[0]!r}", f"some of {', '.join(series)}")
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
            note=content.get("note", ""),
            never_ours=content.get("never_ours", ""),
            plot=self._plot(content, place) if "plot" in content else None,
        )
        self._check_measures(made, place)
        return made

    def _column(self, content: dict[str, Any], place: str) -> Column:
        reserved = {"heading", "machine", "holds"}
        parameters = {name: value for name, value in content.items() if name not in reserved}
        machine = content.get("machine", "")
        if machine and machine not in self.content["machines"]:
            raise self._wrong(place, f"the machine {machine!r}", f"some of {', '.join(self.content['machines'])}")
        words = ", ".join(str(value) if isinstance(value, str) else f"{value:,} {name}" for name, value in parameters.items())
        return Column(content.get("heading", words), machine, tuple(content.get("holds", ("seconds",))), parameters)

    def _lines(self, rows: Sequence[Mapping[str, Any]], columns: int, place: str) -> tuple[str, tuple[Line, ...]]:
        row_by = INSTANCE
        lines = []
        for row in rows:
            by = next((name for name in (INSTANCE, PROCESSORS, WORKLOAD) if name in row), None)
            if by is None:
                raise self._wrong(place, f"a row with the keys {sorted(row)}", "instance, processors or workload")
            # A row that names an instance may name the workload that runs it too.
            row_by, key = by, str(row[by])
            self._known(row, f"{place}, row {key}", (by,), ("label", "spec", "figures", "percentages", WORKLOAD))
            figures = tuple(_as_figure(one) for one in row.get("figures", ()))
            if figures and len(figures) != columns:
                raise self._wrong(f"{place}, row {key}", f"{len(figures)} figures", f"{columns}, one for each column")
            shares = tuple(map(tuple, row.get("percentages", ())))
            spec = str(row.get("spec", key if by == INSTANCE else ""))
            lines.append(Line(key, str(row.get("label", key)), spec, figures, shares, row.get(WORKLOAD, "")))
        return row_by, tuple(lines)

    def _scale(self, name: str, content: Mapping[str, Any], lines: Sequence[Line], place: str) -> Scale:
        """What an exhibit says of a scale, over what its paper says."""
        own = content.get(name, {})
        said = {**self.content.get("scales", {}).get(name, {}), **own}
        self._known(said, f"{place}, {name}", (), ("rows", "amount", "repeats", "seeds", "columns"))
        keys = tuple(map(str, said.get("rows", [line.key for line in lines])))
        unknown = [key for key in keys if key not in {line.key for line in lines}]
        if unknown:
            raise self._wrong(f"{place}, {name}", f"the row {unknown[0]!r}", "a row of the exhibit")
        amount = {**content.get("amount", {}), **self.content.get("scales", {}).get(name, {}).get("amount", {})}
        amount.update(own.get("amount", {}))
        return Scale(keys, amount, said.get("repeats", 3), tuple(said.get("seeds", (0,))), said.get("columns", {}))

    def _plot(self, content: Mapping[str, Any], place: str) -> Plot:
        said = self._known(content["plot"], f"{place}, plot", ("measure",), _names_of(Plot))
        return Plot(**{**said, "columns": tuple(said.get("columns", ()))})

    def _disagreement(self, content: Mapping[str, Any]) -> Disagreement:
        said = self._known(content, "disagreements", ("where", "says", "finding"), ("exhibits", "quote"))
        return Disagreement(said["where"], said["says"], said["finding"], tuple(map(str, said.get("exhibits", ()))))

    # --- checks ---

    def _check_measures(self, made: Exhibit, place: str) -> None:
        from reports.measures import MEASURES

        for name in (*made.shows, *(part for column in made.columns for part in column.holds)):
            if name not in MEASURES:
                raise self._wrong(place, f"the measure {name!r}", f"some of {', '.join(MEASURES)}")

    def _known(
        self, content: Any, place: str, needed: Sequence[str], may: Sequence[str] | set[str] = ()
    ) -> dict[str, Any]:
        if not isinstance(content, dict):
            raise self._wrong(place, repr(content), f"a table with {', '.join(needed) or 'keys'}")
        missing = [key for key in needed if key not in content]
        if missing:
            raise self._wrong(place, f"no key {missing[0]!r}", f"the keys {', '.join(needed)}")
        unknown = [key for key in content if key not in needed and key not in may]
        if unknown:
            raise self._wrong(place, f"the key {unknown[0]!r}", f"some of {', '.join(sorted({*needed, *may}))}")
        return content

    def _wrong(self, place: str, found: str, expected: str) -> PaperError:
        return PaperError(f"{self.path}: {place}: found {found}, expected {expected}")


def _as_figure(value: Any) -> Figure:
    return tuple(value) if isinstance(value, list) else (value,)


def _names_of(kind: type) -> set[str]:
    return {one.name for one in fields(kind)}


def exhibits(papers: Sequence[Paper]) -> Iterator[tuple[Paper, Exhibit]]:
    """All exhibits of papers that have data of their own."""
    return ((paper, one) for paper in papers for one in paper.exhibits if not one.of)
