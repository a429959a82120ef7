"""`make compare`: any workload on every device of this machine, proof of equal work, and a report.

python -m drivers.compare                                                   hill climbing
python -m drivers.compare qap --instance tai30a tai60a --ranks 2            two instances, a section each
python -m drivers.compare ppp --walks 64 --iterations 500 --seeds 0..9      ten seeds
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from core.errors import UserError
from drivers.configurations import plan, refuse_oversubscription
from drivers.contest import Command, Contest, Runner
from drivers.endings import DONE, FAILED, run_driver
from drivers.options import COMMON, Options, add_options, natural, parsed, positive, seeds, spelled
from drivers.outputs import OutputFile
from drivers.workload import Task, Workload
from drivers.workloads import NAMES, named, owners
from reports import experiment
from reports.environment import cores
from reports.records import RecordError, UnequalWorkError, load

USER_MISTAKE = 2
DEFAULT = "ihc"
RANKS = (2, 4)
OWN = ("instance", "data", "repeats", "seed", "seeds", "backend", "device", "record", "peers", "progress")
"""Options of a workload that a comparison has in its own way, or not at all."""
INSTEAD = {
    "--backend": "expected --backends",
    "--device": "expected --backends, whose devices all run",
    "--record": "expected --out, a folder that has the records too",
}
INSTANCES = ("instance", "matrix", "strings", "text")
"""Options that name an instance."""


@dataclass(frozen=True)
class House:
    """The parts of the suite that a comparison calls; the tests hand in others.

    Attributes
    ----------
    survey : callable
        Devices of all backends, as `backends.survey` lists them.
    command : callable
        See `drivers.contest.Command`.
    """

    survey: Callable[[], Iterable[Any]]
    command: Command = Contest.command


def main(argv: Sequence[str] | None = None, house: House | None = None) -> int:
    """Compare; returns 0 when every configuration ran and did the same work, 1 when not, 2 when an instance is missing.

    Raises
    ------
    UserError
        An unknown workload, an option of another one, a backend that does not exist or is not usable here, no
        instance at all, a folder that cannot be written, or a damaged file of records. Then nothing was started.

    """
    workload, options, rest = read(sys.argv[1:] if argv is None else argv)
    house = house or House(_survey)
    ranks = chosen_ranks(options)
    records = options.out / f"{experiment.name_of(workload.name)}.jsonl"
    contests, missing = contests_of(workload, options, rest, records)
    configurations, not_run = plan(list(house.survey()), options.backends, ranks, options.rank_backend)
    ranked = [one.ranks for one in configurations] + [one.ranks for one in not_run]
    if options.ranks and max(ranks) > 1 and max(ranked) == 1:
        raise UserError(
            f"--ranks {max(ranks)}: no backend of one core is among --backends, expected --rank-backend too"
        )
    _prepare(records, workload.name, options.fresh)
    runner = Runner(len(contests) * len(configurations), house.command)
    print(f"{options.repeats} repetitions each, records: {records}")
    sections, failed = [], False
    for contest in contests:
        print(f"{workload.name} {' '.join(contest.arguments)}", flush=True)
        found, failures = runner.all_of(contest, configurations)
        failed |= bool(failures)
        sections.append(experiment.Section(found, (*not_run, *failures), contest.task.source))
    code = _conclude(sections, options.out, workload.name, records)
    return USER_MISTAKE if missing else FAILED if failed else code


# --- from the command line to contests ---


class _Parser(argparse.ArgumentParser):
    """An `ArgumentParser` whose errors are one line, as all mistakes of a user are."""

    def error(self, message: str) -> NoReturn:
        raise UserError(message.removeprefix("argument "))


def read(argv: Sequence[str]) -> tuple[Workload[Any], argparse.Namespace, list[str]]:
    """The workload, the options of the comparison, and those of the workload as they were given.

    Raises
    ------
    UserError
        An unknown workload or option, a value that an option does not take, or options that exclude each other.

    """
    named_first = bool(argv) and not argv[0].startswith("-")
    workload = named(argv[0] if named_first else DEFAULT)
    words = list(argv[1:] if named_first else argv)
    whole = _parser(workload)
    add_options(whole, workload.options, leave_out=left_out(workload))
    for word in whole.parse_known_intermixed_args(words)[1]:
        raise UserError(_unknown(word, workload, whole))
    options, rest = _parser(workload).parse_known_args(words)
    if options.seed is not None and options.seeds is not None:
        raise UserError(f"--seed {options.seed} and --seeds: expected one of them")
    return workload, options, rest


def left_out(workload: Workload[Any]) -> list[str]:
    """Names of a workload's options that a comparison has in its own way, or that many runs cannot share: files."""
    return [one.name for one, declared in workload.options.declared() if one.name in OWN or declared.read is OutputFile]


