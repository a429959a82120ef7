"""Identity of a run, its checkpoints' and its records', and a line of the file for each repetition."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from drivers.cli.messages import print_note
from drivers.workload.declaration import RepeatedRun, RepetitionResult, Workload
from drivers.workload.history import MOST_ROWS, thin_rows

if TYPE_CHECKING:
    from drivers.runs.checkpoint_file import CheckpointIdentity
    from drivers.workload.run_time import WorkUnit
    from reports.records.schema import Repetition

FOLDERS = re.compile(r"(?<= )/.*/")
"""Folders of this machine in the text of an instance's source: of a file only the name is recorded."""


class RunRecorder:
    """Records of one run; the first rank reads and writes them.

    Attributes
    ----------
    hosts : int
        Number of machines of the ranks.
    """

    def __init__(self, workload: Workload[Any], run: RepeatedRun, work_unit: WorkUnit) -> None:
        self.workload = workload
        self.work_unit = work_unit
        self.run = run
        self.options = run.options
        self.path = run.options.record or ""
        self.ranks = run.ranks
        self.hosts = 1

    @functools.cached_property
    def sha256(self) -> str:
        """Digest of the problem at the start of the run, though its data may change later."""
        return self.run.problem.sha256

    @property
    def parameters(self) -> dict[str, Any]:
        return {**self.options.deciding("work"), **self.workload.parameters(self.run)}

    @property
    def execution(self) -> dict[str, Any]:
        """Execution settings, which affect only the speed: the same work has the same hash under all of them.

        `pin_cores` is present only if it is not the default, `compiler` only on devices with a choice.
        """
        apart: dict[str, Any] = {"pin_cores": True} if self.options.pin_cores else {}
        if compiler := self.run.search.backend.device.compiler:
            apart["compiler"] = compiler
        return {**apart, **self.options.deciding("execution"), **self.workload.execution(self.run)}

    @functools.cached_property
    def environment(self) -> dict[str, Any]:
        """The environment, read once: `git` looks at every file."""
        from reports.records.environment import environment

        return environment(self.hosts)

    def identified(self) -> dict[str, Any]:
        backend = self.run.search.backend
        return {
            "workload": self.workload.name,
            "instance_sha256": self.sha256,
            "parameters": self.parameters,
            "execution": self.execution,
            "seed": self.options.seed,
            "backend": backend.name,
            "device": backend.device.part or self.options.device,
            "ranks": self.ranks.size + len(self.ranks.lost),
            "environment": self.environment,
        }

    def checkpoint_identity(self, repetition: int) -> CheckpointIdentity:
        from drivers.runs.checkpoint_file import CheckpointIdentity

        about = self.workload.name, self.run.problem.name, self.sha256, self.options.seed, self.parameters
        return CheckpointIdentity(*about, self.options.keeps_history, repetition)

    def find(self) -> tuple[str, Sequence[Repetition]]:
        """Return this run's identity, and its repetitions in the file.

        A run with a checkpoint may resume with other execution settings: then repetitions with any settings count.
        """
        from reports.records.files import find_run, refuse_namesake, repetitions_of_work
        from reports.records.schema import identity

        path, sha256 = self.path, self.sha256
        refuse_namesake(path, self.workload.name, self.run.problem.name, sha256)
        run = identity(self.identified())
        done = find_run(path, run)
        if done is not None and not done.verified:
            print_note(f"{path}: not all repetitions of this run are confirmed")
        if self.options.checkpoint:
            return run, repetitions_of_work(path, self.workload.name, sha256, self.parameters, self.options.seed)
        return run, done.repetitions if done else []

    def append(self, result: RepetitionResult, spent: Repetition, verified: bool, details: Mapping[str, Any]) -> None:
        """Add a repetition to the file, with further details than the device's."""
        from msgspec.structs import replace

        from reports.rates import BEST_CORE
        from reports.records.files import Record, append
        from reports.records.programs import program_digests

        outcome, backend = result.outcome, self.run.search.backend
        device, history = backend.device, outcome.history
        if history is not None and spent.kind in ("fixed", "proof"):
            spent = replace(spent, history=thin_rows(history, MOST_ROWS))
        if self.ranks.lost:
            spent = replace(spent, rank_s=None)
        about = {
            "title": self.workload.title,
            "noun": self.workload.noun,
            "instance_source": FOLDERS.sub("", self.run.source),
            "optimum": self.run.problem.optimum,
            **({"maximises": True} if self.workload.maximises else {}),
            **({BEST_CORE: self.options.best_core_of} if self.options.best_core_of else {}),
            "device_name": device.name,
            **({"cores_per_rank": device.compute_units} if device.part else {}),
            "device_driver": device.driver,
            "simulated": device.driver == "simulated",
            "reference": backend.is_reference,
            "programs": program_digests(backend.launched),
        }
        append(
            self.path,
            Record.checked(
                **self.identified(),
                instance=self.run.problem.name,
                device_kind=device.kind,
                best_cost=outcome.cost,
                best_index=result.index,
                evaluations=outcome.evaluations,
                evaluation_unit=self.run.search.unit,
                hash=outcome.hash,
                hash_scope=self.workload.hash_scope,
                details={**result.details, **details, **about},
                repetitions=(spent,),
                verified=verified,
                work_unit=self.work_unit.name,
            ),
        )
