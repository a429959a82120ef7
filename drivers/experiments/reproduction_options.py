"""The command line of a reproduction."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from core.errors import UserError
from core.program_parser import CompletingParser, invocation
from drivers.options.declaration import add_common_option
from drivers.options.values import positive
from reports.papers import files
from reports.papers.paper import SCALES, Paper

SUFFIX = ".toml"
"""By which a paper's file is told from the name of one that comes with the suite."""


class _ReproductionParser(CompletingParser):
    """A parser whose errors are one line, as all mistakes of a user are."""

    def error(self, message: str) -> NoReturn:
        raise UserError(self.explained(message).removeprefix("argument "))


def read_options(argv: Sequence[str], description: str | None) -> argparse.Namespace:
    """The options.

    Raises
    ------
    UserError
        An unknown option, a value that an option does not take, no paper, or no folder of instances.

    """
    options = parser(description).parse_args(argv)
    if options.paper is None and not options.list:
        raise UserError(f"expected a paper, one of {', '.join(files.names())}, or --list")
    if options.paper is None and (options.table or options.figure or options.row):
        raise UserError("--table, --figure and --row: expected with a paper")
    if options.data is not None and not Path(options.data).is_dir():
        raise UserError(f"--data {options.data}: expected a folder of instances")
    return options


def parser(description: str | None) -> argparse.ArgumentParser:
    """The command line."""
    made = _ReproductionParser(
        prog=invocation("drivers.reproduce"),
        description=description,
    )
    made.add_argument(
        "paper",
        nargs="?",
        metavar="PAPER",
        help=f"paper: one of {', '.join(files.names())}, or a file *{SUFFIX} of the same form",
    )
    which = made.add_mutually_exclusive_group()
    which.add_argument("--table", metavar="N", help="only this table")
    which.add_argument("--figure", metavar="N", help="only this figure, with the runs of its table")
    made.add_argument(
        "--scale",
        choices=SCALES,
        default=SCALES[1],
        help="amount of work: seconds (quick), minutes (standard), or as much as in the paper (full) (%(default)s)",
    )
    made.add_argument(
        "--row",
        action="append",
        type=read_row,
        default=[],
        metavar="KEY=SPEC",
        help="instance of a row, instead of the paper's, as in 1=50; can be given several times",
    )
    made.add_argument(
        "--repeats",
        type=positive,
        metavar="R",
        help=("repetitions of each run, instead of the number that --scale sets"),
    )
    made.add_argument("--data", metavar="DIR", help="folder with instance files, searched before all others")
    made.add_argument(
        "--backends",
        nargs="+",
        metavar="B",
        help=(
            "only these backends (default: all usable ones except the reference interpreter, python, and joblib, "
            "which runs the programs of threads)"
        ),
    )
    made.add_argument(
        "--ranks",
        nargs="*",
        type=positive,
        metavar="N",
        help=(
            "numbers of MPI ranks for the paper's runs on several ranks (default: the paper's, if there are enough "
            "cores; no value: none)"
        ),
    )
    made.add_argument("--oversubscribe", action="store_true", help="allow more ranks than cores")
    made.add_argument(
        "--out", type=Path, default=Path("reports/out"), metavar="DIR", help="output folder (%(default)s)"
    )
    add_common_option(made, "quiet")
    made.add_argument(
        "--rerun",
        action="store_true",
        help="repeat runs that are recorded already (default: reuse their records)",
    )
    made.add_argument("--list", action="store_true", help="list tables and figures with their recorded runs, and exit")
    made.add_argument("--dry-run", action="store_true", help="print the remaining runs as command lines, and exit")
    return made


def read_row(text: str) -> tuple[str, str]:
    """Read a row's key and the instance that it shall be."""
    key, equals, spec = text.partition("=")
    if not (key and equals and spec):
        raise argparse.ArgumentTypeError(f"expected a row's key and an instance as in 1=50, found {text!r}")
    return key, spec


def chosen_paper(name: str) -> Paper:
    """The paper of a name, or of a file.

    Raises
    ------
    UserError
        There is none of that name, or the file is not as expected.

    """
    return files.read(Path(name)) if name.endswith(SUFFIX) else files.load(name)
