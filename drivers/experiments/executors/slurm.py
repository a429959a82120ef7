"""Cases of a plan as Slurm jobs by submitit: an array for cases of equal needs, a case a task."""

from __future__ import annotations

import getpass
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from core.errors import UserError
from drivers.experiments.case import Case
from drivers.experiments.executors import Finished
from drivers.experiments.executors.local import run_process
from drivers.experiments.executors.remote import RemoteTask, prepare_tasks

if TYPE_CHECKING:
    from submitit import AutoExecutor, Job

POLL_S = 1.0
RESULT_WAIT_S = 90.0
"""Seconds from a job's end to its result file: NFS caches a folder for up to 60 s."""
DEFAULTS = {"time": 60, "job_name": "onekernel", "use_srun": False}
"""Default settings of a job; time in minutes."""


class SlurmExecutor:
    """Runs cases as Slurm jobs, which request the cores and GPUs of the case.

    Parameters
    ----------
    cluster
        Cluster of `submitit.AutoExecutor`; "local" starts all jobs at once on this machine.
    settings
        Parameters of `submitit.SlurmExecutor`, such as `partition` and `account`. They override those of a case.

    Raises
    ------
    UserError
        Slurm is missing, or a setting is unknown.
    """

    elsewhere = True

    def __init__(self, cluster: str, settings: Mapping[str, int | str]) -> None:
        self.cluster = cluster
        self.settings = settings
        try:
            self._submitter("", {})
        except (RuntimeError, ValueError, NameError) as error:
            raise UserError(f"--executor slurm: {' '.join(str(error).split())}") from None

    def run(self, cases: Iterable[Case]) -> Iterator[tuple[Case, Finished]]:
        """See `Executor`. Cancel all unfinished jobs if the caller stops. Raises `UserError` if Slurm refuses a job."""
        tasks = prepare_tasks(cases)
        folders = {f"{task.own.parent}/slurm" for task in tasks}
        pending: dict[Job, RemoteTask] = {}
        left_queue_at: dict[Job, float] = {}
        try:
            for _, alike in groupby(sorted(tasks, key=needs), key=needs):
                pending |= self._submit(list(alike))
            failed = False
            while pending:
                queued = self._queued()
                for job, task in list(pending.items()):
                    late = False
                    if queued is not None and job.job_id not in queued:
                        now = time.monotonic()
                        late = now - left_queue_at.setdefault(job, now) >= RESULT_WAIT_S
                    if late or job.paths.result_pickle.exists():
                        del pending[job]
                        finished = result_of(job)
                        task.end()
                        failed |= finished.returncode != 0
                        yield task.case, finished
                if pending:
                    time.sleep(POLL_S)
            for folder in () if failed else folders:
                shutil.rmtree(folder)
        finally:
            for job in pending:
                job.cancel()

    def _submit(self, tasks: Sequence[RemoteTask]) -> dict[Job, RemoteTask]:
        """Submit an array of tasks with equal needs; return the tasks by job."""
        from submitit.core.utils import FailedJobError, FailedSubmissionError

        folder, gpus, cores = needs(tasks[0])
        submitter = self._submitter(
            f"{folder}/slurm", {"cpus_per_task": cores} | ({"gpus_per_node": gpus} if gpus else {})
        )
        try:
            jobs = submitter.map_array(run_process, [one.command for one in tasks], [one.environment for one in tasks])
        except (FailedJobError, FailedSubmissionError, OSError) as error:
            why = " ".join(str(error).split()) or error.__cause__  # sbatch may write nothing
            raise UserError(f"--executor slurm: the job cannot be submitted: {why}") from None
        return dict(zip(jobs, tasks, strict=True))

    def _submitter(self, folder: str, needed: Mapping[str, int]) -> AutoExecutor:
        import submitit

        submitter = submitit.AutoExecutor(folder, self.cluster)
        submitter.update_parameters(
            **{f"slurm_{name}": value for name, value in {**DEFAULTS, **needed, **self.settings}.items()}
        )
        return submitter

    def _queued(self) -> set[str] | None:
        """Return the user's jobs in the queue; None if it cannot be read now."""
        if self.cluster != "slurm":
            return None
        listing = ["squeue", "--noheader", "--array", "--format=%i", "--user", getpass.getuser()]
        listed = subprocess.run(listing, capture_output=True, text=True)
        return None if listed.returncode else set(listed.stdout.split())


def needs(task: RemoteTask) -> tuple[str, int, int]:
    """Return the folder, the number of GPUs and the number of cores of a task."""
    return str(task.own.parent), task.gpus, task.cores


def result_of(job: Job) -> Finished:
    """Return the result of an ended job; a job ended by Slurm has none."""
    from submitit.core.utils import UncompletedJobError

    if not job.paths.result_pickle.exists():
        message = f"error: Slurm ended job {job.job_id}, and no result appeared within {RESULT_WAIT_S:.0f} s"
        return Finished(1, "", f"{message}; see {job.paths.stderr}", 0.0)
    try:
        return job.result()
    except UncompletedJobError as error:
        return Finished(1, "", f"error: job {job.job_id}: {error}", 0.0)


def executor(cluster: str = "slurm", **settings: str) -> SlurmExecutor:
    """Return the executor; settings are options of sbatch, such as `partition=gpu` or `time=120` (minutes)."""
    return SlurmExecutor(
        cluster, {name.replace("-", "_"): int(text) if text.isdigit() else text for name, text in settings.items()}
    )
