"""Records for all papers within a time budget: an order of runs by value, and a loop that runs those that fit."""

from __future__ import annotations

import argparse
import re
import shlex
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import backends
from core.program_parser import invocation
from drivers.cli.exit_codes import DONE, FAILED
from drivers.cli.messages import set_quiet
from drivers.experiments.case import Case, counted_environment, is_counted
from drivers.experiments.estimate import START_S, estimate_seconds, format_estimate
from drivers.experiments.executors.local import LocalExecutor
from drivers.experiments.options import PlanParser
from drivers.experiments.plan import around_others, prepare_folder, with_second_group
from drivers.experiments.presets.absent_gpu import describe_gpu_runs, with_absent_gpu
from drivers.experiments.presets.paper_plan import ExhibitPlan, ReproductionChoice, ReproductionPlan, plan_reproduction
from drivers.experiments.presets.series import MachineResources
from drivers.experiments.run import CaseOutcome, PlanRun, show
from drivers.options.declaration import add_common_option
from drivers.options.values import positive
from reports.papers import files
from reports.papers.paper import SCALES, Paper
from reports.records.environment import cores
from reports.records.files import Record, append, load, replace_lines
from reports.records.sources import is_stale

QUICK, STANDARD, FULL = SCALES
REPETITIONS = 10
"""Repetitions of each run once every row has some."""
UNKNOWN_S = 1.0
"""Seconds of a repetition without any estimate."""
LONGER = 10
"""Factor over its estimate after which a run is ended, with a limit of at least `LEAST_LIMIT_S`."""
LEAST_LIMIT_S = 60.0
OVERTIME_S = 30.0
"""Seconds that the last run may continue after the budget."""
MACHINE = ("cpu_model", "cores")
"""Environment entries of a record that must be as here for it to count, on any host and commit."""
STAGES = ("a row of each exhibit", "all rows", "ten repetitions", "the paper's amount of work")
"""Stages in order: the second value of a `Stage`."""
UNITS_S = {"s": 1, "m": 60, "h": 3600}


@dataclass
class PaperRecords:
    """Records of a paper on machines like this one.

    Attributes
    ----------
    path : Path
        Their file.
    environment : dict
        That of this process.
    """

    path: Path
    environment: Mapping[str, object]

    @cached_property
    def records(self) -> list[Record]:
        return load(self.path) if self.path.exists() else []

    @cached_property
    def by_problem(self) -> Mapping[tuple[str, str, bool], list[Record]]:
        """Records by workload, hash of the instance, and whether they are stale."""
        grouped: dict[tuple[str, str, bool], list[Record]] = {}
        for one in self.records:
            grouped.setdefault((one.workload, one.instance_sha256, is_stale(one)), []).append(one)
        return grouped

    def of(self, case: Case, *, stale: bool) -> list[Record]:
        """Return the current or the stale records of a case, of one host with such devices for each seed."""
        machine = {name: self.environment[name] for name in MACHINE}
        named = case.configuration.device_name
        same = self.by_problem.get((case.workload.name, case.task.problem.sha256, stale), [])
        return case.records_among([one for one in same if one.details.get("device_name", named) == named], machine)

    def is_complete(self, case: Case) -> bool:
        return case.is_complete(self.of(case, stale=False))

    def seconds(self, case: Case) -> float:
        """Return the estimated duration of a case's remaining runs: as measured before, else from its work."""
        current = self.of(case, stale=False)
        # Measurements of another host are not continued here.
        own = [one for one in current if is_counted(one, self.environment)]
        left = case.repeats * len(case.seeds) - sum(min(case.repeats, len(one.repetitions)) for one in own)
        measured = current or self.of(case, stale=True)
        if measured:
            compile_s = max(one.repetitions[0].compile_s for one in measured)
            return START_S + compile_s + left * statistics.mean(s for one in measured for s in one.running_seconds)
        work = case.work
        if work is None:
            return START_S + left * self.usual_seconds(case)
        return START_S + estimate_seconds(work, case.configuration, left, case.iterations)

    def usual_seconds(self, case: Case) -> float:
        """Return the seconds of a repetition of other instances on this device."""
        where = case.configuration
        key = case.workload.name, where.backend, where.recorded, where.ranks
        alike = (one for one in self.records if (one.workload, one.backend, one.device, one.ranks) == key)
        return statistics.median([second for one in alike for second in one.running_seconds] or [UNKNOWN_S])

    def run(self, case: Case, run: PlanRun) -> CaseOutcome:
        """Run a case, with a file of its own until it is complete; then its records replace stale ones."""
        own = [one for one in self.of(case, stale=False) if is_counted(one, self.environment)]
        folder, name = self.path.parent, f"{self.path.stem}."
        with tempfile.NamedTemporaryFile(dir=folder, prefix=name, suffix=".new.jsonl") as file:
            apart = Path(file.name)
            for one in own:
                append(apart, one)
            [outcome] = run.run([replace(case, records=apart)])
        if outcome.records:
            replace_lines(self.path, [*own, *self.of(case, stale=True)], outcome.records)
            del self.records, self.by_problem
        return outcome


