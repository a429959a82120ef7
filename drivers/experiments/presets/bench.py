"""The benchmark: rows of `drivers/bench/cases.toml` and `reports/pages/ranks.toml` on the devices here, and a page."""

from __future__ import annotations

import argparse
import math
import shlex
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import UserError
from core.instances.errors import InstanceError
from core.program_parser import invocation
from drivers.cli.exit_codes import DONE, FAILED
from drivers.cli.messages import print_error, set_quiet
from drivers.experiments.baselines import in_turns, run_with_baselines
from drivers.experiments.c_programs import PROGRAMS, CProgramCase, compiler_obstacle
from drivers.experiments.case import Case
from drivers.experiments.configurations import Configuration, choose_configurations
from drivers.experiments.idle_host import wait_until_idle
from drivers.experiments.options import PlanParser, add_core_options, add_plan_options, chosen_executor
from drivers.experiments.plan import ExperimentPlan, plan_work, prepare_folder
from drivers.experiments.presets.compare import InstanceRuns, scale_work
from drivers.experiments.presets.compare_options import MEASURE_S
from drivers.experiments.run import PlanRun, results_of, show
from drivers.options.values import number, positive
from drivers.workload.registry import get_workload
from reports.pages import bench, ranks
from reports.rates import RateSection, rate_sections
from reports.records.files import RecordError, UnequalWorkError
from reports.text.formatting import duration

DESCRIPTION = """\
Measure the rates of the project's benchmark cases on every device here. The candidates of a case do the same work in
processes of their own, one core before and after the others. Results must be equal."""

_FILE = Path(__file__).parents[2] / "bench" / "cases.toml"
CASES: Sequence[Mapping[str, Any]] = [*tomllib.loads(_FILE.read_text(encoding="utf-8"))["case"], *ranks.PLAN["case"]]
FAMILIES = tuple(dict.fromkeys(row["family"] for row in CASES))
"""Values of `--workload`, beside all."""
BEST, RANKS = APART = "best", "ranks"
"""Families with a file of records of their own, which `all` leaves out."""


class BenchmarkCase(NamedTuple):
    """Runs of equal work in running order; `remark` is a published figure, or empty."""

    title: str
    runs: Sequence[Case]
    remark: str


