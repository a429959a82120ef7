"""Memory of one NVIDIA GPU: arrays, copies in two streams, and events that time them."""

from __future__ import annotations

import importlib.util
import os
import re
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from backends.cuda.driver import check_driver_call, numba_cuda
from backends.device import Buffer, Capabilities, DeviceInfo, OutOfMemory, Unavailable
from backends.launch import Backend

if TYPE_CHECKING:
    from collections.abc import Callable

    from cuda.bindings.driver import CUevent, CUstream

STAGED_BYTES = 64 << 10
"""Reads of up to this size go through page-locked memory: the driver takes longer to copy to other memory."""


class CudaDevice(Backend):
    """Kernels run in one stream; copies that later kernels need not wait for go through another."""

    @classmethod
    def present(cls, folder: str = "/dev") -> int:
        """Count NVIDIA's GPUs, limited by ``CUDA_VISIBLE_DEVICES``, by device files; 0 without numba-cuda."""
        if importlib.util.find_spec("numba_cuda") is None or not os.path.isdir(folder):
            return 0
        count = sum(re.fullmatch("nvidia[0-9]+", name) is not None for name in os.listdir(folder))
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        if visible is None:
            return count
        # CUDA itself stops at the first entry that names no device.
        named = re.match(r"(?:[0-9A-Za-z/-]*[0-9A-Za-z](?:,|$))*", visible.replace("-1", ""))
        return min(count, len([name for name in named[0].split(",") if name])) if named else 0

    def __init__(self, device: DeviceInfo) -> None:
        self.cuda = numba_cuda()
        super().__init__(device, self.select(int(device.index)))
        self.begin(int(device.index))
        self.staging = self.host_array(STAGED_BYTES, np.uint8)
        self.spans: list[tuple[str, CUevent, CUevent]] = []

    def select(self, index: int) -> Capabilities:
        """Make a GPU this thread's current one; returns its capabilities."""
        self.cuda.select_device(index)
        chip = self.cuda.get_current_device()
        return Capabilities(
            chip.MAX_THREADS_PER_BLOCK,
            chip.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            chip.MULTIPROCESSOR_COUNT,
            chip.MAX_THREADS_PER_MULTIPROCESSOR,
        )

    def begin(self, index: int) -> None:
        """Create the streams of kernels and of copies."""
        from cuda.bindings import driver
        from cuda.core import Device

        core = Device(index)
        core.set_current()
        self.driver = driver
        self.core_stream, self.core_copies = core.create_stream(), core.create_stream()
        self.stream, self.copies = (
            driver.CUstream(int(queue.handle)) for queue in (self.core_stream, self.core_copies)
        )
        self.unused_marks: list[CUevent] = []
        self.waits = 0

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        cuda = numba_cuda()
        if not cuda.is_available():
            reason = " ".join(str(cuda.cuda_error() or "no device found").split())
            raise Unavailable(f"no CUDA driver or device here ({reason})")
        devices = []
        for k, chip in enumerate(cuda.gpus.lst):
            with chip:
                memory = cuda.current_context().get_memory_info().total
                version = ".".join(map(str, cuda.runtime.get_version()))
                name = chip.name.decode() if isinstance(chip.name, bytes) else chip.name
                devices.append(DeviceInfo(str(k), name, f"CUDA {version}", memory, chip.MULTIPROCESSOR_COUNT, "gpu"))
        return devices

    def mark(self, stream: CUstream | None = None) -> CUevent:
        """Record an event in a stream, by default that of the kernels."""
        event = self.unused_marks.pop() if self.unused_marks else check_driver_call(self.driver.cuEventCreate(0))
        check_driver_call(self.driver.cuEventRecord(event, stream or self.stream))
        return event

    def span(self, kind: str, first: CUevent) -> None:
        """Store the time since ``first`` for `synchronize`."""
        self.spans.append((kind, first, self.mark()))

    def allocate(self, shape: int | tuple[int, ...], dtype: np.typing.DTypeLike) -> Buffer:
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        count = max(1, int(np.prod(shape)))
        try:
            return Buffer(self.cuda.device_array(count, dtype), shape, dtype)
        except Exception as error:
            if "OUT_OF_MEMORY" not in str(error):
                raise
            size = count * np.dtype(dtype).itemsize
            raise OutOfMemory(f"{size:,} bytes do not fit {self.device.name}") from error

    def at_address(self, address: int, size: int, dtype: np.typing.DTypeLike, holder: object) -> Buffer:
        """Wrap an address that other code manages as a buffer; the buffer keeps ``holder`` alive."""
        interface = {"shape": (size,), "typestr": np.dtype(dtype).str, "data": (address, False), "version": 3}
        array = SimpleNamespace(__cuda_array_interface__=interface, holder=holder)
        buffer = Buffer(self.cuda.as_cuda_array(array, sync=False), (size,), dtype)
        buffer.address = address
        return buffer

    def address_of(self, buffer: Buffer, start: int = 0) -> int:
        if buffer.address is None:
            buffer.address = int(buffer.handle.__cuda_array_interface__["data"][0])
        return buffer.address + start * buffer.dtype.itemsize

    @property
    def raw_stream(self) -> int:
        return int(self.core_stream.handle)

    def put(self, buffer: Buffer, start: int, host: np.ndarray) -> None:
        first = self.mark()
        self.copy_in(buffer, start, host)
        self.span("transfer", first)

    def copy_in(self, buffer: Buffer, start: int, host: np.ndarray) -> None:
        """Queue a copy to the elements from ``start`` on; ``host`` may change after the return."""
        to = self.address_of(buffer, start)
        if host.size:
            check_driver_call(self.driver.cuMemcpyHtoDAsync(to, host_address(host), host.nbytes, self.stream))

    def copy_back(self, buffer: Buffer, start: int, host: np.ndarray, stream: CUstream) -> None:
        """Queue a copy of the elements from ``start`` on into all of ``host``."""
        source = self.address_of(buffer, start)
        if host.size:
            check_driver_call(self.driver.cuMemcpyDtoHAsync(host_address(host), source, host.nbytes, stream))

    def download(self, buffer: Buffer) -> np.ndarray:
        return self.fetch(buffer, 0, buffer.size).reshape(buffer.shape)

    def read(self, buffer: Buffer, start: int, count: int) -> np.ndarray:
        self.check_part(buffer, start, count)
        return self.fetch(buffer, start, count)

    def fetch(self, buffer: Buffer, start: int, count: int) -> np.ndarray:
        """Return elements of a buffer after all queued work; few elements go through page-locked memory."""
        staged = count * buffer.dtype.itemsize <= STAGED_BYTES
        host = self.staging.view(buffer.dtype)[:count] if staged else np.empty(count, buffer.dtype)
        first = self.mark()
        self.copy_back(buffer, start, host, self.stream)
        self.span("transfer", first)
        self.synchronize()
        self.timings.copied_bytes += host.nbytes
        return host.copy() if staged else host

    def host_array(self, count: int, dtype: np.typing.DTypeLike) -> np.ndarray:
        try:
            return np.asarray(self.cuda.pinned_array(max(1, count), dtype))[:count]
        except Exception as error:  # numba passes on the driver's error
            if "OUT_OF_MEMORY" not in str(error):
                raise
            raise OutOfMemory(f"{count} elements of {np.dtype(dtype)} cannot be page-locked: {error}") from error

    def copy_out(self, buffer: Buffer, start: int, count: int, host: np.ndarray) -> Callable[[], None]:
        queued = self.mark()
        check_driver_call(self.driver.cuStreamWaitEvent(self.copies, queued, 0))
        self.unused_marks.append(queued)
        first = self.mark(self.copies)
        self.copy_back(buffer, start, host, self.copies)
        last = self.mark(self.copies)
        self.spans.append(("transfer", first, last))
        waits = self.waits

        def wait() -> None:
            if self.waits == waits:  # otherwise it has ended, and the mark may belong to another span
                check_driver_call(self.driver.cuEventSynchronize(last))

        return wait

    def synchronize(self) -> None:
        self.wait()
        for kind, first, last in self.spans:
            self.timings.add(kind, self.elapsed(first, last))
        self.spans.clear()

    def wait(self) -> None:
        check_driver_call(self.driver.cuStreamSynchronize(self.stream))
        check_driver_call(self.driver.cuStreamSynchronize(self.copies))
        self.waits += 1

    def elapsed(self, first: CUevent, last: CUevent) -> float:
        """Return the seconds between two marks, which are then reused."""
        self.unused_marks += (first, last)
        return float(check_driver_call(self.driver.cuEventElapsedTime(first, last))) * 1e-3


def host_address(host: np.ndarray) -> int:
    return int(host.__array_interface__["data"][0])
