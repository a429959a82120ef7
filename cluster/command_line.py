"""Command line of a program with many ranks: only rank 0 prints help and errors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import IO, NoReturn

from cluster import default_communicator
from cluster.mpi import launcher
from cluster.mpi.consistency import require_equal_arguments
from cluster.mpi.failures import abort
from cluster.mpi.mpi_communicator import LaunchError
from core.errors import UserError, did_you_mean
from core.program_parser import ProgramParser
from core.standard_output import run_watched

MIN_SIMILARITY = 0.75
"""Least similarity of an unknown word and the option that is proposed instead, as `difflib`'s ratio."""


def run(main: Callable[[], int]) -> int:
    """Call a program of this package and return its exit code: 2, and one line, for a user error."""
    try:
        return run_watched(main)
    except UserError as error:
        abort.report_user_error(error)
        abort.end_job(abort.USER_ERROR)
        return abort.USER_ERROR


class RankParser(ProgramParser):
    """Parser that prints only on rank 0."""

    def print_help(self, file: IO[str] | None = None) -> None:  # type: ignore[override]
        """Print the help on rank 0, if all ranks were started with `--help`."""
        if launcher.launched():
            # Without MPI the other ranks cannot wait for this one.
            with suppress(LaunchError):
                require_equal_arguments(default_communicator(), {"program": self.prog, "--help": "given"})
        if launcher.rank() == 0:
            super().print_help(file)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """End this rank; with a status other than 0 end the job."""
        if message and (status or launcher.rank() == 0):
            sys.stderr.write(message)
        if status:
            abort.end_job(status)
        raise SystemExit(status)

    def error(self, message: str) -> NoReturn:
        """Report an error in the command line in one line, from rank 0 if possible; end the job with exit code 2."""
        abort.wait_for_first_rank()
        message = self.explained(message)
        hint = f"{self.meant(message)} (--help lists all options)"
        self.exit(abort.USER_ERROR, f"{self.prog}: error: {message}{hint}\n")

    def meant(self, message: str) -> str:
        """Return the closest option to an unknown one, as text."""
        unknown = message.partition("unrecognized arguments: ")[2].split()
        if not unknown:
            return ""
        return did_you_mean(unknown[0].split("=")[0], self._option_string_actions, MIN_SIMILARITY)
