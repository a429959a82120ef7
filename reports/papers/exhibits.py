"""Our runs in the rows and columns of a paper's table: the engine of all tables and figures of papers.

A paper's exhibit defines its rows, columns and cells as data (`reports.papers.paper`). A run belongs to the series with
its options, to the row of its instance (or processors), and to the column of its series, or to a paper's column if
options distinguish columns. `reports.papers.tables` makes a table of the result, `reports.papers.plots` a picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from reports.comparison.cautions import SPREAD_PREFIX, doubts
from reports.comparison.seeds import merge_seeds
from reports.comparison.speedups import BaselineSelection, ComparedRun, ComparedRuns, compare_each_problem, is_baseline
from reports.papers.measures import AMOUNTS, MEASURES, ExhibitCell, is_uncertain, missing_solver_text
from reports.papers.paper import (
    PROCESSORS,
    PUBLISHED,
    WORKLOAD,
    Exhibit,
    ExhibitColumn,
    ExhibitRow,
    Machine,
    Paper,
    Series,
)
from reports.papers.placement import (
    PlacedRun,
    choose_runs,
    find_reference,
    instance_names,
    natural_order,
    place_runs,
    same_problem,
)
from reports.records.files import Record, families, merge
from reports.records.parameters import parameters_text, run_parameters, shared_parameters
from reports.records.stated_amount import at_stated_amount
from reports.statistics.startup import MOST_STARTUP
from reports.text.formatting import grouped, listed, per_cent

MODELLED = "modelled"
"""Beginning of the headings of columns of the cluster model."""
NO_RECORD = "no record"
"""Default reason for a series without a run."""
OF_SPEEDUPS = ("its baseline", "no baseline", "speed-up above")
"""Beginnings of notes on a speed-up, which cells without one do not have."""
LINEAR_SPACE = "linear space"
"""Method of a longest common subsequence that may find another one of the same length: not equal work."""


@dataclass(frozen=True)
class Datum:
    """Content of a cell: a published figure, or our run.

    Attributes
    ----------
    line : str
        The row's key.
    column : str
        The column's heading; the series' heading if our runs have separate columns.
    whose : str
        The paper's machine, or our series if our runs are in the paper's columns; of a modelled figure the series whose
        run on one core it is computed from.
    words : tuple of str
        The cell's lines.
    values : mapping
        Numbers by measure.
    row : ComparedRun or None
        Our run.
    uncertain : tuple of str
        Ratios with a wide interval.
    """

    line: str
    column: str
    whose: str
    words: tuple[str, ...]
    values: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    row: ComparedRun | None = None
    uncertain: tuple[str, ...] = ()


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
    lines : tuple of ExhibitRow
        Rows of the exhibit, and further rows of our runs.
    missing : tuple of (str, str)
        Missing runs, with reasons.
    absent : tuple of (Series, str)
        Series without a run in any row, with reasons; empty without a plan from the caller.
    common : mapping
        Options common to all our runs.
    modelled : tuple of Datum
        Cells of the cluster model (`reports.papers.modelled`); no runs.
    not_modelled : tuple of str
        Headings of columns that it could not fill without a run on one core.
    """

    exhibit: Exhibit
    lines: tuple[ExhibitRow, ...]
    published: tuple[Datum, ...]
    ours: tuple[Datum, ...]
    missing: tuple[tuple[str, str], ...] = ()
    absent: tuple[tuple[Series, str], ...] = ()
    common: Mapping[str, Any] = field(default_factory=dict)
    modelled: tuple[Datum, ...] = ()
    not_modelled: tuple[str, ...] = ()

    @property
    def rows(self) -> list[ComparedRun]:
        return [datum.row for datum in self.ours if datum.row]


@dataclass(frozen=True)
class PaperEvidence:
    """Compared records for the exhibits of a paper."""

    comparisons: tuple[ComparedRuns, ...]
    unconfirmed: tuple[Record, ...]

    @property
    def rows(self) -> list[ComparedRun]:
        return [row for comparison in self.comparisons for row in comparison.rows]

    @property
    def machines(self) -> Mapping[str, Mapping[str, Any]]:
        return self.comparisons[0].machines if self.comparisons else {}


