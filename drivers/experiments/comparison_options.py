"""The command line of a comparison: its own options, those of the workload, and what they leave open."""

from __future__ import annotations

import argparse
import difflib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from core.errors import UserError
from core.program_parser import COMPLETION_VARIABLE, CompletingParser, invocation
from core.renamed_options import RENAMED_OPTIONS
from drivers.experiments.configurations import numbers_of_ranks
from drivers.experiments.hybrid_configurations import read_hybrid_configuration
from drivers.options.declaration import COMMON, add_common_option, add_options, option_flag, read_parsed
from drivers.options.values import OUTPUT_FILE, natural, positive, seeds
from drivers.workload.declaration import Workload
from drivers.workload.registry import NAMES, get_workload, workloads_with_option
from reports.records.environment import cores

DEFAULT_WORKLOAD = "ihc"
COMPARISON_OPTIONS = (
    *("instance", "data", "repeats", "seed", "seeds", "backend", "device", "record", "peers", "progress", "scaled"),
    *("quiet", "check", "cores", "pin_cores", "resume", "checkpoint_every"),
)
"""Options of a workload that a comparison has in its own way, or not at all."""
REPLACEMENTS = {
    "--backend": "expected --backends",
    "--device": "expected --backends, which runs all devices of a backend",
    "--record": "expected --out, the folder of reports and records",
    "--scaled": "expected --weak",
    "--pin-cores": "expected --hybrid, which binds ranks to separate cores",
}


EXCLUDED_BY_HYBRID = ("backends", "ranks", "cores", "weak")
"""Options that say on what to run, as `--hybrid` does."""


class _ComparisonParser(CompletingParser):
    """A parser whose errors are one line, as all mistakes of a user are."""

    def error(self, message: str) -> NoReturn:
        raise UserError(self.explained(message).removeprefix("argument "))


def read_options(
    argv: Sequence[str], workload: Workload[Any] | None = None
) -> tuple[Workload[Any], argparse.Namespace, list[str]]:
    """The workload, the options of the comparison, and those of the workload as they were given.

    Parameters
    ----------
    argv
        The command line.
    workload
        What is compared; None: the first word names it, if it is no option.

    Raises
    ------
    UserError
        An unknown workload or option, a value that an option does not take, or options that exclude each other.

    """
    words = list(argv)
    if workload is None:
        workload = get_workload(words.pop(0) if words and not words[0].startswith("-") else DEFAULT_WORKLOAD)
    whole = _parser(workload)
    add_options(whole, workload.options, leave_out=excluded_options(workload))
    if COMPLETION_VARIABLE in os.environ and not workload.program:
        whole.add_argument("workload", nargs="?", choices=NAMES)
    for word in whole.parse_known_intermixed_args(words)[1]:
        raise UserError(_unknown_option_error(word, workload, whole))
    options, rest = _parser(workload).parse_known_args(words)
    if options.seed is not None and options.seeds is not None:
        raise UserError(f"--seed {options.seed} and --seeds: expected one of them")
    if options.hybrid is not None:
        for name in EXCLUDED_BY_HYBRID:
            if getattr(options, name):
                raise UserError(f"--hybrid and --{name}: expected one of them")
    return workload, options, rest


def excluded_options(workload: Workload[Any]) -> list[str]:
    """Names of a workload's options that a comparison has in its own way, or that many runs cannot share: files."""
    return [
        one.name
        for one, declared in workload.options.declared()
        if one.name in COMPARISON_OPTIONS or declared.type is OUTPUT_FILE
    ]


def _unknown_option_error(word: str, workload: Workload[Any], parser: argparse.ArgumentParser) -> str:
    """What is wrong with a word that no option takes."""
    flag = word.split("=")[0]
    if not flag.startswith("-"):
        return f"found {word!r} among the options, expected the workload first and options after it"
    known = [name for action in parser._actions for name in action.option_strings]
    new = RENAMED_OPTIONS.get(flag)
    if new is not None and (new in known or workloads_with_option(new)):
        return f"{flag}: renamed, expected {new}"
    plain = flag.replace("--no-", "--", 1)
    others = workloads_with_option(flag) or workloads_with_option(plain)
    if workload.name in others:
        instead = REPLACEMENTS.get(plain, f"expected it with `{workload.command}`")
        return f"{flag}: found an option of single runs, {instead}"
    if others:
        return f"{flag}: expected an option of {workload.name}, found one of {', '.join(others)}"
    near = difflib.get_close_matches(flag, known, 1)
    meant = f" (did you mean {near[0]}?)" if near else ""
    return f"{flag}{meant}: found no such option, `{comparison_command(workload)} --help` lists all"


def chosen_ranks(options: argparse.Namespace) -> list[int]:
    """Numbers of ranks to run besides.

    Raises
    ------
    UserError
        More than there are cores, or a backend for ranks where there are none.

    """
    if options.ranks is not None and options.rank_backend and max(options.ranks, default=1) == 1:
        raise UserError(f"--rank-backend {options.rank_backend}: changes nothing without ranks, expected --ranks 2")
    return numbers_of_ranks(options.ranks, cores(), options.oversubscribe)


