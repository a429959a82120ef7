"""Runs that a paper's tables need on this machine: rows of an exhibit crossed with the columns of our table.

Exhibits share equal runs. The plan has a reason for each cell without possible runs.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, product, zip_longest
from pathlib import Path
from typing import Any

from msgspec import structs

from core.errors import UserError
from core.instances.errors import InstanceError
from drivers.experiments.baselines import in_turns
from drivers.experiments.case import Case
from drivers.experiments.options import OWN_OPTIONS, flag_words
from drivers.experiments.plan import plan_work
from drivers.experiments.presets.series import MachineResources, series_configurations
from drivers.options.declaration import option_flag
from drivers.options.values import FLAG, OUTPUT_FILE
from drivers.workload.declaration import Workload
from drivers.workload.registry import get_workload
from reports.papers.paper import SCALES, Column, Exhibit, Paper, Scale
from reports.papers.placement import RunChoice, run_choice
from reports.records.files import group_by

Cell = tuple[str, str, str]
"""Names of an exhibit and a row, and the key of a column."""
Identity = tuple[Hashable, ...]
"""Key of equal runs, see `identity`."""
QUICK, STANDARD, _ = SCALES

NOT_FOUND_TEXT = "no such"
"""Text in messages of missing instances (`core.instances.sources`)."""
FETCH_ADVICE = " (`onekernel fetch"
"""Text before the command that downloads an instance."""
PAPER_OPTIONS = ("instance", "peers")
"""Options that a reproduction sets itself and that a paper's file may have too."""


@dataclass
class ReproductionPlan:
    """All cases of some exhibits, each once.

    Attributes
    ----------
    scale : str
        One of `reports.papers.paper.SCALES`.
    records : Path
        File of the records of its runs.
    cases : dict
        Cases by their identity, in the order of their first use.
    cells : dict
        Identities of the cases of each cell.
    bases : set
        Identities of runs on one core over which other columns are.
    missing : dict
        Reasons of cells without runs.
    """

    scale: str
    records: Path
    cases: dict[Identity, Case] = field(default_factory=dict)
    cells: dict[Cell, list[Identity]] = field(default_factory=dict)
    bases: set[Identity] = field(default_factory=set)
    missing: dict[Cell, str] = field(default_factory=dict)

    def add(self, cell: Cell, case: Case, *, is_base: bool) -> None:
        """Add a case of a cell to the plan, or join it with an equal one; other columns are over those of a base."""
        key = identity(case)
        self.cases[key] = merge_cases(self.cases[key], case) if key in self.cases else case
        self.cells.setdefault(cell, []).append(key)
        if is_base and case.is_of_one_core:
            self.bases.add(key)

    def groups(self, *, is_in_turn: bool) -> list[list[Case]]:
        """Return the cases of each row in running order: the first rows of all exhibits, then the second ones.

        Rows with the same base are one group. If cases run in turn, a base runs before and after the others: at the
        full scale in every row, at the standard scale in the first row of each exhibit, at the quick scale in none.
        """
        rows: dict[tuple[str, str], list[Identity]] = {}
        for (exhibit, row, _), keys in self.cells.items():
            rows.setdefault((exhibit, row), []).extend(keys)
        of_exhibits = group_by(rows, lambda place: place[0])
        groups: list[dict[Identity, Case]] = []
        placed: set[Identity] = set()
        for place in filter(None, chain(*zip_longest(*of_exhibits))):
            shared = self.bases.intersection(rows[place])
            group = next((one for one in groups if shared & one.keys()), None)
            if group is None:
                groups.append(group := {})
            group |= {key: self.cases[key] for key in rows[place] if key not in placed}
            placed.update(rows[place])
        bases = self.bases if is_in_turn and self.scale != QUICK else set()
        if self.scale == STANDARD:
            bases = bases.intersection(chain.from_iterable(rows[places[0]] for places in of_exhibits))
        return [in_turns([*group.values()], [group[key] for key in group if key in bases]) for group in groups]

    def cases_of(self, cell: Cell) -> list[Case]:
        return [self.cases[key] for key in self.cells.get(cell, ())]

    def cells_of(self, case: Case) -> list[Cell]:
        key = identity(case)
        return [cell for cell, keys in self.cells.items() if key in keys]


def identity(case: Case) -> Identity:
    """Return what equal runs have in common; an open option and its explicit default are the same run."""
    asked = {kind: case.task.options.deciding(kind) for kind in ("work", "execution", "search")}
    problem = case.task.problem.sha256
    return case.workload.name, problem, json.dumps(asked, sort_keys=True), case.seeds, case.configuration


def merge_cases(case: Case, other: Case) -> Case:
    """Return a case for both: flags of both that decide neither work nor execution, and the longer measurement."""
    neutral = {
        option_flag(field)
        for field, about in case.workload.options.declared()
        if about.type is FLAG and about.decides == "nothing" and field.name not in OWN_OPTIONS
    }
    more = [word for word in other.arguments if word in neutral and word not in case.arguments]
    measure = max(case.measure or 0.0, other.measure or 0.0) or None
    return replace(case, arguments=(*case.arguments, *more), measure=measure, peers=case.peers or other.peers)


# --- from exhibits to runs ---


