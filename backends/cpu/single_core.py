"""One core: one call of a kernel's machine code runs all its teams, each of one lane."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from backends.cpu import native
from backends.cpu.host_memory import HostMemory
from backends.cpu_info import cpu_device, cpu_tag
from backends.device import Buffer, Capabilities, DeviceInfo, Launch
from core.lang import tree


class CpuBackend(HostMemory):
    """Runs every launch in the calling thread."""

    name = "cpu"
    automatic_for = "core"
    replays_by_itself = True
    packs = True
    shares_executables = True
    replays_host_steps = True
    workers = 1

    def __init__(self, device: DeviceInfo, workers: int = 1) -> None:
        super().__init__(device, Capabilities(1, 1 << 22, workers, 1))
        self.workers = workers

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        return [cpu_device()._replace(compute_units=1, kind="core")]

    def compile(self, program: tree.Program) -> str:
        """Return the path of the object file, compiled if necessary."""
        from backends.emit.numba_python import CpuPython

        source = CpuPython(program).source()
        return native.load_or_compile(source, native.object_path(source, program.kernel.name))

    def reload(self, saved: str) -> str | None:
        if cpu_tag() not in saved:
            return None
        try:
            native.load(saved)
        except FileNotFoundError:
            return None
        return saved

    def pack(self, launch: Launch, places: list[int]) -> PackedSlots:
        return PackedSlots(self, launch, places)

    def run(self, entry: native.MachineCode, teams: int, address: int) -> None:
        """Call machine code for all teams; ``address`` is that of the packed arguments."""
        entry(0, teams, teams, address)

    def prepare(self, launches: list[Any]) -> Callable[[int], None]:
        prepared = native.CompiledReplay(
            [step.executable if isinstance(step, Launch) else step.act for step in launches],
            [step.teams if isinstance(step, Launch) else 1 for step in launches],
            [argument_slots(step.arguments if isinstance(step, Launch) else ()) for step in launches],
        )
        return partial(self.replay, prepared)

    def replay(self, prepared: native.CompiledReplay, times: int) -> None:
        began = time.perf_counter()
        self.run_recorded(prepared, times)
        self.timings.kernel_s += time.perf_counter() - began - prepared.host_seconds()

    def run_recorded(self, prepared: native.CompiledReplay, times: int) -> None:
        prepared.run(times, 0, 1)


class PackedSlots:
    """A launch's arguments in slots of 64 bits."""

    def __init__(self, backend: CpuBackend, launch: Launch, places: list[int]) -> None:
        self.backend = backend
        self.entry = native.load(launch.executable)
        slots = argument_slots(launch.arguments)
        self.slots, self.address = slots.data, slots.ctypes.data
        self.numbers = [(struct.Struct(launch.arguments[k].dtype.char).pack_into, 8 * k) for k in places]

    def put(self, numbers: list[Any]) -> None:
        """Store numbers in their slots, which machine code reads as far as their types reach."""
        for value, (pack_into, offset) in zip(numbers, self.numbers, strict=True):
            pack_into(self.slots, offset, value)

    def start(self, teams: int) -> None:
        began = time.perf_counter()
        self.backend.run(self.entry, teams, self.address)
        self.backend.timings.kernel_s += time.perf_counter() - began


def argument_slots(arguments: tuple[Any, ...]) -> np.ndarray:
    """Return arguments as machine code reads them: an address or a scalar in the low bytes of each 64-bit slot."""
    return np.array([*map(argument_slot, arguments), 0], np.uint64)


def argument_slot(value: Buffer | int | np.generic) -> int:
    if isinstance(value, Buffer):
        if value.address is None:
            value.address = int(value.handle.ctypes.data)
        return value.address
    if isinstance(value, int):
        return int(value) & 0xFFFFFFFFFFFFFFFF
    bits = np.zeros(1, np.uint64)
    bits.view(value.dtype)[0] = value
    return int(bits[0])
