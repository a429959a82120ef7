"""Runs that a paper's tables and figures need on this machine, from exhibits and a scale.

The rows of an exhibit are crossed with its columns, where options tell them, with its series and with the devices that
a series is for. Runs that two exhibits need are one. What cannot run here is part of the plan, with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import structs

from core.errors import UserError
from core.problems.instances.errors import InstanceError
from drivers.experiments.case import Case
from drivers.experiments.options import OWN_OPTIONS, flag_words
from drivers.experiments.plan import plan_work
from drivers.experiments.presets.series import MachineResources, series_configurations
from drivers.options.declaration import option_flag
from drivers.options.values import FLAG, OUTPUT_FILE
from drivers.workload.declaration import Workload
from drivers.workload.registry import get_workload
from reports.papers.exhibits import MissingRuns
from reports.papers.paper import INSTANCE, SCALES, WORKLOAD, Exhibit, ExhibitColumn, ExhibitRow, Paper, Scale
from reports.statistics.startup import LENGTH

NOT_FOUND_TEXT = "no such"
"""Text in messages of missing instances (`core.problems.instances.sources`)."""
FETCH_ADVICE = " (`python -m core.problems fetch"
"""Text before the command that downloads an instance."""
PAPER_OPTIONS = ("instance", "peers")
"""Of the options that a reproduction has in its own way, those that a paper's file may say too."""
SHORT_RUN_DIVISOR = 4
"""Length of a run over that of its shorter partner, from which its start-up is computed."""


@dataclass(frozen=True)
class ReproductionChoice:
    """The user's choice of exhibits and settings.

    Attributes
    ----------
    scale : str
        One of `reports.papers.paper.SCALES`.
    records : Path
        File of the records of its runs.
    repeats : int, optional
        Repetitions of each run, in place of the scale's.
    data : str, optional
        Folder to search first for instances.

    """

    scale: str
    records: Path
    repeats: int | None = None
    data: str | None = None


class OmissionReason(NamedTuple):
    """A reason for what is not run here: its rows (all if empty), a description, the reason, and the series, if any."""

    rows: tuple[str, ...]
    what: str
    why: str
    series: str = ""


@dataclass
class ExhibitPlan:
    """An exhibit with its data, and its planned cases.

    Attributes
    ----------
    exhibit : Exhibit
    needs : dict
        By the key of a case in the plan, the places of its figure: the row, its column and series as text, and the
        name of the series.
    reasons : list of OmissionReason
        Reasons of omitted runs.
    absent : list of str
        Rows with missing instances.

    """

    exhibit: Exhibit
    needs: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    reasons: list[OmissionReason] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)

    def missing(self) -> list[tuple[str, str]]:
        """Return what has no run, as text, and why; rows with the same reason stand together."""
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
    """All cases of some exhibits, each once, in the order of their first use.

    Several series, columns and exhibits use the same experiment plans, which are stored in `works` by their arguments.
    """

    chosen: ReproductionChoice
    needed: dict[str, Case] = field(default_factory=dict)
    parts: list[ExhibitPlan] = field(default_factory=list)
    works: dict[tuple[Any, ...], list[Case] | UserError] = field(default_factory=dict)

    def work_of(
        self, workload: str, options: Mapping[str, Any], spec: str, seeds: Sequence[int], repeats: int
    ) -> list[Case]:
        """Return the work that options ask for on an instance, planned once; see `plan_work`.

        Raises
        ------
        UserError
            The workload refuses an option or the instance.

        """
        chosen = self.chosen
        data = ["--data", chosen.data] if chosen.data else []
        declared, peers = get_workload(workload), bool(options.get("peers"))
        given = command_words(declared, {**options, **({"instance": spec} if spec else {})})
        key = (workload, given, peers, tuple(seeds), repeats)
        if key not in self.works:
            try:
                self.works[key] = plan_work(declared, [*given, *data], seeds, repeats, chosen.records, peers=peers)
            except UserError as error:
                self.works[key] = error
        made = self.works[key]
        if isinstance(made, UserError):
            raise made
        return made

    def part_of(self, exhibit: Exhibit) -> ExhibitPlan:
        """Return what is planned for an exhibit."""
        return next(one for one in self.parts if one.exhibit is exhibit)

    def add(self, part: ExhibitPlan, case: Case, need: tuple[str, str, str]) -> None:
        """Take a case into the plan, or join it with the one that does the same."""
        where = case.configuration
        # As they are settled, since what is left open and its default spelled out are the same run.
        asked = {kind: case.task.options.deciding(kind) for kind in ("work", "way", "search")}
        what = [case.workload.name, case.task.problem.sha256, asked, case.seeds]
        place = [where.backend, where.recorded, where.device, where.ranks, where.emulated]
        key = json.dumps([*what, *place], sort_keys=True)
        there = self.needed.get(key)
        self.needed[key] = merge_cases(there, case) if there else case
        part.needs.setdefault(key, need)

    def refuse(self, case: Case, why: str) -> None:
        """Record that a case could not be run, for all its uses."""
        for part in self.parts:
            for key, (row, what, series) in part.needs.items():
                if self.needed[key] is case:
                    part.reasons.append(OmissionReason((row,), f"{what} on {case.configuration}", why, series))

    def cases_of(self, part: ExhibitPlan) -> list[Case]:
        """Return the cases that an exhibit needs."""
        return [self.needed[key] for key in part.needs]