def plan_reproduction(
    paper: Paper,
    exhibits: Sequence[Exhibit],
    machine: MachineResources,
    scale_name: str,
    records: Path,
    measure: float | None = None,
    data: str | None = None,
) -> ReproductionPlan:
    """Plan the runs that exhibits of a paper need: the cells of a scale's rows and columns that have a series.

    ``measure`` is the budget in seconds of each rate, instead of the scale's, and ``data`` a folder to search first for
    instances.
    """
    plan, work = ReproductionPlan(scale_name, records), cache(plan_work)
    for exhibit in exhibits:
        scale = exhibit.scales[scale_name]
        rows = [exhibit.row(name) for name in scale.rows] or exhibit.rows
        columns = columns_of(exhibit, scale)
        over = {column.over for column in columns}
        for row, column in product(rows, columns):
            cell = exhibit.name, row.name, column.key
            if row.name not in scale.column_rows.get(column.key, (row.name,)):
                continue
            choice = run_choice(paper, exhibit, row, column)
            if choice is None:
                if column.series and (row.name in column.rows or not column.rows):
                    plan.missing[cell] = f"the paper does not name the instance; --row {row.name}=SPEC sets it"
                continue
            # The scale must not change options that distinguish columns.
            options = {**choice.options, **scale.amount_of(row.name), **column.options}
            try:
                places = series_configurations(choice.series, machine, choice.processors)
                words = *command_words(choice, options), *(("--data", data) if data else ())
                works = work(get_workload(choice.workload), words, scale.seeds, 1, records, peers=False)
            except UserError as error:
                plan.missing[cell] = omission_reason(error, paper)
                continue
            budget = None if row.name in scale.once.get(column.series, ()) else measure or scale.measure
            peers = bool(column.peer or options.get("peers"))
            for case, place in product(works, places):
                amount = next((one for kind, one in scale.rate_amounts.items() if kind == place.kind and budget), 0)
                arguments = (*case.arguments, *(("--rate-amount", str(amount)) if amount else ()))
                placed = replace(case.on(place), arguments=arguments, about=column.key, measure=budget, peers=peers)
                plan.add(cell, placed, is_base=column.key in over)
    return plan


def columns_of(exhibit: Exhibit, scale: Scale) -> list[Column]:
    """Return the columns of a scale, with those over which others of them are."""
    wanted = set(scale.columns or [column.key for column in exhibit.columns])
    while bases := {one.over for one in exhibit.columns if one.key in wanted and one.over} - wanted:
        wanted |= bases
    return [column for column in exhibit.columns if column.key in wanted]


def with_instances(paper: Paper, exhibits: Sequence[Exhibit], specs: Mapping[str, str]) -> Paper:
    """Return the paper with the user's instances for some rows, by the names of the rows.

    Raises `UserError` if no chosen exhibit has such a row.
    """
    names = dict.fromkeys(row.name for exhibit in exhibits for row in exhibit.rows)
    for name in specs:
        if name not in names:
            there = ", ".join(names) or "they have none"
            raise UserError(f"--row {name}: expected a row of the chosen exhibits: {there}")

    def replaced(exhibit: Exhibit) -> Exhibit:
        meant = [row for row in exhibit.rows if row.name in specs]
        own = {row.name: structs.replace(row, instance=specs[row.name], options={}) for row in meant}
        # The user's rows are wanted even if the scale omits them.
        scales = {
            name: structs.replace(scale, rows=scale.rows and (*scale.rows, *own))
            for name, scale in exhibit.scales.items()
        }
        return structs.replace(exhibit, rows=tuple(own.get(row.name, row) for row in exhibit.rows), scales=scales)

    return structs.replace(paper, exhibits=tuple(map(replaced, paper.exhibits)))


# --- words and reasons ---


def omission_reason(error: UserError, paper: Paper) -> str:
    """Return the reason against a run; for a missing instance, with the command that downloads it."""
    if not isinstance(error, InstanceError) or NOT_FOUND_TEXT not in error.found:
        return str(error)
    # Behind that is the command that gets this instance alone.
    found = f"{error.path}: found {error.found.partition(FETCH_ADVICE)[0]}"
    return f"{found}; `onekernel fetch {paper.name}` downloads the paper's instances"


def command_words(choice: RunChoice, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the options of a run as words, without `peers`, which only one core has.

    Raises `UserError` if the workload lacks an option, or a reproduction sets it itself.
    """
    workload: Workload[Any] = get_workload(choice.workload)
    declared = {one.name: one for one, _ in workload.options.declared()}
    declared |= {option_flag(one).removeprefix("--"): one for one in declared.values()}
    words: list[str] = []
    for name, value in {**options, **({"instance": choice.instance} if choice.instance else {})}.items():
        if name not in declared:
            raise UserError(f"--{name.replace('_', '-')}: onekernel {workload.name} has no such option")
        option = declared[name]
        kind, flag = option.metadata["option"].type, option_flag(option)
        if kind is OUTPUT_FILE or (option.name in OWN_OPTIONS and option.name not in PAPER_OPTIONS):
            raise UserError(f"{flag}: found among a paper's options, expected one that decides its work")
        # A flag has no `--no-` form if that is its default.
        if option.name != "peers" and not (kind is FLAG and not value and option.default is False):
            words += flag_words(flag, value)
    return tuple(words)
