"""An overview: many workloads, some seconds each, on every device of this machine."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.errors import UserError
from core.program_parser import invocation
from drivers.cli.exit_codes import DONE, FAILED
from drivers.cli.messages import set_quiet
from drivers.experiments.baselines import baseline_again, run_with_baselines
from drivers.experiments.case import Case
from drivers.experiments.configurations import choose_configurations
from drivers.experiments.executors import NAMES as EXECUTORS
from drivers.experiments.idle_host import wait_until_idle
from drivers.experiments.options import PlanParser, add_core_options, add_plan_options, chosen_executor
from drivers.experiments.plan import ExperimentPlan, prepare_folder
from drivers.experiments.presets.compare import STANDARD_REASON, plan_with_defaults
from drivers.experiments.presets.compare_options import MEASURE_S
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
    in_turn = options.executor == EXECUTORS[0]
    order = baseline_again if in_turn else list
    plans: dict[str, list[Case] | UserError] = {}
    for workload in workloads:
        work = plan_workload(workload, options.data, records, options.seconds_each)
        on_all = work if isinstance(work, UserError) else order([work.on(one) for one in configurations])
        plans[workload.name] = on_all
    if options.dry_run:
        cases = [case for plan in plans.values() if isinstance(plan, list) for case in plan]
        ExperimentPlan(
            cases, records, [str(one) for one in not_here], options.rerun, options.executor != "local"
        ).show_commands()
        return DONE
    total = sum(len(plan) for plan in plans.values() if isinstance(plan, list))
    run = PlanRun(total, executor, wait_until_idle if in_turn and not options.busy else None)
    rows = []
    for workload in workloads:
        plan = plans[workload.name]
        if isinstance(plan, list):
            rows.append(compare_runs(workload, run_with_baselines(run, plan)))
        else:
            print(f"error: {workload.name}: {plan}", file=sys.stderr)
            rows.append(OverviewRow(workload.name, workload.title, None, (), str(plan)))
    made_by = shlex.join(["python", "-m", "drivers.overview", *arguments])
    return write_overview(Overview(tuple(rows), tuple(not_here), DEFAULT_REASON), options.out, made_by)


def overview_parser(description: str | None) -> argparse.ArgumentParser:
    parser = PlanParser(prog=invocation("drivers.overview"), description=description)
    each = (
        "budget of each rate: warm repetitions until the 95 %% interval is within 2 %%, at least six, or S seconds "
        "(%(default)g)"
    )
    parser.add_argument("--seconds-each", type=number, default=MEASURE_S, metavar="S", help=each)
    parser.add_argument("--busy", action="store_true", help="measure while other programs run too")
    which = f"workloads to run, from {', '.join(NAMES)} (default: all)"
    parser.add_argument("--workloads", nargs="+", metavar="W", help=which)
    add_plan_options(parser)
    add_core_options(parser)
    return parser


def plan_workload(workload: Workload[Any], data: str | None, records: Path, measure: float) -> Case | UserError:
    """Return the work of a workload, or the error."""
    arguments = [*workload.in_overview, *(["--data", data] if data else [])]
    try:
        return plan_with_defaults(workload, arguments, [0], 1, records, peers=False, measure=measure)[0]
    except UserError as error:
        return error


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
