"""A paper's tables and figures: their runs on this machine, and a page with ours next to the published figures."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import backends
from core.errors import UserError
from core.program_parser import invocation
from drivers.cli.exit_codes import DONE, FAILED
from drivers.cli.messages import print_error, print_note, set_quiet
from drivers.experiments.baselines import run_with_baselines
from drivers.experiments.case import Case, counted_environment, is_counted
from drivers.experiments.estimate import START_S
from drivers.experiments.executors import NAMES as EXECUTORS
from drivers.experiments.idle_host import wait_until_idle
from drivers.experiments.options import PlanParser, add_plan_options, chosen_executor, read_setting
from drivers.experiments.plan import ExperimentPlan, prepare_folder
from drivers.experiments.presets.paper_plan import Cell, ReproductionPlan, plan_reproduction, with_instances
from drivers.experiments.presets.series import MachineResources, usable_devices
from drivers.experiments.run import PlanRun, show
from drivers.options.values import number
from reports.pages import paper as pages_paper
from reports.papers import files
from reports.papers.paper import SCALES, Exhibit, Paper
from reports.papers.placement import has_run
from reports.records.environment import cores
from reports.records.files import Record, RecordError, UnequalWorkError, load

SUFFIX = ".toml"
"""Suffix of a custom paper's file; papers of the project have names without it."""
UNITS_S = {"s": 1, "m": 60, "h": 3600}


