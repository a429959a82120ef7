"""`make paper PAPER=luong2013`: run a paper's tables and figures here, and show them next to the published ones.

python -m drivers.reproduce luong2013                                     all of them, some minutes each
python -m drivers.reproduce luong2013 --table 4 --scale quick --dry-run   the commands and their estimated times
python -m drivers.reproduce menezes2019 --figure 3 --scale full           the paper's full amount of work
python -m drivers.reproduce luong2013 --table 5 --row 1=50                an instance for a row without one in the paper
python -m drivers.reproduce --list                                        all tables and figures, and what is recorded

An interrupted reproduction continues where it stopped. Runs that several tables need are made once.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from drivers.cli.exit_codes import DONE, FAILED, run_driver
from drivers.cli.messages import print_note, print_status, set_quiet
from drivers.experiments.comparison import survey
from drivers.experiments.execution import (
    CommandBuilder,
    ExperimentCase,
    ExperimentRunner,
    RecordedDifferently,
    RefusedRun,
    prepare_folder,
)
from drivers.experiments.reproduction import (
    PlannedRun,
    PlannedRunRecords,
    ReproductionChoice,
    ReproductionPlan,
    map_rows,
    plan_reproduction,
)
from drivers.experiments.reproduction_options import chosen_paper, read_options
from drivers.experiments.run_time_estimate import START_S, format_estimate
from drivers.experiments.series_configurations import MachineResources
from reports.pages import paper as pages_paper
from reports.papers import files
from reports.papers.exhibits import MissingRuns, fill_exhibit, find_series, gather_evidence
from reports.papers.gaps import gap_reason
from reports.papers.paper import Exhibit, Paper
from reports.records.environment import cores, environment
from reports.records.files import Record, RecordError, UnequalWorkError, load


@dataclass(frozen=True)
class ReproductionDependencies:
    """The parts of the suite that a reproduction calls; the tests hand in others.

    Attributes
    ----------
    survey : callable
        Devices of all backends, as `backends.survey` lists them.
    command : callable
        See `drivers.experiments.execution.CommandBuilder`.

    """

    survey: Callable[[], Iterable[Any]] = survey
    command: CommandBuilder = ExperimentCase.command


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


def main(argv: Sequence[str] | None = None, dependencies: ReproductionDependencies | None = None) -> int:
    """Reproduce; returns 0 when everything ran that can run here and every exhibit asked for shows it, 1 when not.

    Raises
    ------
    UserError
        An unknown paper, table, figure, row or backend, a folder that cannot be written, or a damaged file of records.
        Then nothing was started.

    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    options = read_options(arguments, __doc__)
    set_quiet(options.quiet)
    dependencies = dependencies or ReproductionDependencies()
    if options.list:
        return show_list(options, find_machine_resources(options, dependencies))
    paper, exhibits = chosen_exhibits(options)
    here = find_machine_resources(options, dependencies)
    chosen = ReproductionChoice(options.scale, options.out / f"{paper.name}.jsonl", options.repeats, options.data)
    if not options.dry_run:
        prepare_folder(chosen.records, lambda: remove_stale_report(options.rerun, options.out, paper), options.rerun)
    plan = plan_reproduction(paper, exhibits, here, chosen)
    recorded = read_recorded(chosen.records, rerun=options.rerun)
    left = [run for run in plan.needed.values() if not recorded.holds(run)]
    print_status(f"{paper.name}, scale {chosen.scale}: {summary(plan, left, recorded, here)}")
    print_status(f"records: {chosen.records}")
    if options.dry_run:
        show_commands(plan, left, recorded, here, dependencies.command)
        return DONE
    earlier = [one for one in pages_paper.exhibits_in(options.out, paper) if one not in exhibits]
    runner = ExperimentRunner(len(left), dependencies.command)
    if len(left) < len(plan.needed):
        runner.warn_of_changes(chosen.records)
    failed, elsewhere = run_planned(plan, left, runner)
    page = PaperPage(
        paper, exhibits, earlier, options.out, shlex.join(["python", "-m", "drivers.reproduce", *arguments])
    )
    before = plan_reproduction(paper, earlier, here, chosen)
    return write_report(page, plan, before, chosen.records, failed, elsewhere)


