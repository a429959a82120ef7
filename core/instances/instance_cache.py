"""Cache of a process's instances: the same file or specification is not read again.

Instances are immutable, so all callers share an object.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np

Instance = TypeVar("Instance")

MOST_INSTANCES = 16
MOST_BYTES = 256 * 2**20
"""Most bytes of the arrays of all instances together."""
SETTLED_NANOSECONDS = 2 * 10**9
"""Age from which a file's time stamp distinguishes versions: file systems count in steps of up to two seconds."""

_instances: OrderedDict[Hashable, Any] = OrderedDict()
_lock = threading.Lock()


def cached(key: Hashable | None, make: Callable[[], Instance]) -> Instance:
    """Return the instance of a key, made if it is not in the cache.

    A new instance replaces the least recently used one. Without a key, and for more than `MOST_BYTES`, nothing is kept.
    """
    if key is None:
        return make()
    with _lock:
        if key in _instances:
            _instances.move_to_end(key)
            return _instances[key]
    instance = make()
    size = _array_bytes(instance)
    if size <= MOST_BYTES:
        with _lock:
            _instances.pop(key, None)
            while len(_instances) >= MOST_INSTANCES or size + sum(map(_array_bytes, _instances.values())) > MOST_BYTES:
                _instances.popitem(last=False)
            _instances[key] = instance
    return instance


def file_key(path: str | os.PathLike, *more: Hashable) -> Hashable | None:
    """Return the key of a file's present version and of what else the instance depends on.

    None if there is no file, or it was written just now.
    """
    try:
        stamp = os.stat(path)
    except OSError:
        return None
    if time.time_ns() - stamp.st_mtime_ns < SETTLED_NANOSECONDS:
        return None
    return (os.fspath(path), stamp.st_dev, stamp.st_ino, stamp.st_mtime_ns, stamp.st_size, *more)


def _array_bytes(instance: object) -> int:
    return sum(value.nbytes for value in vars(instance).values() if isinstance(value, np.ndarray))
