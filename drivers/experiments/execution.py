"""Runs of one workload on many configurations, each in a separate process; recorded ones are not repeated.

A process of its own, so that no backend warms, slows or breaks another. What the records of this machine and version
hold of the same work is not run again.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cluster.launch.commands import find_mpirun, python_command
from cluster.mpi.failures.abort import USER_ERROR
from core.errors import UserError
from drivers.cli.exit_codes import DONE
from drivers.cli.messages import print_note, print_status
from drivers.experiments.configurations import ONE_CORE, Configuration
from drivers.experiments.executors import guard
from drivers.runs.repetitions import RECORDED_MESSAGE
from drivers.workload.declaration import Task, Workload
from reports.comparison.speedups import NotRun
from reports.records.environment import environment
from reports.records.files import Record, UnequalWorkError, load, merge

OWN_CORES = "--pin-cores"
"""The option of drivers by which ranks keep to cores of their own."""


@dataclass(frozen=True)
class RefusedRun(NotRun):
    """A run that its program refused, as it refuses a mistake of the user: the device cannot do what was asked.

    `said` is the program's own line, without what stands before it.
    """

    said: str = ""


@dataclass(frozen=True)
class RecordedDifferently(NotRun):
    """A run that is recorded already, and was asked for in other words then: a default spelled out."""


@dataclass(frozen=True)
class ExperimentCase:
    """The same work for every configuration.

    Attributes
    ----------
    workload
        The declaration.
    task
        What is solved, as this process loaded it.
    arguments : tuple of str
        Of the driver, without those that a configuration adds.
    asked
        See `drivers.options.declaration.Options.asked`.
    seeds, repeats
        Runs, and repetitions of each.
    records : Path
        Where they are kept.
    peers : bool
        Whether the run on one core has other people's solvers beside it.
    ranks : int, optional
        Over how many ranks alone it is run, where the work grows with them; None: over any.
    about : str
        What tells it from others of the same workload and problem, in words, if anything does.

    """

    workload: Workload[Any]
    task: Task
    arguments: tuple[str, ...]
    asked: dict[str, Any]
    seeds: tuple[int, ...]
    repeats: int
    records: Path
    ranks: int | None = None
    peers: bool = False
    about: str = ""

    @property
    def named(self) -> str:
        """The workload, what it solves and what is said of it besides, as messages name them."""
        return ", ".join(filter(None, (self.workload.name, self.task.problem.name, self.about)))

    def of(self, configurations: Sequence[Configuration]) -> list[Configuration]:
        """Those on which this work is done."""
        return [one for one in configurations if self.ranks in (None, one.ranks)]

    def command(self, configuration: Configuration) -> list[str]:
        """The command line that runs one configuration and records it."""
        command = [*python_command(self.workload.started), *self.arguments]
        command += ["--backend", configuration.backend, "--device", configuration.device]
        command += ["--cores", str(configuration.cores)] if configuration.cores is not None else []
        command += ["--repeats", str(self.repeats), "--record", str(self.records), "--no-progress"]
        command += ["--peers"] if self.beside_peers(configuration) else []
        launcher = find_mpirun()
        if configuration.ranks > 1 and launcher:
            # Open MPI may bind a rank to a core, which would leave `threads` one of them. Ranks that keep to cores of
            # their own choose from all.
            free = configuration.kind != ONE_CORE or OWN_CORES in self.arguments
            bound = ["--bind-to", "none"] if free else []
            return [launcher, "-n", str(configuration.ranks), "--map-by", ":OVERSUBSCRIBE", *bound, *command]
        return command

    def beside_peers(self, configuration: Configuration) -> bool:
        """Whether other people's solvers, which run on one core, stand beside a configuration."""
        return self.peers and configuration.kind == ONE_CORE and configuration.ranks == 1

    @property
    def wants_history(self) -> bool:
        """Whether records shall say when the best cost improved."""
        return "--history" in self.arguments

    def records_of(self, configuration: Configuration, here: Any) -> list[Record]:
        """What the file holds of a configuration on this machine, a record for each seed."""
        return self.among(load(self.records), configuration, here) if self.records.exists() else []

    def among(self, records: Iterable[Record], configuration: Configuration, here: Any) -> list[Record]:
        """Those of some records that `records_of` would find in a file."""
        key = configuration.backend, configuration.recorded, configuration.ranks
        work = self.workload.name, self.task.problem.sha256
        return merge(
            record
            for record in records
            if (record.backend, record.device, record.ranks) == key
            and (record.workload, record.instance_sha256) == work
            and record.details.get("options") == self.asked
            and record.seed in self.seeds
            and record.environment == here
        )

    def complete(self, records: Sequence[Record]) -> bool:
        """Whether every seed has all its repetitions."""
        return {one.seed for one in records if len(one.repetitions) >= self.repeats} == set(self.seeds)


