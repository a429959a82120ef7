"""A paper's tables and figures: their runs on this machine, and a page with ours next to the published figures."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from msgspec import structs

import backends
from core.errors import UserError
from core.program_parser import invocation
from drivers.cli.exit_codes import DONE, FAILED
from drivers.cli.messages import print_note, set_quiet
from drivers.experiments.case import Case, counted_environment
from drivers.experiments.estimate import START_S
from drivers.experiments.options import PlanParser, add_parallel_option, add_plan_options, chosen_executor
from drivers.experiments.plan import ExperimentPlan, around_others, prepare_folder, with_twice_on_one_core
from drivers.experiments.presets.paper_plan import ReproductionChoice, ReproductionPlan, map_rows, plan_reproduction
from drivers.experiments.presets.series import MachineResources, usable_devices
from drivers.experiments.run import CaseOutcome, PlanRun, show
from drivers.options.values import positive
from reports.pages import paper as pages_paper
from reports.papers import files
from reports.papers.exhibits import MissingRuns, fill_exhibit, gather_evidence
from reports.papers.paper import SCALES, Exhibit, Paper
from reports.papers.placement import find_series
from reports.papers.plots import gap_reason
from reports.records.environment import cores, emulated_hosts, environment
from reports.records.files import Record, RecordError, UnequalWorkError, load

SUFFIX = ".toml"
"""Suffix of a custom paper's file; papers of the project have names without it."""
UNITS_S = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True)
class PaperPage:
    """A report: the requested exhibits, its `earlier` ones, its folder, and the command line."""

    paper: Paper
    exhibits: Sequence[Exhibit]
    earlier: Sequence[Exhibit]
    folder: Path
    made_by: str

    @property
    def shown(self) -> list[Exhibit]:
        return [one for one in self.paper.exhibits if one in self.exhibits or one in self.earlier]


