"""The benchmark's command line: what to measure, on everything here that is usable."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence

from drivers.bench import ant_colonies, ant_strategies, calls, dynamic_programming, exact, hill_climbing, local_search
from drivers.bench.c_programs import Compiler
from drivers.bench.cases import BenchmarkCase, BenchmarkContext
from drivers.bench.devices import usable_devices
from drivers.bench.instances import BenchmarkInstances
from drivers.bench.runner import BenchmarkRun
from drivers.cli.messages import print_status, set_quiet
from drivers.options.declaration import add_common_option
from drivers.options.output_files import OutputFile, require_writable_files
from drivers.options.values import number, positive

DESCRIPTION = """\
Measure the project's benchmark cases on every device here. The candidates of a case do the same work in turn, A B A B,
so that a drift of the machine's speed affects all of them alike. The output has medians, and results must be equal.
`--reference-programs` adds C programs that do the same work on one core."""

WORKLOADS: dict[str, Callable[[BenchmarkContext], Iterable[BenchmarkCase]]] = {
    "ihc": hill_climbing.cases,
    "local-search": local_search.cases,
    "aco": ant_colonies.cases,
    "exact": exact.cases,
    "dp": dynamic_programming.cases,
    "aco-strategies": ant_strategies.cases,
    "calls": calls.cases,
}
"""What `--workload` takes, and what lists the cases of each."""
COMMON_OPTIONS = ("instance", "data", "repeats", "seed", "quiet")
"""Options of workloads that a bench has, too."""
RANKS = "ranks"
"""What `--workload` takes besides: not cases on a device, but all workloads over ranks (`drivers.bench.ranks`)."""
TIME_LIMITS = "time-limits"
"""What `--workload` takes besides: lateness of runs with a time limit (`drivers.bench.time_limits`)."""
ONLY_WHEN_NAMED = ("aco-strategies", "calls")
"""Workloads that `all` leaves out."""


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
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
        choices=("all", *WORKLOADS, RANKS, TIME_LIMITS),
        default="all",
        help=(
            "cases to measure (%(default)s); all: without aco-strategies, which takes a GPU minutes and accepts "
            "several instances, separated by commas, and calls, which are short calls from Python; ranks: ten "
            "workloads on one rank and on all, under mpirun -n 2; "
            "time-limits: lateness of runs with --seconds"
        ),
    )
    parser.add_argument(
        "--rows", metavar="PARTS", help="with ranks or time-limits: only rows with one of these parts in the name"
    )
    parser.add_argument(
        "--time-budget", type=number, metavar="S", help="with ranks: start no repetition after S seconds"
    )
    parser.add_argument(
        "--backend", default="auto", metavar="B", help="with ranks or time-limits: the backend (%(default)s)"
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
            "a file"
        ),
    )
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and print a table."""
    import backends

    options = parse(argv)
    set_quiet(options.quiet)
    if options.workload == RANKS:
        from drivers.bench import ranks

        return ranks.measure_table(options)
    require_writable_files(options)
    refuse_rank_options(options)
    if options.workload == TIME_LIMITS:
        from drivers.bench import time_limits

        return time_limits.measure_table(options)
    rows = backends.survey()
    cores, gpus = usable_devices(rows, on_gpu=False), usable_devices(rows, on_gpu=True)
    print_status(f"usable: {', '.join(f'{place.backend}:{place.device}' for place in [*cores, *gpus])}")
    with Compiler(options.reference_programs) as compiler:
        if compiler.obstacle:
            print(compiler.obstacle, flush=True)
        field = BenchmarkContext(options, cores, gpus, compiler, BenchmarkInstances(options.data))
        BenchmarkRun(chosen_cases(field), options.repeats, options.record).run()
    return 0


def refuse_rank_options(options: argparse.Namespace) -> None:
    """Refuse what only the table of ranks has, and several ranks for anything else.

    Raises
    ------
    UserError
        Says what was found.

    """
    from cluster.mpi import launcher
    from core.errors import UserError

    is_table = options.workload == TIME_LIMITS
    for name in ("time_budget",) if is_table else ("rows", "time_budget"):
        if getattr(options, name) is not None:
            raise UserError(f"--{name.replace('_', '-')}: expected with --workload {RANKS}")
    if options.backend != "auto" and not is_table:
        raise UserError(f"--backend {options.backend}: expected with --workload {RANKS}")
    if (launcher.size() or 1) > 1:
        raise UserError(f"{launcher.size()} ranks: expected one, or --workload {RANKS}")


def chosen_cases(field: BenchmarkContext) -> list[BenchmarkCase]:
    """The cases that the command line asks for."""
    asked = field.options.workload
    names = [name for name in WORKLOADS if name not in ONLY_WHEN_NAMED] if asked == "all" else [asked]
    return [case for name in names for case in WORKLOADS[name](field)]
