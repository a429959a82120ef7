"""Cases of a plan as tasks of a Dask cluster; its workers need the same installation and file system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from core.errors import UserError
from drivers.experiments.case import Case
from drivers.experiments.executors import Finished
from drivers.experiments.executors.local import run_process
from drivers.experiments.executors.remote import prepare_tasks

if TYPE_CHECKING:
    from distributed import Future

TIMEOUT_S = 10


class DaskExecutor:
    """Runs cases on the workers of the scheduler at an address such as tcp://host:8786.

    A worker started with `--resources "GPU=2 CPU=16"` runs as many cases at once as these allow, a worker without
    resources one in each of its threads.
    """

    elsewhere = True

    def __init__(self, address: str) -> None:
        import_module("distributed")
        self.address = address

    def run(self, cases: Iterable[Case]) -> Iterator[tuple[Case, Finished]]:
        """See `Executor`. Cancel waiting cases if the caller stops. Raises `UserError` without scheduler or workers."""
        from distributed import Client, as_completed

        try:
            client = Client(self.address, timeout=TIMEOUT_S)
        except (OSError, ValueError) as error:
            raise UserError(f"--executor dask: no scheduler answers at {self.address}: {error}") from None
        with client:
            workers = [worker["resources"] for worker in client.scheduler_info(n_workers=-1)["workers"].values()]
            if not workers:
                raise UserError(f"--executor dask: the scheduler at {self.address} has no workers, expected one")
            futures = {}
            for task in prepare_tasks(cases):
                needed = declared_needs({"GPU": task.gpus, "CPU": task.cores}, workers)
                future = client.submit(
                    run_process, task.command, task.environment, key=task.own.stem, resources=needed, retries=0
                )
                futures[future] = task
            try:
                for future in as_completed(futures):
                    task = futures.pop(future)
                    finished = result_of(future)
                    task.end()
                    yield task.case, finished
            finally:
                client.cancel(list(futures))


def declared_needs(needed: Mapping[str, int], workers: Sequence[Mapping[str, float]]) -> dict[str, int]:
    """Return a case's resources, as far as workers declare them, at most those of the largest worker.

    A task with larger needs would wait for ever.
    """
    most = {name: max(one.get(name, 0) for one in workers) for name in needed}
    return {name: int(min(count, most[name])) for name, count in needed.items() if count and most[name]}


def result_of(future: Future) -> Finished:
    """Return the result of an ended task; a lost worker has none."""
    if future.status == "finished":
        return future.result()
    return Finished(1, "", f"error: Dask: {future.exception() if future.status == 'error' else future.status}", 0.0)


executor = DaskExecutor
