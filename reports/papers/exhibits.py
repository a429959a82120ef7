"""Runs of ours in the rows and columns of a paper's table: the one engine behind all tables and figures of papers.

A paper's exhibit says its rows, columns and cells as data (`reports.papers.paper`). A run belongs to the series that it
was asked for, stands in the row of its instance (or processors), and in the column of its series, or in the paper's own
columns where options tell them. What comes out are data, which `reports.papers.tables` makes a table of and
`reports.papers.plots` a picture.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from reports.comparison.cautions import single_rank_text, used_single_rank
from reports.comparison.speedups import BaselineSelection, ComparedRun, ComparedRuns, compare_each_problem
from reports.papers.footnotes import instance_names, is_short, run_footnotes
from reports.papers.measures import MEASURES, ExhibitCell, missing_solver_text
from reports.papers.paper import PROCESSORS, WORKLOAD, Exhibit, ExhibitColumn, ExhibitRow, Machine, Paper, Series
from reports.papers.run_choice import PlacedRun, choose_runs, find_reference, same_problem
from reports.records.files import Record, families, merge
from reports.records.parameters import shared_parameters
from reports.statistics.seeds import merge_seeds

ON_HOST = "host"
"""What a run has for its bound where the instance was so small that the host searched it: it belongs to every bound."""
NOT_RECORDED = ("peers", "history", "verify", "profile", "distribute")
"""Options that are neither parameters nor execution settings of a record; `distribute` follows from its ranks."""
DISTRIBUTED = {"distribute": "always"}
"""Execution setting of ranks that shared a run out, by order or after a rehearsal."""
NO_RECORD = "no record"
"""Why a series has no run where nothing else is known."""
LINEAR_SPACE = "linear space"
"""The method of a longest common subsequence that may find another one of the same length: a work of its own."""


@dataclass(frozen=True)
class Datum:
    """What stands in a cell: a published figure, or a run of ours.

    Attributes
    ----------
    line : str
        The row's key.
    column : str
        The column's heading; of ours where they have columns of their own, that of the series.
    whose : str
        The paper's machine, or our series where ours stand in the paper's columns.
    words : tuple of str
        The cell's lines.
    values : mapping
        Numbers by measure.
    notes : tuple of str
        What has to be said of it.
    row : Row or None
        Ours.
    """

    line: str
    column: str
    whose: str
    words: tuple[str, ...]
    values: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    row: ComparedRun | None = None


@dataclass(frozen=True)
class MissingRuns:
    """Parts of an exhibit without a run.

    Attributes
    ----------
    reasons : sequence of (str, str)
        Descriptions of the parts, and reasons.
    series : mapping
        Reasons of series, by their names.
    """

    reasons: Sequence[tuple[str, str]] = ()
    series: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FilledExhibit:
    """An exhibit with our runs.

    Attributes
    ----------
    exhibit : Exhibit
    lines : tuple of Line
        Rows of the exhibit, and those of our runs that it does not have.
    published, ours : tuple of Datum
    missing : tuple of (str, str)
        What has no run, and why.
    absent : tuple of (Series, str)
        Series without a run in any row, and why; empty if the caller does not say what was planned.
    common : mapping
        What all our runs were asked alike.
    """

    exhibit: Exhibit
    lines: tuple[ExhibitRow, ...]
    published: tuple[Datum, ...]
    ours: tuple[Datum, ...]
    missing: tuple[tuple[str, str], ...] = ()
    absent: tuple[tuple[Series, str], ...] = ()
    common: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> list[ComparedRun]:
        """All our runs."""
        return [datum.row for datum in self.ours if datum.row]


@dataclass(frozen=True)
class PaperEvidence:
    """Records, compared: what the exhibits of a paper are filled from."""

    comparisons: tuple[ComparedRuns, ...]
    unconfirmed: tuple[Record, ...]

    @property
    def rows(self) -> list[ComparedRun]:
        """Runs of all works."""
        return [row for comparison in self.comparisons for row in comparison.rows]

    @property
    def machines(self) -> Mapping[str, Mapping[str, Any]]:
        """The machines that they ran on, by letter."""
        return self.comparisons[0].machines if self.comparisons else {}


def gather_evidence(paper: Paper, records: Iterable[Record]) -> PaperEvidence:
    """Compare the records of a paper's workloads, those of equal work with each other; seeds of one family are one run.

    Raises
    ------
    UnequalWorkError
        Two runs of the same instance, seed and parameters did not do the same work; says which.
    """
    runs = [_distinguished(run) for run in merge(records) if run.workload in paper.workloads()]
    confirmed = [merge_seeds(family) for family in families([run for run in runs if run.verified and run.repetitions])]
    found = (
        compare_each_problem(confirmed, BaselineSelection(paper.first, paper.plain, paper.same)) if confirmed else []
    )
    return PaperEvidence(tuple(found), tuple(run for run in runs if not run.verified))


def fill_exhibit(
    exhibit: Exhibit,
    evidence: PaperEvidence,
    machines: Mapping[str, Machine],
    not_made: MissingRuns | None = None,
) -> FilledExhibit:
    """Put the runs that belong to an exhibit into its rows and columns.

    Parameters
    ----------
    exhibit, evidence
    machines : mapping
        The paper's, by key.
    not_made : NotMade, optional
        Parts without a run; if absent, the exhibit does not list any.
    """
    placed = list(_placed(exhibit, evidence.rows))
    kept = choose_runs(exhibit, placed)
    ran = {one.series.name for one in placed}
    unmade = not_made or MissingRuns()
    wanted = () if not_made is None or exhibit.never_ours else exhibit.series
    extra = dict.fromkeys(one.line.key for one in placed if one.line not in exhibit.lines)
    lines = [
        *exhibit.lines,
        *(one.line for key in sorted(extra, key=natural_order) for one in placed if one.line.key == key),
    ]
    common = shared_parameters([one.row.record for one in kept]) if kept else {}
    several = len(evidence.machines) > 1
    return FilledExhibit(
        exhibit,
        tuple(dict.fromkeys(lines)),
        tuple(_published(exhibit, machines)),
        tuple(_ours(exhibit, kept, placed, evidence.rows, several)),
        tuple(unmade.reasons),
        tuple((one, unmade.series.get(one.name) or NO_RECORD) for one in wanted if one.name not in ran),
        {name: value for name, value in common.items() if value is not None},
    )


def runs_without_exhibit(paper: Paper, rows: Sequence[ComparedRun]) -> list[ComparedRun]:
    """Runs that belong to no exhibit of their paper."""
    placed = {id(one.row) for exhibit in paper.exhibits if not exhibit.of for one in _placed(exhibit, rows)}
    return [row for row in rows if id(row) not in placed]


# --- which run stands where ---


def _placed(exhibit: Exhibit, rows: Sequence[ComparedRun]) -> Iterator[PlacedRun]:
    for row in rows:
        series = find_series(exhibit, row.record)
        column = _column_of(exhibit, row.record)
        if series is not None and (column is not None or not exhibit.by_options):
            yield PlacedRun(row, series, _line_of(exhibit, row), column)


def find_series(exhibit: Exhibit, record: Record) -> Series | None:
    """The series of an exhibit that a run belongs to: of several, the one that asks for most; None without any."""
    if exhibit.never_ours or record.workload not in exhibit.workloads() or not has_options(record, exhibit.options):
        return None
    suitable = [one for one in exhibit.series if _suits(one, record)]
    return max(suitable, key=lambda one: len(one.options), default=None)


def _suits(series: Series, record: Record) -> bool:
    over_ranks = max(series.ranks) > 1
    return (
        record.device_kind in series.kinds
        and (not series.backends or record.backend in series.backends)
        and (record.ranks > 1) == over_ranks
        and (record.environment.get("host_count") or 1) >= series.hosts
        and has_options(record, series.options)
    )


def has_options(record: Record, options: Mapping[str, Any]) -> bool:
    """Tell whether a run was asked for options."""
    asked = {**record.parameters, **record.execution, "instance": record.instance}
    if asked.get("bound") == ON_HOST:
        asked["bound"] = options.get("bound", ON_HOST)
    return all(asked.get(name) == value for name, value in options.items() if name not in NOT_RECORDED)


def _column_of(exhibit: Exhibit, record: Record) -> ExhibitColumn | None:
    return next((one for one in exhibit.columns if one.parameters and has_options(record, one.parameters)), None)


def _line_of(exhibit: Exhibit, row: ComparedRun) -> ExhibitRow:
    """The row of a run: one of the exhibit, or a new one."""
    record = row.record
    if exhibit.row_by == PROCESSORS:
        key = processors(record)
        words = {"gpu": "GPU", "core": "core", "cores": "cores"}
        kind, count = key.split(":")
        label = f"{count} {words[kind]}" + ("s" if kind == "gpu" and count != "1" else "")
        return next((line for line in exhibit.lines if line.key == key), ExhibitRow(processors=key, label=label))
    if exhibit.row_by == WORKLOAD:
        return exhibit.line(record.workload)
    names = instance_names(record)
    found = (line for line in exhibit.lines if names & {line.key, line.spec} and line.workload in ("", record.workload))
    return next(found, ExhibitRow(record.instance))


def processors(record: Record) -> str:
    """Kind and number of the processors that a run had: `gpu:1`, `cores:16`, `core:1`."""
    if record.device_kind == "gpu":
        return f"gpu:{record.ranks}"
    if record.device_kind == "core":
        return "core:1" if record.ranks == 1 else f"cores:{record.ranks}"
    # Every rank has the same cores of its host, however many ranks share them.
    hosts = min(record.ranks, record.environment.get("host_count") or 1)
    return f"cores:{(record.host_cores or 1) * hosts}"


def _distinguished(record: Record) -> Record:
    """A run as comparisons take it.

    A method that may find another solution than others' is among the parameters, and that ranks shared the work out is
    among the execution settings.
    """
    found = {LINEAR_SPACE: True} if record.details.get("method") == LINEAR_SPACE else {}
    shared_out = DISTRIBUTED if record.ranks > 1 and not used_single_rank(record) else {}
    return replace(record, parameters={**record.parameters, **found}, execution={**record.execution, **shared_out})


# --- cells ---


def _published(exhibit: Exhibit, machines: Mapping[str, Machine]) -> Iterator[Datum]:
    for line in exhibit.lines:
        for place, (column, figure) in enumerate(zip(exhibit.columns, line.figures, strict=False)):
            shares = line.percentages[place] if place < len(line.percentages) else ()
            values = {
                name: float(part)
                for name, part in zip(column.holds, figure, strict=False)
                if name != "text" and _is_number(part)
            }
            words: tuple[str, ...] = ("×".join(map(str, figure)) if figure else "",)
            if shares:
                words += (" / ".join(map(str, shares)) + " %",)
            first = _published_reference(exhibit, line, column)
            if first and values.get("seconds"):
                values["over_first"] = first / values["seconds"]
                if first != values["seconds"]:
                    words += (f"{first / values['seconds']:.2f}x",)
            whose = machines[column.machine].short if column.machine else ""
            yield Datum(line.key, column.heading, whose, words, values)


def _published_reference(exhibit: Exhibit, line: ExhibitRow, column: ExhibitColumn) -> float | None:
    """The published seconds that a column's ratio is over: those of the column that is the reference for it."""
    if not exhibit.reference:
        return None
    wanted = {**column.parameters, **exhibit.reference}
    for other, figure in zip(exhibit.columns, line.figures, strict=False):
        if other.parameters == wanted and other.machine == column.machine and figure:
            return float(figure[0])
    return None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _ours(
    exhibit: Exhibit,
    kept: Sequence[PlacedRun],
    placed: Sequence[PlacedRun],
    rows: Sequence[ComparedRun],
    several_machines: bool,
) -> Iterator[Datum]:
    common = shared_parameters([one.row.record for one in kept]) if kept else {}
    for one in kept:
        of_row = shared_parameters([other.row.record for other in kept if other.line == one.line])
        # A note has the amount of work if rows differ in it. Other values may be defaults of the instance.
        alike = {name: value for name, value in of_row.items() if name in common or name not in exhibit.amounts}
        beside = [other.row.record for other in placed if same_problem(one, other)]
        lengths = [row.record for row in rows] if is_short(exhibit, one.row.record) else None
        cell = ExhibitCell(
            one.row, find_reference(exhibit, one, placed), str(exhibit.reference.get("peer", "")), beside, lengths
        )
        refused = single_rank_text(one.row.record)
        words = [f"not shown: {refused}"] if refused else [MEASURES[name].words(cell) for name in exhibit.shows]
        values = {name: value for name in _numbers(exhibit) if (value := MEASURES[name].value(cell)) is not None}
        own = (
            []
            if refused
            else [*run_footnotes(exhibit, one, alike, cell, rows), *filter(None, [missing_solver_text(cell)])]
        )
        place = one.row.name + (f", machine {one.row.machine}" if several_machines else "")
        heading = one.series.heading_on(one.row.record.device_kind)
        if exhibit.row_by == PROCESSORS:
            words = [place, *words]
        else:
            heading = f"{heading}: {place}"
        yield Datum(
            one.line.key,
            one.column.heading if one.column else heading,
            heading if one.column else "",
            tuple(word for word in words if word),
            {} if refused else values,
            tuple(own),
            one.row,
        )


def _numbers(exhibit: Exhibit) -> list[str]:
    """Measures whose numbers a plot of the exhibit, or of a figure that draws it, may need."""
    held = [name for column in exhibit.columns for name in column.holds]
    return list(dict.fromkeys([*exhibit.shows, *held, "seconds", "speedup", "cost"]))


def natural_order(name: str) -> list[tuple[int, str]]:
    """Sort key by which 81-81 comes before 101-117."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name) if part]
