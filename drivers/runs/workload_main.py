"""The main program of all workloads: reads the command line, and runs the workload with its options."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from cluster.mpi import launcher
from core.errors import NoRoom, UserError
from drivers.cli import messages
from drivers.cli.exit_codes import run_driver
from drivers.options.declaration import AnyOptions, add_options, option_flag
from drivers.runs.rank_start import report_separate_tasks
from drivers.runs.repetitions import Repetitions
from drivers.runs.seeds import run_seeds
from drivers.workload.declaration import Workload

if TYPE_CHECKING:
    from cluster.command_line import RankParser


def driver(workload: Workload[Any], description: str | None) -> Callable[[Sequence[str] | None], int]:
    """Return the program of a workload, from its arguments to its exit code."""

    def main(argv: Sequence[str] | None = None) -> int:
        words = sys.argv[1:] if argv is None else argv
        return start(workload, parse_options(workload, description, words), words)

    return main


def exit_with(main: Callable[[Sequence[str] | None], int]) -> NoReturn:
    """Run a program and end the process with its exit code."""
    sys.exit(run_driver(main))


def start(workload: Workload[AnyOptions], own: AnyOptions, argv: Sequence[str]) -> int:
    """Run a workload with this rank's options, parsed from the arguments; return the exit code of all ranks."""
    messages.set_quiet(own.quiet)
    if own.quiet:
        own = replace(own, progress=False)
    if launcher.TASK in os.environ:
        report_separate_tasks()
    try:
        return max(run_seeds(workload, own, Repetitions, argv))
    except NoRoom as error:
        raise UserError(f"{error}; {workload.with_less_room}") from error


def parse_options(workload: Workload[AnyOptions], description: str | None, argv: Sequence[str]) -> AnyOptions:
    from core.program_parser import invocation

    called = workload.command if workload.program else invocation(f"drivers.{workload.name}")
    parser, has_files = options_parser(workload, called, description)
    # Files may be anywhere among the options.
    return workload.options(**vars(parser.parse_intermixed_args(argv) if has_files else parser.parse_args(argv)))


@cache
def options_parser(workload: Workload[Any], called: str, description: str | None) -> tuple[RankParser, bool]:
    """Return the parser of a workload's options, and True if it has positional arguments."""
    from cluster.command_line import RankParser

    parser = RankParser(prog=called, description=description)
    add_options(parser, workload.options)
    return parser, any(not option_flag(one).startswith("-") for one, _ in workload.options.declared())
