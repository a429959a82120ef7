"""A comparison: the same work on every device, checked to be the same, and a report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import UserError
from drivers.cli.exit_codes import DONE, FAILED
from drivers.cli.messages import print_status, set_quiet
from drivers.experiments.comparison_options import chosen_ranks, default_arguments, read_options, workload_options
from drivers.experiments.configurations import Configuration, plan_configurations
from drivers.experiments.execution import OWN_CORES, CommandBuilder, ExperimentCase, ExperimentRunner, prepare_folder
from drivers.experiments.hybrid_configurations import chosen_hybrid_configurations, plan_hybrid_configurations
from drivers.options.declaration import Options, option_flag
from drivers.peers import installed_peers, peers_for
from drivers.runs.seeds import refuse_without_peers
from drivers.workload.declaration import Task, Workload
from drivers.workload.registry import all_workloads
from reports.comparison.speedups import NotRun
from reports.pages import experiment
from reports.records.environment import cores
from reports.records.files import RecordError, UnequalWorkError, refuse_namesake

USER_MISTAKE = 2
INSTANCE_OPTIONS = ("instance", "matrix", "strings", "text")
"""Options that name an instance."""
WEAK_SUFFIX = "-weak"
"""Behind the workload in the names of files with work that grows: none of it may be taken for another comparison's."""
HYBRID_SUFFIX = "-hybrid"
"""The same for mixtures of ranks and threads."""
STANDARD_REASON = "the default for comparisons of this workload"
"""Reason for an instance that the command line does not name."""


@dataclass(frozen=True)
class ComparisonDependencies:
    """The parts of the suite that a comparison calls; the tests hand in others.

    Attributes
    ----------
    survey : callable
        Devices of all backends, as `backends.survey` lists them.
    command : callable
        See `drivers.experiments.execution.CommandBuilder`.
    """

    survey: Callable[[], Iterable[Any]]
    command: CommandBuilder = ExperimentCase.command


class ComparisonRun(NamedTuple):
    """What a comparison ran.

    Attributes
    ----------
    sections : list of reports.comparison.sections.InstanceSection
        One for each instance.
    failed : bool
        Whether a run failed that could have been made.
    missing : list of str
        Instances that are not there.
    name : str
        What the files are called by.
    records : Path

    """

    sections: list[experiment.InstanceSection]
    failed: bool
    missing: list[str]
    name: str
    records: Path


def main(
    argv: Sequence[str] | None = None,
    dependencies: ComparisonDependencies | None = None,
    workload: Workload[Any] | None = None,
) -> int:
    """Compare; returns 0 when every configuration ran and did the same work, 1 when not, 2 when an instance is missing.

    Parameters
    ----------
    argv
        The command line; None: that of the process.
    dependencies
        The parts of the suite that are called.
    workload
        What is compared; None: the command line's first word names it.

    Raises
    ------
    UserError
        An unknown workload, an option of another one, a backend that does not exist or is not usable here, no
        instance at all, work that cannot grow with the ranks, a folder that cannot be written, or a damaged file of
        records. Then nothing was started.

    """
    asked = read_options(sys.argv[1:] if argv is None else argv, workload)
    ran = run_comparison(*asked, dependencies or ComparisonDependencies(survey))
    code = _conclude(ran, asked[1].out)
    return USER_MISTAKE if ran.missing else FAILED if ran.failed else code