def find_machine_resources(options: argparse.Namespace, dependencies: ReproductionDependencies) -> MachineResources:
    """What this machine has for runs, of what the user wants."""
    devices, several = list(dependencies.survey()), options.ranks
    return MachineResources.of(devices, options.backends, cores(), several, oversubscribe=options.oversubscribe)


def chosen_exhibits(options: argparse.Namespace) -> tuple[Paper, Sequence[Exhibit]]:
    """The paper with the rows that the user maps, and its exhibits that are asked for."""
    paper = chosen_paper(options.paper)
    kind = "table" if options.table else "figure" if options.figure else None
    number = options.table or options.figure
    paper = map_rows(paper, dict(options.row), paper.chosen(kind, number))
    return paper, paper.chosen(kind, number)


def read_recorded(records: Path, *, rerun: bool = False) -> PlannedRunRecords:
    """What a file holds that counts: nothing where all is run again."""
    return PlannedRunRecords([] if rerun or not records.exists() else load(records), environment())


# --- before and while it runs ---


def summary(
    plan: ReproductionPlan, left: Sequence[PlannedRun], recorded: PlannedRunRecords, here: MachineResources
) -> str:
    """Return the numbers of runs and of recorded ones, and the estimated duration of the others, as text."""
    words = f"{_count(len(plan.needed), 'run')}, {len(plan.needed) - len(left)} recorded already"
    reasons = sum(len(part.missing()) for part in plan.parts)
    refused = f", {reasons} of the paper's series cannot run here (the report has the reasons)" if reasons else ""
    if not left:
        return words + refused
    times = [recorded.left_s(run, here) for run in left]
    told = [START_S if one is None else one for one in times]
    return f"{words}{refused}; the rest takes {format_rough_time(sum(told), at_least=None in times)}"


def show_commands(
    plan: ReproductionPlan,
    left: Sequence[PlannedRun],
    recorded: PlannedRunRecords,
    here: MachineResources,
    command: CommandBuilder,
) -> None:
    """Print the runs that are left as a shell takes them, and behind each about how long it takes."""
    for part in plan.parts:
        for what, why in part.missing():
            print(f"# {part.exhibit.name}, cannot run here: {what}: {why}")
    for run in left:
        print(
            f"{shlex.join(command(run.contest, run.configuration))}  # {format_rough_time(recorded.left_s(run, here))}"
        )


def format_rough_time(seconds: float | None, *, at_least: bool = False) -> str:
    """A time that is only roughly known, in words."""
    if seconds is None:
        return f"at least {format_estimate(START_S)} (no estimate)"
    return f"{'at least' if at_least else 'about'} {format_estimate(seconds)}"


def run_planned(
    plan: ReproductionPlan, left: Sequence[PlannedRun], runner: ExperimentRunner
) -> tuple[list[str], list[PlannedRun]]:
    """Run what is left: what failed, in words, and what turned out to be recorded in other words.

    What a program refuses is no failure: the device cannot do it, and the report says so.
    """
    failed: list[str] = []
    elsewhere = []
    for run in left:
        _, failures = runner.all_of(run.contest, [run.configuration])
        for one in failures:
            if isinstance(one, RecordedDifferently):
                elsewhere.append(run)
            elif isinstance(one, RefusedRun):
                plan.refuse(run, one.said)
            else:
                plan.refuse(run, one.reason)
                failed.append(f"{run.contest.named}: {one}")
    return failed, elsewhere


# --- the report ---


