"""Backends that a process keeps: a run takes one for its device, and gives it back with its compiled kernels.

A backend in use is never shared: another thread, or a run within a run, gets a new one. Idle backends of the main
thread are closed when the process ends, before Python unloads modules.
"""

from __future__ import annotations

import atexit
import os
import threading

from backends import COMPILER_VARIABLE, SIMULATORS, create
from backends.launch import Backend

VARIABLES = [COMPILER_VARIABLE, *(variable for variable, _ in SIMULATORS.values())]
"""Environment settings that a backend reads when it is made."""
MOST_IDLE = 2
"""Most idle backends of one device in a thread."""


class IdleBackends(threading.local):
    """This thread's idle backends: contexts of GPUs belong to a thread."""

    def __init__(self) -> None:
        self.of_device: dict[tuple[object, ...] | None, list[Backend]] = {}


_idle = IdleBackends()


def take(name: str, device: str | None = None, cores: int | None = None, compiler: str | None = None) -> Backend:
    """Return an idle backend of a device, or one by `backends.create`; pass it to `give_back` after the run."""
    # The device, the process, and environment settings that a backend reads when it is made.
    settings = [os.environ.get(variable) for variable in VARIABLES]
    allowed = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    key = (name, device, cores, compiler, os.getpid(), *settings, allowed)
    idle = _idle.of_device.setdefault(key, [])
    if idle:
        return idle.pop()
    backend = create(name, device, cores, compiler)
    backend.kept_as = key
    return backend


def give_back(backend: Backend) -> None:
    """Keep a backend with its compiled kernels for the next run, or close it.

    It is closed if it has worked with other ranks, has processes, or was not made by `take`. After an error, call the
    backend's `close` instead.
    """
    idle = _idle.of_device.setdefault(backend.kept_as, [])
    if backend.kept_as is None or not backend.can_rest or len(idle) == MOST_IDLE:
        backend.close()
    else:
        backend.rest()
        idle.append(backend)


def close_idle() -> None:
    while _idle.of_device:
        for backend in _idle.of_device.popitem()[1]:
            backend.close()


atexit.register(close_idle)
