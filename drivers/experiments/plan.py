"""Plan of a paper's run: the program's arguments, the instance, and the amount of work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field, replace
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import UserError
from core.problems.instances.errors import InstanceError
from drivers.experiments.comparison_options import COMPARISON_OPTIONS, workload_options
from drivers.experiments.execution import ExperimentCase
from drivers.experiments.run_time_estimate import planned_work
from drivers.options.declaration import option_flag
from drivers.options.values import FLAG, OUTPUT_FILE
from drivers.workload.declaration import Task, Workload
from drivers.workload.registry import get_workload
from drivers.workload.run_time import RepetitionWork

NOT_FOUND_TEXT = "no such"
"""How it is told that an instance is not there (`core.problems.instances.sources`)."""
FETCH_ADVICE = " (`python -m core.problems fetch"
"""How it is told which command gets it."""
PAPER_OPTIONS = ("instance", "peers")
"""Of the options that a reproduction has in its own way, those that a paper's file may say too."""


class ProblemIdentity(NamedTuple):
    """A problem's name and hash: all that a contest needs of it, so that a plan of many large instances stays small."""

    name: str
    sha256: str


class ExperimentPlan:
    """Contests by what is asked, each made once: several series, columns and exhibits ask for the same."""

    def __init__(self, records: Path, data: str | None = None) -> None:
        self.records = records
        self.data = data
        self.made: dict[tuple[Any, ...], list[tuple[ExperimentCase, RepetitionWork | None]] | UserError] = {}

    def of(
        self, workload: str, options: Mapping[str, Any], spec: str, seeds: Sequence[int], repeats: int
    ) -> list[tuple[ExperimentCase, RepetitionWork | None]]:
        """Contests that options ask for on an instance: one, or one for each seed that makes an instance of its own.

        Raises
        ------
        UserError
            The workload refuses an option or the instance.

        """
        declared = get_workload(workload)
        given = command_words(declared, {**options, **({"instance": spec} if spec else {})})
        key = (workload, given, bool(options.get("peers")), tuple(seeds), repeats)
        if key not in self.made:
            try:
                self.made[key] = self._contests(declared, given, bool(options.get("peers")), tuple(seeds), repeats)
            except UserError as error:
                self.made[key] = error
        made = self.made[key]
        if isinstance(made, UserError):
            raise made
        return made

    def _contests(
        self, workload: Workload[Any], given: tuple[str, ...], peers: bool, seeds: tuple[int, ...], repeats: int
    ) -> list[tuple[ExperimentCase, RepetitionWork | None]]:
        arguments = [*given, *(["--data", self.data] if self.data else [])]

        def contest(seeds: tuple[int, ...]) -> tuple[ExperimentCase, RepetitionWork | None]:
            seeded = ("--seeds", ",".join(map(str, seeds))) if len(seeds) > 1 else ("--seed", str(seeds[0]))
            asked = workload_options(workload, [*arguments, *seeded])
            if getattr(asked, "seconds", None) is not None:
                raise UserError(
                    "--seconds: a time limit ends each run at another iteration, but runs of a table must do equal work"
                )
            task = workload.load(replace(asked, seed=seeds[0]), 1)
            light = Task(task.options, ProblemIdentity(task.problem.name, task.problem.sha256), task.source)
            said = (*arguments, *seeded)
            made = ExperimentCase(workload, light, said, asked.asked(), seeds, repeats, self.records, peers=peers)
            return made, planned_work(workload, task)

        whole = contest(seeds)
        if len(seeds) == 1 or contest(seeds[-1:])[0].task.problem == whole[0].task.problem:
            return [whole]
        return [contest((seed,)) for seed in seeds]


def missing_instance(error: UserError) -> str | None:
    """Where an instance was looked for that is just not on this machine, in words; None if something else is wrong."""
    if not isinstance(error, InstanceError) or NOT_FOUND_TEXT not in error.found:
        return None
    # Behind that stands how to get this one instance.
    return f"{error.path}: found {error.found.partition(FETCH_ADVICE)[0]}"


def command_words(workload: Workload[Any], options: Mapping[str, Any]) -> tuple[str, ...]:
    """The command line that says a paper's options; `peers` is no part of it, since one core alone has peers beside it.

    Raises
    ------
    UserError
        The workload has no such option, or it is one that a reproduction has in its own way.

    """
    declared = {one.name: one for one, _ in workload.options.declared()}
    declared |= {option_flag(one).removeprefix("--"): one for one in declared.values()}
    words: list[str] = []
    for name, value in options.items():
        if name not in declared:
            flag = f"--{name.replace('_', '-')}"
            raise UserError(f"{flag}: python -m drivers.{workload.name} has no such option")
        one = declared[name]
        if one.metadata["option"].type is OUTPUT_FILE or (
            one.name in COMPARISON_OPTIONS and one.name not in PAPER_OPTIONS
        ):
            raise UserError(f"{option_flag(one)}: found among a paper's options, expected one that decides its work")
        if one.name != "peers":
            words += _option_words(one, value)
    return tuple(words)


def _option_words(one: Field[Any], value: Any) -> list[str]:
    flag = option_flag(one)
    if one.metadata["option"].type is FLAG:
        # Such an option has no form with `--no-` where that is its default.
        return [flag] if value else [flag.replace("--", "--no-", 1)] if one.default is not False else []
    values = [str(part) for part in value] if isinstance(value, list | tuple) else [str(value)]
    return [flag, *values] if flag.startswith("-") else values


def neutral_flags(workload: Workload[Any]) -> set[str]:
    """Flags of a workload that decide neither its work nor its way: checks, a history, a profile."""
    return {
        option_flag(one)
        for one, about in workload.options.declared()
        if about.type is FLAG and about.decides == "nothing" and one.name not in COMPARISON_OPTIONS
    }