def merge_cases(one: Case, other: Case) -> Case:
    """Return a case for what two ask: flags of both that decide neither work nor way, and the larger repetitions."""
    neutral = {
        option_flag(field)
        for field, about in one.workload.options.declared()
        if about.type is FLAG and about.decides == "nothing" and field.name not in OWN_OPTIONS
    }
    more = [word for word in other.arguments if word in neutral and word not in one.arguments]
    repeats, peers = max(one.repeats, other.repeats), one.peers or other.peers
    return replace(one, arguments=(*one.arguments, *more), repeats=repeats, peers=peers)


# --- from exhibits to runs ---


def plan_reproduction(
    paper: Paper, exhibits: Sequence[Exhibit], here: MachineResources, chosen: ReproductionChoice
) -> ReproductionPlan:
    """Plan the runs that exhibits of a paper need.

    A figure that draws a table needs that table's; one that draws a single row, and is asked for without the table,
    needs this row alone, whether the scale has it or not.
    """
    plan = ReproductionPlan(chosen)
    for source in map(paper.drawn, exhibits):
        if all(one.exhibit is not source for one in plan.parts):
            part = ExhibitPlan(source)
            plan.parts.append(part)
            drawn = dict.fromkeys(one.plot.row if one.plot else "" for one in exhibits if paper.drawn(one) is source)
            rows = tuple(drawn) if source not in exhibits and all(drawn) else source.scales[chosen.scale].keys
            if not source.never_ours:
                _plan_exhibit(plan, part, paper, here, rows)
    return plan


def _plan_exhibit(
    plan: ReproductionPlan,
    part: ExhibitPlan,
    paper: Paper,
    here: MachineResources,
    rows: tuple[str, ...],
) -> None:
    exhibit, chosen = part.exhibit, plan.chosen
    scale = structs.replace(exhibit.scales[chosen.scale], keys=rows)
    lines = rows_of(exhibit, scale)
    unnamed = [one for one in lines if one.key and exhibit.row_by == INSTANCE and not (one.spec or one.options)]
    for line in unnamed:
        why = f"the paper does not name the instance; --row {line.label}=SPEC sets it"
        part.reasons.append(OmissionReason((line.label,), "", why))
    found = {one.name: series_configurations(one, here) for one in exhibit.series}
    part.reasons += [OmissionReason((), what, why, name) for name, (_, lost) in found.items() for what, why in lost]
    columns = columns_of(exhibit, scale)
    named = [one for one in lines if one not in unnamed]
    lengths = [(line, amount) for line in named for amount in lengths_of(exhibit, scale, chosen.scale, line)]
    for (line, amount), column, series in product(lengths, columns, exhibit.series):
        places = found[series.name][0]
        if not places or (line.key and not series.runs(line)):
            continue
        parameters = column.parameters if column else {}
        # Options that distinguish columns are not the scale's to change.
        options = {**exhibit.options, **series.options, **line.options, **parameters, **amount, **parameters}
        heading = series.heading_on(places[0].kind)
        what = ", ".join(filter(None, (column.heading if column else "", heading)))
        repeats = chosen.repeats or scale.repeats
        try:
            made = plan.work_of(line.workload or exhibit.workload, options, line.spec, scale.seeds, repeats)
        except UserError as error:
            absent = missing_instance(error)
            if absent is None:
                part.reasons.append(OmissionReason((line.label,), what, str(error), series.name))
            else:
                why = f"{absent}; `python -m core.problems fetch {paper.name}` downloads the paper's instances"
                part.reasons.append(OmissionReason((line.label,), "", why))
                part.absent += [line.label] * (line.label not in part.absent)
            continue
        for work, configuration in product(made, places):
            plan.add(part, replace(work, about=what, configuration=configuration), (line.label, what, series.name))


