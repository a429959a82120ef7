"""How a program of the suite was called, and what its command line tells a shell that completes words."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

COMMAND = "onekernel"
"""The command that starts any program, `drivers.console`."""
COMPLETES = "_ARGCOMPLETE"
"""The variable by which a shell asks, through `argcomplete`, which words may follow."""


def program(module: str) -> str:
    """The words by which the user called a program, for its help and its errors.

    Parameters
    ----------
    module
        What `python -m` runs.

    Returns
    -------
    str
        ``onekernel NAME`` where that command started this process's program, else ``python -m MODULE``.

    """
    called = sys.argv[0] if sys.argv else ""
    return called if called.split(" ")[0] == COMMAND else f"python -m {module}"


class Parser(argparse.ArgumentParser):
    """An `ArgumentParser` that, in place of parsing, tells a shell which words may follow where one asks."""

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse, as `argparse` does."""
        self._complete()
        return super().parse_args(args, namespace)

    def parse_known_intermixed_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """Parse, as `argparse` does."""
        self._complete()
        return super().parse_known_intermixed_args(args, namespace)

    def _complete(self) -> None:
        if COMPLETES in os.environ:
            import argcomplete

            argcomplete.autocomplete(self)