def bench_parser() -> argparse.ArgumentParser:
    parser = PlanParser(prog=invocation("drivers.bench"), description=DESCRIPTION)
    add = parser.add_argument
    which = (
        f"cases to measure (%(default)s: without {' and '.join(APART)}); {BEST}: the best algorithms with reference "
        f"solvers; {RANKS}: rates of ten workloads on one rank and on several"
    )
    add("--workload", choices=("all", *FAMILIES), default="all", help=which)
    add("--rows", metavar="PARTS", help="only cases with one of these parts in the title, separated by commas")
    measure = "budget of each rate in seconds, beyond six repetitions (%(default)g)"
    add("--measure", type=number, default=MEASURE_S, metavar="S", help=measure)
    add("--repeats", type=positive, metavar="R", help="repeat exactly the given amount instead, R times")
    add("--busy", action="store_true", help="measure while other programs run too")
    programs = "also measure C programs of the same work, compiled with gcc"
    add("--reference-programs", action="store_true", help=programs)
    add("--time-budget", type=number, default=math.inf, metavar="S", help="start no run after S seconds")
    add_plan_options(parser)
    add_core_options(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the cases; return 0, or 1 if a run failed or a result is wrong.

    Raises `UserError` for a backend that is not usable here, a folder that cannot be written, or if no case can run.
    """
    began, arguments = time.monotonic(), list(sys.argv[1:] if argv is None else argv)
    options = bench_parser().parse_args(arguments)
    set_quiet(options.quiet)
    configurations, not_here = choose_configurations(options)
    executor = chosen_executor(options)
    family = options.workload if options.workload in APART else "bench"
    records = options.out / f"{family}.jsonl"
    if obstacle := compiler_obstacle(options.reference_programs):
        show(obstacle)
    cases = list(plan_cases(options, configurations, records, with_c=not obstacle))
    reasons = [str(one) for one in not_here]
    if not cases:
        raise UserError("; ".join([f"--workload {options.workload}: no case has such a title and a device", *reasons]))
    runs = [run for case in cases for run in case.runs]
    plan = ExperimentPlan(runs, records, reasons, options.rerun, executor.elsewhere)
    if options.dry_run:
        show(plan.summary())
        plan.show_commands()
        return DONE
    prepare_folder(records, lambda: bench.remove(options.out, family), rerun=options.rerun)
    show(f"{plan.summary()}, records: {records}")
    waits = not executor.elsewhere and not options.repeats and not options.busy
    run = PlanRun(len(plan.cases), executor, wait_until_idle if waits else None)
    end = began + options.time_budget
    sections, failed = run_cases(cases, run, end)
    if left := time.monotonic() > end and run.total - run.shown:
        show(f"{duration(options.time_budget)} have passed: {left} runs not measured")
    made_by = shlex.join(["onekernel", "bench", *arguments])
    return max(FAILED if failed else DONE, write_page(sections, family, records, made_by))


# --- the plan ---


def plan_cases(
    options: argparse.Namespace, configurations: Sequence[Configuration], records: Path, *, with_c: bool
) -> Iterator[BenchmarkCase]:
    """Yield the chosen cases that have a device; report and omit those with missing instances.

    Work that grows follows: on the most ranks after the cases of its table, on fewer ranks after all cases. Clocks of
    GPUs hardly change: one rank of a GPU is measured once, and no second time after the others.
    """
    parts, later = (options.rows or "").lower().split(","), []
    for row in CASES:
        places, growing = choose_places(row["on"], configurations), []
        is_chosen = row["family"] == options.workload or (options.workload == "all" and row["family"] not in APART)
        for values in row.get("for", [{}]) if places and is_chosen else []:
            values = {**row, **values}
            title = values["title"].format(**values)
            if not any(part in title.lower() for part in parts):
                continue
            try:
                runs = [one.on(place) for one in plan_variants(values, options, records) for place in places]
                growing += [
                    BenchmarkCase(f"{title}, grows", [run], "")
                    for run in plan_growing(values, places, options, records)
                ]
            except InstanceError as error:
                show(f"{title}: not measured ({error})")
                continue
            forms = PROGRAMS[values["workload"]].forms if with_c and values.get("c") else ()
            runs += [CProgramCase.of_form(runs[0], form) for form in forms]
            is_base = {1} if row["on"] == "ranks of cores" else ()
            bases = [run for run in runs if run.is_of_one_core or run.configuration.ranks in is_base]
            yield BenchmarkCase(title, in_turns(runs, bases), values.get("remark", ""))
        most = max((case.runs[0].configuration.ranks for case in growing), default=0)
        yield from (case for case in growing if case.runs[0].configuration.ranks == most)
        later += [case for case in growing if case.runs[0].configuration.ranks < most]
    yield from later


def plan_variants(values: Mapping[str, Any], options: argparse.Namespace, records: Path) -> list[Case]:
    """Return the work of each variant; each of several seeds runs once."""
    seeds = range(values.get("seeds", 1))
    measure = None if options.repeats or len(seeds) > 1 else options.measure
    repeats = options.repeats if options.repeats and len(seeds) == 1 else 1
    peers, data = values.get("peers", False), ["--data", options.data] if options.data else []
    works = []
    for variant in values.get("variants", [""]):
        words = f"{values['arguments']} {variant}".format(**values).split()
        workload = get_workload(values["workload"])
        works += plan_work(workload, [*words, *data], seeds, repeats, records, peers=peers, measure=measure)
    return works


def plan_growing(
    values: Mapping[str, Any], places: Sequence[Configuration], options: argparse.Namespace, records: Path
) -> Iterator[Case]:
    """Yield the runs of a row on several ranks with as much work for each rank as one rank has."""
    for place in (one for one in places if one.ranks > 1):
        more = values.get("grown", {}).get(str(place.ranks), "")
        if more or values.get("weak"):
            for one in plan_variants({**values, "arguments": f"{values['arguments']} {more}"}, options, records):
                yield (one if more else scale_work(one, place.ranks)).on(place)


def choose_places(on: str, configurations: Sequence[Configuration]) -> list[Configuration]:
    """Return the configurations of a row; see `cases.toml`."""
    of_one_rank = [one for one in configurations if one.ranks == 1]
    if on.startswith(RANKS):
        several = [one for one in configurations if one.ranks > 1 and (one.kind == "gpu") == (on == "ranks of GPUs")]
        devices = {(one.backend, one.device) for one in several}
        return [one for one in of_one_rank if (one.backend, one.device) in devices] + several
    if on == "one core":
        return [one for one in of_one_rank if one.is_core][:1]
    return [one for one in of_one_rank if (one.kind == "gpu") == (on == "gpu")]


# --- runs and pages ---


def run_cases(cases: Sequence[BenchmarkCase], run: PlanRun, end: float) -> tuple[list[InstanceRuns], bool]:
    """Run the candidates of each case; return their records, and True if a run failed.

    No run starts after the end, in seconds of a monotonic clock, but for a base that is measured again.
    """
    failed, found = False, []
    run.refuses = lambda case: "no time is left" if case.turns == 1 and time.monotonic() > end else ""
    for case in cases:
        if time.monotonic() > end:
            break
        show(case.title)
        outcomes = run_with_baselines(run, case.runs)
        failed = failed or any(one.kind == "failed" for one in outcomes)
        found.append(InstanceRuns(*results_of(outcomes), ", ".join(filter(None, (case.title, case.remark)))))
    return found, failed


def write_page(found: Sequence[InstanceRuns], family: str, records: Path, made_by: str) -> int:
    """Write the page of ranks, or of rates; return 1 if results are missing, differ, or are not confirmed."""
    filled, out = [one for one in found if one.records], records.parent
    failures = ["nothing ran, so there is nothing to show"] if found and not filled else []
    paths: list[Path] = []
    try:
        if family == RANKS and filled:
            wrong = [(one.why, record) for one in filled for record in one.records if not record.verified]
            failures += [f"{why}: the result of {record.label} is not confirmed" for why, record in wrong]
            works = ranks.rank_rates([record for one in filled for record in one.records])
            if works or not failures:
                paths = ranks.write(works, out, made_by)
        elif sections := [section for one in filled for section in confirmed_sections(one, failures)]:
            paths = bench.write(sections, out, family, made_by)
            print(*bench.lines(sections), sep="\n")
    except UnequalWorkError as error:
        failures.append(f"{error}. No report was written; the records are in {records}")
    print(*paths, sep="\n", end="\n" * bool(paths))
    for failure in failures:
        print_error(failure)
    return FAILED if failures else DONE


def confirmed_sections(case: InstanceRuns, failures: list[str]) -> list[RateSection]:
    """Return the rates of a case; runs that were not confirmed become failures."""
    try:
        sections = rate_sections(*case)
    except RecordError as error:
        failures.append(f"{case.why}: {error}")
        return []
    failures += [f"{case.why}: {one}" for section in sections for one in section.not_run if one.wrong]
    return sections
