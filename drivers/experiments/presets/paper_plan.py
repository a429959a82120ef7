"""Runs that a paper's tables and figures need on this machine, from exhibits and a scale.

The rows of an exhibit are crossed with its columns, if they have options, with its series and their devices. Exhibits
share equal runs. Impossible runs are part of the plan, with the reason.
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
from core.instances.errors import InstanceError
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
"""Text in messages of missing instances (`core.instances.sources`)."""
FETCH_ADVICE = " (`python -m core.instances fetch"
"""Text before the command that downloads an instance."""
PAPER_OPTIONS = ("instance", "peers")
"""Options that a reproduction sets itself and that a paper's file may have too."""
SHORT_RUN_DIVISOR = 4
"""Ratio of a run's length to that of its shorter partner, for its start-up time."""


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
        Repetitions of each run, instead of the scale's.
    data : str, optional
        Folder to search first for instances.
    """

    scale: str
    records: Path
    repeats: int | None = None
    data: str | None = None


class OmissionReason(NamedTuple):
    """A reason for missing runs: its rows (all if empty), a description, the reason, and the series, if any."""

    rows: tuple[str, ...]
    what: str
    why: str
    series: str = ""


@dataclass
class ExhibitPlan:
    """An exhibit with its data, and its planned cases.

    Attributes
    ----------
    needs : dict
        For the key of a case in the plan, the places of its figure: row, column and series as text, and the name of the
        series.
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
        """Return missing runs as text, with reasons; rows with the same reason are together."""
        rows: dict[tuple[str, str], dict[str, None]] = {}
        for one in self.reasons:
            rows.setdefault((one.what, one.why), {}).update(dict.fromkeys(one.rows))
        return [(": ".join(filter(None, (", ".join(of), what))), why) for (what, why), of in rows.items()]

    def not_made(self) -> MissingRuns:
        everywhere = next((one.why for one in self.reasons if not one.series), "")
        series = {one.name: everywhere for one in self.exhibit.series}
        return MissingRuns(
            self.missing(), series | {one.series: one.why for one in reversed(self.reasons) if one.series}
        )


@dataclass
class ReproductionPlan:
    """All cases of some exhibits, each once, in the order of their first use.

    `works` stores experiment plans by their arguments, for several series, columns and exhibits.
    """

    chosen: ReproductionChoice
    needed: dict[str, Case] = field(default_factory=dict)
    parts: list[ExhibitPlan] = field(default_factory=list)
    works: dict[tuple[Any, ...], list[Case] | UserError] = field(default_factory=dict)

    def work_of(
        self, workload: str, options: Mapping[str, Any], spec: str, seeds: Sequence[int], repeats: int
    ) -> list[Case]:
        """Return the work of these options on an instance, planned once; see `plan_work`.

        Raises `UserError` if the workload refuses an option or the instance.
        """
        chosen = self.chosen
        data = ["--data", chosen.data] if chosen.data else []
        declared, peers = get_workload(workload), bool(options.get("peers"))
        words = command_words(declared, {**options, **({"instance": spec} if spec else {})})
        key = (workload, words, peers, tuple(seeds), repeats)
        if key not in self.works:
            try:
                self.works[key] = plan_work(declared, [*words, *data], seeds, repeats, chosen.records, peers=peers)
            except UserError as error:
                self.works[key] = error
        work = self.works[key]
        if isinstance(work, UserError):
            raise work
        return work

    def part_of(self, exhibit: Exhibit) -> ExhibitPlan:
        return next(one for one in self.parts if one.exhibit is exhibit)

    def add(self, part: ExhibitPlan, case: Case, need: tuple[str, str, str]) -> None:
        """Add a case to the plan, or join it with an equal one."""
        where = case.configuration
        # With settled options, since an open option and its explicit default are the same run.
        asked = {kind: case.task.options.deciding(kind) for kind in ("work", "execution", "search")}
        what = [case.workload.name, case.task.problem.sha256, asked, case.seeds]
        place = [where.backend, where.recorded, where.device, where.ranks, where.emulated]
        key = json.dumps([*what, *place], sort_keys=True)
        there = self.needed.get(key)
        self.needed[key] = merge_cases(there, case) if there else case
        part.needs.setdefault(key, need)

    def refuse(self, case: Case, why: str) -> None:
        for part in self.parts:
            for key, (row, what, series) in part.needs.items():
                if self.needed[key] is case:
                    part.reasons.append(OmissionReason((row,), f"{what} on {case.configuration}", why, series))

    def cases_of(self, part: ExhibitPlan) -> list[Case]:
        return [self.needed[key] for key in part.needs]


