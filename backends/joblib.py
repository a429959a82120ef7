"""All cores through joblib's processes (loky): arrays lie in shared memory, so a call carries names and numbers only.

The machine code is that of `backends.cpu`, loaded by each process from its object file; atomics work across processes.
"""

from __future__ import annotations

import time
from multiprocessing import shared_memory
from typing import Any

import numpy as np

from backends import native
from backends.base import Buffer, DeviceInfo, Launch, OutOfMemory, Unavailable, cpu_device
from backends.cpu import CpuBackend, slots


class JoblibBackend(CpuBackend):
    """Runs each launch on as many processes as there are cores."""

    name = "joblib"
    automatic_for = ""  # threads do the same at less expense

    def __init__(self, device: DeviceInfo) -> None:
        import joblib

        super().__init__(device, device.compute_units)
        self.parallel = joblib.Parallel(n_jobs=self.workers, backend="loky", mmap_mode=None, batch_size=1)
        self.segments: list[shared_memory.SharedMemory] = []
        self.delayed = joblib.delayed

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        try:
            import joblib  # noqa: F401
        except ImportError as error:
            raise Unavailable("joblib is not installed; pip install joblib") from error
        return [cpu_device()]

    def allocate(self, shape: Any, dtype: Any) -> Buffer:
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        count = int(np.prod(shape))
        try:
            segment = shared_memory.SharedMemory(create=True, size=max(1, count * np.dtype(dtype).itemsize))
        except OSError as error:
            raise OutOfMemory(f"{count} elements of {np.dtype(dtype)} do not fit shared memory: {error}") from error
        self.segments.append(segment)
        buffer = Buffer(np.ndarray(count, dtype, segment.buf), shape, dtype)
        buffer.segment = segment.name  # type: ignore[attr-defined]
        return buffer

    def execute(self, launch: Launch) -> None:
        began = time.perf_counter()
        total, workers = launch.teams, min(self.workers, launch.teams)
        cuts = [total * k // workers for k in range(workers + 1)]
        described = [describe(a) for a in launch.arguments]
        self.parallel(
            self.delayed(work)(launch.executable, begin, end, total, described)
            for begin, end in zip(cuts, cuts[1:], strict=False)
        )
        self.timings.kernel_s += time.perf_counter() - began

    def prepare(self, launches: list[Launch]) -> Any:
        meeting = self.allocate(1, np.uint64)
        described = [(one.executable, one.teams, [describe(a) for a in one.arguments]) for one in launches]
        return meeting, described

    def replay(self, prepared: Any, times: int) -> None:
        began = time.perf_counter()
        meeting, launches = prepared
        meeting.handle[:] = 0
        self.parallel(
            self.delayed(work_recorded)(launches, describe(meeting), times, k, self.workers)
            for k in range(self.workers)
        )
        self.timings.kernel_s += time.perf_counter() - began

    def close(self) -> None:
        for segment in self.segments:
            segment.unlink()
        self.segments.clear()


def describe(value: Any) -> Any:
    """An argument as it travels to a process: a segment's name and type, or the number itself."""
    if isinstance(value, Buffer):
        return (value.segment, value.size, value.dtype.str)  # type: ignore[attr-defined]
    return (type(value).__name__, value.item() if hasattr(value, "item") else int(value))


FLOATS = {"float32": "f32", "float64": "f64"}
_attached: dict[str, shared_memory.SharedMemory] = {}


def attached(description: Any) -> Any:
    """The argument again, in the worker process."""
    from core.lang.types import BY_NAME

    if len(description) == 2:
        kind, value = description
        return BY_NAME[FLOATS.get(kind, kind)](value)
    name, count, dtype = description
    if name not in _attached:
        _attached[name] = _attach(name)
    return Buffer(np.ndarray(count, np.dtype(dtype), _attached[name].buf), (count,), dtype)


def _attach(name: str) -> shared_memory.SharedMemory:
    """Open a segment that the parent owns; the parent's process alone removes it."""
    from multiprocessing import resource_tracker

    register = resource_tracker.register
    resource_tracker.register = lambda *_: None
    try:
        return shared_memory.SharedMemory(name)
    finally:
        resource_tracker.register = register


def work(path: str, begin: int, end: int, total: int, described: list[Any]) -> None:
    """One process's slice of a launch."""
    packed = slots(tuple(attached(d) for d in described))
    native.load(path)(begin, end, total, packed.ctypes.data)


def work_recorded(launches: list[Any], meeting: Any, times: int, worker: int, workers: int) -> None:
    """One process's part of a replay."""
    packed = [slots(tuple(attached(d) for d in described)) for _, _, described in launches]
    counter = attached(meeting).handle
    recorded = native.Recorded([p for p, _, _ in launches], [t for _, t, _ in launches], packed, counter)
    recorded.run(times, worker, workers)
