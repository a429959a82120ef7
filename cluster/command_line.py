"""A command line read by many ranks at once: help and mistakes are printed by rank 0 alone."""

from __future__ import annotations

import sys
from typing import IO, NoReturn

from cluster import abort, launcher
from core.command_line import Parser


class RankParser(Parser):
    """A parser that is silent on every rank but the first."""

    def print_help(self, file: IO[str] | None = None) -> None:  # type: ignore[override]
        """Print the help, on rank 0, if all ranks are asked for it."""
        if launcher.launched():
            self._agree_on_help()
        if launcher.rank() == 0:
            super().print_help(file)

    def _agree_on_help(self) -> None:
        from cluster import agree, communicator
        from cluster.communicators import LaunchError

        try:
            ranks = communicator()
        except LaunchError:
            # Help is to be had without MPI, and the other ranks cannot wait for this one in it.
            return
        agree(ranks, {"program": self.prog, "--help": "given"})

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """End this rank; with a status other than 0 end the job."""
        if message and (status or launcher.rank() == 0):
            sys.stderr.write(message)
        if status:
            abort.end_job(status)
        raise SystemExit(status)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line and end the job with exit code 2, by rank 0 if it can.

        Over ranks it is one line, without the usage of a process alone: what the launcher adds follows it.
        """
        abort.wait_for_first_rank()
        if launcher.launched():
            self.exit(abort.USER_MISTAKE, f"{self.prog}: error: {message} (--help lists all options)\n")
        self.print_usage(sys.stderr)
        self.exit(abort.USER_MISTAKE, f"{self.prog}: error: {message}\n")
