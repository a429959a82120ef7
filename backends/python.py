"""The oracle as a backend: every kernel runs as plain Python. Slow, exact, and what all others are tested against."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from backends.base import Backend, Buffer, Capabilities, DeviceInfo, Launch, OutOfMemory, cpu_device
from core.lang import oracle, tree


class PythonBackend(Backend):
    """Runs teams one after the other, and lanes in lockstep between barriers.

    Parameters
    ----------
    device
        What `devices` lists.
    reverse
        Run lanes from last to first: a result that changes shows a race between lanes.

    """

    name = "python"
    oracle = True
    memory = "host"

    def __init__(self, device: DeviceInfo, reverse: bool = False) -> None:
        super().__init__(device, Capabilities(1024, 1 << 30, 1, 1024))
        self.reverse = reverse

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        return [cpu_device()._replace(name="plain Python on " + cpu_device().name, compute_units=1, kind="core")]

    def allocate(self, shape: Any, dtype: Any) -> Buffer:
        return host_buffer(shape, dtype)

    def fill(self, buffer: Buffer, host: np.ndarray) -> None:
        buffer.handle[...] = host

    def put(self, buffer: Buffer, start: int, host: np.ndarray) -> None:
        buffer.handle[start : start + host.size] = host

    @contextmanager
    def on_host(
        self, buffer: Buffer, start: int, count: int, *, read: bool = True, written: bool = True
    ) -> Iterator[np.ndarray]:
        """The elements themselves: the device's memory is the host's."""
        yield buffer.handle[start : start + count]

    def download(self, buffer: Buffer) -> np.ndarray:
        host = np.array(buffer.handle).reshape(buffer.shape)
        self.timings.copied_bytes += host.nbytes
        return host

    def compile(self, program: tree.Program) -> tree.Program:
        return program

    def execute(self, launch: Launch) -> None:
        began = time.perf_counter()
        values = [a.handle if isinstance(a, Buffer) else a for a in launch.arguments]
        oracle.run(launch.executable, launch.teams, values, self.reverse)
        self.timings.kernel_s += time.perf_counter() - began


def host_buffer(shape: Any, dtype: Any) -> Buffer:
    """A buffer in host memory, flat."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    count = int(np.prod(shape))
    try:
        return Buffer(np.empty(count, dtype), shape, dtype)
    except MemoryError as error:
        size = count * np.dtype(dtype).itemsize
        raise OutOfMemory(f"{size:,} bytes do not fit the host's memory") from error
