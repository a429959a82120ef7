"""All cores through joblib's processes (loky): arrays lie in shared memory, so a call carries names and numbers only.

The machine code is that of `backends.cpu.single_core`, loaded by each process from its object file; atomics work across
processes.

A backend has one pool of processes, from its first launch to `JoblibBackend.close`. The pool is that of joblib's loky.
The public interface, ``joblib.Parallel`` (version 1.6), lacks three things: results without a poll every 10 ms (a call
takes 11 ms instead of 0.6 ms); a pool that other parts of the program cannot resize or replace, so that a replay never
waits for a missing worker; and a setting that keeps workers which map more than 300 MB.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.cpu import native, shared_memory
from backends.cpu.shared_memory import SharedBuffer
from backends.cpu.single_core import CpuBackend, argument_slots
from backends.cpu_info import cpu_device
from backends.device import Buffer, DeviceInfo, Launch, Shape, Unavailable
from core.errors import refusal
from core.lang.types import BY_NAME

if TYPE_CHECKING:
    from joblib.externals.loky import ProcessPoolExecutor

SOURCE_ROOT = str(Path(__file__).parents[2])
"""Folder of the project's packages."""
PARENT_POLL_S = 0.25
"""Seconds between two checks of a worker that its parent process still exists."""
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
"""Environment of a worker: NumPy starts no threads beside the workers."""


Description = tuple[shared_memory.Segment, int, str] | tuple[str, float]
"""An argument as sent to a process: a segment with number and type of its elements, or the type of a number and it."""
DescribedLaunch = tuple[str, int, list[Description]]
"""Path of machine code, number of teams, arguments."""


class JoblibBackend(CpuBackend):
    """Runs each launch on as many processes as its device has cores."""

    name = "joblib"
    automatic_for = ""  # threads do the same at less expense
    same_as = "threads"
    takes_cores = True
    packs = False  # processes take arguments apart
    shares_executables = False  # processes read files of the cache, which may have moved
    replays_host_steps = False  # only this process meets other ranks

    can_rest = False  # its processes end with the run

    def __init__(self, device: DeviceInfo) -> None:
        super().__init__(device, device.compute_units)
        self.pool: ProcessPoolExecutor | None = None

    @classmethod
    def devices(cls) -> list[DeviceInfo]:
        from multiprocessing import get_context

        if not hasattr(os, "fork"):
            raise Unavailable("joblib's workers map the memory of their parent as only Unix can; or --backend threads")
        try:
            with warnings.catch_warnings(action="ignore"):  # joblib would announce that it works in one process
                import joblib  # noqa: F401
            get_context("fork").Lock()
        except ModuleNotFoundError as error:
            raise Unavailable("joblib is not installed; pip install joblib") from error
        except (OSError, ImportError) as error:
            why = f"joblib needs semaphores in /dev/shm: {refusal(error) or error}; or --backend threads"
            raise Unavailable(why) from error
        return [cpu_device()]

    def allocate(self, shape: Shape, dtype: np.typing.DTypeLike) -> SharedBuffer:
        return SharedBuffer.create(shape, dtype)

    def execute(self, launch: Launch) -> None:
        began = time.perf_counter()
        total, workers = launch.teams, min(self.workers, launch.teams)
        cuts = [total * k // workers for k in range(workers + 1)]
        described = [describe_argument(a) for a in launch.arguments]
        self.work_in_parallel(
            run_teams,
            [(launch.executable, begin, end, total, described) for begin, end in zip(cuts, cuts[1:], strict=False)],
        )
        self.timings.kernel_s += time.perf_counter() - began

    def prepare(self, launches: list[Any]) -> Callable[[int], None]:
        described = [(step.executable, step.teams, [describe_argument(a) for a in step.arguments]) for step in launches]
        return partial(self.replay_in_workers, self.allocate(1, np.uint64), described)

    def replay_in_workers(self, arrivals: SharedBuffer, launches: list[DescribedLaunch], times: int) -> None:
        began = time.perf_counter()
        arrivals.handle[:] = 0
        self.work_in_parallel(
            run_replay,
            [
                (native.replay_code(), launches, describe_argument(arrivals), times, k, self.workers)
                for k in range(self.workers)
            ],
        )
        self.timings.kernel_s += time.perf_counter() - began

    def work_in_parallel(self, function: Callable[..., None], parts: list[tuple[Any, ...]]) -> None:
        """Call a function once for each part, all at the same time in separate workers, and wait.

        A failed call ends the workers; the next call starts new ones. Otherwise the remaining workers could wait for
        each other in a replay forever, or write into freed memory.
        """
        from concurrent.futures import FIRST_EXCEPTION, wait

        if self.pool is None:
            from joblib.externals import loky

            self.pool = loky.ProcessPoolExecutor(
                self.workers, initializer=start_worker, initargs=(os.getpid(),), env=ONE_THREAD
            )
        try:
            with prepend_import_path(SOURCE_ROOT):
                jobs = [self.pool.submit(function, *part) for part in parts]
            done, _ = wait(jobs, return_when=FIRST_EXCEPTION)
            for job in done:
                job.result()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the workers; memory is freed with the last reference to its buffers."""
        pool, self.pool = self.pool, None
        if pool is not None:
            pool.shutdown(wait=True, kill_workers=True)


@contextmanager
def prepend_import_path(folder: str) -> Iterator[None]:
    """Make workers that start inside the block search a folder first when they import modules.

    The folder of the user's program comes first in this process, and may have a module with a name that workers import.
    """
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


# --- in a worker ---


def start_worker(parent: int) -> None:
    """Make a new worker end with its parent, and not before."""
    from joblib.externals.loky import process_executor

    # Shared memory counts as memory of the worker: loky would take large buffers for a leak and replace the worker.
    process_executor._MAX_MEMORY_LEAK_SIZE = sys.maxsize
    # Ctrl-C reaches all processes of a terminal; the parent ends its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process when its parent has ended, also while machine code runs."""
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_S)
    shared_memory.unlink_opened()
    os._exit(1)


def describe_argument(value: SharedBuffer | np.generic | int) -> Description:
    """Return an argument in the form sent to a process: a segment and its elements, or a number."""
    if isinstance(value, SharedBuffer):
        return (value.segment, value.size, value.dtype.str)
    return (type(value).__name__, value.item() if isinstance(value, np.generic) else int(value))


FLOATS = {"float32": "f32", "float64": "f64"}


def attach_argument(description: Description) -> Any:
    """Restore an argument in the worker process."""
    if len(description) == 2:
        kind, value = description
        return BY_NAME[FLOATS.get(kind, kind)](value)
    segment, count, dtype = description
    return Buffer(np.ndarray(count, np.dtype(dtype), shared_memory.open_segment(segment)), (count,), dtype)


def run_teams(path: str, begin: int, end: int, total: int, described: list[Description]) -> None:
    packed = argument_slots(tuple(attach_argument(d) for d in described))
    native.load(path)(begin, end, total, packed.ctypes.data)


def run_replay(
    code: str, launches: list[DescribedLaunch], arrivals: Description, times: int, worker: int, workers: int
) -> None:
    packed = [argument_slots(tuple(attach_argument(d) for d in described)) for _, _, described in launches]
    counter = attach_argument(arrivals).handle
    recorded = native.CompiledReplay([p for p, _, _ in launches], [t for _, t, _ in launches], packed, counter, code)
    recorded.run(times, worker, workers)
