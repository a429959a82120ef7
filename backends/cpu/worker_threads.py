"""Threads that share every launch, and wait for the next one in machine code before they sleep.

The launching thread needs 25 us to wake a sleeping thread, 1.6 ms for those of 64 cores. Waiting threads see a launch
at once, so launches may be short.
"""

from __future__ import annotations

import functools
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait

import numpy as np

from backends.cpu import native

SPINS = 1000
"""Polls of a waiting thread before it gives up its core at each further one: 40 us."""
POLLS = 4000
"""Polls before all threads sleep: 1.7 ms on an idle machine, as long as waking 63 threads takes."""
LINE = 8
"""64-bit words of a cache line."""
ADDRESS, COUNT, ARGUMENTS, WHOLE, THREADS, DONE = range(6)
"""Words that describe a launch: see `WorkerThreads.run`; the number of its threads; 1 after it has ended."""

SHARED_LAUNCH = f"""
from backends.emit.cpu_operations import (
    add_i32, add_u64, atomic_add_u64, call_entry, eq_i32, eq_u64, floordiv_i64, i32_from_i64, i32_from_u64,
    i64_from_i32, literal_i32, literal_u64, load, lt_i32, lt_u64, mul_i64, pause, pointer_u64, single_function, store,
    u64_from_i32, watch, yield_core,
)

@single_function()
def take_part(launch, thread, threads):
    begin, end, count = thread, threads, i32_from_u64(load(launch, literal_i32({COUNT})))
    if eq_u64(load(launch, literal_i32({WHOLE})), literal_u64(0)):
        total, parts = i64_from_i32(count), i64_from_i32(threads)
        begin = i32_from_i64(floordiv_i64(mul_i64(total, i64_from_i32(thread)), parts))
        end = i32_from_i64(floordiv_i64(mul_i64(total, i64_from_i32(add_i32(thread, literal_i32(1)))), parts))
    if lt_i32(begin, end):
        arguments = load(launch, literal_i32({ARGUMENTS}))
        call_entry(load(launch, literal_i32({ADDRESS})), begin, end, count, arguments)

@single_function()
def wait_once(waits):
    if lt_i32(waits, literal_i32({SPINS})):
        pause()
    else:
        yield_core()

def entry(thread, threads, polls, slots):
    launches = pointer_u64(slots, 0)
    turns = pointer_u64(slots, 1)
    arrivals = pointer_u64(slots, 2)
    launch = pointer_u64(slots, 3)
    first_launches = pointer_u64(slots, 4)
    zero, one, waits = literal_i32(0), literal_i32(1), literal_i32(0)
    nothing, unit = literal_u64(0), literal_u64(1)
    if lt_i32(zero, threads):
        if eq_u64(atomic_add_u64(turns, zero, unit), nothing):
            store(arrivals, zero, nothing)
            atomic_add_u64(launches, zero, unit)
            take_part(launch, thread, threads)
            while lt_u64(watch(arrivals, zero), u64_from_i32(thread)):
                waits = add_i32(waits, one)
                wait_once(waits)
            store(launch, literal_i32({DONE}), unit)
            store(turns, zero, nothing)
    else:
        seen = load(first_launches, thread)
        waiting = one
        while lt_i32(zero, waiting):
            if eq_u64(watch(launches, zero), seen):
                waits = add_i32(waits, one)
                wait_once(waits)
                if lt_i32(polls, waits):
                    waits = zero
                    if eq_i32(thread, zero):
                        if lt_u64(load(first_launches, zero), seen):
                            if eq_u64(atomic_add_u64(turns, zero, unit), nothing):
                                atomic_add_u64(launches, one, unit)
                if lt_u64(nothing, watch(launches, one)):
                    waiting = zero
            else:
                seen = add_u64(seen, unit)
                take_part(launch, thread, i32_from_u64(load(launch, literal_i32({THREADS}))))
                atomic_add_u64(arrivals, zero, unit)
                waits = zero
"""
"""A launch in the launching thread, or the launches of another one until it sleeps, which has ``threads`` 0.

The first thread ends the waiting of all, by the second word of ``launches``, but not before its first launch, and not
during one: both begin with an increment of ``turns``, and the one that finds 0 continues.
"""


class WorkerThreads:
    """Threads for launches, besides the launching thread, which has the last part of each.

    Parameters
    ----------
    count : int
        Largest number of threads.
    """

    def __init__(self, count: int) -> None:
        self.pool = ThreadPoolExecutor(max(1, count))
        self.awake: list[Future[None]] = []
        self.words = np.zeros(4 * LINE + count, np.uint64)
        lines = [self.words[begin:] for begin in range(0, 5 * LINE, LINE)]
        self.launches, self.turns, _, self.launch, self.first_launches = (line.data for line in lines)
        self.slots = np.array([line.ctypes.data for line in lines], np.uint64)
        self.lock = threading.Lock()

    @functools.cached_property
    def entry(self) -> native.MachineCode:
        return native.load(native.load_or_compile(SHARED_LAUNCH, native.object_path(SHARED_LAUNCH, "threads")))

    def run(self, address: int, count: int, arguments: int, others: int, *, whole: bool = False) -> None:
        """Run machine code in this thread and in others.

        Parameters
        ----------
        address : int
            Address of the code, with the signature of `native.ENTRY`.
        count : int
            Number of teams, of which each thread has a part. With ``whole`` the third argument of one call in each
            thread, after its number and that of all threads.
        arguments : int
            Address of the slots with the arguments.
        others : int
            Least number of other threads. Those that are awake take part too.
        """
        with self.lock:
            try:
                self.launch[DONE] = 0
                while not self.launch[DONE]:
                    self.wake(others)
                    threads = len(self.awake) + 1
                    for word, value in enumerate((address, count, arguments, whole, threads)):
                        self.launch[word] = value
                    self.entry(threads - 1, threads, POLLS, self.slots.ctypes.data)
                    if not self.launch[DONE]:
                        self.wait_until_asleep()
            except BaseException:
                self.launches[1] = 1
                self.wait_until_asleep()
                raise

    def wake(self, count: int) -> None:
        for thread in range(len(self.awake), count):
            self.first_launches[thread] = self.launches[0]
            self.awake.append(self.pool.submit(wait_for_launches, self, thread))

    def wait_until_asleep(self) -> None:
        wait(self.awake)
        self.awake.clear()
        self.launches[1] = self.turns[0] = 0

    def close(self) -> None:
        self.pool.shutdown()


def wait_for_launches(threads: WorkerThreads, thread: int) -> None:
    threads.entry(thread, 0, POLLS, threads.slots.ctypes.data)