def run_comparison(
    workload: Workload[Any], options: argparse.Namespace, rest: Sequence[str], dependencies: ComparisonDependencies
) -> ComparisonRun:
    """Run what a command line asks for, as `comparison_options.read_options` returns it; raises as `main` does."""
    set_quiet(options.quiet)
    if options.weak:
        refuse_weak_scaling(workload, chosen_ranks(options))
    beside = installed_peers(peers_for(workload.name)) if options.peers is not False else []
    if options.peers:
        refuse_without_peers(workload)
    options.peers = bool(options.peers or beside)
    name = workload.name + WEAK_SUFFIX * options.weak + HYBRID_SUFFIX * (options.hybrid is not None)
    records = options.out / f"{experiment.report_name(name)}.jsonl"
    kept_apart = [OWN_CORES] if options.hybrid is not None and not options.oversubscribe else []
    contests, missing = build_cases(workload, options, [*rest, *kept_apart], records)
    configurations, not_run = choose_configurations(options, dependencies)
    if options.weak:
        contests = [scale_case(contest, count) for contest in contests for count in sorted({1, *chosen_ranks(options)})]
    for contest in () if options.rerun else contests:
        problem = contest.task.problem
        refuse_namesake(records, workload.name, problem.name, problem.sha256, "--rerun, another --out")
    prepare_folder(records, lambda: experiment.remove(options.out, name), options.rerun)
    runner = ExperimentRunner(sum(len(contest.of(configurations)) for contest in contests), dependencies.command)
    print_status(f"{options.repeats} repetitions each, records: {records}")
    if options.peers:
        print_status(f"reference solvers with the run on one core: {', '.join(beside) or 'none installed'}")
    sections, failed = [], False
    for _, of_instance in groupby(contests, key=lambda contest: id(contest.task)):
        found, failures = [], list(not_run)
        for contest in of_instance:
            print_status(f"{workload.name} {' '.join(contest.arguments)}")
            its_records, its_failures = runner.all_of(contest, contest.of(configurations))
            failed |= bool(its_failures)
            found += its_records
            failures += its_failures
        sections.append(
            experiment.InstanceSection(found, failures, "" if options.instance or rest else STANDARD_REASON)
        )
    return ComparisonRun(sections, failed, missing, name, records)


# --- from the command line to contests ---


def choose_configurations(
    options: argparse.Namespace, dependencies: ComparisonDependencies
) -> tuple[list[Configuration], list[NotRun]]:
    """On what to run, and what cannot run and why.

    Raises
    ------
    UserError
        What is asked for is not here, or changes nothing.

    """
    if options.hybrid is not None:
        mixtures = chosen_hybrid_configurations(options.hybrid, cores(), options.oversubscribe)
        return plan_hybrid_configurations(list(dependencies.survey()), mixtures, options.rank_backend)
    ranks = chosen_ranks(options)
    configurations, not_run = plan_configurations(
        list(dependencies.survey()), options.backends, ranks, options.rank_backend, options.cores
    )
    ranked = [one.ranks for one in configurations] + [one.ranks for one in not_run]
    if options.ranks and max(ranks) > 1 and max(ranked) == 1:
        raise UserError(
            f"--ranks {max(ranks)}: no backend of one core is among --backends, expected --rank-backend too"
        )
    return configurations, not_run


def build_cases(
    workload: Workload[Any], options: argparse.Namespace, rest: Sequence[str], records: Path
) -> tuple[list[ExperimentCase], list[str]]:
    """Contests for each instance, and the instances that are missing, which are named on standard error.

    An instance is one contest, whatever the seeds, unless each seed generates an instance of its own.

    Raises
    ------
    UserError
        There is no instance left, or what is asked for is bounded by the clock.

    """
    contests: list[ExperimentCase] = []
    missing = {}
    for spec in options.instance or [None]:
        try:
            contests += _cases_on(workload, options, spec, rest, records)
        except UserError as error:
            missing[str(spec)] = error
    wrong = {str(error): error for error in missing.values()}
    if not contests and len(wrong) == 1:
        raise next(iter(wrong.values()))
    for message in wrong:
        print(f"error: {message}", file=sys.stderr)
    if not contests:
        raise UserError(f"--instance: none of {', '.join(missing)} can be compared, expected at least one")
    return contests, list(missing)


