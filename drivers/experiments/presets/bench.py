"""The benchmark: rows of `drivers/bench/cases.toml` on the devices here, and a report of each workload."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import UserError
from core.instances.errors import InstanceError
from core.program_parser import invocation
from drivers.cli.exit_codes import DONE, FAILED
from drivers.cli.messages import set_quiet
from drivers.experiments.c_programs import PROGRAMS, CProgramCase, compiler_obstacle
from drivers.experiments.case import Case
from drivers.experiments.configurations import Configuration, choose_configurations
from drivers.experiments.options import PlanParser, add_core_options, add_plan_options, chosen_executor
from drivers.experiments.plan import ExperimentPlan, in_rounds, plan_work, prepare_folder
from drivers.experiments.presets.compare import ComparisonRun, InstanceRuns, conclude, scale_work
from drivers.experiments.presets.compare_options import MEASURE_S
from drivers.experiments.run import PlanRun, show
from drivers.options.values import number, positive
from drivers.workload.registry import get_workload
from reports.pages import ranks
from reports.pages.comparison import remove
from reports.records.files import RecordError, UnequalWorkError, group_by
from reports.text.formatting import duration

DESCRIPTION = """\
Measure the project's benchmark cases on every device here. The candidates of a case do the same work in processes of
their own, in turn, A B A B, so that a drift of the machine's speed affects all of them alike. Results must be equal."""

CASES: Sequence[Mapping[str, Any]] = tomllib.loads(
    Path(__file__).parents[2].joinpath("bench", "cases.toml").read_text(encoding="utf-8")
)["case"]
FAMILIES = tuple(dict.fromkeys(row["family"] for row in CASES))
"""Values of `--workload`, beside all."""
BEST, RANKS = APART = "best", "ranks"
"""Families with a file of records of their own, which `all` leaves out."""
ROUNDS = 2
"""Number of turns of a case's candidates, each with a part of the repetitions."""


