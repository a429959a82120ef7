"""Options of the programs that run plans: where cases run, what is recorded, and the options of a workload as words."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from core.errors import UserError
from core.program_parser import ProgramParser
from drivers.experiments import executors
from drivers.experiments.executors import Executor
from drivers.options.declaration import AnyOptions, Options, add_option, add_options
from drivers.options.values import positive
from drivers.workload.declaration import Workload

OWN_OPTIONS = (
    *("instance", "data", "repeats", "measure", "seed", "seeds", "backend", "device", "record", "peers", "progress"),
    *("rate_amount", "best_core_of", "quiet", "check", "cores", "compiler", "pin_cores", "resume"),
    "checkpoint_every",
)
"""Options of a workload that a plan defines differently, or lacks."""


class PlanParser(ProgramParser):
    """A parser with errors in one line, like all user errors."""

    def error(self, message: str) -> NoReturn:
        raise UserError(self.explained(message).removeprefix("argument "))


def add_plan_options(
    parser: argparse.ArgumentParser,
    backends: str = "all usable ones except the reference interpreter, python",
    ranks: str = "also run on these numbers of MPI ranks (default: 2 4, if there are enough cores; no value: none)",
) -> None:
    """Add the options of every plan; the texts are the default of `--backends` and the help of `--ranks`."""
    add = parser.add_argument
    add("--data", metavar="DIR", help="folder with instance files, searched before all others")
    add("--backends", nargs="+", metavar="B", help=f"only these backends (default: {backends})")
    add("--ranks", nargs="*", type=positive, metavar="N", help=ranks)
    add("--oversubscribe", action="store_true", help="allow more ranks than cores")
    add("--out", type=Path, default=Path("reports/out"), metavar="DIR", help="output folder (%(default)s)")
    add_option(parser, *Options.declared_by_name()["quiet"])
    add("--rerun", action="store_true", help="repeat runs that are recorded already (default: reuse their records)")
    add("--dry-run", action="store_true", help="print the remaining runs as command lines, and exit")
    where = "where cases run: here, by Slurm, or on the workers of a Dask scheduler (%(default)s)"
    add("--executor", choices=executors.NAMES, default=executors.NAMES[0], help=where)
    settings = "settings of the executor, such as partition=gpu or address=tcp://HOST:PORT"
    add("--executor-settings", nargs="+", type=read_setting, default=[], metavar="KEY=VALUE", help=settings)


def add_core_options(parser: argparse.ArgumentParser) -> None:
    cores = "numbers of cores for threads and joblib, a row for each (default: all cores)"
    parser.add_argument("--cores", nargs="+", type=positive, metavar="N", help=cores)
    backend = "backend of each rank in runs on several ranks (default: one core)"
    parser.add_argument("--rank-backend", metavar="B", help=backend)


def chosen_executor(options: argparse.Namespace) -> Executor:
    return executors.make_executor(options.executor, dict(options.executor_settings))


def read_setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise argparse.ArgumentTypeError(f"expected KEY=VALUE, found {text!r}")
    return key, value


def workload_options(workload: Workload[AnyOptions], arguments: Sequence[str]) -> AnyOptions:
    parser = PlanParser(add_help=False)
    add_options(parser, workload.options)
    return workload.options(**vars(parser.parse_intermixed_args(arguments)))


def flag_words(flag: str, value: object) -> list[str]:
    """Return an option as words: True is the flag, False its `--no-` form; several values follow in order."""
    if isinstance(value, bool):
        return [flag if value else flag.replace("--", "--no-", 1)]
    values = [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)]
    return [flag, *values] if flag.startswith("-") else values
