"""A comparison: the same work on every device, proved to be the same, the rate of each, and a page.

One core is measured before and after the others on the same idle host; if its rate drifts, all are measured once more.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import UserError
from drivers.cli.exit_codes import DONE, FAILED
from drivers.cli.messages import print_error, set_quiet
from drivers.experiments.baselines import baseline_again, run_with_baselines
from drivers.experiments.best_core import run_best_core
from drivers.experiments.case import Case
from drivers.experiments.configurations import Configuration, choose_configurations, chosen_ranks
from drivers.experiments.executors import NAMES as EXECUTORS
from drivers.experiments.idle_host import wait_until_idle
from drivers.experiments.options import chosen_executor, workload_options
from drivers.experiments.plan import ExperimentPlan, plan_work, prepare_folder
from drivers.experiments.presets.compare_options import default_arguments, read_options
from drivers.experiments.run import PlanRun, results_of, show
from drivers.options.declaration import option_flag
from drivers.options.local_search import SearchOptions
from drivers.peers import peers_for
from drivers.peers.measurement import installed_peers
from drivers.runs.seeds import refuse_without_peers
from drivers.workload.declaration import Workload
from drivers.workload.registry import all_workloads
from reports.pages import comparison as comparison_page
from reports.rates import NotRun, RateSection, rate_sections
from reports.records.files import Record, RecordError, UnequalWorkError, refuse_namesake

USER_MISTAKE = 2
STANDARD_REASON = "the default for comparisons of this workload"


class InstanceRuns(NamedTuple):
    """Runs on one instance, with configurations that did not run, and the reason for the choice of the instance."""

    records: list[Record]
    not_run: list[NotRun]
    why: str = ""


class ComparisonRun(NamedTuple):
    """Result of a comparison, and its files.

    Attributes
    ----------
    sections : list of InstanceRuns
        One for each instance.
    failed : bool
        True if a possible run failed.
    missing : list of str
        Missing instances.
    name : str
        Name of the report.
    """

    sections: list[InstanceRuns]
    failed: bool
    missing: list[str]
    name: str
    records: Path


def main(argv: Sequence[str] | None = None, workload: Workload[Any] | None = None) -> int:
    """Compare; return 0 if every configuration ran and did the same work, 1 if not, 2 if an instance is missing.

    ``workload`` None means the first word of the command line (``argv``; None: the process's).

    Raises
    ------
    UserError
        An unknown workload, an option of another one, a backend that does not exist or is not usable here, no instance,
        work that cannot grow with the ranks, a folder that cannot be written, or a damaged file of records. Then
        nothing was started.
    """
    words = sys.argv[1:] if argv is None else argv
    workload, options, rest = read_options(words, workload)
    ran = run_comparison(workload, options, rest)
    called = ["python", *workload.program] if workload.program else ["onekernel"]
    code = DONE if options.dry_run else conclude(ran, options.out, shlex.join([*called, "compare", *words]))
    return USER_MISTAKE if ran.missing else FAILED if ran.failed else code


def run_comparison(workload: Workload[Any], options: argparse.Namespace, rest: Sequence[str]) -> ComparisonRun:
    """Run the comparison of these options and arguments; raises as `main` does."""
    set_quiet(options.quiet)
    if options.weak:
        refuse_weak_scaling(workload, chosen_ranks(options))
    solvers = installed_peers(peers_for(workload.name)) if options.peers is not False else []
    if options.peers:
        refuse_without_peers(workload)
    options.peers = bool(options.peers or solvers)
    name = workload.name + "-weak" * options.weak
    records = options.out / f"{comparison_page.report_name(name)}.jsonl"
    works, missing = plan_instances(workload, options, rest, records)
    configurations, not_run = choose_configurations(options)
    is_local = options.executor == EXECUTORS[0]
    order = baseline_again if is_local else list
    cases = [case for work in works for case in order(place_work(work, configurations, options))]
    plan = ExperimentPlan(cases, records, not_run, options.rerun, not is_local)
    if options.dry_run:
        plan.show_commands()
        return ComparisonRun([], False, missing, name, records)
    for work in () if options.rerun else works:
        problem = work.task.problem
        refuse_namesake(records, workload.name, problem.name, problem.sha256, "--rerun, another --out")
    executor = chosen_executor(options)
    prepare_folder(records, lambda: comparison_page.remove(options.out, name), rerun=options.rerun)
    show(f"{workload.name}: {plan.summary()}")
    if solvers:
        show(f"reference solvers with the run on one core: {', '.join(solvers)}")
    is_measured = is_local and options.measure is not None
    is_idle = is_measured and not options.busy
    run = PlanRun(len(cases), executor, wait_until_idle if is_idle else None, brief=is_measured)
    outcomes = run_with_baselines(run, cases)
    why = "" if options.instance or rest else STANDARD_REASON
    sections = []
    for _, of_instance in groupby(outcomes, key=lambda one: id(one.case.task)):
        those = list(of_instance)
        recorded, failures = results_of(those)
        recorded += [] if options.weak else run_best_core(run, those)
        sections.append(InstanceRuns(recorded, [*not_run, *failures], why))
    return ComparisonRun(sections, any(one.kind != "done" for one in outcomes), missing, name, records)


# --- the plan ---


def plan_instances(
    workload: Workload[Any], options: argparse.Namespace, rest: Sequence[str], records: Path
) -> tuple[list[Case], list[str]]:
    """Return the work on each instance, and missing instances, which are reported on standard error.

    Raises `UserError` if no instance is left, or a time limit ends the runs.
    """
    works: list[Case] = []
    missing = {}
    seeds, how = options.seeds or (options.seed or 0,), {"peers": options.peers, "measure": options.measure}
    for spec in options.instance or [None]:
        words = [*rest, *(["--instance", spec] if spec else []), *(["--data", options.data] if options.data else [])]
        try:
            words = with_defaults(workload, words, seeds[0])
            works += plan_work(workload, words, seeds, options.repeats, records, **how)
        except UserError as error:
            missing[str(spec)] = error
    wrong = {str(error): error for error in missing.values()}
    if not works and len(wrong) == 1:
        raise next(iter(wrong.values()))
    for message in wrong:
        print_error(message)
    if not works:
        raise UserError(f"--instance: none of {', '.join(missing)} can be compared, expected at least one")
    return works, list(missing)


def with_defaults(workload: Workload[Any], words: Sequence[str], seed: int = 0) -> list[str]:
    """Return arguments with those that are missing for about a second of one core's work."""
    asked = workload_options(workload, words)
    problem = None
    if asked.names_instance or not workload.standard:
        problem = workload.load(replace(asked, seed=seed), 1).problem
    return [*words, *default_arguments(workload, words, problem)]


def place_work(work: Case, configurations: Iterable[Configuration], options: argparse.Namespace) -> list[Case]:
    """Return the cases of a work; weak scaling multiplies the work of one rank by their number."""
    if not options.weak:
        return [work.on(one) for one in configurations]
    counts = sorted({1, *chosen_ranks(options)})
    return [scale_work(work, count).on(one) for count in counts for one in configurations if one.ranks == count]


def scale_work(work: Case, ranks: int) -> Case:
    workload = work.workload
    amount = getattr(work.task.options, workload.scaled) * ranks
    flag = next(option_flag(one) for one, _ in workload.options.declared() if one.name == workload.scaled)
    asked = workload_options(workload, work.arguments)
    # One rank distributes its walks as several do.
    is_open = isinstance(asked, SearchOptions) and asked.level is None and asked.mapping != "published"
    arguments = (*work.arguments, flag, str(amount), *(("--level", "algorithm") if is_open else ()))
    asked = workload_options(workload, arguments).asked()
    return replace(work, arguments=arguments, asked=asked, core_s=work.core_s and work.core_s * ranks)


def refuse_weak_scaling(workload: Workload[Any], ranks: Sequence[int]) -> None:
    """Refuse weak scaling of work that cannot grow, or without several ranks."""
    if not workload.scaled:
        others = ", ".join(one.name for one in all_workloads() if one.scaled)
        raise UserError(
            f"--weak: found {workload.name}, a single problem that cannot grow with the ranks; expected one of {others}"
        )
    if max(ranks, default=1) < 2:
        raise UserError("--weak: found one rank, expected several, as in --ranks 2 4")


# --- the page ---


def compared(ran: ComparisonRun) -> list[RateSection]:
    """Return the rates of a comparison; raises as `reports.rates.rate_sections`."""
    return [part for one in ran.sections if one.records for part in rate_sections(*one)]


def conclude(ran: ComparisonRun, folder: Path, made_by: str = "") -> int:
    if not any(section.records for section in ran.sections):
        print_error("nothing ran, so there is nothing to compare")
        return FAILED
    try:
        sections = compared(ran)
    except (UnequalWorkError, RecordError) as error:
        # Our own programs made the records: no user error.
        print_error(f"{error}. No report was written; the records are in {ran.records}")
        return FAILED
    paths = comparison_page.write(sections, folder, ran.name, made_by)
    print(*comparison_page.lines(sections, made_by), f"report: {paths[0]}", sep="\n")
    wrong = [row for section in sections for row in section.not_run if row.wrong]
    for row in wrong:
        print_error(str(row))
    return FAILED if wrong else DONE
