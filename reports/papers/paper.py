"""Papers as data: the published tables and figures, the runs that reproduce them, and the tables that pages show.

A paper is a file `reports/papers/NAME.toml`. Its tables and figures are *exhibits*. An exhibit has the rows and columns
of the paper (`published`) with figures as printed, and the columns of our page (`columns`). Cells of our page are
published figures, runs of a *series*, or made from both. What a page shows is what `reproduce` runs.
`reports.papers.files` reads and checks the files: the classes here are the types of their tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args

import msgspec

from core.errors import UserError

ScaleName = Literal["quick", "standard", "full"]
SCALES: tuple[ScaleName, ...] = get_args(ScaleName)
MOST_COLUMNS = 7
"""Largest number of a table's columns beside the rows' names."""
MOST_CURVES, MOST_PANELS = 5, 2
"""Largest numbers of a picture's columns and panels."""

Figure = tuple[Any, ...]
"""A published cell: numbers or texts as printed; empty for none."""
DeviceKind = Literal["core", "cores", "gpu"]


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


class PublishedColumn(PaperPart, frozen=True):
    """A published column.

    Attributes
    ----------
    heading : str
    machine : str
        Machine of the figures: a key of the paper's machines; empty if the column is no measurement.
    holds : tuple of str
        Names of the parts of its cells: seconds, speedup, transfers ...
    """

    heading: str
    machine: str = ""
    holds: tuple[str, ...] = ("seconds",)

    @property
    def key(self) -> str:
        """Its name in the file: machine and heading."""
        return f"{self.machine} {self.heading}".strip()


class ExhibitRow(PaperPart, frozen=True):
    """A row: its name, run, and published cells, one for each published column.

    Attributes
    ----------
    name : str
        Printed label, unique in the exhibit.
    instance : str
        Value of `--instance`, by default the name; empty for a row that cannot run, or with other `options`.
    processors : str
        Kind and number of the processors of its runs, `cores:8`; empty if the columns decide.
    workload : str
        Driver that runs it; by default the exhibit's.
    figures : tuple
        As published, a list if a cell has several parts.
    options : mapping
        Of the driver, beside `--instance`.
    x : float, optional
        Place on the horizontal axis of a picture with lines; panel: name of its panel.
    """

    name: str
    instance: str | None = None
    processors: str = ""
    workload: str = ""
    figures: tuple[Any, ...] = ()
    options: dict[str, Any] = {}
    x: float | None = None
    panel: str = ""

    def __post_init__(self) -> None:
        self.fill("figures", tuple(tuple(one) if isinstance(one, list | tuple) else (one,) for one in self.figures))
        if self.instance is None:
            self.fill("instance", "" if self.options or self.processors else self.name)


class Series(PaperPart, frozen=True):
    """A configuration that runs an exhibit's work.

    Attributes
    ----------
    name : str
    options : mapping
        Options of the workload's driver; runs with these belong to the series.
    kinds : tuple of str
        Kinds of devices, the preferred first: a machine without that runs on the next.
    backends : tuple of str
        The only backends; empty for any.
    ranks : int
        Number of MPI ranks; 0 for as many as the machine has cores (or GPUs).
    cores : int
        Number of cores of a rank on a device of the kind `cores`; 0 for all.
    hosts, network : int, str
        Number of hosts of the ranks, and the network of emulated ones, a profile of `cluster.emulation`.
    why_not : str
        Reason printed on a machine without its devices, ranks or hosts.
    """

    name: str
    options: dict[str, Any] = {}
    kinds: tuple[DeviceKind, ...] = ("gpu", "cores")
    backends: tuple[str, ...] = ()
    ranks: int = 1
    cores: int = 0
    hosts: int = 1
    network: str = ""
    why_not: str = ""


class ModelledCluster(PaperPart, frozen=True):
    """Hosts of a paper's cluster: their network (of `cluster/model`), number, cores each, and number of sites."""

    network: str
    hosts: int
    cores: int
    sites: int = 1

    @property
    def ranks(self) -> int:
        return self.hosts * self.cores


class Column(PaperPart, frozen=True):
    """A column of our table: published figures, our runs, or a ratio of two columns.

    Attributes
    ----------
    head : str
        Heading. `{device}` means the device of its runs (16 cores, H200), `{amount}` the paper's amount of work.
    key : str
        Name by which other columns, checks, answers and plots refer to it; by default the heading.
    published, part : str
        Key of a published column, and the part of its cells; by default the first part.
    series : str
        Series of its runs.
    options : mapping
        Options of its runs beside those of the series and the row.
    measure : str
        Measure of a run, a name of `reports.papers.measures.MEASURES`.
    over : str
        Key of a column: a cell is then the rate of its run over that of the other's in the same row, or, without a
        series, the ratio of two columns' numbers: `over` divided by `published`.
    peer : str
        Another solver: its seconds, or milliseconds with that measure, beside the runs of the series.
    model : ModelledCluster, optional
        Cells are seconds that the cluster model expects there from the run of the series, on one core.
    rows : tuple of str
        Names of the only rows that it has; empty for all.
    hidden : bool
        True for runs that other columns, plots and answers use, without a column of their own.
    """

    head: str
    key: str = ""
    published: str = ""
    part: str = ""
    series: str = ""
    options: dict[str, Any] = {}
    measure: str = "seconds"
    over: str = ""
    peer: str = ""
    model: ModelledCluster | None = None
    rows: tuple[str, ...] = ()
    hidden: bool = False

    def __post_init__(self) -> None:
        self.fill("key", self.key or self.head)


