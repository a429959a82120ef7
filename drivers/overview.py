"""`make overview`: the papers' workloads, some seconds each, on every device of this machine: a table and a heat map.

python -m drivers.overview                                        ten workloads, about 10 s each
python -m drivers.overview --workloads labs lcs --ranks 2         labs and lcs, on two ranks too
python -m drivers.overview --seconds-each 60 --out elsewhere      more repetitions; report in elsewhere/overview.md

Every workload except lcs takes one core a second or more, and does the same work on every device. Three repetitions on
the first device determine the number of repetitions for all. An interrupted overview continues where it stopped.
"""

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
from core.program_parser import CompletingParser, invocation
from drivers.cli.exit_codes import DONE, FAILED, run_driver
from drivers.cli.messages import set_quiet
from drivers.experiments.comparison import STANDARD_REASON, ComparisonDependencies, build_cases, survey
from drivers.experiments.comparison_options import add_where_options
from drivers.experiments.configurations import Configuration, numbers_of_ranks, plan_configurations
from drivers.experiments.execution import ExperimentCase, ExperimentRunner, prepare_folder
from drivers.options.values import number
from drivers.workload.declaration import Workload
from drivers.workload.registry import NAMES, PAPER_WORKLOADS, get_workload
from reports.comparison.overview import Overview, OverviewRow
from reports.comparison.speedups import NotRun, compare
from reports.pages import overview
from reports.records.environment import cores
from reports.records.files import Record, RecordError, UnequalWorkError

WORKLOAD_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "ihc": ("--climbers", "15000"),
    "aco": ("--ants", "256", "--iterations", "2500"),
    "qap": ("--walks", "64", "--iterations", "25000"),
    "ppp": ("--walks", "64", "--iterations", "350"),
    "tsp": ("--walks", "64", "--iterations", "1200"),
    "weierstrass": ("--iterations", "150"),
    "exact": ("--instance", "uniform:16:seed=1", "--bound", "edges"),
    "heldkarp": ("--instance", "uniform:26:seed=1"),
    "knapsack": ("--items", "1000", "--capacity", "8000000"),
}
"""Options of works that take one core at least a second, so that launches and copies weigh little: 1.3 to 2.3 s of
processor time on an AMD EPYC (Zen 5). None for `lcs`, whose trace takes 10 GB in a second of one core."""
DEFAULT_REASON = (
    "Unless a row gives another reason, its work takes one core a second or more, so that launches and copies have "
    "little effect"
)
OTHER_DEVICES_SHARE = 0.5
"""Of one core's time, what any other device is taken to need."""
LEAST_REPETITIONS, MOST_REPETITIONS = 3, 30
"""Of three, the first may be slow, which touches fresh memory: the median is another."""


