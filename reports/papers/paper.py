"""Papers as data: what each of a paper's tables and figures printed, and what is run to print it again.

A paper is a file `reports/papers/NAME.toml`. Its tables and figures are *exhibits*. An exhibit has rows and columns
with the published figures, and names *series*: ways in which we run its work, each on some kinds of devices.
`reports.papers.files` reads and checks the files: the classes here are the types of their tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec

from core.errors import UserError

SCALES = ("quick", "standard", "full")
PUBLISHED = "published"
"""The mapping of a series that lays the work on a device as its paper does."""

INSTANCE, PROCESSORS, WORKLOAD = "instance", "processors", "workload"
"""What the rows of an exhibit may be; the second: kind and number of the processors, `cores:8`."""

Figure = tuple[Any, ...]
"""A published cell: numbers or texts as printed; empty where nothing is printed."""
DeviceKind = Literal["core", "cores", "gpu"]
KINDS: tuple[DeviceKind, ...] = get_args(DeviceKind)


class PaperPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of a paper's file. A key that it does not declare is an error."""

    def __hash__(self) -> int:
        """Hash the texts; mappings have no hash."""
        return hash(tuple(value for value in msgspec.structs.astuple(self) if isinstance(value, str)))

    def fill(self, name: str, value: Any) -> None:
        """Set a field whose default follows from others, before the part is used."""
        msgspec.structs.force_setattr(self, name, value)


class Machine(PaperPart, frozen=True):
    """What a paper measured on: its name, and a short one for headings."""

    short: str
    name: str


class ExhibitColumn(PaperPart, frozen=True):
    """A published column.

    Attributes
    ----------
    heading : str
        As people read it; by default the parameters in words.
    machine : str
        Whose figures they are: a key of the paper's machines; empty where the column is no measurement.
    holds : tuple of str
        What the parts of its cells are, names of `reports.papers.measures`: seconds, speedup ...
    parameters : mapping
        Options of a run that stands in this column, where columns are told by options: strategy, ants ...
    """

    heading: str = ""
    machine: str = ""
    holds: tuple[str, ...] = ("seconds",)
    parameters: dict[str, Any] = {}

    def __post_init__(self) -> None:
        """Word the parameters."""
        words = [f"{value:,} {name}" if isinstance(value, int) else value for name, value in self.parameters.items()]
        self.fill("heading", self.heading or ", ".join(words))


