"""All cores of this machine: the machine code of `backends.cpu`, called on slices of the teams from a pool of threads.

ctypes gives the interpreter lock back during a call, so there is no threading layer of numba's and none of its hazards.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor, wait

from backends import native
from backends.base import DeviceInfo, Launch, cpu_device
from backends.cpu import CpuBackend, slots


class ThreadsBackend(CpuBackend):
    """Runs each launch on all cores; atomics are real."""

    name = "threads"
    automatic_for = "cores"

    def __init__(self, device: DeviceInfo) -> None:
        super().__init__(device, device.compute_units)
        self.pool = ThreadPoolExecutor(self.workers)

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        return [cpu_device()]

    def execute(self, launch: Launch) -> None:
        began = time.perf_counter()
        packed = slots(launch.arguments)
        entry = native.load(launch.executable)
        total, workers = launch.teams, min(self.workers, launch.teams)
        cuts = [total * k // workers for k in range(workers + 1)]
        jobs = [
            self.pool.submit(entry, begin, end, total, packed.ctypes.data)
            for begin, end in zip(cuts, cuts[1:], strict=False)
        ]
        wait(jobs)
        for job in jobs:
            job.result()
        self.timings.kernel_s += time.perf_counter() - began

    def replay(self, prepared: native.Recorded, times: int) -> None:
        began = time.perf_counter()
        prepared.meeting[:] = 0
        jobs = [self.pool.submit(prepared.run, times, k, self.workers) for k in range(self.workers)]
        wait(jobs)
        for job in jobs:
            job.result()
        self.timings.kernel_s += time.perf_counter() - began

    def close(self) -> None:
        self.pool.shutdown()