def main(argv: Sequence[str] | None = None, description: str | None = None) -> int:
    """Reproduce; return 0 if everything possible ran and every requested exhibit shows it, else 1.

    Raises `UserError` for an unknown paper, table, figure, row or backend, a folder that cannot be written, damaged
    records, or a host that stays busy.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    options = read_options(arguments, description)
    set_quiet(options.quiet)
    devices, is_chosen = usable_devices(backends.survey(), options.backends), options.backends is not None
    machine = MachineResources(devices, is_chosen, cores(), options.ranks, options.oversubscribe)
    if options.list:
        return show_list(options, machine)
    paper, exhibits = chosen_exhibits(options)
    needs = plan_runs(options, paper, exhibits, machine)
    records, is_local = needs.records, options.executor == EXECUTORS[0]
    groups = needs.groups(is_in_turn=is_local)
    plan = ExperimentPlan([*chain(*groups)], records, missing_lines(needs), options.rerun, elsewhere=not is_local)
    if options.dry_run:
        show(f"{paper.name}, scale {options.scale}: {plan.summary()}")
        plan.show_commands()
        return DONE
    executor = chosen_executor(options)
    remove = (lambda: pages_paper.remove(options.out, paper)) if options.rerun else (lambda: None)
    prepare_folder(records, remove, rerun=options.rerun)
    show(f"{paper.name}, scale {options.scale}: {plan.summary()}; records: {records}")
    run = PlanRun(0, executor, None if options.busy or executor.elsewhere else wait_until_idle)
    if options.budget:
        run.refuses = time_limit(options.budget, records)
    failed = run_groups(needs, groups, plan, run)
    after = ExperimentPlan(plan.cases, records, elsewhere=not is_local)
    if options.budget and after.left:
        print_note(f"{after.summary()}; the same command continues")
    made_by = shlex.join(["onekernel", "reproduce", *arguments])
    return write_report(paper, exhibits, needs, after, failed, made_by)


def run_groups(
    needs: ReproductionPlan, groups: Sequence[Sequence[Case]], plan: ExperimentPlan, run: PlanRun
) -> list[str]:
    """Run what is not recorded, group by group; return a line for each failure, and add refusals to the plan."""
    left = [[case for case in group if not case.is_complete(plan.recorded(case))] for group in groups]
    run.total = sum(map(len, left))
    if run.executor.elsewhere:
        left = [list(chain(*left))]
    if len(plan.left) < len(plan.cases):
        run.warn_of_changes(plan.records)
    failed = []
    for group in filter(None, left):
        for outcome in run_with_baselines(run, group, group=lambda one: ""):
            if outcome.kind != "done":
                # A program's refusal is no failure: the device cannot run it, and the page lists it.
                needs.missing |= dict.fromkeys(needs.cells_of(outcome.case), outcome.reason)
                failed += [f"{outcome.case.named}: {outcome.not_run}"] * (outcome.kind != "refused")
    return failed


def time_limit(budget_s: float, records: Path) -> Callable[[Case], str]:
    """Return a function that returns the reason against a case that would not end within a time; empty for none."""
    ends = time.monotonic() + budget_s

    def refuses(case: Case) -> str:
        fits = time.monotonic() + (ExperimentPlan([], records).left_s(case) or START_S) <= ends
        return "" if fits else "the time of --budget was over"

    return refuses


def plan_runs(
    options: argparse.Namespace, paper: Paper, exhibits: Sequence[Exhibit], machine: MachineResources
) -> ReproductionPlan:
    records = options.out / f"{paper.name}.jsonl"
    return plan_reproduction(paper, exhibits, machine, options.scale, records, options.measure, options.data)


def missing_lines(needs: ReproductionPlan) -> list[str]:
    """Return the reasons against runs with the cells that they concern, a line for each reason of an exhibit."""
    cells: dict[tuple[str, str], list[str]] = {}
    for (exhibit, row, column), why in needs.missing.items():
        cells.setdefault((exhibit, why), []).append(f"{row}, {column}")
    return [f"{exhibit}: {'; '.join(those)}: {why}" for (exhibit, why), those in cells.items()]


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
    which.add_argument("--figure", metavar="N", help="only this figure")
    scale = "rows and times: a minute an exhibit (quick), half an hour a paper (standard), hours (full) (%(default)s)"
    add("--scale", choices=SCALES, default=SCALES[1], help=scale)
    row = "instance of a row, instead of the paper's, as in 1=50; can be given several times"
    add("--row", action="append", type=read_setting, default=[], metavar="KEY=SPEC", help=row)
    measured = "budget of each rate in seconds, at least six repetitions, instead of the time that --scale sets"
    add("--measure", type=number, metavar="S", help=measured)
    add("--busy", action="store_true", help="measure while other programs run too; the page says so at its top")
    budget = "start only runs that end within this time, 90s, 30m or 2h: rows of all tables in turn; run again, it "
    add("--budget", type=read_budget, metavar="TIME", help=budget + "continues")
    add_plan_options(
        parser,
        "for each series the first usable one of its kind of device",
        "numbers of MPI ranks for the runs on all cores or GPUs (default: one for each; no value: no runs on several "
        "ranks)",
    )
    add("--list", action="store_true", help="list tables and figures with their recorded runs, and exit")
    return parser


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
    paper = with_instances(paper, paper.chosen(kind, number), dict(options.row))
    return paper, paper.chosen(kind, number)


# --- the report ---


def write_report(
    paper: Paper,
    exhibits: Sequence[Exhibit],
    needs: ReproductionPlan,
    after: ExperimentPlan,
    failed: Sequence[str],
    made_by: str,
) -> int:
    """Write the page of the chosen exhibits and all others with records, print gaps, and return the exit code."""
    machine = counted_environment(elsewhere=after.elsewhere)
    counted = [record for record in load(after.records) if is_counted(record, machine)]
    filled = [exhibit for exhibit in paper.exhibits if has_run(paper, exhibit, counted)]
    shown = [exhibit for exhibit in paper.exhibits if exhibit in filled or exhibit in exhibits]
    missing = {cell: why for cell, why in needs.missing.items() if not any(map(after.recorded, needs.cases_of(cell)))}
    try:
        paths = pages_paper.write(paper, shown, counted, after.records.parent, missing=missing, made_by=made_by)
    except (UnequalWorkError, RecordError) as error:
        # Our own programs made the records: no user error.
        print_error(f"{error}. No report was written; the records are in {after.records}")
        return FAILED
    print("", *paths, sep="\n")
    unconfirmed = dict.fromkeys(
        f"{one.workload}, {one.instance}: {one.label}: the result was not confirmed"
        for case in after.cases
        for one in after.recorded(case)
        if not one.verified and one.details.get("proved") is not False
    )
    gaps = [line for exhibit in exhibits if exhibit not in filled for line in gap_lines(exhibit, missing)]
    # Some exhibits of a whole paper may have no run; one that was chosen by its number must have one.
    is_lenient = len(exhibits) == len(paper.exhibits) and any(exhibit in filled for exhibit in exhibits)
    for line in gaps if is_lenient else ():
        print_note(line)
    errors = [*failed, *unconfirmed, *(() if is_lenient else gaps)]
    for line in errors:
        print_error(line)
    return FAILED if errors else DONE


def gap_lines(exhibit: Exhibit, missing: Mapping[Cell, str]) -> list[str]:
    """Return the line for an exhibit without a run, with the reasons; none if it has no runs anywhere."""
    reasons = dict.fromkeys(why for (name, _, _), why in missing.items() if name == exhibit.name)
    return [f"{exhibit.name}: no run of this machine in it: {'; '.join(reasons)}"] if reasons else []


# --- the list ---


def show_list(options: argparse.Namespace, machine: MachineResources) -> int:
    lines = []
    for name in [options.paper] if options.paper else files.names():
        paper, exhibits = chosen_exhibits(argparse.Namespace(**{**vars(options), "paper": name}))
        needs = plan_runs(options, paper, exhibits, machine)
        recorded = ExperimentPlan([], needs.records).recorded
        for exhibit in exhibits:
            state = exhibit_state(exhibit, needs, recorded)
            lines += [(paper.name, one, exhibit.title, state) for one in exhibit.names]
    widths = [max(map(len, column)) for column in list(zip(*lines, strict=True))[:-1]]
    for *words, state in lines:
        print("  ".join([*(word.ljust(width) for word, width in zip(words, widths, strict=True)), state]))
    return DONE


def exhibit_state(exhibit: Exhibit, needs: ReproductionPlan, recorded: Callable[[Case], list[Record]]) -> str:
    """Return the numbers of an exhibit's runs, recorded runs, and cells that cannot be run."""
    keys = {key for (name, _, _), keys in needs.cells.items() if name == exhibit.name for key in keys}
    refused = sum(name == exhibit.name for name, _, _ in needs.missing)
    if not keys and not refused:
        return f"no runs: {exhibit.untested}"
    done = sum(needs.cases[key].is_complete(recorded(needs.cases[key])) for key in keys)
    words = f"{len(keys)} run{'s' * (len(keys) != 1)}, {done} recorded"
    return words + (f"; {refused} cells cannot run here" if refused else "")
