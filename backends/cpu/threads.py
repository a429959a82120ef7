"""All cores of this machine: threads call the machine code of `backends.cpu.single_core` on slices of the teams.

The launching thread is one of them. All threads stay active during a recording with steps of other ranks: starting them
for every launch took 80 us an iteration of PPP even with one worker.

ctypes releases the interpreter lock during a call, so numba's threading layers are not needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from backends.cpu import native
from backends.cpu.single_core import CpuBackend
from backends.cpu_info import cpu_device
from backends.device import DeviceInfo

if TYPE_CHECKING:
    from concurrent.futures import Future


class ThreadsBackend(CpuBackend):
    """Runs each launch on all cores, or on the number of its device; atomics are real."""

    name = "threads"
    automatic_for = "cores"
    takes_cores = True

    def __init__(self, device: DeviceInfo) -> None:
        from concurrent.futures import ThreadPoolExecutor

        super().__init__(device, device.compute_units)
        self.pool = ThreadPoolExecutor(max(1, self.workers - 1))

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        return [cpu_device()]

    def run(self, entry: Any, teams: int, address: int) -> None:
        """Call machine code for all teams, one slice in every worker and the last slice in this thread."""
        workers = min(self.workers, teams)
        cuts = [teams * k // workers for k in range(workers + 1)]
        jobs = [self.pool.submit(entry, cuts[k], cuts[k + 1], teams, address) for k in range(workers - 1)]
        entry(cuts[-2], teams, teams, address)
        finish(jobs)

    def run_recorded(self, prepared: native.CompiledReplay, times: int) -> None:
        """Run a recording in all workers; this thread is the last, since MPI needs the host's steps in it."""
        prepared.arrivals[:] = 0
        last = self.workers - 1
        jobs: list[Future[None]] = []
        try:
            jobs += [self.pool.submit(prepared.run, times, k, self.workers) for k in range(last)]
            prepared.run(times, last, self.workers)
        except BaseException:
            prepared.release()
            raise
        finally:
            finish(jobs)

    def close(self) -> None:
        self.pool.shutdown()


def finish(jobs: Sequence[Future[None]]) -> None:
    """Wait until all jobs have ended, and raise the error of one that failed."""
    from concurrent.futures import wait

    wait(jobs)
    for job in jobs:
        job.result()
