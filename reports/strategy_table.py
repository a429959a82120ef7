"""A published table of strategies by colony sizes (menezes2019, table II), with our runs in its cells.

Strategies are ways to do the same work, so a ratio stands only between runs of equal trajectories. The paper does not
print its number of iterations: its seconds stand alone, its ratios over the first strategy beside ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from reports.comparison import Likeness, Row, compare_works, is_baseline
from reports.parameters import parameters, shared, worded
from reports.records import Record, RecordError
from reports.statistics import Estimate, ratio_of_medians

LAYOUT = "strategies"
LIKENESS = Likeness(first=("strategy",))

# What a line or a column says of a run, so that runs of one device's table may differ in it.
_PLACES = ("strategy", "ants", "iterations")
_PHEROMONE = ("deposit", "evaporate", "pheromone_update")

Column = tuple[str, int]


@dataclass(frozen=True)
class Measured:
    """A run of ours, with times by the iteration: end to end without compilation.

    `ratio` is the first strategy's median over this one's, on the same device and for equal work; None for the first
    strategy itself, and where that did not run.
    """

    row: Row
    ratio: Estimate | None = None

    @property
    def iteration(self) -> Estimate:
        """Median seconds of an iteration."""
        median, iterations = self.row.running.median, self.row.record.parameters["iterations"]
        low, high = (None if end is None else end / iterations for end in (median.low, median.high))
        return Estimate(median.value / iterations, low, high)

    @property
    def baseline_s(self) -> float | None:
        """Seconds of an iteration on one core of our own CPU; None where it did not run, or is this run."""
        if self.row.baseline_s is None or is_baseline(self.row):
            return None
        return self.row.baseline_s / self.row.record.parameters["iterations"]

    @property
    def pheromone_share(self) -> float | None:
        """Part of an iteration that evaporation and deposit take; None where the run did not measure its phases."""
        phases = self.row.record.details.get("phase_seconds")
        if not isinstance(phases, Mapping) or not sum(phases.values()):
            return None
        return sum(phases.get(name, 0.0) for name in _PHEROMONE) / sum(phases.values())


@dataclass(frozen=True)
class Cell:
    """A strategy at a colony size: what the paper prints, and ours where it ran.

    `ratio` is the paper's over its first strategy, None for that one; `fastest`: ours, where all strategies ran.
    """

    seconds: float
    ratio: float | None
    ours: Measured | None = None
    fastest: bool = False


@dataclass(frozen=True)
class Line:
    """An instance, with a cell per column of the report; `iterations` of ours, None on the paper's own line."""

    instance: str
    cells: tuple[Cell, ...]
    iterations: int | None = None


class Tally(NamedTuple):
    """In how many cases a strategy is the fastest of all, and faster than the first, here and in the paper."""

    strategy: str
    fastest: int
    fastest_published: int
    faster: int
    faster_published: int


@dataclass(frozen=True)
class DeviceTable:
    """The published table as one of our devices fills it.

    `common` are the parameters that all its runs share and no line or column says, `repetitions` is their number where
    it is the same in all, `missing` names the paper's instances without a run. `tallies` count the `complete` cases:
    lines and colony sizes for which every strategy ran.
    """

    first: Row
    lines: tuple[Line, ...]
    missing: tuple[str, ...]
    common: Mapping[str, Any]
    repetitions: int | None
    complete: int
    tallies: tuple[Tally, ...]


@dataclass(frozen=True)
class OwnLine:
    """A run that the published table has no cell for, and the parameters that set it apart from its neighbours."""

    ours: Measured
    parameters: str


@dataclass(frozen=True)
class OwnTable:
    """Runs of a variant that the published table has no cell for; `common` are the parameters that all share."""

    variant: str
    lines: tuple[OwnLine, ...]
    common: Mapping[str, Any]


@dataclass(frozen=True)
class InstanceLine:
    """A published instance, and the run with the shortest tour among ours in the published table."""

    instance: str
    cities: int
    optimum: int
    best: Record | None