def rows_of(exhibit: Exhibit, scale: Scale) -> list[ExhibitRow]:
    """The rows of a scale; one without a name for all of them where a run has its row by itself: by its processors."""
    lines = [exhibit.line(key) for key in scale.keys]
    told = [one for one in lines if one.spec or one.options or exhibit.row_by in (INSTANCE, WORKLOAD)]
    return told or [ExhibitRow()]


def lengths_of(exhibit: Exhibit, scale: Scale, name: str, line: ExhibitRow) -> list[Mapping[str, Any]]:
    """Return the amounts of work of a row at a scale: two, for the start-up, if runs are shorter than the paper's.

    `quick` checks that everything runs, and has one length.
    """
    amount = scale.amount_of(line.key)
    length = amount.get(LENGTH, 1)
    if name == SCALES[0] or length == 1 or not exhibit.is_short(amount):
        return [amount]
    return [amount, {**amount, LENGTH: max(1, length // SHORT_RUN_DIVISOR)}]


def columns_of(exhibit: Exhibit, scale: Scale) -> list[ExhibitColumn | None]:
    """Return the columns of a scale, one for each set of options; [None] if options do not distinguish them."""
    if not exhibit.by_options:
        return [None]
    told: list[ExhibitColumn | None] = []
    for one in exhibit.columns:
        wanted = all(one.parameters.get(name) in values for name, values in scale.columns.items())
        if one.parameters and wanted and all(other and other.parameters != one.parameters for other in told):
            told.append(one)
    return told


def map_rows(paper: Paper, specs: Mapping[str, str], exhibits: Sequence[Exhibit]) -> Paper:
    """Return the paper with the user's instances in place of some rows, by the names of the rows.

    Raises
    ------
    UserError
        None of the chosen exhibits has such a row.

    """
    keys = list(dict.fromkeys(line.label for one in exhibits for line in paper.drawn(one).lines))
    for name in specs:
        if not any(is_row_name(line, name) for one in exhibits for line in paper.drawn(one).lines):
            raise UserError(
                f"--row {name}: expected a row of the chosen exhibits: {', '.join(keys) or 'they have none'}"
            )
    return structs.replace(paper, exhibits=tuple(_map_rows(one, specs) for one in paper.exhibits)) if specs else paper


def is_row_name(line: ExhibitRow, name: str) -> bool:
    """Return True if a row has this name in the paper's file or in its report."""
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


# --- instances and words ---


def missing_instance(error: UserError) -> str | None:
    """Return where an instance was looked for that is not on this machine; None if something else is wrong."""
    if not isinstance(error, InstanceError) or NOT_FOUND_TEXT not in error.found:
        return None
    # Behind that stands how to get this one instance.
    return f"{error.path}: found {error.found.partition(FETCH_ADVICE)[0]}"


def command_words(workload: Workload[Any], options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a paper's options as words; `peers` is no part of them, since one core alone has peers with it.

    Raises
    ------
    UserError
        The workload has no such option, or it is one that a reproduction has in its own way.

    """
    declared = {one.name: one for one, _ in workload.options.declared()}
    declared |= {option_flag(one).removeprefix("--"): one for one in declared.values()}
    words: list[str] = []
    for name, value in options.items():
        if name not in declared:
            raise UserError(f"--{name.replace('_', '-')}: python -m drivers.{workload.name} has no such option")
        one = declared[name]
        kind, flag = one.metadata["option"].type, option_flag(one)
        if kind is OUTPUT_FILE or (one.name in OWN_OPTIONS and one.name not in PAPER_OPTIONS):
            raise UserError(f"{flag}: found among a paper's options, expected one that decides its work")
        # A flag has no form with `--no-` where that is its default.
        if one.name != "peers" and not (kind is FLAG and not value and one.default is False):
            words += flag_words(flag, value)
    return tuple(words)
