"""An overview: the workloads' default work, measured on every device of this machine."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from core.errors import UserError
from core.program_parser import invocation
from drivers.cli.exit_codes import DONE, FAILED
from drivers.cli.messages import print_error, set_quiet
from drivers.experiments.baselines import baseline_again, run_with_baselines
from drivers.experiments.best_core import run_best_core
from drivers.experiments.case import Case
from drivers.experiments.configurations import choose_configurations
from drivers.experiments.idle_host import wait_until_idle
from drivers.experiments.options import PlanParser, add_core_options, add_plan_options, chosen_executor
from drivers.experiments.plan import ExperimentPlan, plan_work, prepare_folder
from drivers.experiments.presets.compare import with_defaults
from drivers.experiments.presets.compare_options import MEASURE_S, MEASURED
from drivers.experiments.run import PlanRun, results_of
from drivers.options.values import number
from drivers.peers import peers_for
from drivers.peers.measurement import installed_peers
from drivers.workload.registry import NAMES, get_workload
from reports.pages import overview
from reports.rates import RateSection, rate_sections
from reports.records.files import RecordError, UnequalWorkError


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
    order = list if executor.elsewhere else baseline_again
    plans: dict[str, list[Case]] = {}
    failures: list[str] = []
    for workload in workloads:
        try:
            words = with_defaults(workload, ["--data", options.data] if options.data else [])
            solved = options.peers and bool(installed_peers(peers_for(workload.name)))
            work = plan_work(workload, words, [0], 1, records, peers=solved, measure=options.seconds_each)[0]
            plans[workload.name] = order([work.on(one) for one in configurations])
        except UserError as error:
            print_error(f"{workload.name}: {error}")
            failures.append(f"{workload.name}: {error}")
    cases = [case for plan in plans.values() for case in plan]
    if options.dry_run:
        ExperimentPlan(cases, records, not_here, options.rerun, executor.elsewhere).show_commands()
        return DONE
    run = PlanRun(len(cases), executor, None if executor.elsewhere or options.busy else wait_until_idle)
    sections = []
    for name, plan in plans.items():
        found, failed = run_workload(run, name, plan)
        sections += found
        failures += failed
    made_by = shlex.join(["onekernel", "overview", *arguments])
    code = write_overview(sections, [*map(str, not_here), *failures], options.out, made_by)
    return FAILED if failures else code


def overview_parser(description: str | None) -> argparse.ArgumentParser:
    parser = PlanParser(prog=invocation("drivers.overview"), description=description)
    each = f"{MEASURED} (%(default)g)"
    parser.add_argument("--seconds-each", type=number, default=MEASURE_S, metavar="S", help=each)
    parser.add_argument("--busy", action="store_true", help="measure while other programs run too")
    peers = "also run the installed reference solvers on the same problems, with the run on one core (default)"
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True, help=peers)
    which = f"workloads to run, from {', '.join(NAMES)} (default: all)"
    parser.add_argument("--workloads", nargs="+", metavar="W", help=which)
    add_plan_options(parser)
    add_core_options(parser)
    return parser


def run_workload(run: PlanRun, name: str, plan: Sequence[Case]) -> tuple[list[RateSection], list[str]]:
    """Run the cases of a workload; return its rates, and the cases without a result with their reasons."""
    outcomes = run_with_baselines(run, plan)
    records, not_run = results_of(outcomes)
    records += run_best_core(run, outcomes)
    failures = [f"{name} on {one}" for one in not_run]
    if not records:
        return [], failures
    try:
        sections = rate_sections(records)
    except (UnequalWorkError, RecordError) as error:
        # Our own programs made the records: no user error.
        print_error(f"{name}: {error}")
        return [], [*failures, f"{name}: {error}"]
    return sections, [*failures, *(f"{name} on {one}" for section in sections for one in section.not_run)]


def write_overview(sections: Sequence[RateSection], failures: Sequence[str], folder: Path, made_by: str) -> int:
    if not sections:
        print_error("no workload has a run to show")
        return FAILED
    print("", *overview.lines(sections, failures, made_by), sep="\n")
    for path in overview.write(sections, folder, failures, made_by):
        print(path)
    return DONE
