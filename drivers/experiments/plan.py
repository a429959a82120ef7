"""Plan of an experiment: the cases, their recorded runs, and an estimate of the remaining time."""

from __future__ import annotations

import importlib.util
import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import UserError
from drivers.experiments.case import Case, counted_environment, seed_words
from drivers.experiments.estimate import START_S, estimate_seconds, format_estimate
from drivers.experiments.executors.remote import tasks_folder
from drivers.experiments.options import workload_options
from drivers.runs.measuring import MOST_PROOF_S, MeasuringRule
from drivers.workload.declaration import Task, Workload
from reports.records.files import Record, UnequalWorkError, load, load_existing


class ProblemIdentity(NamedTuple):
    """Name and hash of a problem, so that plans of large instances stay small."""

    name: str
    sha256: str


def plan_work(
    workload: Workload[Any],
    arguments: Sequence[str],
    seeds: Sequence[int],
    repeats: int,
    records: Path,
    peers: bool,
    measure: float | None = None,
) -> list[Case]:
    """Return the cases of a workload with its arguments; `Case.on` sets their configuration.

    An instance is one case for all seeds, or one for each seed if seeds generate instances. Raises `UserError` if the
    workload refuses an argument or the instance, or a time limit ends the runs.
    """

    def case(seeds: Sequence[int]) -> Case:
        options = workload_options(workload, [*arguments, *seed_words(seeds)])
        asked = options.asked()
        if "seconds" in asked:
            raise UserError(
                "--seconds: a time limit ends each run at another iteration, but runs of a comparison must do equal "
                "work; expected another limit, such as --iterations"
            )
        task = workload.load(replace(options, seed=seeds[0]), 1)
        light = Task(task.options, ProblemIdentity(task.problem.name, task.problem.sha256), task.source)
        core_s = workload.variant(task.options).core_seconds(task.options, task.problem)
        fixed = workload, light, tuple(arguments), asked, tuple(seeds), repeats, records
        return Case(*fixed, measure=measure, peers=peers, core_s=core_s)

    whole = case(seeds)
    if len(seeds) == 1 or case(seeds[-1:]).task.problem == whole.task.problem:
        return [whole]
    return [case([seed]) for seed in seeds]


@dataclass
class ExperimentPlan:
    """Cases in running order.

    Attributes
    ----------
    records : Path
        File of their records.
    not_run : list
        Configurations that cannot run, with reasons; each prints as a line.
    rerun : bool
        True to ignore existing records.
    elsewhere : bool
        True if cases run on other hosts, with records of those hosts.
    """

    cases: Sequence[Case]
    records: Path
    not_run: Sequence[object] = field(default_factory=list)
    rerun: bool = False
    elsewhere: bool = False

    @cached_property
    def recorded(self) -> Callable[[Case], list[Record]]:
        """Function from a case to its records of this machine and version."""
        machine = counted_environment(elsewhere=self.elsewhere)
        by_work: dict[tuple[str, str], list[Record]] = {}
        for one in [] if self.rerun else load_existing(self.records):
            by_work.setdefault((one.workload, one.instance_sha256), []).append(one)

        def recorded(case: Case) -> list[Record]:
            try:
                return case.records_among(by_work.get((case.workload.name, case.task.problem.sha256), []), machine)
            except UnequalWorkError:  # the run of the case says so
                return []

        return recorded

    @cached_property
    def left(self) -> list[Case]:
        return [case for case in self.cases if not case.is_complete(self.recorded(case))]

    def left_s(self, case: Case) -> float | None:
        """Return the estimated duration of a case's remaining runs, of a rate that of one turn, or None."""
        recorded = self.recorded(case)
        if case.measure is not None and any(one.turns() for one in recorded):
            return START_S + sum(one.total_s for run in recorded for one in run.repetitions if not one.turn)
        if case.core_s is None:
            return None
        if case.measure is not None:
            once_s = estimate_seconds(case.core_s, case.configuration, 1, case.iterations)
            # The proof, a trial, and the repetitions.
            rate_s = max(case.measure, MeasuringRule.fewest * min(once_s, MOST_PROOF_S))
            return START_S + (2 * once_s + rate_s) * len(case.seeds)
        done = sum(min(case.repeats, len(one.repetitions)) for one in recorded)
        left = case.repeats * len(case.seeds) - done
        return START_S + estimate_seconds(case.core_s, case.configuration, left, case.iterations)

    def summary(self) -> str:
        """Return the numbers of cases and recorded ones, and the estimated duration of the rest, as text."""
        count = len(self.cases)
        words = f"{count} run{'s' * (count != 1)}, {count - len(self.left)} recorded already"
        words += f", {len(self.not_run)} cannot run here" if self.not_run else ""
        if not self.left:
            return words
        times = [self.left_s(case) for case in self.left]
        total_s = sum(START_S if one is None else one for one in times)
        return f"{words}; the rest takes {rough_time(total_s, at_least=None in times)}"

    def show_commands(self) -> None:
        """Print the remaining commands in a shell's form, each with its estimated duration."""
        for line in self.not_run:
            print(f"# cannot run here: {line}")
        for case in self.left:
            print(f"{shlex.join(case.command())}  # {rough_time(self.left_s(case))}")


def rough_time(seconds: float | None, *, at_least: bool = False) -> str:
    if seconds is None:
        return f"at least {format_estimate(START_S)} (no estimate)"
    return f"{'at least' if at_least else 'about'} {format_estimate(seconds)}"


def prepare_folder(records: Path, remove_report: Callable[[], None], *, rerun: bool) -> None:
    """Prepare the folder of an experiment, so that an earlier report is not mistaken for its report.

    Parameters
    ----------
    records : Path
        The file of records, which is checked; the report stays if it is damaged.
    remove_report : callable
        Removes an earlier report.
    rerun : bool
        True to put earlier records aside, including those of interrupted cases on other machines.

    Raises
    ------
    UserError
        A package of reports is missing, the folder cannot be written, or the records are damaged.
    """
    missing = [name for name in ("pandas", "jinja2") if importlib.util.find_spec(name) is None]
    if missing:
        raise UserError(f"a report needs {' and '.join(missing)}: pip install 'onekernel[report]'")
    try:
        records.parent.mkdir(parents=True, exist_ok=True)
        if rerun:
            put_aside(records)
        with records.open("a", encoding="utf-8"):
            pass
        load(records)
        remove_report()
    except OSError as error:
        raise UserError(f"{records.parent}: cannot write there: {error.strerror}") from None


def put_aside(records: Path) -> None:
    """Rename a file of records and the folder of its remote cases; earlier ones of these names are lost."""
    if records.exists():
        records.replace(records.with_suffix(".previous.jsonl"))
    tasks, previous = tasks_folder(records), tasks_folder(records.with_suffix(".previous.jsonl"))
    if tasks.exists():
        shutil.rmtree(previous, ignore_errors=True)
        tasks.replace(previous)
