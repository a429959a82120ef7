"""All cores of this machine: the machine code of `backends.cpu`, called on slices of the teams from a pool of threads.

ctypes gives the interpreter lock back during a call, so there is no threading layer of numba's and none of its hazards.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from backends import native
from backends.base import DeviceInfo, cpu_device
from backends.cpu import CpuBackend

if TYPE_CHECKING:
    from concurrent.futures import Future


class ThreadsBackend(CpuBackend):
    """Runs each launch on all cores, or on as many as its device says; atomics are real."""

    name = "threads"
    automatic_for = "cores"
    takes_cores = True

    def __init__(self, device: DeviceInfo) -> None:
        from concurrent.futures import ThreadPoolExecutor

        super().__init__(device, device.compute_units)
        self.pool = ThreadPoolExecutor(self.workers)

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        return [cpu_device()]

    def run(self, entry: Any, teams: int, address: int) -> None:
        """Call machine code for all teams, a slice of them in every worker."""
        workers = min(self.workers, teams)
        cuts = [teams * k // workers for k in range(workers + 1)]
        jobs = [self.pool.submit(entry, begin, end, teams, address) for begin, end in zip(cuts, cuts[1:], strict=False)]
        finish(jobs)

    def replay(self, prepared: native.Recorded, times: int) -> None:
        began = time.perf_counter()
        prepared.meeting[:] = 0
        jobs = [self.pool.submit(prepared.run, times, k, self.workers) for k in range(self.workers)]
        finish(jobs)
        self.timings.kernel_s += time.perf_counter() - began

    def close(self) -> None:
        self.pool.shutdown()


def finish(jobs: Sequence[Future[None]]) -> None:
    """Wait until all jobs are over, and raise what one of them raised."""
    from concurrent.futures import wait

    wait(jobs)
    for job in jobs:
        job.result()