class Stage(NamedTuple):
    """A case with its place in the order.

    Attributes
    ----------
    value : tuple of int
    Smaller values come first: rows with stale records, stage, row and place of the exhibit, so that papers take turns.
    what : str Exhibit and row.
    """

    value: tuple[int, ...]
    paper: str
    what: str
    case: Case

    @property
    def key(self) -> tuple[object, ...]:
        """Identity of the run for any number of repetitions."""
        case = self.case
        configuration = case.workload.name, str(case.configuration)
        return self.paper, *configuration, case.task.problem.sha256, case.arguments, case.seeds


def paper_steps(
    paper: Paper, machine: MachineResources, held: PaperRecords, budget_s: float, data: str | None
) -> tuple[list[Stage], ReproductionPlan]:
    """Return the steps for a paper's exhibits, and the plan of its standard scale."""

    def plan(scale: str, repeats: int | None = None) -> ReproductionPlan:
        return plan_reproduction(paper, paper.exhibits, machine, ReproductionChoice(scale, held.path, repeats, data))

    standard, quick = plan(STANDARD), plan(QUICK)
    short = {(part.exhibit.name, row): cases for part in quick.parts for row, cases in rows_of(quick, part).items()}
    steps: list[Stage] = []

    def add(stage: int, plan: ReproductionPlan) -> None:
        for position, part in enumerate(plan.parts):
            for number, (row, cases) in enumerate(rows_of(plan, part).items()):
                turn = stage + (stage == 0 and number > 0)
                if turn < 2 and sum(map(held.seconds, cases)) > budget_s:
                    add_row(turn, (number, position), part, row, short.get((part.exhibit.name, row), []))
                    turn = 3
                add_row(turn, (number, position), part, row, cases)

    def add_row(turn: int, place: tuple[int, int], part: ExhibitPlan, row: str, cases: Sequence[Case]) -> None:
        # The whole row, so that divided times were measured together.
        first = not any(held.of(case, stale=True) and not held.is_complete(case) for case in cases)
        for case in around_others(with_second_group(cases)):
            if not held.is_complete(case):
                steps.append(Stage((first, turn, *place), paper.name, f"{part.exhibit.name}, {row}", case))

    add(0, standard)
    add(2, plan(STANDARD, REPETITIONS))
    add(3, plan(FULL))
    return steps, standard


def rows_of(plan: ReproductionPlan, part: ExhibitPlan) -> dict[str, list[Case]]:
    rows: dict[str, list[Case]] = {}
    for key, (row, *_) in part.needs.items():
        rows.setdefault(row, []).append(plan.needed[key])
    return rows


class BudgetedPlanRun(PlanRun):
    """Runs cases and shows the remaining budget instead of the duration of all missing runs."""

    def __init__(self, total: int, executor: LocalExecutor, ends: float) -> None:
        super().__init__(total, executor)
        self.ends = ends

    def time_left(self) -> str:
        return f", {max(0.0, self.ends - time.monotonic()):.0f} s left"


