"""A case: one row of a plan, run in a separate process and recorded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cluster.launch.commands import find_mpirun, python_command
from drivers.experiments.configurations import ONE_CORE, Configuration
from drivers.workload.declaration import Task, Workload
from drivers.workload.run_time import RepetitionWork
from reports.comparison.speedups import NotRun
from reports.records.environment import ROOT, emulated_hosts
from reports.records.files import Record, merge

PIN_CORES = "--pin-cores"
"""Option of programs by which ranks keep to cores of their own."""
NOWHERE = Configuration("", "", "")
"""Configuration of a case before `Case.on` sets one."""


OF_A_HOST = (
    *("host", "os", "cpu_model", "cores", "host_count", "sockets", "physical_cores", "hardware_threads"),
    *("cpu_mhz_nominal", "cpu_mhz_max", "virtual", "memory_gib", "gpus", "gpu_driver"),
)
"""Names in a record's environment that describe the host."""


def counted_environment(*, elsewhere: bool) -> dict[str, Any]:
    """Return what the environment of a record must have to count: this host and version, or elsewhere the version."""
    from reports.records.environment import environment

    return {name: value for name, value in environment().items() if not (elsewhere and name in OF_A_HOST)}


def is_counted(record: Record, machine: Mapping[str, Any]) -> bool:
    """Return True if a record's environment has all that `counted_environment` returned."""
    return all(record.environment.get(name) == value for name, value in machine.items())


@dataclass(frozen=True)
class Case:
    """A workload with its settings on an instance, and the configuration that runs it.

    Attributes
    ----------
    workload
        The declaration.
    task
        The problem, as this process loaded it.
    arguments : tuple of str
        Of the program, without the seeds and those that the configuration adds.
    asked
        See `drivers.options.declaration.Options.asked`.
    seeds, repeats
        Runs, and repetitions of each.
    records : Path
        File of records.
    configuration
        Backend, device, and numbers of ranks and cores.
    peers : bool
        True to run reference solvers with the run on one core.
    about : str
        Text that distinguishes the case from others of the same workload and problem; may be empty.
    work : RepetitionWork, optional
        Work of a repetition, for the estimate; None if unknown in advance.

    """

    workload: Workload[Any]
    task: Task
    arguments: tuple[str, ...]
    asked: dict[str, Any]
    seeds: tuple[int, ...]
    repeats: int
    records: Path
    configuration: Configuration = NOWHERE
    peers: bool = False
    about: str = ""
    work: RepetitionWork | None = None

    def __str__(self) -> str:
        """Name the workload, the problem and the configuration, as messages do."""
        return f"{self.named} on {self.configuration}"

    def on(self, configuration: Configuration) -> Case:
        """Return the same work on a configuration."""
        return replace(self, configuration=configuration)

    @property
    def named(self) -> str:
        """The workload, the problem, and what else is said of the case."""
        return ", ".join(filter(None, (self.workload.name, self.task.problem.name, self.about)))

    @property
    def is_of_one_core(self) -> bool:
        """True if the case runs on one core."""
        return self.configuration.kind == ONE_CORE and self.configuration.ranks == 1

    @property
    def iterations(self) -> int:
        """Iterations that the case asks for; 0 if it names no number."""
        return int(self.asked.get("iterations") or 0)

    @property
    def runs_peers(self) -> bool:
        """True if reference solvers, which run on one core, run with this case."""
        return self.peers and self.is_of_one_core

    def command(self) -> list[str]:
        """Return the command line that runs the case and records it."""
        where = self.configuration
        command = [*python_command(self.workload.started), *self.arguments, *seed_words(self.seeds)]
        command += ["--backend", where.backend, "--device", where.device]
        command += ["--cores", str(where.cores)] if where.cores is not None else []
        command += ["--repeats", str(self.repeats), "--record", str(self.records), "--no-progress"]
        command += ["--peers"] if self.runs_peers else []
        launcher = find_mpirun()
        if where.ranks > 1 and launcher:
            # Open MPI may bind a rank to a core, which would leave `threads` one of them. Ranks that keep to cores of
            # their own choose from all.
            # Emulated hosts share the same cores, and each would bind its first rank to the first of them.
            free = where.kind != ONE_CORE or PIN_CORES in self.arguments or where.network
            bound = ["--bind-to", "none"] if free else []
            command = [launcher, "-n", str(where.ranks), "--map-by", ":OVERSUBSCRIBE", *bound, *command]
        return [*self.emulator(), *command]

    def emulator(self) -> list[str]:
        """Return the words before a command that runs it on emulated hosts; none on real ones."""
        where = self.configuration
        if not where.network:
            return []
        slots = ["--slots", str(-(-where.ranks // where.hosts)), "--share", str(self.records.absolute().parent)]
        return [*python_command(["-m", "tests.hosts"]), where.network, str(where.hosts), *slots, "--"]

    def environment(self) -> dict[str, str]:
        """Return the environment variables of the command."""
        inherited = dict(os.environ)
        if self.configuration.ranks > 1 and os.geteuid() == 0:
            # Containers are often root-only; without these two Open MPI refuses to start there.
            inherited |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        if self.configuration.network:
            inherited["PYTHONPATH"] = str(ROOT)
        return inherited

    def records_among(
        self, records: Iterable[Record], machine: Mapping[str, Any], *, alike: bool = False
    ) -> list[Record]:
        """Return the records of this case on a machine and version, one for each seed.

        ``machine`` is that of `counted_environment`. Of several hosts the one with the most repetitions counts.
        With `alike`, of runs too that were asked for in other words and say of themselves what this case asks for.
        """
        where = self.configuration
        key = where.backend, where.recorded, where.ranks, self.workload.name, self.task.problem.sha256
        found = merge(
            one
            for one in records
            if (one.backend, one.device, one.ranks, one.workload, one.instance_sha256) == key
            and emulated_hosts(one.environment) == where.emulated
            and (
                one.details.get("options") == self.asked
                or (alike and self.asked.items() <= {**one.parameters, **one.execution}.items())
            )
            and one.seed in self.seeds
            and is_counted(one, machine)
        )
        most = {one.seed: one for one in sorted(found, key=lambda one: len(one.repetitions))}
        return [one for one in found if alike or most[one.seed] is one]

    def is_complete(self, records: Sequence[Record]) -> bool:
        """Return True if every seed has all its repetitions in its records."""
        return {one.seed for one in records if len(one.repetitions) >= self.repeats} == set(self.seeds)

    def not_run(self, reason: str) -> NotRun:
        """Return the reason why the case has no row in a table."""
        where = self.configuration
        return NotRun(where.backend, where.recorded, where.ranks, reason)


def seed_words(seeds: Sequence[int]) -> list[str]:
    """Return the option that names the seeds."""
    return ["--seeds", ",".join(map(str, seeds))] if len(seeds) > 1 else ["--seed", str(seeds[0])]
