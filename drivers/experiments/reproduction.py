"""Runs that a paper's tables and figures need on this machine, from exhibits and a scale.

The rows of an exhibit are crossed with its columns, where options tell them, with its series and with the devices that
a series is for. Runs that two exhibits need are one. What cannot run here is part of the plan, with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from msgspec import structs

from core.errors import UserError
from drivers.experiments.configurations import Configuration
from drivers.experiments.execution import ExperimentCase
from drivers.experiments.plan import ExperimentPlan, missing_instance, neutral_flags
from drivers.experiments.run_time_estimate import START_S, estimate_seconds
from drivers.experiments.series_configurations import MachineResources, series_configurations
from drivers.workload.run_time import RepetitionWork
from reports.papers.exhibits import MissingRuns
from reports.papers.paper import INSTANCE, SCALES, WORKLOAD, Exhibit, ExhibitColumn, ExhibitRow, Paper, Scale
from reports.records.files import Record, merge
from reports.statistics.startup import LENGTH

SHORT_RUN_DIVISOR = 4
"""Length of a run over that of its shorter partner, from which its start-up is computed."""


@dataclass(frozen=True)
class ReproductionChoice:
    """What the user chose of a paper.

    Attributes
    ----------
    scale : str
        One of `reports.papers.paper.SCALES`.
    records : Path
        Where the records of its runs are kept.
    repeats : int, optional
        Repetitions of each run, in place of the scale's.
    data : str, optional
        Folder that is searched first for instances.

    """

    scale: str
    records: Path
    repeats: int | None = None
    data: str | None = None


@dataclass(frozen=True)
class OmissionReason:
    """A reason for what is not run here: its rows (all if empty), a description, the reason, and the series, if any."""

    rows: tuple[str, ...]
    what: str
    why: str
    series: str = ""


@dataclass
class PlannedRun:
    """A run that one or several exhibits need.

    Attributes
    ----------
    contest, configuration
        What runs, and on what.
    work : Work or None
        Of a repetition, where somebody can tell.
    row, what : str
        Which row of an exhibit it is for, and its column and series, in words.
    series : str
        Name of the series.

    """

    contest: ExperimentCase
    configuration: Configuration
    work: RepetitionWork | None
    row: str
    what: str
    series: str


@dataclass
class ExhibitPlan:
    """An exhibit with data of its own, the keys of its runs in the plan, and what is not run here.

    `absent` names the rows whose instances are not at hand.
    """

    exhibit: Exhibit
    keys: list[str] = field(default_factory=list)
    reasons: list[OmissionReason] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)

    def missing(self) -> list[tuple[str, str]]:
        """What has no run, in words, and why; rows with the same reason stand together."""
        rows: dict[tuple[str, str], dict[str, None]] = {}
        for one in self.reasons:
            rows.setdefault((one.what, one.why), {}).update(dict.fromkeys(one.rows))
        return [(": ".join(filter(None, (", ".join(of), what))), why) for (what, why), of in rows.items()]

    def not_made(self) -> MissingRuns:
        """Return the reasons, and the first of each series."""
        everywhere = next((one.why for one in self.reasons if not one.series), "")
        series = {one.name: everywhere for one in self.exhibit.series}
        return MissingRuns(
            self.missing(), series | {one.series: one.why for one in reversed(self.reasons) if one.series}
        )


@dataclass
class ReproductionPlan:
    """All runs that some exhibits need, each once, in the order in which they are needed first."""

    needed: dict[str, PlannedRun] = field(default_factory=dict)
    parts: list[ExhibitPlan] = field(default_factory=list)

    def part_of(self, exhibit: Exhibit) -> ExhibitPlan:
        """What is planned for an exhibit."""
        return next(one for one in self.parts if one.exhibit is exhibit)

    def add(self, part: ExhibitPlan, one: PlannedRun) -> None:
        """Take a run into the plan, or join it with the one that does the same."""
        contest, where = one.contest, one.configuration
        # As they are settled, since what is left open and its default spelled out are the same run.
        asked = {kind: contest.task.options.deciding(kind) for kind in ("work", "way", "search")}
        what = [contest.workload.name, contest.task.problem.sha256, asked, contest.seeds]
        key = json.dumps([*what, where.backend, where.device, where.ranks], sort_keys=True)
        there = self.needed.setdefault(key, one)
        if there is not one:
            there.contest = merge_cases(there.contest, contest)
        if key not in part.keys:
            part.keys.append(key)

    def refuse(self, run: PlannedRun, why: str) -> None:
        """Note of a run that it could not be made, wherever it was needed."""
        for part in self.parts:
            if any(self.needed[key] is run for key in part.keys):
                part.reasons.append(OmissionReason((run.row,), f"{run.what} on {run.configuration}", why, run.series))


def merge_cases(one: ExperimentCase, other: ExperimentCase) -> ExperimentCase:
    """A contest for what two ask: flags of both that decide neither work nor way, and as many repetitions as either."""
    more = [word for word in other.arguments if word in neutral_flags(one.workload) and word not in one.arguments]
    return replace(
        one,
        arguments=(*one.arguments, *more),
        repeats=max(one.repeats, other.repeats),
        peers=one.peers or other.peers,
    )


# --- from exhibits to runs ---


def plan_reproduction(
    paper: Paper, exhibits: Sequence[Exhibit], here: MachineResources, chosen: ReproductionChoice
) -> ReproductionPlan:
    """Plan the runs that exhibits of a paper need.

    A figure that draws a table needs that table's; one that draws a single row, and is asked for without the table,
    needs this row alone, whether the scale has it or not.
    """
    plan, works = ReproductionPlan(), ExperimentPlan(chosen.records, chosen.data)
    for source in map(paper.drawn, exhibits):
        if all(one.exhibit is not source for one in plan.parts):
            part = ExhibitPlan(source)
            plan.parts.append(part)
            drawn = dict.fromkeys(one.plot.row if one.plot else "" for one in exhibits if paper.drawn(one) is source)
            rows = tuple(drawn) if source not in exhibits and all(drawn) else source.scales[chosen.scale].keys
            if not source.never_ours:
                _plan_exhibit(plan, part, paper, here, chosen, works, rows)
    return plan


def _plan_exhibit(
    plan: ReproductionPlan,
    part: ExhibitPlan,
    paper: Paper,
    here: MachineResources,
    chosen: ReproductionChoice,
    works: ExperimentPlan,
    rows: tuple[str, ...],
) -> None:
    exhibit = part.exhibit
    scale = structs.replace(exhibit.scales[chosen.scale], keys=rows)
    lines = rows_of(exhibit, scale)
    unnamed = [one for one in lines if one.key and exhibit.row_by == INSTANCE and not (one.spec or one.options)]
    for line in unnamed:
        why = f"the paper does not name the instance; --row {line.label}=SPEC sets it"
        part.reasons.append(OmissionReason((line.label,), "", why))
    found = {one.name: series_configurations(one, here) for one in exhibit.series}
    part.reasons += [OmissionReason((), what, why, name) for name, one in found.items() for what, why in one.missing]
    columns = columns_of(exhibit, scale)
    named = [one for one in lines if one not in unnamed]
    for line, column, series, amount in product(
        named, columns, exhibit.series, lengths_of(exhibit, scale, chosen.scale)
    ):
        places = found[series.name].configurations
        if not places or (line.key and not series.runs(line)):
            continue
        parameters = column.parameters if column else {}
        options = {**exhibit.options, **series.options, **line.options, **parameters, **amount}
        heading = series.heading_on(places[0].kind)
        what = ", ".join(filter(None, (column.heading if column else "", heading)))
        repeats = chosen.repeats or scale.repeats
        try:
            made = works.of(line.workload or exhibit.workload, options, line.spec, scale.seeds, repeats)
        except UserError as error:
            absent = missing_instance(error)
            if absent is None:
                part.reasons.append(OmissionReason((line.label,), what, str(error), series.name))
            else:
                why = f"{absent}; `python -m core.problems fetch {paper.name}` downloads the paper's instances"
                part.reasons.append(OmissionReason((line.label,), "", why))
                part.absent += [line.label] * (line.label not in part.absent)
            continue
        for (contest, work), configuration in product(made, places):
            plan.add(part, PlannedRun(replace(contest, about=what), configuration, work, line.label, what, series.name))


def rows_of(exhibit: Exhibit, scale: Scale) -> list[ExhibitRow]:
    """The rows of a scale; one without a name for all of them where a run has its row by itself: by its processors."""
    lines = [exhibit.line(key) for key in scale.keys]
    told = [one for one in lines if one.spec or one.options or exhibit.row_by in (INSTANCE, WORKLOAD)]
    return told or [ExhibitRow()]


def lengths_of(exhibit: Exhibit, scale: Scale, name: str) -> list[Mapping[str, Any]]:
    """Return the amounts of work of a scale: two, for the start-up, if runs are shorter than the paper's.

    `quick` checks that everything runs, and has one length.
    """
    length = scale.amount.get(LENGTH, 1)
    if name == SCALES[0] or length == 1 or not exhibit.is_short(scale.amount):
        return [scale.amount]
    return [scale.amount, {**scale.amount, LENGTH: max(1, length // SHORT_RUN_DIVISOR)}]


def columns_of(exhibit: Exhibit, scale: Scale) -> list[ExhibitColumn | None]:
    """The columns of a scale that are told by options, those of equal options once; None where none is."""
    if not exhibit.by_options:
        return [None]
    told: list[ExhibitColumn | None] = []
    for one in exhibit.columns:
        wanted = all(one.parameters.get(name) in values for name, values in scale.columns.items())
        if one.parameters and wanted and all(other and other.parameters != one.parameters for other in told):
            told.append(one)
    return told


def map_rows(paper: Paper, specs: Mapping[str, str], exhibits: Sequence[Exhibit]) -> Paper:
    """A paper some of whose rows are of other instances: those of the user, by what the rows are called.

    Raises
    ------
    UserError
        None of the exhibits that are chosen has such a row.

    """
    keys = list(dict.fromkeys(line.label for one in exhibits for line in paper.drawn(one).lines))
    for name in specs:
        if not any(is_row_name(line, name) for one in exhibits for line in paper.drawn(one).lines):
            raise UserError(
                f"--row {name}: expected a row of the chosen exhibits: {', '.join(keys) or 'they have none'}"
            )
    return structs.replace(paper, exhibits=tuple(_map_rows(one, specs) for one in paper.exhibits)) if specs else paper


def is_row_name(line: ExhibitRow, name: str) -> bool:
    """Whether a row is called so, in the paper's file or in its report."""
    return name in (line.key, line.label)