def gather_evidence(paper: Paper, records: Iterable[Record]) -> PaperEvidence:
    """Compare the records of a paper's workloads by equal work; seeds of one family are one run.

    Raises `UnequalWorkError` if two runs of the same instance, seed and parameters differ.
    """
    # A method that may find another solution becomes a parameter.
    runs = [
        replace(run, parameters={**run.parameters, LINEAR_SPACE: True})
        if run.details.get("method") == LINEAR_SPACE
        else run
        for run in map(at_stated_amount, merge(records))
        if run.workload in paper.workloads()
    ]
    confirmed = [merge_seeds(family) for family in families([run for run in runs if run.verified and run.repetitions])]
    comparisons = (
        compare_each_problem(confirmed, BaselineSelection(paper.first, paper.plain, paper.same)) if confirmed else []
    )
    return PaperEvidence(tuple(comparisons), tuple(run for run in runs if not run.verified))


def fill_exhibit(
    exhibit: Exhibit, evidence: PaperEvidence, machines: Mapping[str, Machine], not_made: MissingRuns | None = None
) -> FilledExhibit:
    """Put the runs of an exhibit into its rows and columns.

    ``machines`` are the paper's, by key; ``not_made`` lists parts without a run, if the caller has a plan.
    """
    placed = list(place_runs(exhibit, evidence.rows))
    kept = choose_runs(exhibit, placed)
    ran = {one.series.name for one in placed}
    unmade = not_made or MissingRuns()
    wanted = () if not_made is None or exhibit.never_ours else exhibit.series
    lines = [*exhibit.lines, *sorted((one.line for one in placed), key=lambda line: natural_order(line.key))]
    common = shared_parameters([one.row.record for one in kept]) if kept else {}
    return FilledExhibit(
        exhibit,
        tuple(dict.fromkeys(lines)),
        tuple(_published(exhibit, machines)),
        tuple(_ours(exhibit, kept, placed, evidence, common)),
        tuple(unmade.reasons),
        tuple((one, unmade.series.get(one.name) or NO_RECORD) for one in wanted if one.name not in ran),
        {name: value for name, value in common.items() if value is not None},
    )


def runs_without_exhibit(paper: Paper, rows: Sequence[ComparedRun]) -> list[ComparedRun]:
    placed = {id(one.row) for exhibit in paper.exhibits if not exhibit.of for one in place_runs(exhibit, rows)}
    return [row for row in rows if id(row) not in placed]


# --- cells ---


