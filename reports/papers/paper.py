"""Papers as data: the published tables and figures, and the runs that reproduce them.

A paper is a file `reports/papers/NAME.toml`. Its tables and figures are *exhibits*. An exhibit has rows and columns
with the published figures, and names *series*: configurations that run its work, each on some kinds of devices.
`reports.papers.files` reads and checks the files: the classes here are the types of their tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec

from core.errors import UserError

SCALES = ("quick", "standard", "full")
PUBLISHED = "published"
"""Mapping of a series as in its paper."""

INSTANCE, PROCESSORS, WORKLOAD = "instance", "processors", "workload"
"""Meaning of an exhibit's rows; the second: kind and number of the processors, `cores:8`."""

Figure = tuple[Any, ...]
"""A published cell: numbers or texts as printed; empty for none."""
DeviceKind = Literal["core", "cores", "gpu"]
KINDS: tuple[DeviceKind, ...] = get_args(DeviceKind)


class PaperPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of a paper's file. A key that it does not declare is an error."""

    def __hash__(self) -> int:
        return hash(tuple(value for value in msgspec.structs.astuple(self) if isinstance(value, str)))

    def fill(self, name: str, value: object) -> None:
        """Set a field with a default that depends on others, before the object is used."""
        msgspec.structs.force_setattr(self, name, value)


class Machine(PaperPart, frozen=True):
    """A machine of a paper: its name, and a short one for headings."""

    short: str
    name: str


class ExhibitColumn(PaperPart, frozen=True):
    """A published column.

    Attributes
    ----------
    heading : str
        Printed heading; by default the parameters as text.
    machine : str
        Machine of the figures: a key of the paper's machines; empty if the column is no measurement.
    holds : tuple of str
        Parts of its cells, names of `reports.papers.measures`: seconds, speedup ...
    parameters : mapping
        Options of runs in this column, if options distinguish columns: strategy, ants ...
    """

    heading: str = ""
    machine: str = ""
    holds: tuple[str, ...] = ("seconds",)
    parameters: dict[str, Any] = {}

    def __post_init__(self) -> None:
        words = [f"{value:,} {name}" if isinstance(value, int) else value for name, value in self.parameters.items()]
        self.fill("heading", self.heading or ", ".join(words))


class ExhibitRow(PaperPart, frozen=True):
    """A row: its key, label, run, and published cells, one for each column.

    Attributes
    ----------
    instance, processors, workload : str
        Key of the row, the first that is given. A row that names an instance may name the workload that runs it too.
    label : str
        Printed label; by default the key.
    spec : str
        Value of `--instance`; empty if the row runs only with an instance of the user. By default the instance of a
        row without options.
    figures, percentages : tuple
        As published, a list if a cell has several parts; percentages are further values of a cell, in the paper's
        order.
    options : mapping
        Of the driver, in place of `--instance`.
    series : tuple of str
        The only series to run; empty for all.
    """

    instance: str = ""
    processors: str = ""
    workload: str = ""
    label: str = ""
    spec: str | None = None
    figures: tuple[Any, ...] = ()
    percentages: tuple[Figure, ...] = ()
    options: dict[str, Any] = {}
    series: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.fill("label", self.label or self.key)
        self.fill("figures", tuple(tuple(one) if isinstance(one, list | tuple) else (one,) for one in self.figures))
        if self.spec is None:
            self.fill("spec", "" if self.options else self.instance)

    @property
    def key(self) -> str:
        return self.instance or self.processors or self.workload


