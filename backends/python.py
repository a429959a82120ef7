"""Reference interpreter as a backend: every kernel runs as plain Python, slowly and exactly."""

from __future__ import annotations

import time

from backends.cpu.host_memory import HostMemory
from backends.cpu_info import cpu_device
from backends.device import Buffer, Capabilities, DeviceInfo, Launch
from backends.executables import Executables
from core.lang import tree


class PythonBackend(HostMemory):
    """Reference interpreter: runs teams one after the other, and lanes in lockstep between barriers.

    With ``reverse`` lanes run from last to first: a result that changes shows a race between lanes.
    """

    name = "python"
    is_reference = True

    def __init__(self, device: DeviceInfo, reverse: bool = False) -> None:
        super().__init__(device, Capabilities(1024, 1 << 30, 1, 1024))
        self.reverse = reverse

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        return [cpu_device()._replace(name="plain Python on " + cpu_device().name, compute_units=1, kind="core")]

    def rest(self) -> None:
        super().rest()
        self.executables = Executables()  # programs hold their kernels, and kernels hold their executables

    def compile(self, program: tree.Program) -> tree.Program:
        return program

    def execute(self, launch: Launch) -> None:
        from core.lang import reference_interpreter

        began = time.perf_counter()
        values = [a.handle if isinstance(a, Buffer) else a for a in launch.arguments]
        reference_interpreter.run(launch.executable, launch.teams, values, self.reverse)
        self.timings.kernel_s += time.perf_counter() - began
