"""Options that programs which start jobs share: placement of ranks, and the program to start."""

from __future__ import annotations

import argparse
import os
import re
import reprlib
import shlex
from collections.abc import Sequence
from contextlib import suppress

from core.errors import UserError

SUITE = "drivers."
"""Package of the programs that run over ranks."""


def add_placement_options(parser: argparse.ArgumentParser) -> None:
    ranks = "number of ranks (default: one for each GPU, else one for each slot or core)"
    parser.add_argument("-n", "--ranks", type=positive, metavar="N", help=ranks)
    parser.add_argument("--per-host", type=positive, metavar="N", help="ranks on each host")
    further = "further options of mpirun (or Hydra, srun), in one word: --mpi-options='--mca btl tcp,self'"
    parser.add_argument("--mpi-options", type=shell_words, default=(), metavar="WORDS", help=further)


def add_program_argument(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for the program and its options: all words after its name."""
    program = "drivers.ppp or ppp, or a FILE.py, with its own options"
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM ...", help=program)


def positive(text: str) -> int:
    """Read an integer from 1 to 999,999,999."""
    if not (re.fullmatch("[0-9]{1,9}", text) and int(text)):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to 999999999, found {reprlib.repr(text)}")
    return int(text)


def shell_words(text: str) -> list[str]:
    """Read several words as a shell does."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"expected words as a shell reads them, found {text!r} ({error})") from None


def program_words(words: Sequence[str]) -> list[str]:
    """Return the arguments of Python for a program and its options.

    Raises `UserError` if no program is named, or it does not exist.
    """
    from importlib.util import find_spec

    if not words or words[0].startswith("-"):
        found = f"{words[0]}, which no option of `launch` is" if words else "none"
        raise UserError(f"the program to start: found {found}, expected drivers.ppp, ppp or a FILE.py")
    name, *rest = words
    if name.endswith(".py"):
        if not os.path.isfile(name):
            raise UserError(f"{name}: found no such file, expected a program")
        return [name, *rest]
    module = SUITE + name.removeprefix(SUITE)
    with suppress(ModuleNotFoundError):
        if all(part.isidentifier() for part in module.split(".")) and find_spec(module):
            return ["-m", module, *rest]
    raise UserError(f"the program to start: found {name!r}, expected drivers.ppp, ppp or a FILE.py")
