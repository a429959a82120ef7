"""All cores of this machine: threads call the machine code of `backends.cpu.single_core` on slices of the teams.

The launching thread is one of them. All threads stay active during a recording with steps of other ranks: starting them
for every launch took 80 us an iteration of PPP even with one worker.

ctypes releases the interpreter lock during a call, so numba's threading layers are not needed.
"""

from __future__ import annotations

from backends.cpu import native
from backends.cpu.single_core import CpuBackend
from backends.cpu.worker_threads import WorkerThreads
from backends.cpu_info import cpu_device
from backends.device import DeviceInfo


class ThreadsBackend(CpuBackend):
    """Runs each launch on all cores, or on the number of its device; atomics are real."""

    name = "threads"
    automatic_for = "cores"
    takes_cores = True

    def __init__(self, device: DeviceInfo) -> None:
        super().__init__(device, device.compute_units)
        self.threads = WorkerThreads(self.workers - 1)

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        return [cpu_device()]

    def run(self, entry: native.MachineCode, teams: int, address: int) -> None:
        """Call machine code for all teams, a slice in each thread and the last slice in this one."""
        others = min(self.workers, teams) - 1
        if others:
            self.threads.run(entry.address, teams, address, others)
        else:
            entry(0, teams, teams, address)

    def run_recorded(self, prepared: native.CompiledReplay, times: int) -> None:
        """Run a recording in all threads; this thread is the last, since MPI needs the host's steps in it."""
        if self.workers == 1:
            prepared.run(times, 0, 1)
            return
        prepared.arrivals[:] = 0
        self.threads.run(prepared.entry.address, times, prepared.slots.ctypes.data, self.workers - 1, whole=True)

    def close(self) -> None:
        self.threads.close()
