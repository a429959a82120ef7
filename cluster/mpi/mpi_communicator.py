"""Communicator of ranks over MPI.

The cluster model of the papers is one reduction to the best (value, index) per iteration. MPI's own MINLOC
has no 64-bit index and no unsigned values, so `Mpi.minloc` brings its own operation: still one Allreduce.
"""

from __future__ import annotations

import atexit
import struct
from collections.abc import Sequence
from types import ModuleType
from typing import cast

import numpy as np

from cluster.mpi import idle_waiting, launcher
from cluster.mpi.communicator import Communicator, check_pair, check_summand
from cluster.mpi.failures import abort, liveness, lost_hosts
from cluster.mpi.shared_words import LocalWord, WindowWord, Word, WordWindow
from core.ranks import Message, Summand, T

WORD = (1 << 64) - 1
PIECE = 1 << 30
"""Most bytes of one message: MPI counts in 31 bits."""
ITEMS, HERE = range(2)
"""Tags of messages: arrays, and the arrival of a rank."""
NOTHING = bytearray()
SITE_MPI = (
    "for MPICH or Intel MPI set MPI4PY_MPIABI=mpich, and LD_LIBRARY_PATH to the folder of its libmpi.so.12; "
    "for the site's Open MPI MPI4PY_MPIABI=openmpi"
)
# The value's bits above the lowest 64 (-1 or 0), its lowest 64, the index: tuples of these sort as wanted.
PAIR = struct.Struct("=qQQ")


class LaunchError(RuntimeError):
    """The launcher and the MPI library do not belong together; the user can correct it."""

    exit_code = 2


