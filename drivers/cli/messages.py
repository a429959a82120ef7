"""Messages besides results and errors: printed by programs unless `--quiet`, logged by the library.

Each program sets printing for the process after it reads its command line.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logging import Logger

LOGGER = "onekernel"
"""Name of the library's logger: notes are warnings, activities are information."""
_quiet = False
are_logged: ContextVar[bool] = ContextVar("are_logged", default=False)
"""True to log messages instead of printing them."""


def logger() -> Logger:
    """Return the library's logger. Programs do not import `logging`."""
    import logging

    return logging.getLogger(LOGGER)


def set_quiet(wanted: bool) -> None:
    global _quiet
    _quiet = wanted


def print_note(text: str) -> None:
    if are_logged.get():
        logger().warning(text)
    elif not _quiet:
        print(f"note: {text}", file=sys.stderr, flush=True)


def print_error(text: str) -> None:
    print(f"error: {text}", file=sys.stderr)


def print_status(text: str) -> None:
    if are_logged.get():
        logger().info(text)
    elif not _quiet:
        print(text, flush=True)