def _unknown(word: str, workload: Workload[Any], parser: argparse.ArgumentParser) -> str:
    """What is wrong with a word that no option takes."""
    flag = word.split("=")[0]
    if not flag.startswith("-"):
        return f"found {word!r} among the options, expected the workload first and options after it"
    plain = flag.replace("--no-", "--", 1)
    others = owners(flag) or owners(plain)
    if workload.name in others:
        instead = INSTEAD.get(plain, f"expected it with `python -m drivers.{workload.name}`")
        return f"{flag}: found an option of single runs, {instead}"
    if others:
        return f"{flag}: expected an option of {workload.name}, found one of {', '.join(others)}"
    known = [name for action in parser._actions for name in action.option_strings]
    near = difflib.get_close_matches(flag, known, 1)
    meant = f" (did you mean {near[0]}?)" if near else ""
    return f"{flag}{meant}: found no such option, `python -m drivers.compare {workload.name} --help` lists all"


def chosen_ranks(options: argparse.Namespace) -> list[int]:
    """Numbers of ranks to run besides.

    Raises
    ------
    UserError
        More than there are cores, or a backend for ranks where there are none.

    """
    if options.ranks is None:
        return [one for one in RANKS if one <= cores()]
    if options.rank_backend and max(options.ranks, default=1) == 1:
        raise UserError(f"--rank-backend {options.rank_backend}: changes nothing without ranks, expected --ranks 2")
    if not options.oversubscribe:
        refuse_oversubscription(options.ranks, cores())
    return list(options.ranks)


def contests_of(
    workload: Workload[Any], options: argparse.Namespace, rest: Sequence[str], records: Path
) -> tuple[list[Contest], list[str]]:
    """Contests for each instance, and the instances that are missing, which are named on standard error.

    An instance is one contest, whatever the seeds, unless each seed generates an instance of its own.

    Raises
    ------
    UserError
        There is no instance left, or what is asked for is bounded by the clock.

    """
    contests: list[Contest] = []
    missing = {}
    for spec in options.instance or [None]:
        try:
            contests += _contests_on(workload, options, spec, rest, records)
        except UserError as error:
            missing[str(spec)] = error
    wrong = {str(error): error for error in missing.values()}
    if not contests and len(wrong) == 1:
        raise next(iter(wrong.values()))
    for message in wrong:
        print(f"error: {message}", file=sys.stderr)
    if not contests:
        raise UserError(f"--instance: none of {', '.join(missing)} can be compared, expected one at least")
    return contests, list(missing)


def _contests_on(
    workload: Workload[Any], options: argparse.Namespace, spec: str | None, rest: Sequence[str], records: Path
) -> list[Contest]:
    """The contest on an instance, or one for each seed if each seed is an instance of its own."""
    seeds = tuple(options.seeds or (options.seed or 0,))
    seeded = ["--seeds", ",".join(map(str, seeds))] if len(seeds) > 1 else ["--seed", str(seeds[0])]
    given = [*rest, *(["--instance", spec] if spec else []), *(["--data", options.data] if options.data else [])]
    asked = asked_of(workload, [*given, *seeded])
    if getattr(asked, "seconds", None) is not None:
        raise UserError(
            "--seconds: the clock ends every run elsewhere, and those of a comparison do equal work; expected "
            "another limit, such as --iterations"
        )

    names_instance = any(getattr(asked, name, None) for name in INSTANCES)
    first = _loaded(workload, asked, seeds[0]) if names_instance else None
    added = left_open(workload, given, first and first.problem)
    if added or first is None:
        given = [*given, *added]
        asked = asked_of(workload, [*given, *seeded])
        first = _loaded(workload, asked, seeds[0])

    def contest(task: Task, seeds: tuple[int, ...], seeded: Sequence[str]) -> Contest:
        return Contest(workload, task, (*given, *seeded), asked.asked(), seeds, options.repeats, records)

    if len(seeds) == 1 or first.problem.sha256 == _loaded(workload, asked, seeds[-1]).problem.sha256:
        return [contest(first, seeds, seeded)]
    return [contest(_loaded(workload, asked, seed), (seed,), ["--seed", str(seed)]) for seed in seeds]


def _loaded(workload: Workload[Any], asked: Options, seed: int) -> Task:
    """What is solved with a seed; seeds stay in the options, so that those are refused which change nothing."""
    return workload.load(replace(asked, seed=seed), 1)