def main(argv: Sequence[str] | None = None, dependencies: ComparisonDependencies | None = None) -> int:
    """Run the workloads; returns 0 when each ran everywhere and did the same work everywhere, else 1.

    Raises
    ------
    UserError
        An unknown workload, a backend that does not exist or is not usable here, more ranks than cores, or a folder
        that cannot be written.

    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    options = parser().parse_args(arguments)
    set_quiet(options.quiet)
    dependencies = dependencies or ComparisonDependencies(survey)
    workloads = [get_workload(name) for name in dict.fromkeys(options.workloads or PAPER_WORKLOADS)]
    ranks = numbers_of_ranks(options.ranks, cores(), options.oversubscribe)
    configurations, not_here = plan_configurations(
        list(dependencies.survey()), options.backends, ranks, options.rank_backend, options.cores
    )
    records = options.out / f"{overview.NAME}.jsonl"
    prepare_folder(records, lambda: overview.remove(options.out), options.rerun)
    runner = ExperimentRunner(len(workloads) * (1 + len(configurations)), dependencies.command)
    lines = [run_workload(workload, options, records, runner, configurations) for workload in workloads]
    made_by = shlex.join(["python", "-m", "drivers.overview", *arguments])
    return write_overview(Overview(tuple(lines), tuple(not_here), DEFAULT_REASON), options.out, made_by)


def parser() -> argparse.ArgumentParser:
    """The command line; what a comparison asks besides has its usual value."""
    made = CompletingParser(
        prog=invocation("drivers.overview"),
        description=__doc__,
    )
    made.add_argument(
        "--seconds-each",
        type=number,
        default=10.0,
        metavar="S",
        help="approximate seconds of a workload on all devices together (%(default)g), which determine the number of "
        f"repetitions, {LEAST_REPETITIONS} to {MOST_REPETITIONS} on each device",
    )
    made.add_argument(
        "--workloads",
        nargs="+",
        metavar="W",
        help=f"workloads to run, from {', '.join(NAMES)} (default: the first {len(PAPER_WORKLOADS)})",
    )
    made.add_argument("--data", metavar="DIR", help="folder with instance files, searched before all others")
    add_where_options(made)
    made.set_defaults(instance=None, seed=None, seeds=None, repeats=LEAST_REPETITIONS, peers=False)
    return made


def repetitions_in_budget(seconds: float, one_core_s: float, configurations: int) -> int:
    """How many repetitions fill so many seconds on all devices, where one core takes so long for one."""
    once_s = one_core_s * (1 + OTHER_DEVICES_SHARE * (configurations - 1))
    fitting = min(MOST_REPETITIONS, seconds / once_s) if once_s else MOST_REPETITIONS
    return max(LEAST_REPETITIONS, round(fitting))


def run_workload(
    workload: Workload[Any],
    options: argparse.Namespace,
    records: Path,
    runner: ExperimentRunner,
    configurations: Sequence[Configuration],
) -> OverviewRow:
    """Run one workload on all configurations, on the first of them some repetitions before."""
    try:
        contest: ExperimentCase = build_cases(workload, options, WORKLOAD_ARGUMENTS.get(workload.name, ()), records)[0][
            0
        ]
    except UserError as error:
        runner.begun += 1 + len(configurations)
        print(f"error: {workload.name}: {error}", file=sys.stderr)
        return OverviewRow(workload.name, workload.title, None, (), str(error))
    tried, failed = runner.all_of(contest, configurations[:1])
    if failed:
        runner.begun += 1
        found, failures = runner.all_of(contest, configurations[1:])
        return compare_runs(workload, found, [*failed, *failures])
    one_core_s = statistics.median(repetition.running_s for one in tried for repetition in one.repetitions)
    repeats = repetitions_in_budget(options.seconds_each, one_core_s, len(configurations))
    return compare_runs(workload, *runner.all_of(replace(contest, repeats=repeats), configurations))


def compare_runs(workload: Workload[Any], found: Sequence[Record], failures: Sequence[NotRun]) -> OverviewRow:
    """The runs of a workload side by side, or why they cannot be."""
    name, title, why = workload.name, workload.title, tuple(failures)
    if not found:
        return OverviewRow(name, title, None, why, "nothing ran")
    try:
        return OverviewRow(name, title, compare(found), why, why="" if name in WORKLOAD_ARGUMENTS else STANDARD_REASON)
    except (UnequalWorkError, RecordError) as error:
        # The records are our own programs' doing: no mistake of the user.
        print(f"error: {name}: {error}", file=sys.stderr)
        return OverviewRow(name, title, None, why, str(error))


def write_overview(found: Overview, folder: Path, made_by: str) -> int:
    """Show and write what there is; returns the exit code."""
    if not found.rows:
        print("error: no workload has a run to show", file=sys.stderr)
        return FAILED
    print(f"\n{overview.plain_text(found)}\n")
    for path in overview.write(found, folder, made_by):
        print(path)
    return FAILED if any(list(line.failures()) for line in found.lines) else DONE


if __name__ == "__main__":
    sys.exit(run_driver(main))