def _cases_on(
    workload: Workload[Any], options: argparse.Namespace, spec: str | None, rest: Sequence[str], records: Path
) -> list[ExperimentCase]:
    """The contest on an instance, or one for each seed if each seed is an instance of its own."""
    seeds = tuple(options.seeds or (options.seed or 0,))
    seeded = ["--seeds", ",".join(map(str, seeds))] if len(seeds) > 1 else ["--seed", str(seeds[0])]
    given = [*rest, *(["--instance", spec] if spec else []), *(["--data", options.data] if options.data else [])]
    asked = workload_options(workload, [*given, *seeded])
    if getattr(asked, "seconds", None) is not None:
        raise UserError(
            "--seconds: a time limit ends each run at another iteration, but runs of a comparison must do equal "
            "work; expected another limit, such as --iterations"
        )

    names_instance = any(getattr(asked, name, None) for name in INSTANCE_OPTIONS)
    first = _loaded(workload, asked, seeds[0]) if names_instance or not workload.standard else None
    added = default_arguments(workload, given, first and first.problem)
    if added or first is None:
        given = [*given, *added]
        asked = workload_options(workload, [*given, *seeded])
        first = _loaded(workload, asked, seeds[0])

    def contest(task: Task, seeds: tuple[int, ...], seeded: Sequence[str]) -> ExperimentCase:
        return ExperimentCase(
            workload, task, (*given, *seeded), asked.asked(), seeds, options.repeats, records, peers=options.peers
        )

    if len(seeds) == 1 or first.problem.sha256 == _loaded(workload, asked, seeds[-1]).problem.sha256:
        return [contest(first, seeds, seeded)]
    return [contest(_loaded(workload, asked, seed), (seed,), ["--seed", str(seed)]) for seed in seeds]


def _loaded(workload: Workload[Any], asked: Options, seed: int) -> Task:
    """What is solved with a seed; seeds stay in the options, so that those are refused which change nothing."""
    return workload.load(replace(asked, seed=seed), 1)


def refuse_weak_scaling(workload: Workload[Any], ranks: Sequence[int]) -> None:
    """Refuse weak scaling of work that cannot grow, or without ranks.

    Raises
    ------
    UserError
        The workload is one problem, or one rank alone is asked for.

    """
    if not workload.scaled:
        others = ", ".join(one.name for one in all_workloads() if one.scaled)
        raise UserError(
            f"--weak: found {workload.name}, a single problem that cannot grow with the ranks; expected one of {others}"
        )
    if max(ranks, default=1) < 2:
        raise UserError("--weak: found one rank, expected several, as in --ranks 2 4")


def scale_case(contest: ExperimentCase, ranks: int) -> ExperimentCase:
    """The contest of so many ranks, whose work is that many times the work of one."""
    workload = contest.workload
    amount = getattr(contest.task.options, workload.scaled) * ranks
    flag = next(option_flag(one) for one, _ in workload.options.declared() if one.name == workload.scaled)
    arguments = (*contest.arguments, flag, str(amount), "--scaled", str(ranks))
    return replace(contest, arguments=arguments, asked=workload_options(workload, arguments).asked(), ranks=ranks)


def survey() -> Iterable[Any]:
    """Devices of all backends."""
    import backends

    return backends.survey()


# --- the report ---


def _conclude(ran: ComparisonRun, folder: Path) -> int:
    if not any(section.records for section in ran.sections):
        print("error: nothing ran, so there is nothing to compare", file=sys.stderr)
        return FAILED
    try:
        compared = experiment.compare_sections(ran.sections)
    except (UnequalWorkError, RecordError) as error:
        # The records are our own programs' doing: no mistake of the user.
        print(f"error: {error}. No report was written; the records are in {ran.records}", file=sys.stderr)
        return FAILED
    print()
    experiment.show(compared)
    for path in experiment.write(compared, folder, ran.name):
        print(path)
    doubted = [row for one in compared for row in one.comparison.not_run if row.wrong]
    doubted += [
        NotRun(one.backend, one.device, one.ranks, "the NumPy scorer did not confirm its best cost")
        for section in ran.sections
        for one in section.records
        if experiment.is_grown(one) and not one.verified
    ]
    for row in doubted:
        print(f"error: {row}", file=sys.stderr)
    return FAILED if doubted else DONE
