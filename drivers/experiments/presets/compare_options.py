"""The command line of a comparison: its own options, those of the workload, and defaults."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from backends import COMPILER_VARIABLE
from core.errors import UserError, did_you_mean
from core.program_parser import invocation
from drivers.experiments.options import OWN_OPTIONS, PlanParser, add_core_options, add_plan_options
from drivers.options.declaration import COMMON, add_options, option_flag
from drivers.options.local_search import WORK_OPTIONS
from drivers.options.values import OUTPUT_FILE, natural, number, positive, seeds
from drivers.workload.declaration import Workload
from drivers.workload.registry import NAMES, get_workload, workloads_with_option

DEFAULT_WORKLOAD = "ihc"
REPLACEMENTS = {
    "--backend": "expected --backends",
    "--device": "expected --backends, which runs all devices of a backend",
    "--compiler": f"expected {COMPILER_VARIABLE}=nvrtc or numba in the environment",
    "--record": "expected --out, the folder of reports and records",
}
MEASURE_S = 6.0
"""Budget of a rate in seconds: seven runs on two cores end within a minute."""
MEASURED = "budget of each rate: warm repetitions until the 95 %% interval is within 2 %%, at least six, or S seconds"
WALKS, ITERATIONS = "--walks", "--iterations"


def read_options(
    argv: Sequence[str], workload: Workload[Any] | None = None
) -> tuple[Workload[Any], argparse.Namespace, list[str]]:
    """Return the workload, the options of the comparison, and the given options of the workload.

    ``workload`` None means the first word, if it is no option. Raises `UserError` for an unknown workload or option, an
    invalid value, or options that exclude each other.
    """
    words = list(argv)
    if workload is None:
        workload = get_workload(words.pop(0) if words and not words[0].startswith("-") else DEFAULT_WORKLOAD)
    whole = comparison_parser(workload)
    declared = [one for one, about in workload.options.declared() if about.type is OUTPUT_FILE]
    add_options(whole, workload.options, leave_out=[*OWN_OPTIONS, *(one.name for one in declared)])
    for word in whole.parse_known_intermixed_args(words)[1]:
        raise UserError(unknown_option_error(word, workload, whole))
    options, rest = comparison_parser(workload).parse_known_args(words)
    if options.repeats and options.measure is not None:
        raise UserError(f"--repeats {options.repeats} and --measure: expected one of them")
    if not options.repeats and options.measure is None:
        options.measure = MEASURE_S
    options.repeats = options.repeats or 1
    if options.seed is not None and options.seeds is not None:
        raise UserError(f"--seed {options.seed} and --seeds: expected one of them")
    return workload, options, rest


def unknown_option_error(word: str, workload: Workload[Any], parser: argparse.ArgumentParser) -> str:
    """Return the error message for a word that no option takes."""
    flag = word.split("=")[0]
    if not flag.startswith("-"):
        return f"found {word!r} among the options, expected the workload first and options after it"
    known = [name for action in parser._actions for name in action.option_strings]
    plain = flag.replace("--no-", "--", 1)
    others = workloads_with_option(flag) or workloads_with_option(plain)
    if workload.name in others:
        instead = REPLACEMENTS.get(plain, f"expected it with `{workload.command}`")
        return f"{flag}: found an option of single runs, {instead}"
    if others:
        return f"{flag}: expected an option of {workload.name}, found one of {', '.join(others)}"
    command = parser.prog if workload.program else f"{parser.prog} {workload.name}"
    return f"{flag}{did_you_mean(flag, known)}: found no such option, `{command} --help` lists all"


def default_arguments(workload: Workload[Any], arguments: Sequence[str], problem: object) -> list[str]:
    """Return the missing arguments for about a second of one core's work.

    A group of options that belong together (limits, or an instance's generator) comes either from the arguments or from
    the standard. ``problem`` is that of an instance that the arguments name, else None. If the program itself makes one
    walk, because the arguments set the work, so does a comparison.
    """
    standard = workload.standard if problem is None else workload.fitted(problem)
    declared = {option_flag(one): (one.name, about) for one, about in workload.options.declared()}
    flags = [flag for flag in (word.split("=")[0] for word in arguments) if flag in declared]
    given = {declared[flag][1].group for flag in flags} - {COMMON}
    pairs = dict(zip(standard[::2], standard[1::2], strict=True))
    if WALKS in pairs and WALKS not in flags and {declared[flag][0] for flag in flags}.intersection(WORK_OPTIONS):
        pairs[ITERATIONS] = str(int(pairs[ITERATIONS]) * int(pairs.pop(WALKS)))
    return [word for flag, value in pairs.items() if declared[flag][1].group not in given for word in (flag, value)]


def comparison_parser(workload: Workload[Any]) -> PlanParser:
    standard = " ".join(workload.standard) or "by the size of the problem"
    others = "" if workload.program else f" Workloads: {', '.join(NAMES)} (default: {DEFAULT_WORKLOAD})."
    first = "" if workload.program else "[WORKLOAD] "
    parser = PlanParser(
        prog=f"{workload.command} compare" if workload.program else invocation("drivers.compare"),
        usage=f"%(prog)s {first}[options] [options of the workload]",
        description=(
            "Run a workload on every usable device, prove that all do the same work, measure the rate of each, "
            f"and write a page.{others} Options of {workload.name} follow the options of the comparison. By default "
            f"the work takes one core about a second: {standard}."
        ),
    )
    add = parser.add_argument
    add("--instance", nargs="+", metavar="NAME", help="one or more instances, each with a section in the report")
    add("--measure", type=number, metavar="S", help=f"{MEASURED} ({MEASURE_S:g})")
    fixed = "no rates: R repetitions of exactly the given amount, the first one cold"
    add("--repeats", type=positive, metavar="R", help=fixed)
    add("--busy", action="store_true", help="measure while other programs run too; the page says so at its top")
    add("--seed", type=natural, metavar="S", help="random seed of the runs (0)")
    add("--seeds", type=seeds, metavar="A..B", help="several seeds instead of one: 0..29, or 3,5,8")
    peers = "also run reference solvers on the same problems, with the run on one core (default: those installed)"
    add("--peers", action=argparse.BooleanOptionalAction, help=peers)
    weak = (
        "weak scaling: P times the work on P ranks, compared with the same work on every device (ihc: climbers, aco: "
        "ants, local search: walks)"
    )
    add("--weak", action="store_true", help=weak)
    add_plan_options(parser)
    add_core_options(parser)
    return parser
