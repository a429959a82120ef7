"""Memory that a process shares with its workers, freed when the process ends for any reason.

On Linux a segment has no name in any file system: it is a file descriptor of its owner, which a worker opens through
``/proc/<owner>/fd``. So nothing is left when all processes have been killed, and the size of ``/dev/shm`` (64 MiB by
default in a container) is no limit. Elsewhere a segment is a temporary file.

The owner frees a segment by cutting it to length 0, which frees its pages although workers still map them; a worker
drops such mappings when it opens its next segment.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import mmap
import os
import tempfile
import weakref
from typing import NamedTuple, Self

import numpy as np

from backends.device import Buffer, OutOfMemory, Shape, Unavailable
from core.errors import refusal

HAS_NAMELESS_FILES = hasattr(os, "memfd_create") and os.path.isdir("/proc/self/fd")
CGROUP = "/sys/fs/cgroup"

_numbers = itertools.count()
_opened: dict[tuple[str, int], mmap.mmap] = {}


class Segment(NamedTuple):
    """Data by which a worker opens a segment; ``number`` is unique for each owner."""

    number: int
    path: str
    size: int


def create_segment(size: int, *, outlives_owner: bool = False) -> tuple[mmap.mmap, Segment]:
    """Reserve shared memory of ``size`` zero bytes, at least 1; it is freed with the last reference to the mapping.

    With ``outlives_owner``, for processes that are not workers of the owner, pages exist as long as any process maps
    them. Raises `OSError` for too little memory: without a reservation the first write beyond it would end the process
    by SIGBUS.
    """
    free = free_bytes()
    if free is not None and size > free:
        # Linux would continue to reserve pages and kill other programs for them.
        raise OSError(errno.ENOMEM, f"{free:,} bytes are free")
    descriptor, path, name = _new_file()
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, size)
        else:
            os.ftruncate(descriptor, size)
        memory = mmap.mmap(descriptor, size)
    except (OSError, ValueError, OverflowError):
        _give_back(descriptor, name, os.getpid(), 0)
        raise
    remaining = size if outlives_owner else 0
    given_back = weakref.finalize(memory, _give_back, descriptor, name, os.getpid(), remaining)
    # At the end of the process others may still read the memory; only a name would remain.
    given_back.atexit = bool(name)
    return memory, Segment(next(_numbers), path, size)


def open_segment(segment: Segment) -> mmap.mmap:
    """Map the owner's memory in another process, until the owner has freed it."""
    key = (segment.path, segment.number)
    if key not in _opened:
        for old in [old for old, memory in _opened.items() if memory.size() == 0]:
            del _opened[old]
        _opened[key] = _map(segment)
    return _opened[key]


def _map(segment: Segment) -> mmap.mmap:
    descriptor = os.open(segment.path, os.O_RDWR)
    try:
        return mmap.mmap(descriptor, segment.size)
    finally:
        os.close(descriptor)


def unlink_opened() -> None:
    """Remove the names of all segments that this worker has opened, for an owner that was killed."""
    for path, _ in _opened:
        if not path.startswith("/proc/"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


class SharedBuffer(Buffer):
    """A buffer in memory that several processes share."""

    def __init__(self, memory: mmap.mmap, segment: Segment, shape: Shape, dtype: np.typing.DTypeLike) -> None:
        super().__init__(np.ndarray(shape, dtype, memory).reshape(-1), shape, dtype)
        self.segment = segment

    @classmethod
    def create(cls, shape: Shape, dtype: np.typing.DTypeLike, *, outlives_owner: bool = False) -> Self:
        """Make a buffer of zeros; raises `OutOfMemory`. ``outlives_owner`` as for `create_segment`."""
        size = max(1, int(np.prod(shape, dtype=object)) * np.dtype(dtype).itemsize)
        try:
            memory, segment = create_segment(size, outlives_owner=outlives_owner)
        except (OSError, ValueError, OverflowError) as error:
            if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
                raise Unavailable(f"shared memory of {size:,} bytes: {refusal(error)}") from error
            raise OutOfMemory(f"{size:,} bytes of shared memory cannot be allocated: {error}") from error
        return cls(memory, segment, shape, dtype)

    @classmethod
    def opened(cls, segment: Segment, shape: tuple[int, ...], dtype: np.typing.DTypeLike) -> SharedBuffer:
        """Open another process's buffer; it is mapped as long as a reference to it exists."""
        return cls(_map(segment), segment, shape, dtype)


def free_bytes() -> int | None:
    """Return memory available without swapping, at most the container's limit; None if unknown."""
    free = []
    with contextlib.suppress(OSError), open("/proc/meminfo", encoding="utf-8") as file:
        free += [int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:")]
    limits = (f"{CGROUP}/memory.max", f"{CGROUP}/memory.current")
    with (
        contextlib.suppress(OSError, ValueError),
        open(limits[0], encoding="utf-8") as limit,
        open(limits[1], encoding="utf-8") as used,
    ):
        free.append(int(limit.read()) - int(used.read()))
    return min(free, default=None)


def _new_file() -> tuple[int, str, str]:
    """Make an empty file; returns its descriptor, the path for workers, and its name to remove, if it has one."""
    if HAS_NAMELESS_FILES:
        descriptor = os.memfd_create("onekernel")
        return descriptor, f"/proc/{os.getpid()}/fd/{descriptor}", ""
    descriptor, name = tempfile.mkstemp(prefix="onekernel-")
    return descriptor, name, name


def _give_back(descriptor: int, name: str, owner: int, remaining: int) -> None:
    """Cut a segment to ``remaining`` bytes and close it; the rest is free at once, even where it is still mapped."""
    if os.getpid() != owner:
        # A forked process has a copy of this object, and the pages still belong to its parent.
        return
    os.ftruncate(descriptor, remaining)
    os.close(descriptor)
    if name:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