def main(argv: Sequence[str] | None = None, description: str | None = None) -> int:
    """Reproduce; return 0 if everything possible ran and every requested exhibit shows it, else 1.

    Raises `UserError` for an unknown paper, table, figure, row or backend, a folder that cannot be written, or damaged
    records. Then nothing was started.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    options = read_options(arguments, description)
    set_quiet(options.quiet)
    devices, is_chosen = usable_devices(backends.survey(), options.backends), options.backends is not None
    machine = MachineResources(devices, is_chosen, cores(), options.ranks, options.oversubscribe)
    if options.list:
        return show_list(options, machine)
    paper, exhibits = chosen_exhibits(options)
    chosen = chosen_amount(options, paper)
    records = chosen.records
    if not options.dry_run:
        executor = chosen_executor(options)
        remove = (lambda: pages_paper.remove(options.out, paper)) if options.rerun else (lambda: None)
        prepare_folder(records, remove, rerun=options.rerun)
    needs = plan_runs(options, paper, exhibits, machine)
    is_elsewhere = options.executor != "local"
    plan = plan_of(needs, records, rerun=options.rerun, elsewhere=is_elsewhere)
    show(f"{paper.name}, scale {chosen.scale}: {plan.summary()}")
    show(f"records: {records}")
    if options.dry_run:
        plan.show_commands()
        return DONE
    earlier = [one for one in pages_paper.exhibits_in(options.out, paper) if one not in exhibits]
    ordered = around_others if is_around_others(options) else list
    rows = rows_in_turn(needs, plan.left) if options.budget else [plan.left]
    cases = [case for row in rows for case in ordered(row)]
    run = PlanRun(len(cases), executor)
    if len(plan.left) < len(plan.cases):
        run.warn_of_changes(records)
    failed, elsewhere = [], []
    for outcome in run_within(options.budget, run, cases, plan) if options.budget else run.run(cases):
        if outcome.kind == "elsewhere":
            elsewhere.append(outcome.case)
        elif outcome.kind != "done":
            # A program's refusal is no failure: the device cannot run it, and the report lists it.
            needs.refuse(outcome.case, outcome.reason)
            failed += [f"{outcome.case.named}: {outcome.not_run}"] * (outcome.kind == "failed")
    made_by = shlex.join(["python", "-m", "drivers.reproduce", *arguments])
    page = PaperPage(paper, exhibits, earlier, options.out, made_by)
    before = plan_runs(options, paper, earlier, machine)
    return write_report(page, needs, before, plan_of(needs, records, elsewhere=is_elsewhere), failed, elsewhere)


def is_around_others(options: argparse.Namespace) -> bool:
    """True if runs on one core are repeated after all others; not for the quick scale and `--repeats`.

    Runs of the quick scale need only be free of errors.
    """
    return options.scale != SCALES[0] and not options.repeats


def plan_runs(
    options: argparse.Namespace, paper: Paper, exhibits: Sequence[Exhibit], machine: MachineResources
) -> ReproductionPlan:
    """Return the plan of exhibits, with one core before and after the others if wanted."""
    plan = plan_reproduction(paper, exhibits, machine, chosen_amount(options, paper))
    if is_around_others(options):
        plan.needed = dict(zip(plan.needed, with_twice_on_one_core([*plan.needed.values()]), strict=True))
    return plan


def rows_in_turn(needs: ReproductionPlan, left: Sequence[Case]) -> list[list[Case]]:
    """Return the cases of each row: the first rows of all exhibits, then the second ones."""
    chosen = {id(case) for case in left}
    turns: dict[int, list[list[Case]]] = {}
    for part in needs.parts:
        rows: dict[str, list[Case]] = {}
        for key, (row, *_) in part.needs.items():
            case = needs.needed[key]
            rows.setdefault(row, []).extend([case] if id(case) in chosen else [])
            chosen.discard(id(case))
        for turn, cases in enumerate(rows.values()):
            turns.setdefault(turn, []).append(cases)
    return [cases for turn in sorted(turns) for cases in turns[turn]]


def run_within(budget_s: float, run: PlanRun, cases: Sequence[Case], plan: ExperimentPlan) -> Iterator[CaseOutcome]:
    """Run the cases that fit into a time, as estimated or as long as the last one of this workload and device."""
    ends, took_s = time.monotonic() + budget_s, dict[tuple[str, str], float]()
    begun: list[Case] = []
    for case in cases:
        like, began = (case.workload.name, str(case.configuration)), time.monotonic()
        if began + max(plan.left_s(case) or START_S, took_s.get(like, 0.0)) <= ends:
            begun.append(case)
            yield from run.run([case])
            took_s[like] = time.monotonic() - began
        elif all(replace(case, repeats=one.repeats) != one for one in begun):
            yield CaseOutcome(case, [], "the time of --budget was over", "refused")
    after = ExperimentPlan(plan.cases, plan.records)
    if after.left:
        print_note(f"{after.summary()}; the same command continues")


def plan_of(needs: ReproductionPlan, records: Path, *, rerun: bool = False, elsewhere: bool = False) -> ExperimentPlan:
    reasons = [f"{part.exhibit.name}: {what}: {why}" for part in needs.parts for what, why in part.missing()]
    return ExperimentPlan([*needs.needed.values()], records, reasons, rerun, elsewhere)


# --- the command line ---


def read_options(argv: Sequence[str], description: str | None) -> argparse.Namespace:
    """Return the options. Raises `UserError` for a wrong option or value, no paper, or no folder of instances."""
    options = reproduction_parser(description).parse_args(argv)
    if options.paper is None and not options.list:
        raise UserError(f"expected a paper, one of {', '.join(files.names())}, or --list")
    if options.paper is None and (options.table or options.figure or options.row):
        raise UserError("--table, --figure and --row: expected with a paper")
    if options.data is not None and not Path(options.data).is_dir():
        raise UserError(f"--data {options.data}: expected a folder of instances")
    if options.budget and options.executor != "local":
        raise UserError(f"--budget and --executor {options.executor}: expected one of them")
    return options


def reproduction_parser(description: str | None) -> PlanParser:
    parser = PlanParser(prog=invocation("drivers.reproduce"), description=description)
    add = parser.add_argument
    paper = f"paper: one of {', '.join(files.names())}, or a file *{SUFFIX} of the same form"
    add("paper", nargs="?", metavar="PAPER", help=paper)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--table", metavar="N", help="only this table")
    which.add_argument("--figure", metavar="N", help="only this figure, with the runs of its table")
    scale = "amount of work: seconds (quick), minutes (standard), or as much as in the paper (full) (%(default)s)"
    add("--scale", choices=SCALES, default=SCALES[1], help=scale)
    row = "instance of a row, instead of the paper's, as in 1=50; can be given several times"
    add("--row", action="append", type=read_row, default=[], metavar="KEY=SPEC", help=row)
    repeats = "repetitions of each run, instead of the number that --scale sets"
    add("--repeats", type=positive, metavar="R", help=repeats)
    budget = "start only runs that end within this time, 90s, 30m or 2h: rows of all tables in turn; run again, it "
    add("--budget", type=read_budget, metavar="TIME", help=budget + "continues")
    add_plan_options(
        parser,
        "all usable ones except the reference interpreter, python, and joblib, which runs the programs of threads",
        "numbers of MPI ranks for the paper's runs on several ranks (default: the paper's, if there are enough cores; "
        "no value: none)",
    )
    add_parallel_option(parser)
    add("--list", action="store_true", help="list tables and figures with their recorded runs, and exit")
    return parser


def read_row(text: str) -> tuple[str, str]:
    key, equals, spec = text.partition("=")
    if not (key and equals and spec):
        raise argparse.ArgumentTypeError(f"expected a row's key and an instance as in 1=50, found {text!r}")
    return key, spec


def read_budget(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    if not match or float(match[1]) == 0:
        raise argparse.ArgumentTypeError(f"expected a time above 0 such as 90s, 30m or 2h, found {text!r}")
    return float(match[1]) * UNITS_S[match[2]]


def chosen_exhibits(options: argparse.Namespace) -> tuple[Paper, Sequence[Exhibit]]:
    """Return the paper with the user's rows, and its chosen exhibits."""
    name = options.paper
    paper = files.read(Path(name)) if name.endswith(SUFFIX) else files.load(name)
    kind = "table" if options.table else "figure" if options.figure else None
    number = options.table or options.figure
    paper = map_rows(paper, dict(options.row), paper.chosen(kind, number))
    return paper, paper.chosen(kind, number)


