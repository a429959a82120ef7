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
import mmap
import os
import tempfile
import weakref
from typing import NamedTuple

HAS_NAMELESS_FILES = hasattr(os, "memfd_create") and os.path.isdir("/proc/self/fd")
CGROUP = "/sys/fs/cgroup"

_numbers = itertools.count()
_opened: dict[int, tuple[mmap.mmap, str]] = {}


class Segment(NamedTuple):
    """What a worker has to know to open a segment; no two of one owner have the same ``number``."""

    number: int
    path: str
    size: int


def create(size: int) -> tuple[mmap.mmap, Segment]:
    """Reserve shared memory, all zeros; it is given back when nothing refers to the mapping any more.

    Parameters
    ----------
    size
        In bytes, at least 1.

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
        _give_back(descriptor, name, os.getpid())
        raise
    given_back = weakref.finalize(memory, _give_back, descriptor, name, os.getpid())
    # At the end of the process others may still read the memory; only a name would outlive it.
    given_back.atexit = bool(name)
    return memory, Segment(next(_numbers), path, size)


def opened(segment: Segment) -> mmap.mmap:
    """The owner's memory, in a worker; stays mapped until the owner has given it back."""
    if segment.number not in _opened:
        for number in [number for number, (memory, _) in _opened.items() if memory.size() == 0]:
            del _opened[number]
        descriptor = os.open(segment.path, os.O_RDWR)
        try:
            _opened[segment.number] = mmap.mmap(descriptor, segment.size), segment.path
        finally:
            os.close(descriptor)
    return _opened[segment.number][0]


def forget_all() -> None:
    """Remove the names of all segments that this worker has opened, in place of an owner that was killed."""
    for _, path in _opened.values():
        if not path.startswith("/proc/"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)


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


def _give_back(descriptor: int, name: str, owner: int) -> None:
    """Free a segment's pages at once, whoever still maps them."""
    if os.getpid() != owner:
        # A forked process has a copy of this object, and the pages are still its parent's.
        return
    os.ftruncate(descriptor, 0)
    os.close(descriptor)
    if name:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
