"""Backends that a process keeps: a run takes one of its device, and gives it back with its compiled kernels.

A backend in use is never shared. Another thread, or a run within a run, gets a backend of its own. Idle backends of the
main thread are closed when the process ends, before Python takes its modules apart.
"""

from __future__ import annotations

import atexit
import os
import threading
from typing import Any

from backends import SIMULATORS, create, device_output
from backends.launch import Backend

VARIABLES = (device_output.VARIABLE, *(variable for variable, _ in SIMULATORS.values()))
"""Settings of the environment that a backend takes over when it is made."""
MOST_IDLE = 2
"""Idle backends that a thread keeps of one device."""


class IdleBackends(threading.local):
    """This thread's idle backends: GPUs' contexts belong to a thread."""

    def __init__(self) -> None:
        self.of_device: dict[Any, list[Backend]] = {}


_idle = IdleBackends()


def take(name: str, device: str | None = None, cores: int | None = None) -> Backend:
    """Return an idle backend of a device, or a new one; pass it to `give_back` after the run.

    Parameters
    ----------
    name, device, cores
        As `backends.create` takes them.

    Raises
    ------
    Unavailable
        See `backends.create`.

    """
    # The device, the process, and settings of the process that a backend takes over when it is made.
    settings = [os.environ.get(one) for one in VARIABLES]
    allowed = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    key = (name, device, cores, os.getpid(), *settings, allowed)
    idle = _idle.of_device.setdefault(key, [])
    if idle:
        return idle.pop()
    backend = create(name, device, cores)
    backend.kept_as = key
    return backend


def give_back(backend: Backend) -> None:
    """Keep a backend for the next run, with its compiled kernels and nothing else of the last one, or close it.

    It is closed if it has worked with other ranks, has processes, or was not made by `take`. A backend whose run ended
    by an error is better closed by its `close`.
    """
    idle = _idle.of_device.setdefault(backend.kept_as, [])
    if backend.kept_as is None or not backend.can_rest or len(idle) == MOST_IDLE:
        backend.close()
    else:
        backend.rest()
        idle.append(backend)


def close_idle() -> None:
    """Close this thread's idle backends."""
    while _idle.of_device:
        for backend in _idle.of_device.popitem()[1]:
            backend.close()


atexit.register(close_idle)