def chosen_amount(options: argparse.Namespace, paper: Paper) -> ReproductionChoice:
    return ReproductionChoice(options.scale, options.out / f"{paper.name}.jsonl", options.repeats, options.data)


# --- the report ---


def write_report(
    page: PaperPage,
    needs: ReproductionPlan,
    before: ReproductionPlan,
    plan: ExperimentPlan,
    failed: Sequence[str],
    elsewhere: Sequence[Case],
) -> int:
    """Write the report with its command line, print failures and gaps, and return the exit code.

    `before` is the plan of the report's earlier exhibits; runs `elsewhere` are recorded with other options.
    """
    everything, machine = load(plan.records), counted_environment(elsewhere=plan.elsewhere)
    records = [one for case in plan.cases for one in plan.recorded(case)]
    records += [one for case in elsewhere for one in case.records_among(everything, machine, alike=True)]
    doubted = dict.fromkeys(
        f"{one.workload}, {one.instance}: {one.label}: the result was not confirmed"
        for one in records
        if not one.verified and one.details.get("proved") is not False
    )
    paper = page.paper
    not_made = {
        one: (needs if one in page.exhibits else before).part_of(paper.drawn(one)).not_made() for one in page.shown
    }
    counted = newest_records(everything)
    try:
        written = pages_paper.write(
            paper, page.shown, counted, page.folder, not_made, page.made_by, earlier=page.earlier
        )
        gaps = describe_gaps(page, counted, not_made)
    except (UnequalWorkError, RecordError) as error:
        # Our own programs made the records: no user error.
        print(f"error: {error}. No report was written; the records are in {plan.records}", file=sys.stderr)
        return FAILED
    report_unused_runs(needs, plan)
    print()
    for path in written:
        print(path)
    if plan.cases and not records:
        failed = [*failed, "nothing ran: the report has only published figures"]
    # A scale omits exhibits of a whole paper; an exhibit chosen by its number must have a run.
    if len(page.exhibits) < len(paper.exhibits) or len(gaps) == len(page.exhibits):
        failed = [*failed, *gaps]
    else:
        for line in gaps:
            print_note(line)
    for line in [*failed, *doubted]:
        print(f"error: {line}", file=sys.stderr)
    return FAILED if failed or doubted else DONE


