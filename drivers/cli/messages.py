"""Messages besides results and errors: printed by programs, unless `--quiet`, and logged by the library.

Printing is a setting of the process, like its standard output: each program sets it after reading its command line.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from typing import Any

LOGGER = "onekernel"
"""Name of the library's logger: notes are warnings, and what is being done is information."""
_quiet = False
are_logged: ContextVar[bool] = ContextVar("are_logged", default=False)
"""True to log messages instead of printing them."""


def logger() -> Any:
    """Return the library's logger; programs do not import `logging`."""
    import logging

    return logging.getLogger(LOGGER)


def set_quiet(wanted: bool) -> None:
    """Switch all messages off or on."""
    global _quiet
    _quiet = wanted


def print_note(words: str) -> None:
    """Print a note to the user on standard error, in a line."""
    if are_logged.get():
        logger().warning(words)
    elif not _quiet:
        print(f"note: {words}", file=sys.stderr, flush=True)


def print_status(words: str, end: str = "\n") -> None:
    """Print the present activity on standard output."""
    if are_logged.get():
        logger().info(words)
    elif not _quiet:
        print(words, end=end, flush=True)