def workload_options(workload: Workload[Any], given: Sequence[str]) -> Any:
    """The options of a workload from its arguments."""
    parser = _ComparisonParser(prog=comparison_command(workload), add_help=False)
    add_options(parser, workload.options)
    return read_parsed(workload.options, vars(parser.parse_intermixed_args(given)))


def default_arguments(workload: Workload[Any], given: Sequence[str], problem: Any) -> list[str]:
    """What makes about a second of one core's work, as far as the arguments do not say otherwise.

    Of a group of options that belong together (limits, or how an instance is generated), either the arguments say
    something or the standard does. The problem is that of an instance that the arguments name, else None.
    """
    standard = workload.standard if problem is None else workload.fitted(problem)
    declared = {option_flag(one): about for one, about in workload.options.declared()}
    said = {declared[flag].group for flag in (word.split("=")[0] for word in given) if flag in declared} - {COMMON}
    pairs = zip(standard[::2], standard[1::2], strict=True)
    return [word for pair in pairs if declared[pair[0]].group not in said for word in pair]


def comparison_command(workload: Workload[Any]) -> str:
    """How a comparison of a workload is started, as a user types it."""
    return f"{workload.command} compare" if workload.program else f"{invocation('drivers.compare')} {workload.name}"


def _parser(workload: Workload[Any]) -> _ComparisonParser:
    standard = " ".join(workload.standard) or "by the size of the problem"
    others = "" if workload.program else f" Workloads: {', '.join(NAMES)} (default: {DEFAULT_WORKLOAD})."
    parser = _ComparisonParser(
        prog=comparison_command(workload) if workload.program else invocation("drivers.compare"),
        usage="%(prog)s [options] [options of the workload]"
        if workload.program
        else "%(prog)s [WORKLOAD] [options] [options of the workload]",
        description=(
            "Run a workload on every usable device, check that all did the same work, and write a speed-up "
            f"report.{others} Options of {workload.name} follow the options of the comparison. By default the work "
            f"takes one core about a second: {standard}."
        ),
    )
    parser.add_argument(
        "--instance", nargs="+", metavar="NAME", help=("one or more instances, each with a section in the report")
    )
    parser.add_argument("--data", metavar="DIR", help="folder with instance files, searched before all others")
    parser.add_argument(
        "--repeats", type=positive, default=7, metavar="R", help=("number of timed repetitions (%(default)s)")
    )
    parser.add_argument("--seed", type=natural, metavar="S", help="random seed of the runs (0)")
    parser.add_argument("--seeds", type=seeds, metavar="A..B", help="several seeds instead of one: 0..29, or 3,5,8")
    parser.add_argument(
        "--peers",
        action=argparse.BooleanOptionalAction,
        help=(
            "also run reference solvers on the same problems, with the run on one core (default: the installed ones, "
            "if any)"
        ),
    )
    parser.add_argument(
        "--weak",
        action="store_true",
        help=(
            "weak scaling: P times the work on P ranks, compared with the same work on every device (ihc: climbers, "
            "aco: ants, local search: walks)"
        ),
    )
    parser.add_argument(
        "--hybrid",
        nargs="*",
        type=read_hybrid_configuration,
        metavar="RxC",
        help=(
            "hybrid configurations instead of devices: R ranks with threads on C cores each, as in 1x8 2x4 8x1 (8x1 "
            "is flat MPI); a number of cores means all its combinations, and no value those of all cores here"
        ),
    )
    add_where_options(parser)
    return parser


def add_where_options(parser: argparse.ArgumentParser) -> None:
    """Add what says on which devices and ranks to run, and where records and reports are."""
    parser.add_argument(
        "--backends",
        nargs="+",
        metavar="B",
        help="only these backends (default: all usable ones except the reference interpreter, python)",
    )
    parser.add_argument(
        "--ranks",
        nargs="*",
        type=positive,
        metavar="N",
        help="also run on these numbers of MPI ranks (default: 2 4, if there are enough cores; no value: none)",
    )
    parser.add_argument(
        "--cores",
        nargs="+",
        type=positive,
        metavar="N",
        help="numbers of cores for threads and joblib, a row for each (default: all cores)",
    )
    parser.add_argument(
        "--rank-backend", metavar="B", help=("backend of each rank in runs on several ranks (default: one core)")
    )
    parser.add_argument("--oversubscribe", action="store_true", help="allow more ranks than cores")
    parser.add_argument(
        "--out", type=Path, default=Path("reports/out"), metavar="DIR", help="output folder (%(default)s)"
    )
    add_common_option(parser, "quiet")
    parser.add_argument(
        "--rerun",
        action="store_true",
        help="repeat runs that are recorded already (default: reuse their records)",
    )
