"""Messages besides results and errors: printed by programs, unless `--quiet`, and logged by the library.

Whether a program prints them belongs to the process, as its standard output does: each program sets it once it has read
its command line.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

LOGGER = "onekernel"
"""Name of the library's logger: notes are warnings, and what is being done is information."""
_quiet = False
_are_logged: ContextVar[bool] = ContextVar("_are_logged", default=False)


@contextmanager
def logged_messages() -> Iterator[None]:
    """Log messages inside instead of printing them."""
    token = _are_logged.set(True)
    try:
        yield
    finally:
        _are_logged.reset(token)


def logger() -> Any:
    """Return the library's logger; programs do not import `logging`."""
    import logging

    return logging.getLogger(LOGGER)


def set_quiet(wanted: bool) -> None:
    """Say nothing from now on, or something again."""
    global _quiet
    _quiet = wanted


def print_note(words: str) -> None:
    """Say on standard error what the user should know, in a line."""
    if _are_logged.get():
        logger().warning(words)
    elif not _quiet:
        print(f"note: {words}", file=sys.stderr, flush=True)


def print_status(words: str, end: str = "\n") -> None:
    """Say on standard output what is being done."""
    if _are_logged.get():
        logger().info(words)
    elif not _quiet:
        print(words, end=end, flush=True)