def asked_of(workload: Workload[Any], given: Sequence[str]) -> Any:
    """The options of a workload from its arguments."""
    parser = _Parser(prog=f"python -m drivers.compare {workload.name}", allow_abbrev=False, add_help=False)
    add_options(parser, workload.options)
    return parsed(workload.options, vars(parser.parse_intermixed_args(given)))


def left_open(workload: Workload[Any], given: Sequence[str], problem: Any) -> list[str]:
    """What makes about a second of one core's work, as far as the arguments do not say otherwise.

    Of a group of options that belong together (limits, or how an instance is generated), either the arguments say
    something or the standard does. The problem is that of an instance that the arguments name, else None.
    """
    standard = workload.standard if problem is None else workload.fitted(problem)
    declared = {spelled(one): about for one, about in workload.options.declared()}
    said = {declared[flag].group for flag in (word.split("=")[0] for word in given) if flag in declared} - {COMMON}
    pairs = zip(standard[::2], standard[1::2], strict=True)
    return [word for pair in pairs if declared[pair[0]].group not in said for word in pair]


def _parser(workload: Workload[Any]) -> _Parser:
    standard = " ".join(workload.standard)
    parser = _Parser(
        prog="python -m drivers.compare",
        usage="%(prog)s [WORKLOAD] [options] [options of the workload]",
        description="Run a workload on every usable device, check that all did the same work, and write a speed-up "
        f"report. Workloads: {', '.join(NAMES)} (without one: {DEFAULT}). The options of {workload.name} follow those "
        f"of the comparison; what you leave open makes about a second of one core's work: {standard}.",
        allow_abbrev=False,
    )
    parser.add_argument("--instance", nargs="+", metavar="NAME", help="one or more, a section of the report for each")
    parser.add_argument("--data", metavar="DIR", help="folder with instance files, searched by name first")
    parser.add_argument("--repeats", type=positive, default=7, metavar="R", help="repetitions to time (%(default)s)")
    parser.add_argument("--seed", type=natural, metavar="S", help="seed of the runs (0)")
    parser.add_argument("--seeds", type=seeds, metavar="A..B", help="several seeds in place of one: 0..29, or 3,5,8")
    parser.add_argument(
        "--backends",
        nargs="+",
        metavar="B",
        help="only these backends (default: all usable ones but the oracle, python)",
    )
    parser.add_argument(
        "--ranks",
        nargs="*",
        type=positive,
        metavar="N",
        help="numbers of MPI ranks to run besides (default: 2 4, as far as there are cores; nothing after it: none)",
    )
    parser.add_argument("--rank-backend", metavar="B", help="what each of several ranks runs on (default: a core)")
    parser.add_argument("--oversubscribe", action="store_true", help="allow more ranks than cores")
    parser.add_argument("--out", type=Path, default=Path("reports/out"), metavar="DIR", help="folder (%(default)s)")
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="run everything again; otherwise what is recorded already is taken from the records",
    )
    return parser


def _survey() -> Iterable[Any]:
    import backends

    return backends.survey()


# --- files ---


def _prepare(records: Path, name: str, fresh: bool) -> None:
    """Make room: no report of an earlier comparison may be taken for this one's.

    Raises
    ------
    UserError
        The folder cannot be written, or the records are damaged; then the report is left as it was.

    """
    folder = records.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if fresh and records.exists():
            records.replace(records.with_suffix(".previous.jsonl"))
        with records.open("a"):
            pass
        load(records)
        experiment.remove(folder, name)
    except OSError as error:
        raise UserError(f"{folder}: cannot write there: {error.strerror}") from None


def _conclude(sections: Sequence[experiment.Section], folder: Path, name: str, records: Path) -> int:
    if not any(section.records for section in sections):
        print("error: nothing ran, so there is nothing to compare", file=sys.stderr)
        return FAILED
    try:
        compared = experiment.side_by_side(sections)
    except (UnequalWorkError, RecordError) as error:
        # The records are our own programs' doing: no mistake of the user.
        print(f"error: {error}. No report was written; the records are in {records}", file=sys.stderr)
        return FAILED
    print()
    experiment.show(compared)
    for path in experiment.write(compared, folder, name):
        print(path)
    doubted = [row for one in compared for row in one.comparison.not_run if row.wrong]
    for row in doubted:
        print(f"error: {row}", file=sys.stderr)
    return FAILED if doubted else DONE


if __name__ == "__main__":
    sys.exit(run_driver(main))