class Series(PaperPart, frozen=True):
    """A configuration that runs an exhibit's work.

    Attributes
    ----------
    name, heading : str
    options : mapping
        Options of the workload's driver; runs with these belong to the series.
    kinds : tuple of str
        Kinds of devices, the preferred first: a machine without that runs on the next.
    on_cores : str
        Heading of its runs on devices other than a GPU; by default `heading`.
    everywhere : bool
        True to run on devices of all its kinds, not only of the preferred one.
    backends : tuple of str
        The only backends; empty for any.
    ranks : tuple of int
        Numbers of MPI ranks.
    cores : tuple of int
        Numbers of cores on which it runs beside all of them, on devices of the kind `cores` that accept a number.
    hosts : int
        Least number of hosts of its ranks; of emulated hosts their number.
    network : str
        Network of emulated hosts, a profile of `cluster.emulation`; empty for real hosts.
    rows : tuple of str
        Keys of the only rows that it runs; empty for all.
    why_not : str
        Reason printed on a machine without its devices, ranks or hosts.
    """

    name: str
    heading: str
    options: dict[str, Any] = {}
    kinds: tuple[DeviceKind, ...] = KINDS
    on_cores: str = ""
    everywhere: bool = False
    backends: tuple[str, ...] = ()
    ranks: tuple[int, ...] = (1,)
    cores: tuple[int, ...] = ()
    hosts: int = 1
    network: str = ""
    rows: tuple[str, ...] = ()
    why_not: str = ""

    def runs(self, line: ExhibitRow) -> bool:
        return (not self.rows or line.key in self.rows) and (not line.series or self.name in line.series)

    def heading_on(self, kind: str) -> str:
        return self.heading if kind == "gpu" or not self.on_cores else self.on_cores

    @property
    def published(self) -> bool:
        return self.options.get("mapping") == PUBLISHED


class Scale(PaperPart, frozen=True):
    """Part of an exhibit to run: `keys` of its rows, `amount` of work, repetitions and seeds of each run.

    `columns` restricts columns that options distinguish, by the values of these options. `row_amounts` has the amounts
    of rows that differ from the others: small instances run longer, so that start-up is a small part of their time.
    """

    keys: tuple[str, ...] = msgspec.field(name="rows", default=())
    amount: dict[str, Any] = {}
    row_amounts: dict[str, dict[str, Any]] = {}
    repeats: int = 3
    seeds: tuple[int, ...] = (0,)
    columns: dict[str, list[Any]] = {}

    def amount_of(self, row: str) -> dict[str, Any]:
        return {**self.amount, **self.row_amounts.get(row, {})}


class Plot(PaperPart, frozen=True):
    """Picture of an exhibit: a `measure` over the rows, or over the values of an option `over` for one `row`.

    With `over` a curve is a value of the option `curves`, among `only` if given, and a panel is a machine of the paper
    or one of our series, each with a separate axis, since their times are not comparable. Without it curves are the
    columns, of the paper's `machines` (by default all), and those of ours with the measure. Lines (`kind`) connect
    places if values between them have a meaning: colony sizes, but not instances. `axis` is the label of the vertical
    axis, with `over` only that of the paper's panels, and `logarithmic` its scale.
    """

    measure: str
    kind: Literal["points", "lines", "bars"] = "points"
    over: str = ""
    row: str = ""
    curves: str = ""
    only: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()
    axis: str = ""
    logarithmic: bool = True