def describe_gaps(page: PaperPage, records: Sequence[Record], not_made: Mapping[Exhibit, MissingRuns]) -> list[str]:
    """Name the requested exhibits without a run of ours, and the reasons."""
    there = gather_evidence(page.paper, records)
    gaps = {}
    for one in page.exhibits:
        gaps[one] = gap_reason(one, fill_exhibit(page.paper.drawn(one), there, page.paper.machines, not_made[one]))
    return [f"{one.name}: no run of this machine in it: {why}" for one, why in gaps.items() if why]


def newest_records(records: Sequence[Record]) -> list[Record]:
    """Return the records without those that another version or machine made again since.

    Runs of this machine and version come first.
    """
    current = environment()
    latest: dict[str, Any] = {}
    for one in records:
        if latest.get(_run_anywhere(one)) != current | emulated_hosts(one.environment):
            latest[_run_anywhere(one)] = one.environment
    return [one for one in records if latest[_run_anywhere(one)] == one.environment]


def _run_anywhere(record: Record) -> str:
    """Return the identity of a run on any machine and version; emulated hosts are part of it."""
    return structs.replace(record, environment=emulated_hosts(record.environment)).identity


def report_unused_runs(needs: ReproductionPlan, plan: ExperimentPlan) -> None:
    """Name the runs that an exhibit requested but whose records fit none of its series."""
    for part in needs.parts:
        runs = [one for case in needs.cases_of(part) for one in plan.recorded(case)]
        lost = dict.fromkeys(f"{one.instance} on {one.label}" for one in runs if find_series(part.exhibit, one) is None)
        if lost:
            print_note(f"{part.exhibit.name}: not shown, because it belongs to no series: {'; '.join(lost)}")


# --- the list ---


def show_list(options: argparse.Namespace, machine: MachineResources) -> int:
    lines = []
    for name in [options.paper] if options.paper else files.names():
        paper, exhibits = chosen_exhibits(argparse.Namespace(**{**vars(options), "paper": name}))
        needs = plan_runs(options, paper, exhibits, machine)
        left = {id(case) for case in plan_of(needs, needs.chosen.records).left}
        lines += [(paper.name, one.name, one.title, exhibit_state(needs, paper.drawn(one), left)) for one in exhibits]
    widths = [max(map(len, column)) for column in list(zip(*lines, strict=True))[:-1]]
    for *words, state in lines:
        print("  ".join([*(word.ljust(width) for word, width in zip(words, widths, strict=True)), state]))
    return DONE


def exhibit_state(needs: ReproductionPlan, source: Exhibit, left: set[int]) -> str:
    """Return the recorded part of an exhibit, or the reason against it; ``left`` are cases by their `id`."""
    if source.never_ours:
        return f"never: {source.never_ours}"
    part = needs.part_of(source)
    cases = needs.cases_of(part)
    words = f"{len(cases)} run{'s' * (len(cases) != 1)}, {sum(id(case) not in left for case in cases)} recorded"
    refused = len(part.missing())
    words += f"; {refused} cannot run here" if refused else ""
    return words + (f"; missing: {', '.join(part.absent)}" if part.absent else "")