def write_report(
    page: PaperPage,
    plan: ReproductionPlan,
    before: ReproductionPlan,
    records: Path,
    failed: Sequence[str],
    elsewhere: Sequence[PlannedRun],
) -> int:
    """Write the report, which names the command line, say what failed or is not there, and return the exit code.

    `before` is the plan of what the report had earlier.
    """
    recorded = read_recorded(records)
    found = {one.identity: one for run in plan.needed.values() for one in recorded.of(run, alike=run in elsewhere)}
    doubted = [
        f"{one.workload}, {one.instance}: {one.label}: the result was not confirmed"
        for one in found.values()
        if not one.verified and one.details.get("proved") is not False
    ]
    paper = page.paper
    not_made = {
        one: (plan if one in page.exhibits else before).part_of(paper.drawn(one)).not_made() for one in page.shown
    }
    counted = newest_records(load(records))
    try:
        written = pages_paper.write(
            paper, page.shown, counted, page.folder, not_made, page.made_by, earlier=page.earlier
        )
        gaps = describe_gaps(page, counted, not_made)
    except (UnequalWorkError, RecordError) as error:
        # The records are our own programs' doing: no mistake of the user.
        print(f"error: {error}. No report was written; the records are in {records}", file=sys.stderr)
        return FAILED
    report_unused_runs(plan, recorded)
    print()
    for path in written:
        print(path)
    if plan.needed and not found:
        failed = [*failed, "nothing ran: the report has only published figures"]
    # A scale leaves out exhibits of a whole paper; an exhibit chosen by its number must have a run.
    if len(page.exhibits) < len(paper.exhibits) or len(gaps) == len(page.exhibits):
        failed = [*failed, *gaps]
    else:
        for line in gaps:
            print_note(line)
    for line in [*failed, *doubted]:
        print(f"error: {line}", file=sys.stderr)
    return FAILED if failed or doubted else DONE


def describe_gaps(page: PaperPage, records: Sequence[Record], not_made: Mapping[Exhibit, MissingRuns]) -> list[str]:
    """Name the exhibits asked for in which nothing of ours stands, and why."""
    there = gather_evidence(page.paper, records)
    gaps = {}
    for one in page.exhibits:
        gaps[one] = gap_reason(one, fill_exhibit(page.paper.drawn(one), there, page.paper.machines, not_made[one]))
    return [f"{one.name}: no run of this machine in it: {why}" for one, why in gaps.items() if why]


def newest_records(records: Sequence[Record]) -> list[Record]:
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


def remove_stale_report(rerun: bool, folder: Path, paper: Paper) -> None:
    """Remove an earlier report where its records are put aside."""
    if rerun:
        pages_paper.remove(folder, paper)


def report_unused_runs(plan: ReproductionPlan, recorded: PlannedRunRecords) -> None:
    """Name the runs that an exhibit asked for and that say of themselves what belongs to none of its series."""
    for part in plan.parts:
        runs = [one for key in part.keys for one in recorded.of(plan.needed[key])]
        lost = dict.fromkeys(f"{one.instance} on {one.label}" for one in runs if find_series(part.exhibit, one) is None)
        if lost:
            words = "; ".join(lost)
            print_note(f"{part.exhibit.name}: not shown, because it belongs to no series: {words}")


# --- the list ---


def show_list(options: argparse.Namespace, here: MachineResources) -> int:
    """Print a line for each table and figure, of one paper or of all."""
    lines = []
    for name in [options.paper] if options.paper else files.names():
        paper, exhibits = chosen_exhibits(argparse.Namespace(**{**vars(options), "paper": name}))
        records = options.out / f"{paper.name}.jsonl"
        recorded = read_recorded(records)
        plan = plan_reproduction(
            paper, exhibits, here, ReproductionChoice(options.scale, records, options.repeats, options.data)
        )
        lines += [(paper.name, one.name, one.title, exhibit_state(plan, paper, one, recorded)) for one in exhibits]
    print("\n".join(align_columns(lines)))
    return DONE


def exhibit_state(plan: ReproductionPlan, paper: Paper, exhibit: Exhibit, recorded: PlannedRunRecords) -> str:
    """How much of an exhibit is recorded, or why it never can be."""
    source = paper.drawn(exhibit)
    if source.never_ours:
        return f"never: {source.never_ours}"
    part = plan.part_of(source)
    runs = [plan.needed[key] for key in part.keys]
    words = f"{_count(len(runs), 'run')}, {sum(map(recorded.holds, runs))} recorded"
    refused = len(part.missing())
    words += f"; {refused} cannot run here" if refused else ""
    return words + (f"; missing: {', '.join(part.absent)}" if part.absent else "")


def align_columns(lines: Sequence[tuple[str, ...]]) -> list[str]:
    """Lines whose columns but the last are equally wide."""
    widths = [max(map(len, column)) for column in list(zip(*lines, strict=True))[:-1]]
    return [
        "  ".join([*(word.ljust(width) for word, width in zip(line, widths, strict=False)), line[-1]]) for line in lines
    ]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


if __name__ == "__main__":
    sys.exit(run_driver(main))