CommandBuilder = Callable[[ExperimentCase, Configuration], list[str]]
"""Makes the command line that runs a configuration; tests hand in another."""


class ExperimentRunner:
    """Runs contests one after the other, and says how many of how many are done and how long the rest takes.

    Parameters
    ----------
    total
        Runs of all contests, those included that the records hold.
    command
        See `CommandBuilder`.

    """

    def __init__(self, total: int, command: CommandBuilder = ExperimentCase.command) -> None:
        self.total = total
        self.command = command
        self.environment = environment()
        self.begun = 0
        self.took_s: list[float] = []
        self.warned = False

    def all_of(
        self, contest: ExperimentCase, configurations: Sequence[Configuration]
    ) -> tuple[list[Record], list[NotRun]]:
        """Run a contest on all configurations; its records, and what has none and why."""
        records: list[Record] = []
        failures: list[NotRun] = []
        for configuration in configurations:
            self.begun += 1
            found = self.run(contest, configuration)
            if isinstance(found, NotRun):
                failures.append(found)
            else:
                records += found
        return records, failures

    def run(self, contest: ExperimentCase, configuration: Configuration) -> list[Record] | NotRun:
        """Run one configuration unless its records are there: its records, or why there are none."""
        try:
            return self._run(contest, configuration)
        except UnequalWorkError as error:
            print_status("differs from repetition to repetition")
            return configuration.not_run(str(error))

    def _run(self, contest: ExperimentCase, configuration: Configuration) -> list[Record] | NotRun:
        print_status(f"[{self.begun}/{self.total}] {contest.named} on {configuration} ...", end=" ")
        held = contest.records_of(configuration, self.environment)
        if contest.complete(held):
            print_status(f"recorded already: {describe_outcome(held)}")
            self.warn_of_changes(contest.records)
            if contest.beside_peers(configuration) and all("reference_solvers" not in one.details for one in held):
                print_note(f"{contest.records}: recorded without reference solvers; --rerun runs them too")
            if contest.wants_history and any(run.history is None for one in held for run in one.repetitions):
                print_note(f"{contest.records}: recorded without --history; --rerun runs again with it")
            return held
        began = time.perf_counter()
        try:
            result = guard.run_guarded(self.command(contest, configuration), run_environment(configuration))
        except KeyboardInterrupt:
            print_status(f"\nthe same command continues with the records in {contest.records}")
            raise
        took_s = time.perf_counter() - began
        self.took_s.append(took_s)
        found = contest.records_of(configuration, self.environment)
        # A run whose result was contradicted ends with 1 and has its records: the comparison says why it is out.
        if contest.complete(found) and (result.returncode == DONE or not all(one.verified for one in found)):
            print_status(f"{describe_outcome(found)} ({took_s:.1f} s{self.left()})")
            return found
        said = result.stderr.strip().splitlines()
        telling = find_error_line(said)
        if result.returncode == USER_ERROR and telling:
            line = remove_error_prefix(telling)
            print_status(f"refused: {line} ({took_s:.1f} s{self.left()})")
            return RefusedRun(**asdict(configuration.not_run(f"refused: {line}")), said=line)
        if result.returncode:
            reason = f"failed with exit code {result.returncode}"
        else:
            reason = self._nothing_recorded(result.stdout)
        print_status(f"{reason} ({took_s:.1f} s{self.left()})")
        print("\n".join(f"    {line}" for line in said[-20:]), file=sys.stderr)
        failed = configuration.not_run(reason + (f": {telling}" if telling else ""))
        if result.returncode == DONE and RECORDED_MESSAGE in result.stdout:
            return RecordedDifferently(**asdict(failed))
        return failed

    def left(self) -> str:
        """Return the estimated duration of the remaining runs as text, from the mean of those that ran."""
        left_s = (self.total - self.begun) * sum(self.took_s) / len(self.took_s)
        words = f"{left_s:.0f} s" if left_s < 120 else f"{left_s / 60:.0f} min"
        return f", about {words} left" if self.begun < self.total else ""

    def _nothing_recorded(self, printed: str) -> str:
        """Why a run that ended well left no record that counts."""
        if RECORDED_MESSAGE in printed:
            return "recorded already with other options of the same meaning (such as a default): --rerun runs it again"
        if environment() != self.environment:
            return "its record is of another version: sources changed while it ran"
        return "wrote no record"

    def warn_of_changes(self, records: Path) -> None:
        """Say once that records may be of other sources, where nobody can tell."""
        commit = str(self.environment["commit"])
        if not self.warned and (commit == "None" or commit.endswith("+changes")):
            self.warned = True
            print_note(
                f"{records}: sources may have changed since, because the records name no commit; --rerun runs again"
            )


