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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from reports.exhibit_gaps import gap
from reports.exhibits import NotMade, evidence, series_of, shown
from reports.paper import Exhibit, Paper
from reports.records import Record, RecordError, UnequalWorkError, load


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


@dataclass(frozen=True)
class PaperPage:
    """A report: the exhibits that are asked for, those that it had `earlier`, its folder, and the command line."""

    paper: Paper
    exhibits: Sequence[Exhibit]
    earlier: Sequence[Exhibit]
    folder: Path
    made_by: str

    @property
    def shown(self) -> list[Exhibit]:
        """All exhibits of the report, in the paper's order."""
        return [one for one in self.paper.exhibits if one in self.exhibits or one in self.earlier]


def main(argv: Sequence[str] | None = None, house: House | None = None) -> int:
    """Reproduce; returns 0 when everything ran that can run here and every exhibit asked for shows it, 1 when not.

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
        make_room(chosen.records, lambda: remove_if(options.fresh, options.out, paper), options.fresh)
    plan = plan_of(paper, exhibits, here, chosen)
    recorded = recorded_in(chosen.records, fresh=options.fresh)
    left = [run for run in plan.needed.values() if not recorded.holds(run)]
    say(f"{paper.name}, scale {chosen.scale}: {summary(plan, left, recorded, here)}")
    say(f"records: {chosen.records}")
    if options.dry_run:
        show_commands(plan, left, recorded, here, house.command)
        return DONE
    earlier = [one for one in paper_report.exhibits_in(options.out, paper) if one not in exhibits]
    runner = Runner(len(left), house.command)
    if len(left) < len(plan.needed):
        runner.warn_of_changes(chosen.records)
    failed, elsewhere = run_all(plan, left, runner)
    page = PaperPage(
        paper, exhibits, earlier, options.out, shlex.join(["python", "-m", "drivers.reproduce", *arguments])
    )
    before = plan_of(paper, earlier, here, chosen)
    return conclude(page, plan, before, chosen.records, failed, elsewhere)


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
    page: PaperPage, plan: Plan, before: Plan, records: Path, failed: Sequence[str], elsewhere: Sequence[Needed]
) -> int:
    """Write the report, which names the command line, say what failed or is not there, and return the exit code.

    `before` is the plan of what the report had earlier.
    """
    recorded = recorded_in(records)
    found = {one.identity: one for run in plan.needed.values() for one in recorded.of(run, alike=run in elsewhere)}
    doubted = [
        f"{one.workload}, {one.instance}: {one.label}: the result was not confirmed"
        for one in found.values()
        if not one.scored and one.details.get("proved") is not False
    ]
    paper = page.paper
    not_made = {
        one: (plan if one in page.exhibits else before).part_of(paper.drawn(one)).not_made() for one in page.shown
    }
    counted = newest(load(records))
    try:
        written = paper_report.write(
            paper, page.shown, counted, page.folder, not_made, page.made_by, earlier=page.earlier
        )
        gaps = gaps_of(page, counted, not_made)
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
    # A scale leaves out exhibits of a whole paper; an exhibit chosen by its number must have a run.
    if len(page.exhibits) < len(paper.exhibits) or len(gaps) == len(page.exhibits):
        failed = [*failed, *gaps]
    else:
        for line in gaps:
            note(line)
    for line in [*failed, *doubted]:
        print(f"error: {line}", file=sys.stderr)
    return FAILED if failed or doubted else DONE


def gaps_of(page: PaperPage, records: Sequence[Record], not_made: Mapping[Exhibit, NotMade]) -> list[str]:
    """Name the exhibits asked for in which nothing of ours stands, and why."""
    there = evidence(page.paper, records)
    gaps = {}
    for one in page.exhibits:
        gaps[one] = gap(one, shown(page.paper.drawn(one), there, page.paper.machines, not_made[one]))
    return [f"{one.name}: nothing of ours is in it: {why}" for one, why in gaps.items() if why]


def newest(records: Sequence[Record]) -> list[Record]:
    """Return the records without those that another version of the suite, or another machine, made anew since.

    Runs of this machine and version count before all others.
    """
    here = environment()
    latest: dict[str, Any] = {}
    for one in records:
        key = replace(one, environment={}).identity
        if latest.get(key) != here:
            latest[key] = one.environment
    return [one for one in records if latest[replace(one, environment={}).identity] == one.environment]


def remove_if(fresh: bool, folder: Path, paper: Paper) -> None:
    """Remove an earlier report where its records are put aside."""
    if fresh:
        paper_report.remove(folder, paper)


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