class ExhibitRow(PaperPart, frozen=True):
    """A row: its key, how it is called, what is run, and its published cells, one for each column.

    Attributes
    ----------
    instance, processors, workload : str
        Key of the row, the first that is given. A row that names an instance may name the workload that runs it too.
    label : str
        As people read it; by default the key.
    spec : str
        What `--instance` is given; empty where nothing is, so that the row is not run unless the user says what it is.
        By default the instance of a row without options.
    figures, percentages : tuple
        As published, a list where a cell has several parts; percentages are those that a cell has besides, in the
        paper's order.
    options : mapping
        Of the driver, in place of `--instance`.
    series : tuple of str
        Only these are run; empty: all.
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
        """Fill in the label and what is run; a figure of one part is a cell too."""
        self.fill("label", self.label or self.key)
        self.fill("figures", tuple(tuple(one) if isinstance(one, list | tuple) else (one,) for one in self.figures))
        if self.spec is None:
            self.fill("spec", "" if self.options else self.instance)

    @property
    def key(self) -> str:
        """The instance, or the processors, or the workload."""
        return self.instance or self.processors or self.workload


class Series(PaperPart, frozen=True):
    """A way in which we run an exhibit's work.

    Attributes
    ----------
    name, heading : str
    options : mapping
        Of the workload's driver; a run belongs to the series if it was asked for these.
    kinds : tuple of str
        Kinds of devices that it runs on, the preferred first: on a machine without that it runs on the next.
    on_cores : str
        Heading of its runs on other devices than a GPU; empty: `heading`.
    everywhere : bool
        Whether it runs on devices of all its kinds and not of the preferred one alone.
    backends : tuple of str
        Only these; empty: any.
    ranks : tuple of int
        Numbers of MPI ranks.
    hosts : int
        Hosts that its ranks have to be on at least.
    rows : tuple of str
        Keys of the only rows that it runs; empty: all.
    why_not : str
        Why it cannot run on a machine that has none of its devices, ranks or hosts.
    """

    name: str
    heading: str
    options: dict[str, Any] = {}
    kinds: tuple[DeviceKind, ...] = KINDS
    on_cores: str = ""
    everywhere: bool = False
    backends: tuple[str, ...] = ()
    ranks: tuple[int, ...] = (1,)
    hosts: int = 1
    rows: tuple[str, ...] = ()
    why_not: str = ""

    def __post_init__(self) -> None:
        """A table of ranks shows what ranks do together, and not a run that the first of them does faster alone."""
        if max(self.ranks, default=1) > 1:
            self.fill("options", {**self.options, "distribute": "always"})

    def runs(self, line: ExhibitRow) -> bool:
        """Whether it runs a row."""
        return (not self.rows or line.key in self.rows) and (not line.series or self.name in line.series)

    def heading_on(self, kind: str) -> str:
        """Return the heading of its runs on a kind of devices."""
        return self.heading if kind == "gpu" or not self.on_cores else self.on_cores

    @property
    def published(self) -> bool:
        """Whether it lays the work on a device as the paper does."""
        return self.options.get("mapping") == PUBLISHED


class Scale(PaperPart, frozen=True):
    """How much of an exhibit is run: `keys` of its rows, `amount` of work, repetitions and seeds of each run.

    `columns` restricts those that are told by options, by the values of these.
    """

    keys: tuple[str, ...] = msgspec.field(name="rows", default=())
    amount: dict[str, Any] = {}
    repeats: int = 3
    seeds: tuple[int, ...] = (0,)
    columns: dict[str, list[Any]] = {}


class Plot(PaperPart, frozen=True):
    """How an exhibit is drawn: a `measure` over the rows, or over the values of an option `over` for one `row`.

    With `over` a curve is a value of the option `curves`, among `only` if it names some, and a panel is a machine of
    the paper or a series of ours, each with an axis of its own, since their times do not compare. Without it curves
    are the columns, of the paper's `machines` (all, where none is named), and of ours those that have the measure.
    Lines (`kind`) stand where what lies between two places means something: between colony sizes, and not between
    instances. `axis` is the vertical axis in words, with `over` that of the paper's panels alone, and `logarithmic`
    its scale.
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
        Driver that runs it; of several, rows name theirs.
    options : mapping
        Of the driver, the same in all runs: what the exhibit measures. A run with others does not belong to it. An
        `instance` among them is named as records name it.
    amount : mapping
        How much the paper ran (iterations, walks ...): a run of ours may have another amount, and then says so.
    shows : tuple of str
        What a cell of ours says, names of `reports.papers.measures`.
    columns, lines
        As published. A file calls the latter `rows`.
    series : tuple of Series
        A file has their names.
    scales : mapping
        By name, see `SCALES`; a file has each under its name.
    reference : mapping
        Options of the column that the measure `over_first` divides by, or the other solver as `peer`.
    keep : str
        `best`: of several runs of ours in a cell only that with the best cost stands there.
    note : str
        The published data's remark on its own figures.
    never_ours : str
        Why no run of ours can stand in it; empty where one can.
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
        """Table or figure."""
        return "figure" if self.figure else "table"

    @property
    def number(self) -> str:
        """Its number in the paper; a table's number may stand twice, for its two halves."""
        return self.figure or self.table

    @property
    def row_by(self) -> str:
        """What rows are: `INSTANCE`, `PROCESSORS` or `WORKLOAD`."""
        kinds = (INSTANCE, PROCESSORS, WORKLOAD)
        return next((kind for kind in kinds if any(getattr(line, kind) for line in self.lines)), INSTANCE)

    @property
    def name(self) -> str:
        """`table 4`, `figure 5.1`."""
        return f"{self.kind} {self.number}"

    @property
    def by_options(self) -> bool:
        """True if options of a run choose its column, so that our figures stand in the paper's columns."""
        return any(column.parameters for column in self.columns)

    @property
    def amounts(self) -> set[str]:
        """Names of the options that say how much of it is run, and tell no column."""
        told = {name for column in self.columns for name in column.parameters}
        amounts = [self.amount, *(scale.amount for scale in self.scales.values())]
        return {name for amount in amounts for name in amount} - told

    def is_short(self, amount: Mapping[str, Any]) -> bool:
        """Return True if an amount is less than the paper's, or if the paper prints no number of iterations."""
        unknown = "iterations" in self.amounts and "iterations" not in self.amount
        return unknown or any(amount.get(name, wanted) < wanted for name, wanted in self.amount.items())

    def workloads(self) -> tuple[str, ...]:
        """All drivers that run it."""
        return tuple(dict.fromkeys(line.workload or self.workload for line in self.lines)) or (self.workload,)

    def line(self, key: str) -> ExhibitRow:
        """The row of a key."""
        return next(line for line in self.lines if line.key == key)


class Disagreement(PaperPart, frozen=True):
    """What a paper says in one place and does not bear out in another, and the exhibits that it touches, if any.

    `quote` is the piece of the paper's text.
    """

    where: str
    says: str
    finding: str
    exhibits: tuple[str, ...] = ()
    quote: str = ""


class Paper(PaperPart, frozen=True):
    """Everything that one file says.

    Attributes
    ----------
    name, citation, measured : str
    legend : tuple of str
        Sentences that explain the paper's words.
    machines : mapping
        Those that it measured on, by key.
    exhibits : tuple of Exhibit
    first, plain, same
        Which run on one core a speed-up of ours is over, see `reports.comparison.speedups.BaselineSelection`.
    disagreements : tuple of Disagreement
    extra : mapping
        What else the file has, for readers of one paper's facts: metrics of a profiler ...
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
