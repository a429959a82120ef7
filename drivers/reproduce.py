"""`make paper PAPER=luong2013`: a paper's tables and figures, run on this machine and shown beside what was published.

python -m drivers.reproduce luong2013                                     all of them, some minutes each
python -m drivers.reproduce luong2013 --table 4 --scale quick --dry-run   what would run, and about how long
python -m drivers.reproduce menezes2019 --figure 3 --scale full           as much as the paper ran
python -m drivers.reproduce luong2013 --table 5 --row 1=50                a row of which the paper names no instance
python -m drivers.reproduce --list                                        what there is, and what of it is recorded

A reproduction that was stopped goes on where it was; runs that several tables need are made once.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivers.compare import survey
from drivers.contest import Command, Contest, InOtherWords, Refused, Runner, make_room
from drivers.endings import DONE, FAILED, run_driver
from drivers.foresight import START_S, in_words
from drivers.notes import keep_quiet, note, say
from drivers.reproduce_options import chosen_paper, read
from drivers.reproduction import Chosen, Needed, Plan, Recorded, mapped, plan_of
from drivers.series_places import Here
from reports import paper_file, paper_report
from reports.environment import cores, environment
from reports.exhibits import series_of
from reports.paper import Exhibit, Paper
from reports.records import RecordError, UnequalWorkError, load


@dataclass(frozen=True)
class House:
    """The parts of the suite that a reproduction calls; the tests hand in others.

    Attributes
    ----------
    survey : callable
        Devices of all backends, as `backends.survey` lists them.
    command : callable
        See `drivers.contest.Command`.

    """

    survey: Callable[[], Iterable[Any]] = survey
    command: Command = Contest.command


def main(argv: Sequence[str] | None = None, house: House | None = None) -> int:
    """Reproduce; returns 0 when everything ran that can run here, 1 when not.

    Raises
    ------
    UserError
        An unknown paper, table, figure, row or backend, a folder that cannot be written, or a damaged file of records.
        Then nothing was started.

    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    options = read(arguments, __doc__)
    keep_quiet(options.quiet)
    house = house or House()
    if options.list:
        return show_list(options, here_of(options, house))
    paper, exhibits = chosen_exhibits(options)
    here = here_of(options, house)
    chosen = Chosen(options.scale, options.out / f"{paper.name}.jsonl", options.repeats, options.data)
    if not options.dry_run:
        make_room(chosen.records, lambda: paper_report.remove(options.out, paper), options.fresh)
    plan = plan_of(paper, exhibits, here, chosen)
    recorded = recorded_in(chosen.records, fresh=options.fresh)
    left = [run for run in plan.needed.values() if not recorded.holds(run)]
    say(f"{paper.name}, scale {chosen.scale}: {summary(plan, left, recorded, here)}")
    say(f"records: {chosen.records}")
    if options.dry_run:
        show_commands(plan, left, recorded, here, house.command)
        return DONE
    runner = Runner(len(left), house.command)
    if len(left) < len(plan.needed):
        runner.warn_of_changes(chosen.records)
    failed, elsewhere = run_all(plan, left, runner)
    made_by = shlex.join(["python", "-m", "drivers.reproduce", *arguments])
    return conclude(paper, exhibits, plan, chosen.records, options.out, failed, elsewhere, made_by)


def here_of(options: argparse.Namespace, house: House) -> Here:
    """What this machine has for runs, of what the user wants."""
    devices, several = list(house.survey()), options.ranks
    return Here.of(devices, options.backends, cores(), several, oversubscribe=options.oversubscribe)


def chosen_exhibits(options: argparse.Namespace) -> tuple[Paper, Sequence[Exhibit]]:
    """The paper with the rows that the user maps, and its exhibits that are asked for."""
    paper = chosen_paper(options.paper)
    kind = "table" if options.table else "figure" if options.figure else None
    number = options.table or options.figure
    paper = mapped(paper, dict(options.row), paper.chosen(kind, number))
    return paper, paper.chosen(kind, number)


def recorded_in(records: Path, *, fresh: bool = False) -> Recorded:
    """What a file holds that counts: nothing where all is run again."""
    return Recorded([] if fresh or not records.exists() else load(records), environment())


# --- before and while it runs ---


def summary(plan: Plan, left: Sequence[Needed], recorded: Recorded, here: Here) -> str:
    """How many runs there are, how many are recorded, and about how long the others take, in words."""
    words = f"{_count(len(plan.needed), 'run')}, {len(plan.needed) - len(left)} recorded already"
    reasons = sum(len(part.missing()) for part in plan.parts)
    refused = f", {reasons} of what the paper has cannot run here (the report says why)" if reasons else ""
    if not left:
        return words + refused
    times = [recorded.left_s(run, here) for run in left]
    told = [START_S if one is None else one for one in times]
    return f"{words}{refused}; the rest takes {about(sum(told), at_least=None in times)}"