def merge_cases(case: Case, other: Case) -> Case:
    """Return a case for both: flags of both that decide neither work nor execution, and the larger repetitions."""
    neutral = {
        option_flag(field)
        for field, about in case.workload.options.declared()
        if about.type is FLAG and about.decides == "nothing" and field.name not in OWN_OPTIONS
    }
    more = [word for word in other.arguments if word in neutral and word not in case.arguments]
    repeats, peers = max(case.repeats, other.repeats), case.peers or other.peers
    return replace(case, arguments=(*case.arguments, *more), repeats=repeats, peers=peers)


# --- from exhibits to runs ---


def plan_reproduction(
    paper: Paper, exhibits: Sequence[Exhibit], machine: MachineResources, chosen: ReproductionChoice
) -> ReproductionPlan:
    """Plan the runs that exhibits of a paper need.

    A figure of a table needs the table's runs; a figure of a single row, requested without the table, needs only this
    row, even if the scale lacks it.
    """
    plan = ReproductionPlan(chosen)
    for source in map(paper.drawn, exhibits):
        if all(one.exhibit is not source for one in plan.parts):
            part = ExhibitPlan(source)
            plan.parts.append(part)
            drawn = dict.fromkeys(one.plot.row if one.plot else "" for one in exhibits if paper.drawn(one) is source)
            rows = tuple(drawn) if source not in exhibits and all(drawn) else source.scales[chosen.scale].keys
            if not source.never_ours:
                _plan_exhibit(plan, part, paper, machine, rows)
    return plan


def _plan_exhibit(
    plan: ReproductionPlan, part: ExhibitPlan, paper: Paper, machine: MachineResources, rows: tuple[str, ...]
) -> None:
    exhibit, chosen = part.exhibit, plan.chosen
    scale = structs.replace(exhibit.scales[chosen.scale], keys=rows)
    lines = rows_of(exhibit, scale)
    unnamed = [one for one in lines if one.key and exhibit.row_by == INSTANCE and not (one.spec or one.options)]
    for line in unnamed:
        why = f"the paper does not name the instance; --row {line.label}=SPEC sets it"
        part.reasons.append(OmissionReason((line.label,), "", why))
    by_series = {one.name: series_configurations(one, machine) for one in exhibit.series}
    part.reasons += [OmissionReason((), what, why, name) for name, (_, lost) in by_series.items() for what, why in lost]
    columns = columns_of(exhibit, scale)
    named = [one for one in lines if one not in unnamed]
    lengths = [(line, amount) for line in named for amount in lengths_of(exhibit, scale, chosen.scale, line)]
    for (line, amount), column, series in product(lengths, columns, exhibit.series):
        places = by_series[series.name][0]
        if not places or (line.key and not series.runs(line)):
            continue
        parameters = column.parameters if column else {}
        # The scale must not change options that distinguish columns.
        options = {**exhibit.options, **series.options, **line.options, **parameters, **amount, **parameters}
        heading = series.heading_on(places[0].kind)
        what = ", ".join(filter(None, (column.heading if column else "", heading)))
        repeats = chosen.repeats or scale.repeats
        try:
            works = plan.work_of(line.workload or exhibit.workload, options, line.spec, scale.seeds, repeats)
        except UserError as error:
            absent = missing_instance(error)
            if absent is None:
                part.reasons.append(OmissionReason((line.label,), what, str(error), series.name))
            else:
                why = f"{absent}; `python -m core.instances fetch {paper.name}` downloads the paper's instances"
                part.reasons.append(OmissionReason((line.label,), "", why))
                part.absent += [line.label] * (line.label not in part.absent)
            continue
        for work, configuration in product(works, places):
            plan.add(part, replace(work, about=what, configuration=configuration), (line.label, what, series.name))