@dataclass(frozen=True)
class StrategyReport:
    """Everything that the report prints; `unconfirmed` are runs whose tour the NumPy scorer did not confirm."""

    published: Mapping[str, Any]
    columns: tuple[Column, ...]
    instances: tuple[InstanceLine, ...]
    printed: tuple[Line, ...]
    devices: tuple[DeviceTable, ...]
    own: tuple[OwnTable, ...]
    machines: Mapping[str, Mapping[str, Any]]
    unconfirmed: tuple[Record, ...]

    @property
    def runs(self) -> list[Measured]:
        """All of ours that the report shows."""
        placed = [cell.ours for table in self.devices for line in table.lines for cell in line.cells if cell.ours]
        return placed + [line.ours for table in self.own for line in table.lines]


def laid_out(published: Mapping[str, Any], runs: Sequence[Record], unconfirmed: tuple[Record, ...]) -> StrategyReport:
    """Lay confirmed runs out in a publication's cells; see `reports.paper_tables.tables_report`."""
    for record in runs:
        _require_places(record, published["strategies"])
    columns = tuple((strategy, ants) for strategy in published["strategies"] for ants in published["tables"]["ants"])
    printed = tuple(_printed(row, columns) for row in published["tables"]["rows"])
    comparisons = compare_works(runs, LIKENESS)
    placed: list[Measured] = []
    others: list[Measured] = []
    for comparison in comparisons:
        for run in _measured(comparison.rows, columns[0][0]):
            (placed if _has_cell(run.row.record, published) else others).append(run)
    return StrategyReport(
        published,
        columns,
        tuple(_instance(row, placed) for row in published["instances"]["rows"]),
        printed,
        tuple(_device_table(ours, printed, columns) for ours in _by_device(placed)),
        tuple(_own_tables(others)),
        comparisons[0].machines,
        unconfirmed,
    )


def _require_places(record: Record, strategies: Iterable[str]) -> None:
    found = parameters(record)
    missing = [name for name in (*_PLACES, "variant") if name not in found]
    if missing:
        raise RecordError(f"{record.label}: expected the parameter {missing[0]}, found {sorted({*found} - {'seed'})}")
    if found["strategy"] not in strategies:
        raise RecordError(
            f"{record.label}: expected a strategy among {', '.join(strategies)}, found {found['strategy']!r}"
        )
    for name in ("ants", "iterations"):
        if not isinstance(found[name], int) or found[name] < 1:
            raise RecordError(f"{record.label}: expected {name} of at least 1, found {found[name]!r}")


# --- what the paper prints ---


def _printed(row: Mapping[str, Any], columns: Sequence[Column]) -> Line:
    first = columns[0][0]
    sizes = [ants for strategy, ants in columns if strategy == first]
    seconds = {(strategy, ants): row[strategy][sizes.index(ants)] for strategy, ants in columns}
    return Line(
        row["instance"],
        tuple(
            Cell(seconds[column], None if column[0] == first else seconds[first, column[1]] / seconds[column])
            for column in columns
        ),
    )


def _has_cell(record: Record, published: Mapping[str, Any]) -> bool:
    return (
        record.instance in {row["instance"] for row in published["tables"]["rows"]}
        and record.parameters["ants"] in published["tables"]["ants"]
        and all(record.parameters.get(name) == value for name, value in published["work"].items())
    )


# --- ours in its cells ---


def _measured(rows: Sequence[Row], first: str) -> Iterator[Measured]:
    """Yield the runs of one work, each with its ratio over the first strategy on the same device."""
    references = {_place(row): row for row in rows if _strategy(row) == first}
    for row in rows:
        reference = references.get(_place(row))
        if reference is None or reference is row or row.running.median.value == 0:
            yield Measured(row)
        else:
            yield Measured(row, ratio_of_medians(_running(reference), _running(row)))


def _strategy(row: Row) -> str:
    return str(parameters(row.record)["strategy"])


def _running(row: Row) -> list[float]:
    return [sample.running_s for sample in row.record.samples]


def _place(row: Row) -> tuple[str, str, int, str]:
    """Where a run ran."""
    return row.record.backend, row.record.device, row.record.ranks, row.machine


def _by_device(runs: Sequence[Measured]) -> list[list[Measured]]:
    """Sort runs into tables: of one device, seed and parameters, but for what lines and columns say."""
    tables: dict[str, list[Measured]] = {}
    for run in runs:
        alike = {name: value for name, value in parameters(run.row.record).items() if name not in _PLACES}
        tables.setdefault(json.dumps([_place(run.row), alike], sort_keys=True), []).append(run)
    return list(tables.values())


