"""Base of backends in host memory: buffers are NumPy arrays, and ranks of one host can share some of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from backends.cpu.shared_memory import Segment, SharedBuffer
from backends.device import Buffer, OutOfMemory, Shape
from backends.launch import Backend

CACHE_LINE = 64
"""Bytes. Where vectors of 64 bytes lie in two lines each, ants on a core took an eighth longer."""


class HostMemory(Backend):
    """Memory operations of all backends in host memory."""

    memory = "host"

    def allocate(self, shape: Shape, dtype: np.typing.DTypeLike) -> Buffer:
        return host_buffer(shape, dtype)

    def fill(self, buffer: Buffer, host: np.ndarray) -> None:
        began = time.perf_counter()
        buffer.handle[...] = host
        self.timings.transfer_s += time.perf_counter() - began

    def put(self, buffer: Buffer, start: int, host: np.ndarray) -> None:
        buffer.handle[start : start + host.size] = host

    @contextmanager
    def on_host(
        self, buffer: Buffer, start: int, count: int, *, read: bool = True, written: bool = True
    ) -> Iterator[np.ndarray]:
        yield buffer.handle[start : start + count]

    def download(self, buffer: Buffer) -> np.ndarray:
        began = time.perf_counter()
        host = np.array(buffer.handle).reshape(buffer.shape)
        self.timings.transfer_s += time.perf_counter() - began
        self.timings.copied_bytes += host.nbytes
        return host

    def shared(self, size: int, dtype: np.typing.DTypeLike) -> Buffer:
        return SharedBuffer.create(size, dtype, outlives_owner=True)

    def opened(self, segment: Segment, size: int, dtype: np.typing.DTypeLike) -> Buffer:
        return SharedBuffer.opened(segment, (size,), dtype)


def host_buffer(shape: Shape, dtype: np.typing.DTypeLike) -> Buffer:
    """Make a flat buffer in host memory, aligned to a cache line."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    try:
        room = np.empty(size + CACHE_LINE, np.uint8)
        first = -room.ctypes.data % CACHE_LINE
        return Buffer(room[first : first + size].view(dtype), shape, dtype)
    except MemoryError as error:
        raise OutOfMemory(f"{size:,} bytes do not fit the host's memory") from error