class Scale(PaperPart, frozen=True):
    """Part of an exhibit to run.

    Attributes
    ----------
    rows, columns : tuple of str
        Names of the rows and keys of the columns to run; empty for all. Rows run in this order, the most telling first:
        a `--budget` may end before the others.
    amount, row_amounts : mapping
        Amount of the proof, which all devices run, by option; and of single rows.
    column_rows : mapping
        Names of the only rows of a column, by its key; other columns have all rows.
    once : mapping
        Names of rows in which runs of a series, by its name, take minutes: such a run is made once, without a rate.
    measure : float
        Seconds of a rate's measurement (`--measure`).
    rate_amounts : mapping
        Amount of each run of a rate (`--rate-amount`), by kind of device: the paper's, where a larger run is faster.
    seeds : tuple of int
    """

    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    amount: dict[str, Any] = {}
    row_amounts: dict[str, dict[str, Any]] = {}
    column_rows: dict[str, tuple[str, ...]] = {}
    once: dict[str, tuple[str, ...]] = {}
    measure: float = 10.0
    rate_amounts: dict[DeviceKind, int] = {}
    seeds: tuple[int, ...] = (0,)

    def amount_of(self, row: str) -> dict[str, Any]:
        return {**self.amount, **self.row_amounts.get(row, {})}


class Check(PaperPart, frozen=True):
    """A condition on the cells of a column; the claim holds if all conditions do.

    `above`, `below`: cells are above (below) `value`, or the cells of the column `than` times `value` (1). `grows`,
    `falls`: the last cell is above (below) the first. `reaches`: the largest cell is at least `value` (or the largest
    of `than`). `near`: cells are within the factor `value` of those of `than`.
    """

    column: str
    rule: Literal["above", "below", "grows", "falls", "reaches", "near"]
    value: float = 1.0
    than: str = ""
    rows: tuple[str, ...] = ()
    share: float = 1.0
    """Least part of the cells with the property."""


class Plot(PaperPart, frozen=True):
    """Picture of an exhibit: columns over the rows.

    `bars` and `points` for rows without an order; `lines` over the rows' `x`, which connect runs of equal work. At most
    five `columns` (keys), and two `panels` (of rows). `axis` is the label of the vertical axis.
    """

    columns: tuple[str, ...]
    axis: str
    kind: Literal["points", "lines", "bars"] = "bars"
    x_axis: str = ""
    panels: tuple[str, ...] = ()
    logarithmic: bool = True


class Exhibit(PaperPart, frozen=True):
    """A table or figure of a paper, or several that one table of ours answers.

    Attributes
    ----------
    name : str
        `table 4`, `figure 1`.
    also : tuple of str
        Names of further exhibits that the same table shows.
    section, title, claim : str
        The claim is one sentence.
    workload : str
        Driver that runs it; rows name theirs if there are several.
    options : mapping
        Options of the driver, equal in all runs of the exhibit.
    amount : mapping
        Amount of the paper's runs by option (iterations, climbers ...): seconds are those of this amount.
    phases : mapping
        Names of the kernels of each phase of an iteration, which launches each once.
    published, rows
        The paper's columns and rows.
    columns
        Columns of our table.
    checks
        Conditions under which the claim holds; without one it cannot be tested.
    answer : str
        Content of the cells as text, with references: `{KEY.min}`, `.max`, `.first`, `.last`, `{KEY[ROW]}`.
    holds, fails : str
        Sentence after the verdict, with the same references.
    untested : str
        Reason why the claim cannot be tested at all, in place of checks.
    note : str
        A remark on the published figures.
    """

    name: str
    title: str
    claim: str = ""
    also: tuple[str, ...] = ()
    section: str = ""
    workload: str = ""
    options: dict[str, Any] = {}
    amount: dict[str, Any] = {}
    phases: dict[str, tuple[str, ...]] = {}
    published: tuple[PublishedColumn, ...] = ()
    rows: tuple[ExhibitRow, ...] = ()
    columns: tuple[Column, ...] = ()
    checks: tuple[Check, ...] = ()
    answer: str = ""
    holds: str = ""
    fails: str = ""
    untested: str = ""
    note: str = ""
    plot: Plot | None = None
    scales: dict[str, Scale] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.also)

    def workloads(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.workload or self.workload for row in self.rows)) or (self.workload,)

    def row(self, name: str) -> ExhibitRow:
        return next(row for row in self.rows if row.name == name)

    def column(self, key: str) -> Column:
        return next(column for column in self.columns if column.key == key)

    def shown(self) -> Iterator[Column]:
        return (column for column in self.columns if not column.hidden)


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
    name, title, citation : str
        The title heads its page: "O'Neil, Tamir, Burtscher 2011: hill climbing".
    measured : str
        Meaning of the paper's times.
    words : tuple of str
        Sentences that explain the paper's words.
    machines : mapping
        Machines of the paper, by key.
    extra : mapping
        Further content for code of a single paper: metrics of a profiler ...
    """

    name: str
    title: str
    citation: str
    measured: str
    machines: dict[str, Machine]
    series: dict[str, Series]
    exhibits: tuple[Exhibit, ...]
    words: tuple[str, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    extra: dict[str, Any] = {}

    def workloads(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one for exhibit in self.exhibits for one in exhibit.workloads() if one))

    def chosen(self, kind: str | None = None, number: str | None = None) -> tuple[Exhibit, ...]:
        """Its exhibits, or those of a kind and number.

        Raises `UserError` with the known numbers for an unknown one.
        """
        exhibits = tuple(one for one in self.exhibits if kind is None or f"{kind} {number}" in one.names)
        if not exhibits:
            names = [name for one in self.exhibits for name in one.names if name.startswith(f"{kind} ")]
            there = ", ".join(name.removeprefix(f"{kind} ") for name in dict.fromkeys(names))
            raise UserError(f"--{kind} {number}: expected one of {there or 'no ' + str(kind)} in {self.name}")
        return exhibits