def describe_outcome(records: Sequence[Record]) -> str:
    """What runs of several seeds found, in words."""
    first = records[0]
    best = min(one.best_cost for one in records)
    several = f" of {len(records)} seeds" if len(records) > 1 else ""
    return f"best {best}{several}, hash {first.hashed}"


def run_environment(configuration: Configuration) -> dict[str, str]:
    """The environment of a run."""
    inherited = dict(os.environ)
    if configuration.ranks > 1 and os.geteuid() == 0:
        # Containers are often root-only; without these two Open MPI refuses to start there.
        inherited |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return inherited


def find_error_line(said: Sequence[str]) -> str:
    """Pick the line that names the error; a launcher's banners, between lines of dashes, do not; empty if none does."""
    errors = [line for line in said if re.match(r"(error\b|[\w.]*(Error|Exception)\b)", line)]
    return errors[-1] if errors else next(remove_banners(said), "")


def remove_banners(said: Iterable[str]) -> Iterator[str]:
    """Lines that are not blank and stand in no banner of a launcher."""
    within = False
    for line in said:
        if re.fullmatch("-{5,}", line.strip()):
            within = not within
        elif line.strip() and not within:
            yield line


def remove_error_prefix(line: str) -> str:
    """What a line says of a mistake, without the word before it and the rank that found it."""
    return re.sub(r"^error( \(rank \d+\))?: ", "", line)


def prepare_folder(records: Path, remove_report: Callable[[], None], rerun: bool) -> None:
    """Prepare the folder of a comparison: no report of an earlier one may be taken for this one's.

    Parameters
    ----------
    records : Path
        The file of records, which are checked; the report is left as it was where they are damaged.
    remove_report : callable
        Removes an earlier report.
    rerun : bool
        Whether to put earlier records aside.

    Raises
    ------
    UserError
        The folder cannot be written, or the records are damaged.

    """
    try:
        records.parent.mkdir(parents=True, exist_ok=True)
        if rerun and records.exists():
            records.replace(records.with_suffix(".previous.jsonl"))
        with records.open("a"):
            pass
        load(records)
        remove_report()
    except OSError as error:
        raise UserError(f"{records.parent}: cannot write there: {error.strerror}") from None
