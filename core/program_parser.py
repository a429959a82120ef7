"""Command-line parser of all programs, and the name of the call."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from core.errors import UserError, did_you_mean, shorten

COMMAND = "onekernel"
"""The command that starts any program, `drivers.console`."""
INVALID_CHOICE = re.compile(r"argument .*: invalid choice: '(?P<value>[^']*)'")
"""Error of `argparse` for a value that an option does not take."""

WIDTH = 80
"""Columns of a list of programs."""


class ConsoleProgram(NamedTuple):
    """A program of a command: a line of description, its module, and words before its arguments.

    The module is a name, since some programs are in packages that the command's package must not import.
    """

    title: str
    module: str
    words: tuple[str, ...] = ()


def format_list(titles: Mapping[str, str]) -> str:
    """Return a list of programs, with their titles in a column."""
    import textwrap

    column = max(map(len, titles)) + 2
    return "\n".join(
        textwrap.fill(title, WIDTH, initial_indent=name.ljust(column), subsequent_indent=" " * column)
        for name, title in titles.items()
    )


def invocation(module: str) -> str:
    """Return the user's call of a program, for its help and its errors: ``onekernel NAME`` or ``python -m MODULE``."""
    called = sys.argv[0] if sys.argv else ""
    return called if called.split(" ")[0] == COMMAND else f"python -m {module}"


def refuse_unknown(called: str, name: str, known: Sequence[str]) -> NoReturn:
    meant = did_you_mean(name, known)
    raise UserError(f"{called} {name}{meant}: expected one of {', '.join(known)}; `{called}` says what they do")


class ProgramParser(argparse.ArgumentParser):
    """An `ArgumentParser` of options with their whole names; it prints a description of several lines unchanged."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("allow_abbrev", False)
        if any("\n" in (settings.get(text) or "") for text in ("description", "epilog")):
            settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(**settings)

    def error(self, message: str) -> NoReturn:
        super().error(self.explained(message))

    def explained(self, message: str) -> str:
        """Return an error message with the known value nearest to a wrong one, without long numbers and words."""
        refused = INVALID_CHOICE.match(message)
        if refused is not None:
            known = re.findall(r"[\w.-]+", message[refused.end() :].partition("choose from")[2])
            message = f"{refused[0]}{did_you_mean(refused['value'], known)}{message[refused.end() :]}"
        return shorten(message)
