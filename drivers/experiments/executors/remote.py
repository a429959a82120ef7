"""Cases of a plan on other machines with a shared file system: each writes a separate file of records.

These files are in a folder beside the plan's file. They are joined with it when the case ends, or when an interrupted
plan resumes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from drivers.experiments.case import Case
from reports.records.files import UnequalWorkError, append, load, load_existing, merge_lines

GPU = "gpu"


def prepare_tasks(cases: Iterable[Case]) -> list[RemoteTask]:
    """Return the tasks of cases, after joining records left by an interrupted plan."""
    tasks = [RemoteTask(case) for case in cases]
    for folder in {task.own.parent for task in tasks}:
        for own in sorted(folder.glob("*.jsonl")):
            join(own, folder.with_suffix(".jsonl"))
    for task in tasks:
        task.begin()
    return tasks


def tasks_folder(records: Path) -> Path:
    """Return the folder of the records of a plan's unfinished cases."""
    return records.with_suffix(".tasks")


def join(own: Path, records: Path) -> None:
    """Append to a plan's file the repetitions that only a case's file has, and remove that file."""
    if not own.exists():
        return
    held = load_existing(records)
    for record in load(own):
        known = [run for one in held if one.identity == record.identity for run in one.repetitions]
        new = tuple(run for run in record.repetitions if run not in known)
        if new:
            append(records, record.with_repetitions(new, record.verified))
            # The plan reports unequal work when it reads the records.
            with suppress(UnequalWorkError):
                merge_lines(records, record.identity)
    own.unlink()


class RemoteTask:
    """A case with a separate file of records.

    Attributes
    ----------
    own : Path
        File of its records, with the same name for the same command line.
    command, environment
        Command line that writes records there, and variables that differ from this process's.
    """

    def __init__(self, case: Case) -> None:
        self.case = case
        records = case.records.absolute()
        name = hashlib.blake2b("\0".join(case.command()).encode(), digest_size=8).hexdigest()
        self.own = tasks_folder(records) / f"{name}.jsonl"
        self.command = replace(case, records=self.own).command()
        self.environment = {name: value for name, value in case.environment().items() if os.environ.get(name) != value}

    def begin(self) -> None:
        """Copy recorded repetitions to the case's file, so that the case continues after them."""
        self.own.parent.mkdir(parents=True, exist_ok=True)
        problem, place = self.case.task.problem, self.case.configuration
        for record in load_existing(self.case.records):
            if (record.instance_sha256, record.backend, record.ranks) == (problem.sha256, place.backend, place.ranks):
                append(self.own, record)

    def end(self) -> None:
        join(self.own, self.case.records)

    @property
    def gpus(self) -> int:
        """Number of GPUs: one for each rank, and enough for the device's number."""
        place = self.case.configuration
        if place.kind != GPU:
            return 0
        return max(place.ranks, int(place.device) + 1 if place.device.isdigit() else 1)

    @property
    def cores(self) -> int:
        """Number of cores over all ranks; a device of all cores has as many as this machine."""
        from reports.records.environment import cores

        place = self.case.configuration
        each = (place.cores or cores()) if place.kind == "cores" else 1
        return place.ranks * each
