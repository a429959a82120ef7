"""`make compare`: any workload on every device of this machine, proof of equal work, and a report.

python -m drivers.compare                                                   hill climbing
python -m drivers.compare qap --instance tai30a tai60a --ranks 2            two instances, a section each
python -m drivers.compare ppp --walks 64 --iterations 500 --seeds 0..9      ten seeds
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import UserError
from drivers.configurations import plan, refuse_oversubscription
from drivers.contest import Command, Contest, Runner
from drivers.endings import DONE, FAILED, run_driver
from drivers.options import add_options, natural, parsed, positive, seeds
from drivers.workload import Task, Workload
from drivers.workloads import NAMES, named, owners
from reports import experiment
from reports.environment import cores
from reports.records import RecordError, UnequalWorkError

USER_MISTAKE = 2
DEFAULT = "ihc"
OWN = ("instance", "repeats", "seed", "seeds", "backend", "device", "record", "progress", "strings")
"""Options of a workload that a comparison has in its own way."""


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
        instance at all, or a folder that cannot be written.
    """
    workload, options, rest = read(sys.argv[1:] if argv is None else argv)
    house = house or House(_survey)
    ranks = [2, 4] if options.ranks is None else options.ranks
    if options.ranks is None:
        ranks = [one for one in ranks if one <= cores()]
    elif not options.oversubscribe:
        refuse_oversubscription(ranks, cores())
    configurations, not_run = plan(list(house.survey()), options.backends, ranks, options.rank_backend)
    records = _prepared(options.out, workload, options.fresh)
    contests, missing = contests_of(workload, options, rest, records)
    runner = Runner(len(contests) * len(configurations), house.command)
    sections, failed = [], False
    for contest in contests:
        found, failures = runner.all_of(contest, configurations)
        failed |= bool(failures)
        sections.append(experiment.Section(found, (*not_run, *failures), contest.task.source))
    code = _conclude(sections, options.out, workload.name, records)
    return USER_MISTAKE if missing else FAILED if failed else code


# --- from the command line to contests ---


def read(argv: Sequence[str]) -> tuple[Workload[Any], argparse.Namespace, list[str]]:
    """The workload, the options of the comparison, and those of the workload as they were given."""
    named_first = bool(argv) and not argv[0].startswith("-")
    workload = named(argv[0] if named_first else DEFAULT)
    parser = _parser(workload)
    options, rest = parser.parse_known_args(argv[1:] if named_first else argv)
    for flag in (one.split("=")[0] for one in rest if one.startswith("--")):
        if flag in ("--help", "-h"):
            continue
        others = owners(flag)
        if others and workload.name not in others:
            raise UserError(f"{flag}: expected an option of {workload.name}, found one of {', '.join(others)}")
    if options.seed is not None and options.seeds is not None:
        raise UserError(f"--seed {options.seed} and --seeds: expected one of them")
    return workload, options, rest


def contests_of(
    workload: Workload[Any], options: argparse.Namespace, rest: Sequence[str], records: Path
) -> tuple[list[Contest], list[str]]:
    """A contest for each instance, and the instances that are missing, which are named on standard error.

    Raises
    ------
    UserError
        There is no instance left, or what is asked for is bounded by the clock.

    """
    contests, missing = [], []
    specs: list[str | None] = options.instance or [None]
    for spec in specs:
        given = arguments_of(workload, spec, options.data, rest)
        values = _workload_parser(workload).parse_args(given)
        asked = parsed(workload.options, vars(values))
        if getattr(asked, "seconds", None) is not None:
            raise UserError(
                "--seconds: the clock ends every run elsewhere, and those of a comparison do equal work; expected "
                "another limit, such as --iterations"
            )
        chosen = options.seeds or ((options.seed,) if options.seed is not None else (0,))
        seeded = ["--seeds", ",".join(map(str, chosen))] if len(chosen) > 1 else ["--seed", str(chosen[0])]
        try:
            task: Task = workload.load(asked, 1)
        except UserError as error:
            if len(specs) == 1:
                raise
            print(f"error: {error}", file=sys.stderr)
            missing.append(str(spec))
            continue
        all_given = (*given, *seeded)
        contests.append(Contest(workload, task, all_given, asked.asked(), tuple(chosen), options.repeats, records))
    if not contests:
        raise UserError(f"--instance: none of {', '.join(missing)} can be read, expected one at least")
    return contests, missing


def arguments_of(workload: Workload[Any], spec: str | None, data: str | None, rest: Sequence[str]) -> list[str]:
    """The driver's arguments for an instance; what the workload takes as its standard where nothing else is asked."""
    given = list(rest)
    standard = list(workload.standard)
    place = standard.index("--instance") if "--instance" in standard else None
    instance = None if place is None else standard[place + 1]
    if place is not None:
        del standard[place : place + 2]
    if not given:
        given = standard
    chosen = spec or instance
    return [*given, *(["--instance", chosen] if chosen else []), *(["--data", data] if data else [])]


def _workload_parser(workload: Workload[Any]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m drivers.compare {workload.name}", allow_abbrev=False)
    add_options(parser, workload.options)
    return parser


def _parser(workload: Workload[Any]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m drivers.compare",
        usage="%(prog)s [WORKLOAD] [options] [options of the workload]",
        description="Run a workload on every usable device, check that all did the same work, and write a speed-up "
        f"report. Workloads: {', '.join(NAMES)} (without one: {DEFAULT}). Without options of the workload it does "
        "about a second of one core's work; `python -m drivers.WORKLOAD --help` lists them.",
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
        type=natural,
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


def _prepared(folder: Path, workload: Workload[Any], fresh: bool) -> Path:
    """Make room: no report of an earlier comparison may be taken for this one's; returns where records are kept."""
    records = folder / f"{experiment.name_of(workload.name)}.jsonl"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        experiment.remove(folder, workload.name)
        if fresh and records.exists():
            records.replace(records.with_suffix(".previous.jsonl"))
        with records.open("a"):
            pass
    except OSError as error:
        raise UserError(f"{folder}: cannot write there: {error.strerror}") from None
    return records


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