def _published(exhibit: Exhibit, machines: Mapping[str, Machine]) -> Iterator[Datum]:
    for line in exhibit.lines:
        for place, (column, figure) in enumerate(zip(exhibit.columns, line.figures, strict=False)):
            shares = line.percentages[place] if place < len(line.percentages) else ()
            values = {
                name: float(part)
                for name, part in zip(column.holds, figure, strict=False)
                if name != "text" and is_number(part)
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
    """Return the published seconds of the column that is the reference for a column's ratio."""
    if not exhibit.reference:
        return None
    wanted = {**column.parameters, **exhibit.reference}
    for other, figure in zip(exhibit.columns, line.figures, strict=False):
        if other.parameters == wanted and other.machine == column.machine and figure:
            return float(figure[0])
    return None


def is_number(value: str | float) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _ours(
    exhibit: Exhibit,
    kept: Sequence[PlacedRun],
    placed: Sequence[PlacedRun],
    evidence: PaperEvidence,
    common: Mapping[str, Any],
) -> Iterator[Datum]:
    rows = evidence.rows
    for run in kept:
        of_row = shared_parameters([other.row.record for other in kept if other.line == run.line])
        # A note has the amount of work if rows differ in it. Other values may be defaults of the instance.
        alike = {name: value for name, value in of_row.items() if name in common or name not in exhibit.amounts}
        nearby = [other.row.record for other in placed if same_problem(run, other)]
        lengths = [row.record for row in rows] if _is_short(exhibit, run.row.record) else None
        cell = ExhibitCell(
            run.row, find_reference(exhibit, run, placed), str(exhibit.reference.get("peer", "")), nearby, lengths
        )
        words = [MEASURES[name].words(cell) for name in exhibit.shows]
        values = {name: value for name in _numbers(exhibit) if (value := MEASURES[name].value(cell)) is not None}
        own = [*_footnotes(exhibit, run, alike, cell, rows), *filter(None, [missing_solver_text(cell)])]
        place = run.row.name + (f", machine {run.row.machine}" if len(evidence.machines) > 1 else "")
        heading = run.series.heading_on(run.row.record.device_kind)
        if exhibit.row_by == PROCESSORS:
            words = [place, *words]
        else:
            heading = f"{heading}: {place}"
        yield Datum(
            run.line.key,
            run.column.heading if run.column else heading,
            heading if run.column else "",
            tuple(word for word in words if word),
            values,
            tuple(own),
            run.row,
            tuple(name for name in values if is_uncertain(cell, name)),
        )


def _numbers(exhibit: Exhibit) -> list[str]:
    """Return the measures with numbers for a plot of the exhibit, or of a figure that draws it."""
    held = [name for column in exhibit.columns for name in column.holds]
    return list(dict.fromkeys([*exhibit.shows, *held, "seconds", "speedup", "cost"]))


# --- notes ---


def _footnotes(
    exhibit: Exhibit, run: PlacedRun, common: Mapping[str, Any], cell: ExhibitCell, rows: Sequence[ComparedRun]
) -> Iterator[str]:
    """Yield the notes on a run in its cell.

    ``common`` has the parameters of all runs of its row; ``rows`` are all runs of the paper, which explain an earlier
    load.
    """
    record = run.row.record
    about = [*run.row.labels, *doubts(run.row, [row.record for row in rows])]
    shown = SPREAD_PREFIX if run.row.running.median.low is not None else ()
    about = [text for text in about if not text.startswith(shown)]
    yield from (text for text in about if "speedup" in exhibit.shows or not text.startswith(OF_SPEEDUPS))
    if exhibit.row_by not in (PROCESSORS, WORKLOAD) and not instance_names(record) & {run.line.key, run.line.label}:
        yield f"on {record.instance}"
    yield from _other_work(exhibit, cell)
    explained = {*exhibit.options, *run.series.options, *(run.column.parameters if run.column else ()), *exhibit.amount}
    if "with" in exhibit.shows:
        explained |= set(AMOUNTS)
    asked = {
        name: value for name, value in run_parameters(record).items() if name not in explained and value is not None
    }
    apart = {name: value for name, value in asked.items() if name not in common}
    if apart and not is_baseline(run.row):
        yield parameters_text(apart)


def _is_short(exhibit: Exhibit, record: Record) -> bool:
    """True if a run did less than the paper, or if the paper does not print its amount of work."""
    return exhibit.is_short({name: ours for name, (ours, _) in _amounts(exhibit, record).items()})


def _amounts(exhibit: Exhibit, record: Record) -> dict[str, tuple[int, int]]:
    """Return the amounts of work in which a run is not the paper's, by name: its own and the paper's."""
    asked = record.parameters
    other = {}
    for name, wanted in exhibit.amount.items():
        ours = asked.get(name, 1 if name == "walks" else None)
        if name == "iterations" and asked.get("walks", 1) == 1:
            # A search of one walk records the number of walks: a target or patience may have ended it before its limit.
            ours = record.details.get("iterations", ours)
        if ours is not None and ours != wanted:
            other[name] = (ours, wanted)
    return other


def _other_work(exhibit: Exhibit, cell: ExhibitCell) -> Iterator[str]:
    """Describe less or more work than the paper's, with times that do not compare.

    A published time is of a number of walks one after the other, and of a number of iterations each.
    """
    record = cell.record
    amounts = _amounts(exhibit, record).items()
    other = [f"{grouped(ours)} {name}, not {grouped(paper)}" for name, (ours, paper) in amounts]
    short = cell.too_short(cell.row.base) or cell.too_short(cell.reference)
    has_ratio = cell.row.speedup is not None or cell.reference is not None
    if other and short and has_ratio:
        yield (
            f"{listed(other)}: seconds do not compare with the paper's, nor does a ratio of times of which more than "
            f"{per_cent(MOST_STARTUP)} may be start-up"
        )
    elif short and not other:
        part = per_cent(MOST_STARTUP)
        yield f"more than {part} of its time, or of its baseline's, may be start-up: no ratio of such times"
    elif other:
        yield f"{listed(other)}: seconds do not compare with the paper's" + (", ratios do" if has_ratio else "")
    elif exhibit.amount.get("walks", 1) > 1 and record.execution.get("mapping") != PUBLISHED:
        yield f"its {record.parameters['walks']} climbs ran in parallel, the paper's one after the other"