class Exhibit(PaperPart, frozen=True):
    """A table or figure of a paper.

    Attributes
    ----------
    table, figure : str
        Its number, under one of the two names.
    section, title : str
    workload : str
        Driver that runs it; rows name theirs if there are several.
    options : mapping
        Options of the driver, equal in all runs of the exhibit. Runs with others do not belong to it. An `instance`
        among them has its name in records.
    amount : mapping
        Amount of the paper's runs (iterations, walks ...): our run with another amount gets a note.
    shows : tuple of str
        Measures in our cells, names of `reports.papers.measures`.
    columns, lines
        As published. A file calls the latter `rows`.
    series : tuple of Series
        A file has their names.
    scales : mapping
        By name, see `SCALES`; a file has each under its name.
    reference : mapping
        Options of the column that the measure `over_first` divides by, or the other solver as `peer`.
    keep : str
        `best`: of several runs in a cell only the one with the best cost is shown.
    note : str
        The published data's remark on its own figures.
    never_ours : str
        Reason why our runs cannot be in it; empty if they can.
    plot : Plot or None
    of : str
        For a figure that draws a table: the table's number.
    """

    title: str
    table: str = ""
    figure: str = ""
    section: str = ""
    workload: str = ""
    options: dict[str, Any] = {}
    amount: dict[str, Any] = {}
    shows: tuple[str, ...] = ("seconds", "speedup")
    columns: tuple[ExhibitColumn, ...] = ()
    lines: tuple[ExhibitRow, ...] = msgspec.field(name="rows", default=())
    series: tuple[Series, ...] = ()
    scales: dict[str, Scale] = {}
    reference: dict[str, Any] = {}
    keep: str = ""
    note: str = ""
    never_ours: str = ""
    plot: Plot | None = None
    of: str = ""

    @property
    def kind(self) -> str:
        return "figure" if self.figure else "table"

    @property
    def number(self) -> str:
        """Its number in the paper; both halves of a table have the same."""
        return self.figure or self.table

    @property
    def row_by(self) -> str:
        """Meaning of rows: `INSTANCE`, `PROCESSORS` or `WORKLOAD`."""
        kinds = (INSTANCE, PROCESSORS, WORKLOAD)
        return next((kind for kind in kinds if any(getattr(line, kind) for line in self.lines)), INSTANCE)

    @property
    def name(self) -> str:
        return f"{self.kind} {self.number}"

    @property
    def by_options(self) -> bool:
        """True if options of a run choose its column, so that our figures are in the paper's columns."""
        return any(column.parameters for column in self.columns)

    @property
    def amounts(self) -> set[str]:
        """Options that set the amount of work and distinguish no column."""
        of_columns = {name for column in self.columns for name in column.parameters}
        amounts = [self.amount, *(scale.amount for scale in self.scales.values())]
        return {name for amount in amounts for name in amount} - of_columns

    def is_short(self, amount: Mapping[str, Any]) -> bool:
        """True if an amount is less than the paper's, or if the paper prints no number of iterations."""
        unknown = "iterations" in self.amounts and "iterations" not in self.amount
        return unknown or any(amount.get(name, wanted) < wanted for name, wanted in self.amount.items())

    def workloads(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(line.workload or self.workload for line in self.lines)) or (self.workload,)

    def line(self, key: str) -> ExhibitRow:
        return next(line for line in self.lines if line.key == key)


class Disagreement(PaperPart, frozen=True):
    """A contradicted statement of a paper, as `quote` of its text, and the affected exhibits, if any."""

    where: str
    says: str
    finding: str
    exhibits: tuple[str, ...] = ()
    quote: str = ""


class Paper(PaperPart, frozen=True):
    """Content of a paper's file.

    Attributes
    ----------
    legend : tuple of str
        Sentences that explain the paper's words.
    machines : mapping
        Machines of the paper, by key.
    first, plain, same
        Choice of the one-core baseline of our speed-ups, see `reports.comparison.speedups.BaselineSelection`.
    extra : mapping
        Further content for code of a single paper: metrics of a profiler ...
    """

    name: str
    citation: str
    measured: str
    machines: dict[str, Machine]
    exhibits: tuple[Exhibit, ...]
    legend: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    plain: dict[str, Any] = {}
    same: tuple[str, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    extra: dict[str, Any] = {}

    def workloads(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one for exhibit in self.exhibits for one in exhibit.workloads() if one))

    def chosen(self, kind: str | None = None, number: str | None = None) -> tuple[Exhibit, ...]:
        """Its exhibits, or those of a kind and number; both halves of a table have the same number.

        Raises `UserError` with the known numbers for an unknown one.
        """
        exhibits = tuple(one for one in self.exhibits if kind is None or (one.kind, one.number) == (kind, number))
        if not exhibits:
            there = ", ".join(dict.fromkeys(one.number for one in self.exhibits if one.kind == kind))
            raise UserError(f"--{kind} {number}: expected one of {there or 'no ' + str(kind)} in {self.name}")
        return exhibits

    def drawn(self, exhibit: Exhibit) -> Exhibit:
        """Return the exhibit with the data of a figure: the table that it draws, or itself."""
        if not exhibit.of:
            return exhibit
        return next(one for one in self.exhibits if one.number == exhibit.of and not one.of)
