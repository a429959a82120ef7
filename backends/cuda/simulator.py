"""The CUDA backend in numba's simulator: the same kernels and launches without a GPU, lane by lane and very slowly.

With ``NUMBA_ENABLE_CUDASIM=1``, read by numba at its import, `backends.create("cuda")` uses this class.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from backends.cuda.backend import CudaBackend
from backends.cuda.compiler import CudaExecutable, emitted_kernel
from backends.cuda.driver import NUMBA, numba_cuda
from backends.device import Buffer, Capabilities, DeviceInfo, Launch, Shape
from backends.launch import Backend
from core.lang import tree

if TYPE_CHECKING:
    from collections.abc import Callable


class CudaSimulator(CudaBackend):
    """CUDA backend without driver and graphs. Marks are host times, since a launch has ended when it returns."""

    packs = False
    compilers = (NUMBA,)

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        return [DeviceInfo("0", "numba's CUDA simulator", "simulated", 0, 1, "gpu", compiler=NUMBA)]

    def select(self, index: int) -> Capabilities:
        self.cuda = numba_cuda()
        return Capabilities(1024, 48 << 10, 2, 2048)

    def begin(self, index: int) -> None:
        self.stream = self.cuda.stream()

    def allocate(self, shape: Shape, dtype: np.typing.DTypeLike) -> Buffer:
        return Buffer(self.cuda.device_array(max(1, int(np.prod(shape))), dtype), shape, dtype)

    def host_array(self, count: int, dtype: np.typing.DTypeLike) -> np.ndarray:
        return np.empty(count, dtype)

    def link(self) -> None:
        return None

    def mark(self, stream: object = None) -> float:
        return time.perf_counter()

    def elapsed(self, first: float, last: float) -> float:
        return last - first

    def wait(self) -> None:
        """Do nothing: no work is queued."""

    def copy_in(self, buffer: Buffer, start: int, host: np.ndarray) -> None:
        buffer.handle[start : start + host.size].copy_to_device(host)

    def copy_back(self, buffer: Buffer, start: int, host: np.ndarray, stream: object) -> None:
        host[:] = buffer.handle[start : start + host.size].copy_to_host()

    def copy_out(self, buffer: Buffer, start: int, count: int, host: np.ndarray, beside: bool) -> Callable[[], None]:
        first = self.mark()
        self.copy_back(buffer, start, host, self.stream)
        self.span("transfer", first)
        return lambda: None

    def compile(self, program: tree.Program) -> CudaExecutable:
        from backends.emit.numba_python import SimulatorPython

        dispatcher = emitted_kernel(program, SimulatorPython(program).source())
        return CudaExecutable(program.kernel.name, dispatcher, program.team_size, tree.shared_bytes(program))

    def most_lanes(self, executable: CudaExecutable) -> int:
        return self.capabilities.max_team_size

    def resident_lanes(self, executable: CudaExecutable) -> int:
        return self.capabilities.lanes_resident

    def execute(self, launch: Launch) -> None:
        first = self.mark()
        one: CudaExecutable = launch.executable
        values = [a.handle if isinstance(a, Buffer) else a.dtype.type(a) for a in launch.arguments]
        one.function[launch.teams, one.team_size, self.stream, one.shared](*values)
        self.span("kernel", first)

    prepare = Backend.prepare