def _map_rows(exhibit: Exhibit, specs: Mapping[str, str]) -> Exhibit:
    meant = {line.key: spec for line in exhibit.lines for name, spec in specs.items() if is_row_name(line, name)}
    if not meant:
        return exhibit
    lines = tuple(
        structs.replace(one, spec=meant[one.key], options={}) if one.key in meant else one for one in exhibit.lines
    )

    def scaled(scale: Scale) -> Scale:
        # A row that the user names is wanted, also where the scale leaves it out.
        return structs.replace(scale, keys=tuple(one.key for one in lines if one.key in scale.keys or one.key in meant))

    scales = {name: scaled(scale) for name, scale in exhibit.scales.items()}
    return structs.replace(exhibit, lines=lines, scales=scales)


# --- what is recorded already, and how long the rest takes ---


class PlannedRunRecords:
    """Records of a file, found by what ran where."""

    def __init__(self, records: Iterable[Record], environment: Mapping[str, Any]) -> None:
        self.environment = environment
        self.by_place: dict[tuple[Any, ...], list[Record]] = {}
        for one in records:
            place = one.workload, one.instance_sha256, one.backend, one.device, one.ranks
            self.by_place.setdefault(place, []).append(one)

    def of(self, run: PlannedRun, *, alike: bool = False) -> list[Record]:
        """What this machine and version recorded of a run, a record for each seed.

        With `alike` runs count too that were asked for in other words and say of themselves what is asked for.
        """
        contest, where = run.contest, run.configuration
        place = contest.workload.name, contest.task.problem.sha256, where.backend, where.device, where.ranks
        there = self.by_place.get(place, ())
        if not alike:
            return contest.among(there, where, self.environment)
        same = [one for one in there if one.environment == self.environment and one.seed in contest.seeds]
        return merge(one for one in same if contest.asked.items() <= {**one.parameters, **one.execution}.items())

    def holds(self, run: PlannedRun) -> bool:
        """Whether nothing of a run is left to do."""
        records = self.of(run)
        beside = run.contest.beside_peers(run.configuration)
        return run.contest.complete(records) and not (
            beside and all("reference_solvers" not in one.details for one in records)
        )

    def left_s(self, run: PlannedRun, here: MachineResources) -> float | None:
        """About how long the rest of a run takes; None where nobody can tell."""
        if run.work is None:
            return None
        contest, where = run.contest, run.configuration
        done = sum(min(contest.repeats, len(one.repetitions)) for one in self.of(run))
        repetitions = contest.repeats * len(contest.seeds) - done
        return START_S + estimate_seconds(run.work, here.device(where), where.ranks, repetitions)
