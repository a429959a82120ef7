"""One core: a kernel's machine code is called once for all its teams, a team being one lane."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from backends import native
from backends.base import Buffer, Capabilities, DeviceInfo, Launch, cpu_device
from backends.host_memory import HostMemory
from core.lang import tree


class CpuBackend(HostMemory):
    """Runs every launch in the calling thread."""

    name = "cpu"
    automatic_for = "core"
    checks = True
    workers = 1

    def __init__(self, device: DeviceInfo, workers: int = 1) -> None:
        super().__init__(device, Capabilities(1, 1 << 22, workers, 1))
        self.workers = workers

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        return [cpu_device()._replace(compute_units=1, kind="core")]

    def compile(self, program: tree.Program) -> str:
        """The path of the object file, which is compiled if no run before has left it."""
        from backends.emit.numba_python import CpuPython

        source = CpuPython(program).source()
        return native.load_or_compile(source, native.object_path(source, program.kernel.name))

    def reload(self, saved: str) -> str | None:
        if native.cpu_tag() not in saved:
            return None
        try:
            native.load(saved)
        except FileNotFoundError:
            return None
        return saved

    def execute(self, launch: Launch) -> None:
        began = time.perf_counter()
        packed = slots(launch.arguments)
        native.load(launch.executable)(0, launch.teams, launch.teams, packed.ctypes.data)
        self.timings.kernel_s += time.perf_counter() - began

    def prepare(self, launches: list[Launch]) -> native.Recorded:
        return native.Recorded(
            [launch.executable for launch in launches],
            [launch.teams for launch in launches],
            [slots(launch.arguments) for launch in launches],
        )

    def replay(self, prepared: native.Recorded, times: int) -> None:
        began = time.perf_counter()
        prepared.run(times, 0, 1)
        self.timings.kernel_s += time.perf_counter() - began


def slots(arguments: tuple[Any, ...]) -> np.ndarray:
    """Arguments as machine code reads them: an address or a scalar in the low bytes of each 64-bit slot."""
    return np.array([*map(slot, arguments), 0], np.uint64)


def slot(value: Any) -> int:
    """One argument as 64 bits."""
    if isinstance(value, Buffer):
        if value.address is None:
            value.address = int(value.handle.ctypes.data)
        return value.address
    if isinstance(value, int):
        return int(value) & 0xFFFFFFFFFFFFFFFF
    bits = np.zeros(1, np.uint64)
    bits.view(value.dtype)[0] = value
    return int(bits[0])