class Mpi(Communicator):
    """The communicator of a rank under MPI, one for a process (`cluster.default_communicator`).

    Making it starts MPI and installs what `cluster.mpi.failures` has, so that a rank that fails, leaves the others or
    is cut off ends the job. Raises `LaunchError` if mpi4py is missing, or belongs to another MPI than the launcher:
    every process would then be rank 0.
    """

    def __init__(self) -> None:
        try:
            mpi = liveness.start_mpi()
        except (ImportError, RuntimeError) as error:
            # mpi4py lists all files that it tried.
            reason = str(error).splitlines()[0]
            raise LaunchError(
                f"an MPI launcher started this, but mpi4py fails ({reason}): "
                f"for Open MPI pip install 'onekernel[mpi]'; {SITE_MPI}"
            ) from error
        self._mpi = mpi
        self.world = mpi.COMM_WORLD
        self.rank = self.world.Get_rank()
        self.size = self.world.Get_size()
        announced = launcher.size()
        if announced not in (None, self.size):
            raise LaunchError(
                f"the launcher started {announced} ranks, but the MPI library of mpi4py sees {self.size}: "
                f"use the mpirun that belongs to this library; {SITE_MPI}"
            )
        abort.install()
        abort.handle_launcher_signal()
        local_rank = launcher.local_rank()
        if local_rank is None:
            of_host = self.world.Split_type(mpi.COMM_TYPE_SHARED)
            local_rank = of_host.Get_rank()
            of_host.Free()
        self.local_rank = local_rank
        lost_hosts.watch_hosts()
        self._pair = mpi.BYTE.Create_contiguous(PAIR.size).Commit()
        self._least = mpi.Op.Create(_keep_least, commute=True)
        self._operations = {"least": mpi.MIN, "sum": mpi.SUM}
        self._least_is_signed = compares_signed(mpi)
        self._windows: list[WordWindow] = []
        # The first registered function runs last: when all ranks have ended, which `Liveness.leave` ensures.
        atexit.register(self.free)
        try:
            self._liveness = self._make_liveness(mpi)
        except mpi.Exception as error:
            raise LaunchError(f"MPI shares no memory among ranks ({error}): expected free space in /dev/shm") from None

    def _make_liveness(self, mpi: ModuleType) -> liveness.Liveness:
        return liveness.own_liveness(mpi)

    def minloc(self, value: int, index: int) -> tuple[int, int]:
        check_pair(value, index)
        self._liveness.together()
        value = int(value)
        packed = PAIR.pack(value >> 64, value & WORD, index)
        least = bytearray(PAIR.size)
        self.world.Allreduce([packed, 1, self._pair], [least, 1, self._pair], self._least)
        high, low, where = PAIR.unpack(least)
        return (high << 64) + low, where

    def sum(self, summand: Summand) -> Summand:
        """Reduce arrays in one Allreduce, and gather Python integers.

        mpi4py reduces objects by messages in a separate communicator, which does not report all lost ranks.
        """
        check_summand(summand)
        self._liveness.together()
        if isinstance(summand, int):
            return sum(self.world.allgather(summand))
        summands = np.array(summand, order="C")
        total = np.empty_like(summands)
        self.world.Allreduce(summands, total, self._mpi.SUM)
        return total if isinstance(summand, np.ndarray) else summands.dtype.type(total)

    def bcast(self, item: T) -> T:
        self._liveness.together()
        is_array = self.rank == 0 and isinstance(item, np.ndarray) and not item.dtype.hasobject
        header = (item.shape, item.dtype) if is_array else None  # type: ignore[attr-defined]
        header = self.world.bcast(header)
        if header is None:
            return self.world.bcast(item)
        words = np.ascontiguousarray(item) if self.rank == 0 else np.empty(*header)
        self.world.Bcast(words.reshape(-1).view(np.uint8))
        return item if self.rank == 0 else cast(T, words)

    def gather(self, item: T) -> list[T] | None:
        self._liveness.together()
        return self.world.gather(item)

    def join(self, items: np.ndarray) -> np.ndarray:
        self._liveness.together()
        lengths = self.world.allgather(items.size)
        joined = np.empty(sum(lengths), items.dtype)
        element = self._mpi.BYTE.Create_contiguous(items.dtype.itemsize).Commit()
        own_bytes = np.ascontiguousarray(items).view(np.uint8)
        try:
            self.world.Allgatherv([own_bytes, items.size, element], [joined.view(np.uint8), lengths, element])
        finally:
            element.Free()
        return joined

    def reduce(self, items: np.ndarray, operation: str) -> None:
        check_summand(items)
        self._liveness.together()
        if operation == "least" and items.dtype.kind == "u" and self._least_is_signed:
            # In this order, unsigned numbers are those of a signed type.
            sign = items.dtype.type(1 << (8 * items.itemsize - 1))
            items ^= sign
            self.world.Allreduce(self._mpi.IN_PLACE, items.view(f"i{items.itemsize}"), self._mpi.MIN)
            items ^= sign
            return
        self.world.Allreduce(self._mpi.IN_PLACE, items, self._operations[operation])

    def transfer(self, messages: Sequence[Message]) -> None:
        """Send and receive in pieces of at most `PIECE` bytes."""
        self._liveness.together()
        requests = []
        for items, source, to in messages:
            words = items.reshape(-1).view(np.uint8)
            for first in range(0, words.size, PIECE):
                piece = words[first : first + PIECE]
                if source == self.rank:
                    requests.append(self.world.Isend(piece, to, ITEMS))
                else:
                    requests.append(self.world.Irecv(piece, source, ITEMS))
        self._mpi.Request.Waitall(requests)

    def send(self, items: np.ndarray, to: int) -> None:
        with self._liveness.exchange(to):
            self.world.Send(np.ascontiguousarray(items).reshape(-1).view(np.uint8), to, ITEMS)

    def receive(self, items: np.ndarray, source: int) -> None:
        with self._liveness.exchange(source):
            self.world.Recv(items.reshape(-1).view(np.uint8), source, ITEMS)

    def departed(self) -> int | None:
        return self._liveness.departed()

    def is_awaited(self) -> bool:
        return self._liveness.is_awaited()

    def barrier(self) -> None:
        self._liveness.together()
        self.world.Barrier()

    def assemble(self) -> None:
        """Notify rank 0, and wait for its reply."""
        self._liveness.together()
        others = range(1, self.size) if self.rank == 0 else [0]
        if self.rank:
            self.world.Send(NOTHING, 0, HERE)
        for other in others:
            idle_waiting.wait_until(lambda: self.world.Iprobe(other, HERE))  # noqa: B023 (called before the next rank's turn)
            self.world.Recv(NOTHING, other, HERE)
        if self.rank == 0:
            self._mpi.Request.Waitall([self.world.Isend(NOTHING, other, HERE) for other in others])

    def word(self) -> Word:
        """Make a word in the memory of rank 0."""
        if self.size == 1:
            return LocalWord()
        window = next((window for window in self._windows if window.free), None)
        if window is None:
            window = WordWindow(self)
            self._windows.append(window)
        return WindowWord(self, window)

    def free(self) -> None:
        """Free MPI's resources of this communicator; all ranks call it together, after all other calls."""
        if self._mpi.Is_finalized():
            return
        for window in self._windows:
            window.close()
        self._least.Free()
        self._pair.Free()


def _keep_least(candidate: memoryview, least: memoryview, _: object) -> None:
    if PAIR.unpack(candidate) < PAIR.unpack(least):
        least[:] = candidate


def compares_signed(mpi: ModuleType) -> bool:
    """Return True if MPI's MIN takes unsigned numbers for signed ones.

    MPICH 4.0.2 does (its issue 6083), and Open MPI 4.1.2 to 4.1.4 (its issues 10525 and 10648).
    """
    least, largest = np.array([0, (1 << 64) - 1], np.uint64).reshape(2, 1)
    mpi.MIN.Reduce_local(largest, least)
    return int(least[0]) != 0