def _device_table(runs: Sequence[Measured], printed: Sequence[Line], columns: Sequence[Column]) -> DeviceTable:
    filled: dict[tuple[str, int, str], dict[Column, Measured]] = {}
    for run in runs:
        record, asked = run.row.record, parameters(run.row.record)
        cells = filled.setdefault((record.instance, asked["iterations"], record.instance_sha256), {})
        cells[asked["strategy"], asked["ants"]] = run
    lines = tuple(
        _filled(one, iterations, cells, columns)
        for one in printed
        for (instance, iterations, _), cells in sorted(filled.items(), key=lambda item: item[0])
        if instance == one.instance
    )
    repetitions = {run.row.running.repetitions for run in runs}
    complete = [cells for line in lines for cells in _complete(line, columns)]
    return DeviceTable(
        runs[0].row,
        lines,
        tuple(one.instance for one in printed if one.instance not in {instance for instance, _, _ in filled}),
        {name: value for name, value in shared([run.row.record for run in runs]).items() if name not in _PLACES},
        repetitions.pop() if len(repetitions) == 1 else None,
        len(complete),
        tuple(_tally(strategy, complete) for strategy in dict.fromkeys(strategy for strategy, _ in columns)),
    )


def _filled(printed: Line, iterations: int, ours: Mapping[Column, Measured], columns: Sequence[Column]) -> Line:
    """The paper's line with our runs in its cells, the fastest of each colony size marked."""
    cells = []
    for column, cell in zip(columns, printed.cells, strict=True):
        rivals = [ours.get(other) for other in columns if other[1] == column[1]]
        mine = ours.get(column)
        fastest = mine is not None and mine is _fastest(rivals)
        cells.append(Cell(cell.seconds, cell.ratio, mine, fastest))
    return Line(printed.instance, tuple(cells), iterations)


def _fastest(rivals: Sequence[Measured | None]) -> Measured | None:
    """The run with the shortest median, where every strategy has one."""
    ran = [rival for rival in rivals if rival]
    return min(ran, key=lambda rival: rival.row.running.median.value) if len(ran) == len(rivals) else None


def _complete(line: Line, columns: Sequence[Column]) -> Iterator[dict[str, Cell]]:
    """Yield the cells of every colony size for which all strategies ran, by strategy."""
    for size in dict.fromkeys(ants for _, ants in columns):
        cells = {strategy: cell for (strategy, ants), cell in zip(columns, line.cells, strict=True) if ants == size}
        if all(cell.ours for cell in cells.values()):
            yield cells


def _tally(strategy: str, complete: Sequence[Mapping[str, Cell]]) -> Tally:
    own = [cells[strategy] for cells in complete]
    shortest = [min(cell.seconds for cell in cells.values()) for cells in complete]
    return Tally(
        strategy,
        sum(cell.fastest for cell in own),
        sum(cell.seconds == seconds for cell, seconds in zip(own, shortest, strict=True)),
        sum(cell.ours is not None and cell.ours.ratio is not None and cell.ours.ratio.value > 1 for cell in own),
        sum(cell.ratio is not None and cell.ratio > 1 for cell in own),
    )


# --- the best tours, and what the paper does not measure ---


def _instance(published: Mapping[str, Any], placed: Sequence[Measured]) -> InstanceLine:
    ours = [run.row.record for run in placed if run.row.record.instance == published["instance"]]
    best = min(ours, key=lambda record: record.best_cost, default=None)
    return InstanceLine(published["instance"], published["cities"], published["optimum"], best)


def _own_tables(runs: Sequence[Measured]) -> Iterator[OwnTable]:
    """Yield a table per variant, its instances from small to large."""
    variants: dict[str, list[Measured]] = {}
    for run in runs:
        variants.setdefault(str(run.row.record.parameters["variant"]), []).append(run)
    for variant, ours in variants.items():
        common = shared([run.row.record for run in ours])
        ours.sort(key=_size)
        yield OwnTable(variant, tuple(OwnLine(run, _apart(run.row.record, common)) for run in ours), common)


def _size(run: Measured) -> tuple[int, str, int]:
    record = run.row.record
    return record.details.get("cities") or 0, record.instance, record.parameters["ants"]


def _apart(record: Record, common: Mapping[str, Any]) -> str:
    return worded({name: value for name, value in parameters(record).items() if name not in common})
