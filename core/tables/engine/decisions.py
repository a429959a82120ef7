"""Rows of packed decisions from which a solution is traced: on the device, or pushed to the host if they do not fit.

A row has the decisions of one launch (or one wave). Rows are stored in chunks. If not all chunks fit, a full chunk is
copied to the host while later launches run, and comes back when the trace reaches it, as finished cells do in the paper
(`oconnell2014`, section IV.A).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike

from core.errors import NoRoom
from core.granted_cores import memory_bytes
from core.run.devices import ComputeDevice, DeviceArray

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Files with the memory limit of a container, in both generations of Linux control groups."""


def host_memory(backend: ComputeDevice, elements: int, dtype: DTypeLike, what: str, folder: str | None) -> np.ndarray:
    """Reserve memory in advance, in a file of ``folder`` if given; ``what`` names the elements in the `NoRoom`."""
    dtype = np.dtype(dtype)
    size = elements * dtype.itemsize
    if size == 0:
        return np.empty(0, dtype)
    if folder is None:
        available = available_bytes()
        refusal = f"{size} bytes of {what} do not fit the host's memory; give --spill DIR ({available} bytes are there)"
        # Linux promises more memory than there is, and ends the process that uses it.
        if size > available:
            raise NoRoom(refusal)
        try:
            return np.asarray(backend.host_array(elements, dtype))
        except MemoryError as error:
            raise NoRoom(refusal) from error
    if not hasattr(os, "posix_fallocate"):
        raise NoRoom(f"--spill {folder}: {size} bytes of {what}: this system reserves no space of a disk")
    try:
        with tempfile.TemporaryFile(dir=folder) as file:  # the map keeps its content
            os.posix_fallocate(file.fileno(), 0, size)  # fails on a full disk, before any computation
            return np.memmap(file, dtype, "r+", shape=(elements,))
    except OSError as error:
        space = f" ({shutil.disk_usage(folder).free} bytes are there)" if os.path.isdir(folder) else ""
        raise NoRoom(f"--spill {folder}: {size} bytes of {what} do not fit: {error.strerror}{space}") from error


def available_bytes() -> int:
    """Return the bytes of memory that this process may use, as Linux reports them."""
    bounds = [memory_bytes()]
    try:
        with open("/proc/meminfo", encoding="utf-8") as file:
            bounds += [int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable:")]
    except OSError:
        return bounds[0]  # not Linux
    for path in LIMITS:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                limit = file.read().strip()
            bounds += [int(limit)] if limit.isdigit() else []
    return min(bounds)


CHUNK_BYTES = 256 << 20


def decision_room(backend: ComputeDevice, room: int | None) -> int:
    """Return the bytes of device memory for decisions, by default half. A simulator's memory has no bound."""
    return room if room is not None else backend.device.memory_bytes // 2 or 1 << 62


class DecisionRows:
    """``count`` rows of ``words`` words (u32 or u64), written in ascending order and read back from the last one on.

    Rows may take ``room`` bytes of the device, by default half of its memory. Others go to host memory, or to a file
    without a name in ``folder``. Raises `NoRoom` if two rows do not fit the device, or the rest the host.
    """

    def __init__(
        self,
        backend: ComputeDevice,
        count: int,
        words: int,
        room: int | None = None,
        folder: str | None = None,
        dtype: DTypeLike = np.uint32,
    ) -> None:
        self.backend, self.count, self.words, self.dtype = backend, count, words, np.dtype(dtype)
        row_bytes = words * self.dtype.itemsize
        room = decision_room(backend, room)
        if 2 * row_bytes > room and count > 1:
            raise NoRoom(
                f"two rows of decisions need {2 * row_bytes} bytes of device memory; {room} are allowed: "
                "raise --device-memory, or use --no-trace"
            )
        self.rows_per_chunk = min(count, max(1, min(room // 4, CHUNK_BYTES) // row_bytes))
        self.chunks = -(-count // self.rows_per_chunk)
        self.slots = min(self.chunks, max(2, room // (self.rows_per_chunk * row_bytes)))
        self.leaving = self.chunks - self.slots
        elements = self.leaving * self.rows_per_chunk * words
        self.host = host_memory(backend, elements, self.dtype, "decisions", folder)
        self.buffers = [backend.allocate(self.rows_per_chunk * words, self.dtype) for _ in range(self.slots)]
        self.waits: dict[int, Callable[[], None]] = {}
        self._cached = -1, np.empty(0, self.dtype)

    @property
    def streamed_bytes(self) -> int:
        return int(self.host.size) * self.dtype.itemsize

    def place(self, row: int) -> tuple[DeviceArray, int]:
        chunk, within = divmod(row, self.rows_per_chunk)
        if within == 0:
            self._arrived(chunk - self.slots)
        return self.buffers[chunk % self.slots], within * self.words

    def close_row(self, row: int) -> None:
        """Note that all launches that write a row are queued."""
        chunk, within = divmod(row, self.rows_per_chunk)
        if within == self.rows_per_chunk - 1 and chunk < self.leaving:
            target = self._on_host(chunk)
            self.waits[chunk] = self.backend.stream_out(self.buffers[chunk % self.slots], 0, target.size, target)
        self._cached = -1, np.empty(0, self.dtype)

    def _on_host(self, chunk: int) -> np.ndarray:
        size = self.rows_per_chunk * self.words
        return self.host[chunk * size : (chunk + 1) * size]

    def _arrived(self, chunk: int) -> None:
        wait = self.waits.pop(chunk, None)
        if wait is not None:
            wait()

    def chunks_backwards(self) -> Iterator[tuple[int, int, DeviceArray]]:
        """Yield first row, number of rows and device buffer of every chunk, the last chunk first."""
        for chunk in reversed(range(self.chunks)):
            buffer = self.buffers[chunk % self.slots]
            if chunk < self.leaving:
                self._arrived(chunk)
                self.backend.write(buffer, self._on_host(chunk))
            first = chunk * self.rows_per_chunk
            yield first, min(self.rows_per_chunk, self.count - first), buffer

    def row(self, row: int) -> np.ndarray:
        """Return one row on the host; do not mix with `chunks_backwards`, which reuses the buffers."""
        chunk, within = divmod(row, self.rows_per_chunk)
        if chunk < self.leaving:
            self._arrived(chunk)
            content = self._on_host(chunk)
        else:
            if self._cached[0] != chunk:
                self._cached = chunk, self.backend.download(self.buffers[chunk % self.slots])
            content = self._cached[1]
        return np.asarray(content[within * self.words : (within + 1) * self.words])


def spans_of_launches(
    rows: DecisionRows | None, nothing: DeviceArray, first: int, end: int, most: int
) -> Iterator[tuple[int, int, DeviceArray]]:
    """Yield the launches ``first`` to ``end`` - 1 in spans of up to ``most``, each with the buffer of its decisions.

    A span is a first launch, the one after its last, and the chunk that has their rows, or ``nothing`` without rows.
    """
    chunk = end if rows is None else rows.rows_per_chunk
    while first < end:
        stop = min(end, first + most, (first // chunk + 1) * chunk)
        yield first, stop, nothing if rows is None else rows.place(first)[0]
        if rows is not None:
            rows.close_row(stop - 1)
        first = stop
