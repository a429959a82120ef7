"""A case: one row of a plan, run in a separate process and recorded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cluster.launch.commands import crowded_words, find_mpirun, python_command
from drivers.experiments.configurations import ONE_CORE, Configuration
from drivers.runs.measuring import MeasuringRule
from drivers.workload.declaration import Task, Workload
from reports.records.environment import emulated_hosts
from reports.records.files import Record, merge

NOWHERE = Configuration("", "", "")
"""Configuration of a case before `Case.on`."""


OF_A_HOST = (
    *("host", "os", "cpu_model", "cores", "host_count", "sockets", "physical_cores", "hardware_threads"),
    *("cpu_mhz_nominal", "cpu_mhz_max", "virtual", "memory_gib", "gpus", "gpu_driver"),
)
"""Names of environment entries in a record that describe the host."""


def counted_environment(*, elsewhere: bool) -> dict[str, Any]:
    """Return the environment of records that count: this host and version, or only the version elsewhere."""
    from reports.records.environment import environment

    return {name: value for name, value in environment().items() if not (elsewhere and name in OF_A_HOST)}


def is_counted(record: Record, machine: Mapping[str, Any]) -> bool:
    return all(record.environment.get(name) == value for name, value in machine.items())


@dataclass(frozen=True)
class Case:
    """A workload with its settings on an instance, and the configuration that runs it.

    Attributes
    ----------
    task
        The problem, as this process loaded it.
    arguments : tuple of str
        Arguments of the program, without seeds and those of the configuration.
    asked
        See `drivers.options.declaration.Options.asked`.
    seeds, repeats
        Runs, and repetitions of each of the given amount.
    measure : float, optional
        Budget in seconds of a rate's measurement, instead of repetitions.
    turns : int
        Number of measurements of the rate.
    records : Path
        File of records.
    peers : bool
        True to run reference solvers with the run on one core.
    about : str
        Text that distinguishes the case from others of the same workload and problem; may be empty.
    core_s : float, optional
        Usual seconds of a repetition on one core, for the estimate; None if unknown in advance.
    """

    workload: Workload[Any]
    task: Task
    arguments: tuple[str, ...]
    asked: dict[str, Any]
    seeds: tuple[int, ...]
    repeats: int
    records: Path
    configuration: Configuration = NOWHERE
    measure: float | None = None
    turns: int = 1
    peers: bool = False
    about: str = ""
    core_s: float | None = None

    def __str__(self) -> str:
        return f"{self.named} on {self.configuration}"

    def on(self, configuration: Configuration) -> Case:
        return replace(self, configuration=configuration)

    @property
    def named(self) -> str:
        """The workload, the problem, and the case's further description."""
        return ", ".join(filter(None, (self.workload.name, self.task.problem.name, self.about)))

    @property
    def is_of_one_core(self) -> bool:
        return self.configuration.kind == ONE_CORE and self.configuration.ranks == 1

    @property
    def iterations(self) -> int:
        """Iterations of the case; 0 without a number."""
        return int(self.asked.get("iterations") or 0)

    @property
    def runs_peers(self) -> bool:
        """True if reference solvers, which use one core, run with this case: with its first measurement alone."""
        return self.peers and self.is_of_one_core and self.turns == 1

    def command(self) -> list[str]:
        where = self.configuration
        command = [*python_command(self.workload.started), *self.arguments, *seed_words(self.seeds)]
        command += ["--backend", where.backend, "--device", where.device]
        command += ["--cores", str(where.cores)] if where.cores is not None else []
        command += ["--compiler", where.compiler] if where.compiler else []
        command += [*self.repetition_words, "--record", str(self.records), "--no-progress"]
        command += ["--peers"] if self.runs_peers else []
        launcher = find_mpirun()
        if where.ranks > 1 and launcher:
            # Open MPI may bind a rank to a core, which would leave `threads` one of them. Emulated hosts share cores,
            # and each would bind its first rank to the first of them.
            free = where.kind != ONE_CORE or where.network
            command = [*crowded_words(launcher, where.ranks, not free), *command]
        return [*self.emulator(), *command]

    @property
    def repetition_words(self) -> list[str]:
        """Options of a rate, or of repetitions of a fixed amount."""
        return ["--repeats", str(self.repeats)] if self.measure is None else ["--measure", f"{self.measure:g}"]

    def emulator(self) -> list[str]:
        """Return the words before a command for emulated hosts; none for real ones."""
        where = self.configuration
        if not where.network:
            return []
        slots = ["--slots", str(-(-where.ranks // where.hosts)), "--share", str(self.records.absolute().parent)]
        return [*python_command(["-m", "cluster.emulation"]), where.network, str(where.hosts), *slots, "--"]

    def environment(self) -> dict[str, str]:
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        # Containers are often root-only, where Open MPI needs these two.
        names = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
        return {**os.environ, **(dict.fromkeys(names, "1") if is_root and self.configuration.ranks > 1 else {})}

    def records_among(self, records: Iterable[Record], machine: Mapping[str, Any]) -> list[Record]:
        """Return this case's records on a machine and version, one for each seed, of the host with most repetitions.

        ``machine`` is from `counted_environment`.
        """
        where = self.configuration
        key = where.backend, where.recorded, where.ranks, self.workload.name, self.task.problem.sha256
        runs = merge(
            one
            for one in records
            if (one.backend, one.device, one.ranks, one.workload, one.instance_sha256) == key
            and emulated_hosts(one.environment) == where.emulated
            and one.details.get("options") == self.asked
            and where.compiler in ("", one.execution.get("compiler"))
            and one.seed in self.seeds
            and is_counted(one, machine)
        )
        most = {one.seed: one for one in sorted(runs, key=lambda one: len(one.repetitions))}
        return [one for one in runs if most[one.seed] is one]

    def is_complete(self, records: Sequence[Record]) -> bool:
        return {one.seed for one in records if self.is_done(one)} == set(self.seeds)

    def is_done(self, record: Record) -> bool:
        """Return True if the record of one seed needs no further run."""
        if self.measure is None:
            return sum(one.kind == "fixed" for one in record.repetitions) >= self.repeats
        turns = record.turns()
        # Every measurement but the last is complete: a process begins another only after a complete one.
        last = [one.running_s for one in turns[-1]] if turns else []
        return len(turns) > self.turns or (len(turns) == self.turns and MeasuringRule(self.measure).is_enough(last))


def seed_words(seeds: Sequence[int]) -> list[str]:
    return ["--seeds", ",".join(map(str, seeds))] if len(seeds) > 1 else ["--seed", str(seeds[0])]
