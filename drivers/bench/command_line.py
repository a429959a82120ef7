"""The benchmark's command line: what to measure, on everything here that is usable."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence

from drivers.bench import ant_strategies, ants, dynamic_programming, exact, hill_climbing, local_search
from drivers.bench.c_programs import Compiler
from drivers.bench.contests import Contest, Field
from drivers.bench.devices import places
from drivers.bench.engine import Bench
from drivers.bench.instances import Instances
from drivers.notes import keep_quiet, say
from drivers.options import add_common_option, number, positive
from drivers.outputs import OutputFile, require_places

DESCRIPTION = """\
Measures the speeds that the project promises, on every device here. Contestants that do the same work are run in turn,
A B A B ..., so that a machine whose speed drifts treats all alike; medians are shown, and what was found must be equal.
C programs that do the same on one core serve as outside yardsticks with `--yardsticks`."""

WORKLOADS: dict[str, Callable[[Field], Iterable[Contest]]] = {
    "ihc": hill_climbing.contests,
    "local-search": local_search.contests,
    "aco": ants.contests,
    "exact": exact.contests,
    "dp": dynamic_programming.contests,
    "aco-strategies": ant_strategies.contests,
}
"""What `--workload` takes, and what lists the contests of each."""
AS_WORKLOADS = ("instance", "data", "repeats", "seed", "quiet")
"""Options of workloads that a bench has, too."""
RANKS = "ranks"
"""What `--workload` takes besides: not contests on a device, but all workloads over ranks (`drivers.bench.ranks`)."""
TIME_LIMITS = "time-limits"
"""What `--workload` takes besides: lateness of runs with a time limit (`drivers.bench.time_limits`)."""
ONLY_WHEN_NAMED = ("aco-strategies",)
"""Workloads that `all` leaves out."""


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    from cluster.command_line import RankParser
    from core.command_line import program

    parser = RankParser(prog=program("drivers.bench"), description=DESCRIPTION)
    for name in AS_WORKLOADS:
        add_common_option(parser, name)
    parser.set_defaults(repeats=5)
    parser.add_argument("--climbers", type=positive, default=2000, metavar="C", help="climbs on a CPU (%(default)s)")
    parser.add_argument(
        "--gpu-climbers", type=positive, default=100_000, metavar="C", help="climbs on a GPU (%(default)s)"
    )
    parser.add_argument(
        "--yardsticks", action="store_true", help="compile C programs that do the same with gcc, and measure them too"
    )
    parser.add_argument(
        "--workload",
        choices=("all", *WORKLOADS, RANKS, TIME_LIMITS),
        default="all",
        help="what to measure; all leaves out aco-strategies, which takes minutes of a GPU and whose --instance may "
        "be several, with commas between; ranks, under mpirun -n 2, is ten workloads by one rank and by all; "
        "time-limits is the lateness of runs with --seconds (%(default)s)",
    )
    parser.add_argument(
        "--rows", metavar="PARTS", help="with ranks or time-limits: only rows whose names have one of these parts"
    )
    parser.add_argument(
        "--limit", type=number, metavar="S", help="with ranks: begin no repetition S seconds after the start"
    )
    parser.add_argument(
        "--backend", default="auto", metavar="B", help="with ranks or time-limits: the backend (%(default)s)"
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="with dp on a GPU also Held-Karp with 34 cities, which takes most of 80 GB and minutes",
    )
    parser.add_argument(
        "--record",
        type=OutputFile,
        metavar="FILE",
        help="append every repetition as soon as it is over to a file of run records, for `python -m reports`; another "
        "bench with the same file adds its own",
    )
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and print a table."""
    import backends

    options = parse(argv)
    keep_quiet(options.quiet)
    if options.workload == RANKS:
        from drivers.bench import ranks

        return ranks.run(options)
    require_places(options)
    refuse_ranks(options)
    if options.workload == TIME_LIMITS:
        from drivers.bench import time_limits

        return time_limits.run(options)
    rows = backends.survey()
    cores, gpus = places(rows, on_gpu=False), places(rows, on_gpu=True)
    say(f"usable: {', '.join(f'{place.backend}:{place.device}' for place in [*cores, *gpus])}")
    with Compiler(options.yardsticks) as compiler:
        if compiler.obstacle:
            print(compiler.obstacle, flush=True)
        field = Field(options, cores, gpus, compiler, Instances(options.data))
        Bench(listed(field), options.repeats, options.record).run()
    return 0


def refuse_ranks(options: argparse.Namespace) -> None:
    """Refuse what only the table of ranks has, and several ranks for anything else.

    Raises
    ------
    UserError
        Says what was found.

    """
    from cluster import launcher
    from core.errors import UserError

    is_table = options.workload == TIME_LIMITS
    for name in ("limit",) if is_table else ("rows", "limit"):
        if getattr(options, name) is not None:
            raise UserError(f"--{name}: expected with --workload {RANKS}")
    if options.backend != "auto" and not is_table:
        raise UserError(f"--backend {options.backend}: expected with --workload {RANKS}")
    if (launcher.size() or 1) > 1:
        raise UserError(f"{launcher.size()} ranks: expected one, or --workload {RANKS}")


def listed(field: Field) -> list[Contest]:
    """The contests that the command line asks for."""
    asked = field.options.workload
    names = [name for name in WORKLOADS if name not in ONLY_WHEN_NAMED] if asked == "all" else [asked]
    return [contest for name in names for contest in WORKLOADS[name](field)]