@dataclass
class BudgetedRun:
    """Runs steps in their order, and omits those that do not fit.

    Attributes
    ----------
    held : mapping
        Records by paper.
    began : float
        Start of the budget, by `time.monotonic`.
    missing : list of (Stage, float)
        Omitted runs, with their estimated seconds.
    failed : list of str
        Runs without a result, a line each.
    settled : set
        Refused or failed cases: not tried again with more repetitions.
    """

    held: Mapping[str, PaperRecords]
    budget_s: float
    began: float
    missing: list[tuple[Stage, float]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    settled: set[tuple[object, ...]] = field(default_factory=set)

    def run(self, steps: Sequence[Stage]) -> None:
        executor = LocalExecutor()
        run = BudgetedPlanRun(len({one.key for one in steps}), executor, self.began + self.budget_s)
        for step in steps:
            case, held = step.case, self.held[step.paper]
            if step.key in self.settled or held.is_complete(case):
                continue
            left_s, needed_s = self.budget_s - (time.monotonic() - self.began), held.seconds(case)
            if needed_s > left_s:
                self.missing.append((step, needed_s))
                continue
            executor.limit_s = min(left_s + OVERTIME_S, max(LEAST_LIMIT_S, LONGER * needed_s))
            began = time.monotonic()
            outcome = held.run(case, run)
            took_s = time.monotonic() - began
            if took_s >= executor.limit_s and not outcome.records:
                self.missing.append((step, max(held.seconds(case), took_s)))
            elif not outcome.records:
                self.settled.add(step.key)
                self.failed += [f"{case}: {outcome.reason}"] * (outcome.kind == "failed")

    def show_missing(self) -> None:
        for paper in dict.fromkeys(step.paper for step, _ in self.missing):
            for line in describe_stages([one for one in self.missing if one[0].paper == paper]):
                print(f"missing: {paper}: {line}")


def describe_stages(steps: Sequence[tuple[Stage, float]]) -> Iterator[str]:
    for turn, words in enumerate(STAGES):
        times = [seconds for _, seconds in longest_of_each(one for one in steps if one[0].value[1] == turn)]
        if times:
            yield f"{words}: {len(times)} run{'s' * (len(times) != 1)}, about {format_estimate(sum(times))}"


def longest_of_each(steps: Iterable[tuple[Stage, float]]) -> list[tuple[Stage, float]]:
    """Return each run once, with the most repetitions and their seconds."""
    by_seconds = sorted(steps, key=lambda one: one[1])
    return list({step.key: (step, seconds) for step, seconds in by_seconds}.values())


def main(argv: Sequence[str] | None = None, description: str | None = None) -> int:
    """Run what fits into the budget; return 0 unless a run failed.

    Raises `UserError` for an unknown paper, option or backend, a folder that cannot be written, or damaged records.
    """
    options = records_parser(description).parse_args(argv)
    began = time.monotonic()
    set_quiet(options.quiet)
    surveyed = list(backends.survey())
    machine = MachineResources.of(
        surveyed, options.backends, cores(), options.ranks, oversubscribe=options.oversubscribe
    )
    with_gpu = with_absent_gpu(machine, surveyed)
    papers = [files.load(name) for name in options.only or files.names()]
    environment = counted_environment(elsewhere=False)
    held = {one.name: PaperRecords(options.out / f"{one.name}.jsonl", environment) for one in papers}
    steps: list[Stage] = []
    obstacles: list[str] = []
    for paper in papers:
        if not options.dry_run:
            prepare_folder(held[paper.name].path, lambda: None, rerun=False)
        more, plan = paper_steps(paper, machine, held[paper.name], options.budget, options.data)
        steps += more
        obstacles += (f"{paper.name}, {one}" for one in describe_obstacles(plan))
        if with_gpu:
            obstacles += describe_gpu_runs(paper, with_gpu, plan.chosen, held[paper.name].records)
    steps.sort(key=lambda one: one.value)
    show("not recorded:" if steps else "all is recorded")
    for line in describe_stages([(one, held[one.paper].seconds(one.case)) for one in steps]):
        show(line, indent=4)
    if options.dry_run:
        for one in steps:
            seconds = held[one.paper].seconds(one.case)
            print(f"{shlex.join(one.case.command())}  # {seconds:.0f} s: {one.paper}, {one.what}")
    budgeted = BudgetedRun(held, options.budget, began)
    if not options.dry_run:
        budgeted.run(steps)
        budgeted.show_missing()
    for line in obstacles:
        print(f"cannot run here: {line}")
    for line in budgeted.failed:
        print(f"error: {line}", file=sys.stderr)
    return FAILED if budgeted.failed else DONE


def describe_obstacles(plan: ReproductionPlan) -> Iterator[str]:
    """Yield parts of a plan that this machine cannot run, with reasons: missing instances, devices, ranks."""
    for part in plan.parts:
        yield from (f"{part.exhibit.name}: {what}: {why}" for what, why in part.missing())


def records_parser(description: str | None) -> PlanParser:
    parser = PlanParser(prog=invocation("drivers.gallery_records"), description=description)
    add = parser.add_argument
    add(
        "--budget",
        type=read_budget,
        default="30m",
        metavar="TIME",
        help="time for all runs: 90s, 30m, 2h (%(default)s)",
    )
    only = f"only these papers, separated by commas (default: {', '.join(files.names())})"
    add("--only", type=read_papers, metavar="PAPER,...", help=only)
    add("--data", metavar="DIR", help="folder with instance files, searched before all others")
    add("--backends", nargs="+", metavar="B", help="only these backends (default: all usable ones)")
    ranks = "numbers of MPI ranks for runs on several ranks (default: the papers'; no value: none)"
    add("--ranks", nargs="*", type=positive, metavar="N", help=ranks)
    add("--oversubscribe", action="store_true", help="allow more ranks than cores")
    out = "folder of the records, PAPER.jsonl (%(default)s)"
    add("--out", type=Path, default=Path("reports/gallery"), metavar="DIR", help=out)
    add("--dry-run", action="store_true", help="print the runs in their order with estimated seconds, and exit")
    add_common_option(parser, "quiet")
    return parser


def read_budget(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    if not match or float(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"expected a time above 0 such as 90s, 30m or 2h, found {text!r}")
    return float(match[1]) * UNITS_S[match[2]]


def read_papers(text: str) -> list[str]:
    names = text.split(",")
    unknown = [one for one in names if one not in files.names()]
    if unknown:
        raise argparse.ArgumentTypeError(f"expected some of {', '.join(files.names())}, found {unknown[0]!r}")
    return list(dict.fromkeys(names))
