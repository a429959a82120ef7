"""The benchmark's command line: what to measure, on everything here that is usable."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from core.errors import UserError
from drivers.bench import cases
from drivers.bench.c_programs import compiler_obstacle
from drivers.bench.results import EqualWork, phase_line, show_case
from drivers.cli.exit_codes import DONE, FAILED
from drivers.cli.messages import print_status, set_quiet
from drivers.experiments.configurations import mpi_obstacle
from drivers.experiments.executors.local import LocalExecutor
from drivers.experiments.plan import in_rounds
from drivers.experiments.run import PlanRun, show
from drivers.options.declaration import add_common_option
from drivers.options.output_files import OutputFile, require_writable_files
from drivers.options.values import number, positive
from reports.text.formatting import counted, duration

DESCRIPTION = """\
Measure the project's benchmark cases on every device here. The candidates of a case do the same work in processes of
their own, in turn, A B A B, so that a drift of the machine's speed affects all of them alike. The output has medians,
and results must be equal. `--reference-programs` adds C programs that do the same work on one core."""

COMMON_OPTIONS = ("instance", "data", "repeats", "seed", "quiet")
"""Options of workloads that the benchmark has too."""
CALLS, FIRST_CALLS, RANKS, TIME_LIMITS = "calls", "first-calls", "ranks", "time-limits"
ROUNDS = 2
"""Number of turns of a case's candidates, each with a part of the repetitions."""


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    from cluster.command_line import RankParser
    from core.program_parser import invocation

    parser = RankParser(prog=invocation("drivers.bench"), description=DESCRIPTION)
    for name in COMMON_OPTIONS:
        add_common_option(parser, name)
    parser.set_defaults(repeats=5)
    parser.add_argument(
        "--climbers", type=positive, default=2000, metavar="C", help=("number of climbs on a CPU (%(default)s)")
    )
    parser.add_argument(
        "--gpu-climbers", type=positive, default=100_000, metavar="C", help="number of climbs on a GPU (%(default)s)"
    )
    parser.add_argument(
        "--reference-programs", action="store_true", help="also measure C programs of the same work, compiled with gcc"
    )
    parser.add_argument(
        "--workload",
        choices=("all", *cases.FAMILIES, CALLS, FIRST_CALLS, TIME_LIMITS),
        default="all",
        help=(
            "cases to measure (%(default)s); all: without aco-strategies, which takes a GPU minutes and accepts "
            "several instances, separated by commas; calls: short calls from Python; defaults: default tenures "
            "against others, ten seeds each; first-calls: processor time of programs with an empty cache, without that "
            "of Python's own byte code; peers: our best algorithms in turn with the solvers of --peers; ranks: ten "
            "workloads on one rank and on several; time-limits: lateness of runs with --seconds"
        ),
    )
    parser.add_argument("--rows", metavar="PARTS", help="only cases with one of these parts in the title")
    parser.add_argument("--time-budget", type=number, metavar="S", help="start no case after S seconds")
    parser.add_argument("--backend", default="auto", metavar="B", help="only this backend (%(default)s: all)")
    parser.add_argument(
        "--ranks", type=positive, default=2, metavar="N", help="with ranks: the number of ranks (%(default)s)"
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="with dp on a GPU: also Held-Karp with 34 cities, which takes most of 80 GB and some minutes",
    )
    parser.add_argument(
        "--record",
        type=OutputFile,
        metavar="FILE",
        help=(
            "append every repetition to a file of run records, for `python -m reports`; several benchmarks can share "
            "a file, and what it holds is not run again"
        ),
    )
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and print a table for each case; return 1 for a wrong result or a late run."""
    from cluster.mpi import launcher

    options = parse(argv)
    set_quiet(options.quiet)
    require_writable_files(options)
    if (launcher.size() or 1) > 1:
        raise UserError(f"{launcher.size()} ranks: expected one process, since --workload ranks --ranks N starts ranks")
    if options.workload == TIME_LIMITS:
        from drivers.bench import time_limits

        return time_limits.measure_table(options)
    if options.workload == CALLS:
        from drivers.bench import calls

        return calls.measure_table(options)
    if options.workload == FIRST_CALLS:
        from drivers.bench import first_calls

        return first_calls.measure_table(options)
    with tempfile.TemporaryDirectory(prefix="onekernel-bench-") as folder:
        return run_cases(options, Path(options.record or f"{folder}/records.jsonl"))


def run_cases(options: argparse.Namespace, records: Path) -> int:
    import backends

    devices = chosen_devices(cases.usable_devices(backends.survey()), options.backend)
    print_status(f"usable: {', '.join(f'{device.backend}:{device.device}' for device in devices)}")
    obstacle = compiler_obstacle(options.reference_programs)
    if options.workload == RANKS:
        if reason := mpi_obstacle():
            raise UserError(f"--workload ranks: {reason}")
    elif obstacle:
        print(obstacle, flush=True)
    planned = list(cases.build_cases(options, devices, records, with_c=not obstacle))
    if options.rows and not planned:
        raise UserError(f"--rows {options.rows}: no case has one of these parts in its title")
    turns = [
        in_rounds([candidate.case for candidate in case.candidates], ROUNDS if len(case.candidates) > 1 else 1)
        for case in planned
    ]
    print(
        f"{counted(len(planned), 'benchmark case')}, {counted(sum(map(len, turns)), 'run')}, "
        f"{counted(options.repeats, 'repetition')} unless a case sets another number",
        flush=True,
    )
    return run_in_turn(planned, turns, options.time_budget)


def run_in_turn(
    planned: Sequence[cases.BenchmarkCase], turns: Sequence[Sequence[cases.Case]], time_budget: float | None
) -> int:
    """Run the candidates of each case in turn, and show them if their results are equal."""
    began, code = time.monotonic(), DONE
    plan, equal = PlanRun(sum(map(len, turns)), LocalExecutor()), EqualWork()
    for place, (case, runs) in enumerate(zip(planned, turns, strict=True)):
        if time_budget is not None and time.monotonic() - began > time_budget:
            print(f"\n{duration(time_budget)} have passed: {len(planned) - place} cases not measured")
            break
        print(f"\n[{place + 1}/{len(planned)}] {case.title}", flush=True)
        outcomes = plan.run(runs)[-len(case.candidates) :]
        results = {
            one: outcome.records for one, outcome in zip(case.candidates, outcomes, strict=True) if outcome.records
        }
        for candidate, outcome in zip(case.candidates, outcomes, strict=True):
            if not outcome.records:
                print(f"{candidate.name}: not measured ({outcome.reason})", flush=True)
        if not results:
            continue
        try:
            equal.check(case, results)
        except UserError as error:
            print(f"error: {error}", file=sys.stderr)
            code = FAILED
            continue
        show_case(case, results)
        for candidate, records in results.items() if case.phases else ():
            show(f"{candidate.name}, {phase_line(candidate.case, records[0])}")
    print(f"\ndone in {duration(time.monotonic() - began)}", flush=True)
    return code


def chosen_devices(devices: Iterable[cases.Configuration], backend: str) -> list[cases.Configuration]:
    chosen = [device for device in devices if backend in ("auto", device.backend)]
    if not chosen:
        raise UserError(f"--backend {backend}: expected one that is usable here; `python -m backends` lists them")
    return chosen
