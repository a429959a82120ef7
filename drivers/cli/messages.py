"""Console messages of a program besides results and errors; none with `--quiet`.

Whether it says anything belongs to the process, as its standard output does: each program settles it once it has read
its command line.
"""

from __future__ import annotations

import sys

_quiet = False


def set_quiet(wanted: bool) -> None:
    """Say nothing from now on, or something again."""
    global _quiet
    _quiet = wanted


def print_note(words: str) -> None:
    """Say on standard error what the user should know, in a line."""
    if not _quiet:
        print(f"note: {words}", file=sys.stderr, flush=True)


def print_status(words: str, end: str = "\n") -> None:
    """Say on standard output what is being done."""
    if not _quiet:
        print(words, end=end, flush=True)
