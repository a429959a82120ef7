"""Ranks as threads of one process, for hundreds of small examples, since MPI starts too slowly."""

import copy
import functools
import queue
import threading

import numpy as np

from cluster import Solo


class ThreadRank(Solo):
    """A communicator between threads, each with a separate backend; ``job`` is shared by all ranks.

    Devices of one of the ``hosts`` may share memory.
    """

    def __init__(self, rank, size, job, hosts):
        self.rank = self.local_rank = rank
        self.size = size
        self.job = job
        self.place = str(rank % hosts)

    def host(self):
        return super().host() + self.place

    def everything(self, item):
        self.job.given[self.rank] = item
        self.job.barrier.wait()
        gathered = list(self.job.given)
        self.job.barrier.wait()
        return gathered

    def barrier(self):
        self.everything(None)

    def minloc(self, value, index):
        return min(self.everything(super().minloc(value, index)))

    def sum(self, summand):
        summands = self.everything(summand)
        return sum(summands[1:], start=summands[0] + 0)

    def bcast(self, item):
        return self.everything(item)[0]

    def gather(self, item):
        items = self.everything(item)
        return items if self.rank == 0 else None

    def join(self, items):
        return np.concatenate(self.everything(items))

    def reduce(self, items, operation):
        gathered = self.everything(items.copy())
        items[...] = np.min(gathered, axis=0) if operation == "least" else np.sum(gathered, axis=0, dtype=items.dtype)

    def transfer(self, messages):
        for items, source, to in messages:
            if source == self.rank:
                self.send(items, to)
        for items, source, to in messages:
            if to == self.rank:
                self.receive(items, source)

    def word(self):
        return ThreadWord(self, self.bcast(Held() if self.rank == 0 else None))

    def send(self, items, to):
        self.job.posts[self.rank, to].put(items.copy())

    def receive(self, items, source):
        got = self.job.posts[source, self.rank].get(timeout=30)
        assert got.shape == items.shape and got.dtype == items.dtype
        items[...] = got


class Held:
    """A number, and who may touch it."""

    def __init__(self):
        self.value = 0
        self.lock = threading.Lock()


class ThreadWord:
    """A number that all threads share (`cluster.mpi.shared_words.Word`)."""

    def __init__(self, ranks, held):
        self.ranks, self.held = ranks, held

    def add(self, summand):
        with self.held.lock:
            before = self.held.value
            self.held.value += summand
            return before

    def lower(self, value):
        with self.held.lock:
            before = self.held.value
            self.held.value = min(before, int(value))
            return before

    def reset(self, value):
        self.ranks.barrier()
        if self.ranks.rank == 0:
            self.held.value = int(value)
        self.ranks.barrier()

    def close(self):
        pass


class Job:
    def __init__(self, size):
        self.given = [None] * size
        self.barrier = threading.Barrier(size, timeout=30)
        self.posts = {(a, b): queue.Queue() for a in range(size) for b in range(size)}


def on_ranks(size, act, *, hosts=1):
    """Results of ``act(ranks)`` on each rank, in order; raises the error of the first rank that failed."""
    job = Job(size)
    results, failures = [None] * size, []

    def run(rank):
        try:
            results[rank] = act(ThreadRank(rank, size, job, hosts))
        except BaseException as error:
            failures.append(error)
            job.barrier.abort()

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first = [error for error in failures if not isinstance(error, threading.BrokenBarrierError)] + failures
    if first:
        raise first[0]
    return results


LOCK = threading.RLock()
LOCKED = ("bind", "launch", "execute", "fill", "put", "download", "copy_out", "synchronize", "allocate")
"""Methods of a backend that only one thread may call at a time."""


def twin(backend):
    copied = copy.copy(backend)
    copied._collectives = {}
    copied.replays_host_steps = False  # a replay that waits for another rank would keep that one out of the device
    for name in LOCKED:
        setattr(copied, name, locked(getattr(copied, name)))
    prepare = copied.prepare
    copied.prepare = lambda launches: locked(prepare(launches))
    return copied


def locked(method):
    @functools.wraps(method)
    def alone(*arguments):
        with LOCK:
            return method(*arguments)

    return alone