def show_commands(plan: Plan, left: Sequence[Needed], recorded: Recorded, here: Here, command: Command) -> None:
    """Print the runs that are left as a shell takes them, and behind each about how long it takes."""
    for part in plan.parts:
        for what, why in part.missing():
            print(f"# {part.exhibit.name}, not here: {what}: {why}")
    for run in left:
        print(f"{shlex.join(command(run.contest, run.configuration))}  # {about(recorded.left_s(run, here))}")


def about(seconds: float | None, *, at_least: bool = False) -> str:
    """A time that is only roughly known, in words."""
    if seconds is None:
        return f"at least {in_words(START_S)}: nobody can tell"
    return f"{'at least' if at_least else 'about'} {in_words(seconds)}"


def run_all(plan: Plan, left: Sequence[Needed], runner: Runner) -> tuple[list[str], list[Needed]]:
    """Run what is left: what failed, in words, and what turned out to be recorded in other words.

    What a program refuses is no failure: the device cannot do it, and the report says so.
    """
    failed: list[str] = []
    elsewhere = []
    for run in left:
        _, failures = runner.all_of(run.contest, [run.configuration])
        for one in failures:
            if isinstance(one, InOtherWords):
                elsewhere.append(run)
            elif isinstance(one, Refused):
                plan.refuse(run, one.said)
            else:
                plan.refuse(run, one.reason)
                failed.append(f"{run.contest.named}: {one}")
    return failed, elsewhere


# --- the report ---


def conclude(
    paper: Paper,
    exhibits: Sequence[Exhibit],
    plan: Plan,
    records: Path,
    folder: Path,
    failed: Sequence[str],
    elsewhere: Sequence[Needed],
    made_by: str,
) -> int:
    """Write the report, which names the command line, say what failed, and return the exit code."""
    recorded = recorded_in(records)
    found = {one.identity: one for run in plan.needed.values() for one in recorded.of(run, alike=run in elsewhere)}
    doubted = [
        f"{one.workload}, {one.instance}: {one.label}: the result was not confirmed"
        for one in found.values()
        if not one.scored and one.details.get("proved") is not False
    ]
    missing = {exhibit: plan.part_of(paper.drawn(exhibit)).missing() for exhibit in exhibits}
    try:
        written = paper_report.write(paper, exhibits, list(found.values()), folder, missing, made_by)
    except (UnequalWorkError, RecordError) as error:
        # The records are our own programs' doing: no mistake of the user.
        print(f"error: {error}. No report was written; the records are in {records}", file=sys.stderr)
        return FAILED
    tell_what_is_shown_nowhere(plan, recorded)
    print()
    for path in written:
        print(path)
    if plan.needed and not found:
        failed = [*failed, "nothing ran, so the report has published figures alone"]
    for line in [*failed, *doubted]:
        print(f"error: {line}", file=sys.stderr)
    return FAILED if failed or doubted else DONE


def tell_what_is_shown_nowhere(plan: Plan, recorded: Recorded) -> None:
    """Name the runs that an exhibit asked for and that say of themselves what belongs to none of its series."""
    for part in plan.parts:
        runs = [one for key in part.keys for one in recorded.of(plan.needed[key])]
        lost = dict.fromkeys(f"{one.instance} on {one.label}" for one in runs if series_of(part.exhibit, one) is None)
        if lost:
            words = "; ".join(lost)
            note(f"{part.exhibit.name}: belongs to none of its series, so it does not show: {words}")


# --- the list ---


def show_list(options: argparse.Namespace, here: Here) -> int:
    """Print a line for each table and figure, of one paper or of all."""
    lines = []
    for name in [options.paper] if options.paper else paper_file.names():
        paper, exhibits = chosen_exhibits(argparse.Namespace(**{**vars(options), "paper": name}))
        records = options.out / f"{paper.name}.jsonl"
        recorded = recorded_in(records)
        plan = plan_of(paper, exhibits, here, Chosen(options.scale, records, options.repeats, options.data))
        lines += [(paper.name, one.name, one.title, state(plan, paper, one, recorded)) for one in exhibits]
    print("\n".join(aligned(lines)))
    return DONE


def state(plan: Plan, paper: Paper, exhibit: Exhibit, recorded: Recorded) -> str:
    """How much of an exhibit is recorded, or why it never can be."""
    source = paper.drawn(exhibit)
    if source.never_ours:
        return f"never: {source.never_ours}"
    part = plan.part_of(source)
    runs = [plan.needed[key] for key in part.keys]
    words = f"{_count(len(runs), 'run')}, {sum(map(recorded.holds, runs))} recorded"
    refused = len(part.missing())
    words += f"; {refused} cannot run here" if refused else ""
    return words + (f"; not at hand: {', '.join(part.absent)}" if part.absent else "")


def aligned(lines: Sequence[tuple[str, ...]]) -> list[str]:
    """Lines whose columns but the last are equally wide."""
    widths = [max(map(len, column)) for column in list(zip(*lines, strict=True))[:-1]]
    return [
        "  ".join([*(word.ljust(width) for word, width in zip(line, widths, strict=False)), line[-1]]) for line in lines
    ]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


if __name__ == "__main__":
    sys.exit(run_driver(main))
