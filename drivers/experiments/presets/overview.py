"""An overview: many workloads, some seconds each, on every device of this machine."""

from __future__ import annotations

import argparse
import shlex
import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.errors import UserError
from core.program_parser import invocation
from drivers.cli.exit_codes import DONE, FAILED
from drivers.cli.messages import set_quiet
from drivers.experiments.case import Case
from drivers.experiments.configurations import Configuration, choose_configurations
from drivers.experiments.options import PlanParser, add_core_options, add_plan_options, chosen_executor
from drivers.experiments.plan import ExperimentPlan, prepare_folder
from drivers.experiments.presets.compare import STANDARD_REASON, plan_with_defaults
from drivers.experiments.run import CaseOutcome, PlanRun
from drivers.options.values import number
from drivers.workload.declaration import Workload
from drivers.workload.registry import NAMES, get_workload
from reports.comparison.overview import Overview, OverviewRow
from reports.comparison.speedups import compare
from reports.pages import overview
from reports.records.files import RecordError, UnequalWorkError

DEFAULT_REASON = (
    "Unless a row gives another reason, its work takes one core a second or more, so that launches and copies have "
    "little effect"
)
OTHER_DEVICES_SHARE = 0.5
"""Duration on any other device as a fraction of one core's, for the number of repetitions."""
LEAST_REPETITIONS, MOST_REPETITIONS = 3, 30
"""The first repetition may be slow, since it touches fresh memory: of three the median is another."""


def main(argv: Sequence[str] | None = None, description: str | None = None) -> int:
    """Run the workloads; return 0 if each ran everywhere with the same work, else 1.

    Raises `UserError` for an unknown workload, a missing or unusable backend, more ranks than cores, or a folder that
    cannot be written.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    options = overview_parser(description).parse_args(arguments)
    set_quiet(options.quiet)
    workloads = [get_workload(name) for name in dict.fromkeys(options.workloads or NAMES)]
    configurations, not_here = choose_configurations(options)
    records = options.out / f"{overview.NAME}.jsonl"
    executor = chosen_executor(options)
    if not options.dry_run:
        prepare_folder(records, lambda: overview.remove(options.out), rerun=options.rerun)
    works = {workload.name: plan_workload(workload, options.data, records) for workload in workloads}
    if options.dry_run:
        planned = [work for work in works.values() if isinstance(work, Case)]
        cases = [work.on(one) for work in planned for one in configurations]
        ExperimentPlan(
            cases, records, [str(one) for one in not_here], options.rerun, options.executor != "local"
        ).show_commands()
        return DONE
    run = PlanRun(len(workloads) * (1 + len(configurations)), executor)
    rows = []
    for workload in workloads:
        work = works[workload.name]
        if isinstance(work, Case):
            rows.append(compare_runs(workload, run_workload(work, options.seconds_each, run, configurations)))
        else:
            run.shown += 1 + len(configurations)
            print(f"error: {workload.name}: {work}", file=sys.stderr)
            rows.append(OverviewRow(workload.name, workload.title, None, (), str(work)))
    made_by = shlex.join(["python", "-m", "drivers.overview", *arguments])
    return write_overview(Overview(tuple(rows), tuple(not_here), DEFAULT_REASON), options.out, made_by)


def overview_parser(description: str | None) -> argparse.ArgumentParser:
    parser = PlanParser(prog=invocation("drivers.overview"), description=description)
    each = (
        "approximate seconds of a workload on all devices together (%(default)g), which determine the number of "
        f"repetitions, {LEAST_REPETITIONS} to {MOST_REPETITIONS} on each device"
    )
    parser.add_argument("--seconds-each", type=number, default=10.0, metavar="S", help=each)
    which = f"workloads to run, from {', '.join(NAMES)} (default: all)"
    parser.add_argument("--workloads", nargs="+", metavar="W", help=which)
    add_plan_options(parser)
    add_core_options(parser)
    return parser


def plan_workload(workload: Workload[Any], data: str | None, records: Path) -> Case | UserError:
    """Return the work of a workload, or the error."""
    arguments = [*workload.in_overview, *(["--data", data] if data else [])]
    try:
        return plan_with_defaults(workload, arguments, [0], LEAST_REPETITIONS, records, peers=False)[0]
    except UserError as error:
        return error


def repetitions_in_budget(seconds: float, one_core_s: float, configurations: int) -> int:
    """Return the number of repetitions on each device that fill a duration, from the time of one on one core."""
    once_s = one_core_s * (1 + OTHER_DEVICES_SHARE * (configurations - 1))
    fitting = min(MOST_REPETITIONS, seconds / once_s) if once_s else MOST_REPETITIONS
    return max(LEAST_REPETITIONS, round(fitting))


def run_workload(
    work: Case, seconds_each: float, run: PlanRun, configurations: Sequence[Configuration]
) -> list[CaseOutcome]:
    """Run one workload on all configurations; some repetitions on the first one come before."""
    (tried,) = run.run([work.on(configurations[0])])
    if not tried.records:
        run.shown += 1
        return [tried, *run.run([work.on(one) for one in configurations[1:]])]
    one_core_s = statistics.median(repetition.running_s for one in tried.records for repetition in one.repetitions)
    repeats = repetitions_in_budget(seconds_each, one_core_s, len(configurations))
    return run.run([replace(work, repeats=repeats, configuration=one) for one in configurations])


def compare_runs(workload: Workload[Any], outcomes: Sequence[CaseOutcome]) -> OverviewRow:
    """Return a workload's runs side by side, or the reason against it."""
    name, title = workload.name, workload.title
    records = [record for one in outcomes for record in one.records]
    not_run = tuple(one.not_run for one in outcomes if one.kind != "done")
    if not records:
        return OverviewRow(name, title, None, not_run, "nothing ran")
    try:
        reason = "" if workload.in_overview else STANDARD_REASON
        return OverviewRow(name, title, compare(records), not_run, why=reason)
    except (UnequalWorkError, RecordError) as error:
        # Our own programs made the records: no user error.
        print(f"error: {name}: {error}", file=sys.stderr)
        return OverviewRow(name, title, None, not_run, str(error))


def write_overview(shown: Overview, folder: Path, made_by: str) -> int:
    if not shown.rows:
        print("error: no workload has a run to show", file=sys.stderr)
        return FAILED
    print(f"\n{overview.plain_text(shown)}\n")
    for path in overview.write(shown, folder, made_by):
        print(path)
    return FAILED if any(list(line.failures()) for line in shown.lines) else DONE
