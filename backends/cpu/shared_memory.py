"""Memory that a process shares with its workers, and that ends with it, however it ends.

On Linux a segment has no name in any file system: it is a file descriptor of its owner, which a worker opens through
``/proc/<owner>/fd``. So nothing is left when all of them have been killed, and the size of ``/dev/shm`` (64 MiB in a
container, unless somebody asks for more) is no limit. Elsewhere a segment is a temporary file.

The owner gives a segment back by cutting it to length 0, which frees its pages although workers still map them; a
worker drops such mappings when it opens its next segment.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import math
import mmap
import os
import tempfile
import weakref
from typing import Any, NamedTuple

import numpy as np

from backends.device import Buffer, OutOfMemory

HAS_NAMELESS_FILES = hasattr(os, "memfd_create") and os.path.isdir("/proc/self/fd")
CGROUP = "/sys/fs/cgroup"

_numbers = itertools.count()
_opened: dict[tuple[str, int], mmap.mmap] = {}


class Segment(NamedTuple):
    """What a worker has to know to open a segment; no two of one owner have the same ``number``."""

    number: int
    path: str
    size: int


def create_segment(size: int, *, outlives_owner: bool = False) -> tuple[mmap.mmap, Segment]:
    """Reserve shared memory, all zeros; it is given back when nothing refers to the mapping any more.

    Parameters
    ----------
    size
        In bytes, at least 1.
    outlives_owner
        Whether the pages stay as long as anybody maps them: for processes that are nobody's workers.

    Raises
    ------
    OSError
        There is not so much memory. Without a reservation the first write beyond it would end the process by SIGBUS.

    """
    free = free_bytes()
    if free is not None and size > free:
        # Linux would go on reserving pages and kill other programs for them.
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
    left = size if outlives_owner else 0
    given_back = weakref.finalize(memory, _give_back, descriptor, name, os.getpid(), left)
    # At the end of the process others may still read the memory; only a name would outlive it.
    given_back.atexit = bool(name)
    return memory, Segment(next(_numbers), path, size)


def open_segment(segment: Segment) -> mmap.mmap:
    """The owner's memory, in another process; stays mapped until the owner has given it back."""
    key = (segment.path, segment.number)
    if key not in _opened:
        for old in [old for old, memory in _opened.items() if memory.size() == 0]:
            del _opened[old]
        _opened[key] = _mapped(segment)
    return _opened[key]


def _mapped(segment: Segment) -> mmap.mmap:
    descriptor = os.open(segment.path, os.O_RDWR)
    try:
        return mmap.mmap(descriptor, segment.size)
    finally:
        os.close(descriptor)


def unlink_opened() -> None:
    """Remove the names of all segments that this worker has opened, in place of an owner that was killed."""
    for path, _ in _opened:
        if not path.startswith("/proc/"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


class SharedBuffer(Buffer):
    """A buffer in memory that several processes share."""

    def __init__(self, memory: mmap.mmap, segment: Segment, shape: tuple[int, ...], dtype: Any) -> None:
        super().__init__(np.ndarray(math.prod(shape), dtype, memory), shape, dtype)
        self.segment = segment

    @classmethod
    def create(cls, shape: Any, dtype: Any, *, outlives_owner: bool = False) -> SharedBuffer:
        """A new one, all zeros; raises `OutOfMemory`. ``outlives_owner`` as for `create_segment`."""
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        size = max(1, math.prod(shape) * np.dtype(dtype).itemsize)
        try:
            memory, segment = create_segment(size, outlives_owner=outlives_owner)
        except (OSError, ValueError, OverflowError) as error:
            raise OutOfMemory(f"{size:,} bytes of shared memory cannot be allocated: {error}") from error
        return cls(memory, segment, shape, dtype)

    @classmethod
    def opened(cls, segment: Segment, shape: tuple[int, ...], dtype: Any) -> SharedBuffer:
        """One that another process has made; mapped as long as somebody here holds the buffer."""
        return cls(_mapped(segment), segment, shape, dtype)


def free_bytes() -> int | None:
    """Memory that can be had without swapping, less where this container's limit says so; None if nobody tells."""
    free = []
    with contextlib.suppress(OSError), open("/proc/meminfo") as file:
        free += [int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:")]
    limits = (f"{CGROUP}/memory.max", f"{CGROUP}/memory.current")
    with contextlib.suppress(OSError, ValueError), open(limits[0]) as most, open(limits[1]) as used:
        free.append(int(most.read()) - int(used.read()))
    return min(free, default=None)


def _new_file() -> tuple[int, str, str]:
    """An empty file: its descriptor, the path by which workers open it, and its name to remove, if it has one."""
    if HAS_NAMELESS_FILES:
        descriptor = os.memfd_create("onekernel")
        return descriptor, f"/proc/{os.getpid()}/fd/{descriptor}", ""
    descriptor, name = tempfile.mkstemp(prefix="onekernel-")
    return descriptor, name, name


def _give_back(descriptor: int, name: str, owner: int, left: int) -> None:
    """Cut a segment to so many bytes, and close it: what is cut off is free at once, whoever still maps it."""
    if os.getpid() != owner:
        # A forked process has a copy of this object, and the pages are still its parent's.
        return
    os.ftruncate(descriptor, left)
    os.close(descriptor)
    if name:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
