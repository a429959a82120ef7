"""Memory of one NVIDIA GPU: arrays, copies in two streams, and events that time them."""

from __future__ import annotations

import ctypes
import os
import re
import weakref
from typing import TYPE_CHECKING

import numpy as np

from backends.cuda.driver import check_driver_call, default_compiler, device_attribute, is_installed, load_driver
from backends.device import Buffer, Capabilities, DeviceInfo, OutOfMemory, Shape
from backends.launch import Backend

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from cuda.bindings.driver import CUevent, CUstream

STAGED_BYTES = 64 << 10
"""Reads of up to this size go through page-locked memory: the driver takes longer to copy to other memory."""


class CudaDevice(Backend):
    """Kernels run in one stream; copies that later kernels need not wait for go through another."""

    @classmethod
    def present(cls, folder: str = "/dev") -> int:
        """Count NVIDIA's GPUs, limited by ``CUDA_VISIBLE_DEVICES``, by device files; 0 without cuda.core."""
        if not is_installed("cuda.core") or not os.path.isdir(folder):
            return 0
        count = sum(re.fullmatch("nvidia[0-9]+", name) is not None for name in os.listdir(folder))
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        if visible is None:
            return count
        # CUDA itself stops at the first entry that names no device.
        named = re.match(r"(?:[0-9A-Za-z/-]*[0-9A-Za-z](?:,|$))*", visible.replace("-1", ""))
        return min(count, len([name for name in named[0].split(",") if name])) if named else 0

    def __init__(self, device: DeviceInfo) -> None:
        super().__init__(device, self.select(int(device.index)))
        self.begin(int(device.index))
        self.staging = self.host_array(STAGED_BYTES, np.uint8)
        self.spans: list[tuple[str, CUevent, CUevent, int]] = []

    def select(self, index: int) -> Capabilities:
        """Make a GPU this thread's current one; returns its capabilities."""
        self.driver = load_driver()
        from cuda.core import Device

        self.core = Device(index)
        self.core.set_current()
        return Capabilities(
            device_attribute(index, "MAX_THREADS_PER_BLOCK"),
            device_attribute(index, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
            device_attribute(index, "MULTIPROCESSOR_COUNT"),
            device_attribute(index, "MAX_THREADS_PER_MULTIPROCESSOR"),
        )

    def begin(self, index: int) -> None:
        """Create the streams of kernels and of copies."""
        self.core_stream, self.core_copies = self.core.create_stream(), self.core.create_stream()
        self.stream, self.copies = (
            self.driver.CUstream(int(queue.handle)) for queue in (self.core_stream, self.core_copies)
        )
        self.unused_marks: list[CUevent] = []
        self.waits, self.copied_at = 0, -1

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        driver = load_driver()
        version = int(check_driver_call(driver.cuDriverGetVersion()))
        named, compiler = f"CUDA {version // 1000}.{version % 1000 // 10}", default_compiler()
        devices = []
        for k in range(check_driver_call(driver.cuDeviceGetCount())):
            chip = check_driver_call(driver.cuDeviceGet(k))
            name = check_driver_call(driver.cuDeviceGetName(256, chip)).partition(b"\0")[0].decode()
            memory = int(check_driver_call(driver.cuDeviceTotalMem(chip)))
            units = device_attribute(k, "MULTIPROCESSOR_COUNT")
            devices.append(DeviceInfo(str(k), name, named, memory, units, "gpu", compiler=compiler))
        return devices

    def record_event(self, stream: CUstream) -> CUevent:
        event = self.unused_marks.pop() if self.unused_marks else check_driver_call(self.driver.cuEventCreate(0))
        check_driver_call(self.driver.cuEventRecord(event, stream))
        return event

    def mark(self, stream: CUstream | None = None) -> CUevent | None:
        """Record an event in a stream, by default that of the kernels; None without a `timing_weight`."""
        return self.record_event(self.stream if stream is None else stream) if self.timing_weight else None

    def span(self, kind: str, first: CUevent | None, stream: CUstream | None = None) -> CUevent | None:
        """Store the time since ``first`` for `synchronize`, and return its end; nothing if it is None."""
        if first is not None and (last := self.mark(stream)) is not None:
            self.spans.append((kind, first, last, self.timing_weight))
            return last
        return None

    def allocate(self, shape: Shape, dtype: np.typing.DTypeLike) -> Buffer:
        size = max(1, int(np.prod(shape))) * np.dtype(dtype).itemsize
        try:
            memory = DeviceMemory(self.driver, size)
        except OutOfMemory:
            raise OutOfMemory(f"{size:,} bytes do not fit {self.device.name}") from None
        return self.at_address(memory.address, shape, dtype, memory)

    def at_address(self, address: int, shape: Shape, dtype: np.typing.DTypeLike, holder: object) -> Buffer:
        """Return a buffer of memory that other code manages; the buffer keeps ``holder`` alive."""
        buffer = Buffer(holder, shape, dtype)
        buffer.address = address
        return buffer

    def address_of(self, buffer: Buffer, start: int = 0) -> int:
        assert buffer.address is not None
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
            source = int(host.__array_interface__["data"][0])
            check_driver_call(self.driver.cuMemcpyHtoDAsync(to, source, host.nbytes, self.stream))

    def copy_back(self, buffer: Buffer, start: int, host: np.ndarray, stream: CUstream) -> None:
        """Queue a copy of the elements from ``start`` on into all of ``host``."""
        source = self.address_of(buffer, start)
        if host.size:
            to = ctypes.addressof(ctypes.c_char.from_buffer(host.data))  # 0.6 us less than NumPy's interface takes
            check_driver_call(self.driver.cuMemcpyDtoHAsync(to, source, host.nbytes, stream))

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
        size = max(1, count) * np.dtype(dtype).itemsize
        try:
            address = int(check_driver_call(self.driver.cuMemHostAlloc(size, 0)))
        except OutOfMemory:
            raise OutOfMemory(f"{count} elements of {np.dtype(dtype)} cannot be page-locked") from None
        memory = (ctypes.c_uint8 * size).from_address(address)
        weakref.finalize(memory, self.driver.cuMemFreeHost, address).atexit = False
        return np.ctypeslib.as_array(memory).view(dtype)[:count]

    def copy_out(self, buffer: Buffer, start: int, count: int, host: np.ndarray, beside: bool) -> Callable[[], None]:
        stream, waits = (self.copies if beside else self.stream), self.waits
        if beside:
            self.copied_at = waits
            queued = self.record_event(self.stream)
            check_driver_call(self.driver.cuStreamWaitEvent(stream, queued, 0))
            self.unused_marks.append(queued)
        first = self.mark(stream)
        self.copy_back(buffer, start, host, stream)
        last = self.span("transfer", first, stream)

        def wait() -> None:
            if self.waits == waits and last is not None:  # after another wait the mark may be reused
                check_driver_call(self.driver.cuEventSynchronize(last))
            elif self.waits == waits:
                self.wait()

        return wait

    def synchronize(self) -> None:
        self.wait()
        for kind, first, last, weight in self.spans:
            self.timings.add(kind, weight * self.elapsed(first, last))
        self.spans.clear()

    def wait(self) -> None:
        check_driver_call(self.driver.cuStreamSynchronize(self.stream))
        if self.copied_at == self.waits:
            check_driver_call(self.driver.cuStreamSynchronize(self.copies))
        self.waits += 1

    def elapsed(self, first: CUevent, last: CUevent) -> float:
        """Return the seconds between two marks, which are then reused."""
        self.unused_marks += (first, last)
        return float(check_driver_call(self.driver.cuEventElapsedTime(first, last))) * 1e-3


class DeviceMemory:
    """Memory of the current device from ``address`` on, freed with the last reference; raises `OutOfMemory`."""

    def __init__(self, driver: ModuleType, size: int) -> None:
        self.address = int(check_driver_call(driver.cuMemAlloc(size)))
        weakref.finalize(self, driver.cuMemFree, self.address).atexit = False