class BenchmarkCase(NamedTuple):
    """Runs of equal work; `remark` is a published figure, or empty."""

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
    repeats = "number of timed repetitions, unless a case sets another (%(default)s)"
    add("--repeats", type=positive, default=5, metavar="R", help=repeats)
    programs = "also measure C programs of the same work, compiled with gcc"
    add("--reference-programs", action="store_true", help=programs)
    add("--time-budget", type=number, metavar="S", help="start no case after S seconds")
    add_plan_options(parser)
    add_core_options(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Measure the cases; return 0, or 1 if a run failed or a result is wrong.

    Raises `UserError` for a backend that is not usable here, a folder that cannot be written, or if no case can run.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
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
    rounds = ROUNDS if executor.in_turn else 1
    turns = [in_rounds(case.runs, rounds if len(case.runs) > 1 else 1) for case in cases]
    plan = ExperimentPlan([*chain(*turns)], records, reasons, options.rerun, executor.elsewhere)
    if options.dry_run:
        plan.show_commands()
        return DONE

    def remove_pages() -> None:
        for name in {run.workload.name for run in plan.cases}:
            remove(options.out, f"{family}-{name}")

    prepare_folder(records, remove_pages, rerun=options.rerun)
    show(f"{plan.summary()}, records: {records}")
    run = PlanRun(len(plan.cases), executor)
    sections, failed = run_in_turn(cases, turns, run, options.time_budget)
    made_by = shlex.join(["python", "-m", "drivers.bench", *arguments])
    return max(FAILED if failed else DONE, write_pages(sections, family, records, made_by))


# --- the plan ---


def plan_cases(
    options: argparse.Namespace, configurations: Sequence[Configuration], records: Path, *, with_c: bool
) -> Iterator[BenchmarkCase]:
    """Yield the chosen cases that have a device; report and omit those with missing instances."""
    parts = (options.rows or "").lower().split(",")
    for row in CASES:
        places = choose_places(row["on"], configurations)
        is_chosen = row["family"] == options.workload or (options.workload == "all" and row["family"] not in APART)
        for values in row.get("for", [{}]) if places and is_chosen else []:
            values = {**row, **values}
            title = values["title"].format(**values)
            if not any(part in title.lower() for part in parts):
                continue
            try:
                works = plan_variants(values, options, records)
                runs = [placed(one, place, grows=values.get("weak", False)) for one in works for place in places]
            except InstanceError as error:
                show(f"{title}: not measured ({error})")
                continue
            forms = PROGRAMS[values["workload"]].forms if with_c and values.get("c") else ()
            runs += [CProgramCase.of_form(runs[0], form) for form in forms]
            yield BenchmarkCase(title, runs, values.get("remark", ""))


def plan_variants(values: Mapping[str, Any], options: argparse.Namespace, records: Path) -> list[Case]:
    seeds = range(values.get("seeds", 1))
    measure = MEASURE_S if values["family"] == RANKS else None
    repeats = 1 if len(seeds) > 1 or measure else values.get("repeats", options.repeats)
    peers, data = values.get("peers", False), ["--data", options.data] if options.data else []
    works = []
    for variant in values.get("variants", [""]):
        words = f"{values['arguments']} {variant}".format(**values).split()
        workload = get_workload(values["workload"])
        works += plan_work(workload, [*words, *data], seeds, repeats, records, peers=peers, measure=measure)
    return works


def placed(work: Case, place: Configuration, *, grows: bool) -> Case:
    """Return a work in its place; one that grows is multiplied by the number of ranks."""
    return (scale_work(work, place.ranks) if grows else work).on(place)


def choose_places(on: str, configurations: Sequence[Configuration]) -> list[Configuration]:
    """Return the configurations of a row; see `cases.toml`."""
    of_one_rank = [one for one in configurations if one.ranks == 1]
    if on.startswith("ranks"):
        several = [one for one in configurations if one.ranks > 1 and (one.kind == "gpu") == (on == "ranks of GPUs")]
        devices = {(one.backend, one.device) for one in several}
        return [one for one in of_one_rank if (one.backend, one.device) in devices] + several
    if on == "one core":
        return [one for one in of_one_rank if one.is_core][:1]
    return [one for one in of_one_rank if (one.kind == "gpu") == (on == "gpu")]


# --- runs and pages ---


def run_in_turn(
    cases: Sequence[BenchmarkCase], turns: Sequence[Sequence[Case]], run: PlanRun, time_budget: float | None
) -> tuple[list[InstanceRuns], bool]:
    """Run the candidates of each case in turn; return the section of each, and True if a run failed."""
    began, failed, sections = time.monotonic(), False, []
    for place, (case, runs) in enumerate(zip(cases, turns, strict=True)):
        if time_budget is not None and time.monotonic() - began > time_budget:
            show(f"{duration(time_budget)} have passed: {len(cases) - place} cases not measured")
            break
        show(case.title)
        outcomes = run.run(runs)[-len(case.runs) :]
        failed = failed or any(one.kind == "failed" for one in outcomes)
        records = [record for one in outcomes for record in one.records]
        not_run = [one.not_run for one in outcomes if one.kind != "done"]
        sections.append(InstanceRuns(records, not_run, ", ".join(filter(None, (case.title, case.remark)))))
    return sections, failed


def write_pages(sections: Sequence[InstanceRuns], family: str, records: Path, made_by: str) -> int:
    """Write the page of ranks, or a comparison of each workload; return 1 if results are missing or differ."""
    filled = [section for section in sections if section.records]
    out = records.parent
    if family != RANKS:
        groups = group_by(filled, lambda section: section.records[0].workload)
        runs = [ComparisonRun(of, False, [], f"{family}-{of[0].records[0].workload}", records) for of in groups]
        return max([conclude(run, out, made_by) for run in runs], default=DONE)
    try:
        works = ranks.rank_rates([record for section in filled for record in section.records])
        paths = ranks.write(works, out, made_by)
    except (UnequalWorkError, RecordError) as error:
        print(f"error: {error}. No report was written; the records are in {records}", file=sys.stderr)
        return FAILED
    print(*paths, sep="\n")
    return DONE