def rows_of(exhibit: Exhibit, scale: Scale) -> list[ExhibitRow]:
    """The rows of a scale; one without a name for all of them if a run determines its row, by its processors."""
    lines = [exhibit.line(key) for key in scale.keys]
    runnable = [one for one in lines if one.spec or one.options or exhibit.row_by in (INSTANCE, WORKLOAD)]
    return runnable or [ExhibitRow()]


def lengths_of(exhibit: Exhibit, scale: Scale, name: str, line: ExhibitRow) -> list[Mapping[str, Any]]:
    """Return the amounts of work of a row at a scale: two, for the start-up time, if runs are shorter than the paper's.

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
    distinct: list[ExhibitColumn | None] = []
    for one in exhibit.columns:
        wanted = all(one.parameters.get(name) in values for name, values in scale.columns.items())
        if one.parameters and wanted and all(other and other.parameters != one.parameters for other in distinct):
            distinct.append(one)
    return distinct


def map_rows(paper: Paper, specs: Mapping[str, str], exhibits: Sequence[Exhibit]) -> Paper:
    """Return the paper with the user's instances for some rows, by the names of the rows.

    Raises `UserError` if no chosen exhibit has such a row.
    """
    keys = list(dict.fromkeys(line.label for one in exhibits for line in paper.drawn(one).lines))
    for name in specs:
        if not any(is_row_name(line, name) for one in exhibits for line in paper.drawn(one).lines):
            raise UserError(
                f"--row {name}: expected a row of the chosen exhibits: {', '.join(keys) or 'they have none'}"
            )
    return structs.replace(paper, exhibits=tuple(_map_rows(one, specs) for one in paper.exhibits)) if specs else paper


def is_row_name(line: ExhibitRow, name: str) -> bool:
    return name in (line.key, line.label)


def _map_rows(exhibit: Exhibit, specs: Mapping[str, str]) -> Exhibit:
    meant = {line.key: spec for line in exhibit.lines for name, spec in specs.items() if is_row_name(line, name)}
    if not meant:
        return exhibit
    lines = tuple(
        structs.replace(one, spec=meant[one.key], options={}) if one.key in meant else one for one in exhibit.lines
    )

    def scaled(scale: Scale) -> Scale:
        # The user's rows are wanted even if the scale omits them.
        return structs.replace(scale, keys=tuple(one.key for one in lines if one.key in scale.keys or one.key in meant))

    scales = {name: scaled(scale) for name, scale in exhibit.scales.items()}
    return structs.replace(exhibit, lines=lines, scales=scales)


# --- instances and words ---


def missing_instance(error: UserError) -> str | None:
    """Return the places searched for a missing instance; None for other errors."""
    if not isinstance(error, InstanceError) or NOT_FOUND_TEXT not in error.found:
        return None
    # Behind that is the command that gets this instance.
    return f"{error.path}: found {error.found.partition(FETCH_ADVICE)[0]}"


def command_words(workload: Workload[Any], options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a paper's options as words, without `peers`, which only one core has.

    Raises `UserError` if the workload lacks an option, or a reproduction sets it itself.
    """
    declared = {one.name: one for one, _ in workload.options.declared()}
    declared |= {option_flag(one).removeprefix("--"): one for one in declared.values()}
    words: list[str] = []
    for name, value in options.items():
        if name not in declared:
            raise UserError(f"--{name.replace('_', '-')}: python -m drivers.{workload.name} has no such option")
        option = declared[name]
        kind, flag = option.metadata["option"].type, option_flag(option)
        if kind is OUTPUT_FILE or (option.name in OWN_OPTIONS and option.name not in PAPER_OPTIONS):
            raise UserError(f"{flag}: found among a paper's options, expected one that decides its work")
        # A flag has no `--no-` form if that is its default.
        if option.name != "peers" and not (kind is FLAG and not value and option.default is False):
            words += flag_words(flag, value)
    return tuple(words)
