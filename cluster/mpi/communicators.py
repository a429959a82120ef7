"""What ranks say to each other: one protocol, spoken by a process alone and by MPI ranks.

The cluster model of the papers is one reduction to the best (value, index) per iteration. MPI's own MINLOC
has no 64-bit index and no unsigned values, so `Mpi.minloc` brings its own operation: still one Allreduce.
"""

from __future__ import annotations

import atexit
import os
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from cluster.mpi import abort, idle_waiting, launcher, liveness, lost_hosts
from cluster.mpi.shared_words import (
    LocalWord,
    SharedCounter,
    SharedMinimum,
    SharedWordFactory,
    WindowWord,
    Word,
    WordWindow,
)

T = TypeVar("T")
Summand = TypeVar("Summand", int, np.integer, np.ndarray)

LEAST_VALUE, MOST_VALUE = -(1 << 63), (1 << 64) - 1
MOST_INDEX = (1 << 64) - 1
WORD = (1 << 64) - 1
PIECE = 1 << 30
"""Bytes of one message at most: MPI counts in 31 bits."""
ITEMS, HERE = range(2)
"""Tags of messages: arrays, and words of a rank that it is there."""
NOTHING = bytearray()
# The value's bits above the lowest 64 (-1 or 0), its lowest 64, the index: tuples of these sort as wanted.
PAIR = struct.Struct("=qQQ")


class Message(NamedTuple):
    """A contiguous array on its way from one rank to another, as both of them hold it."""

    items: np.ndarray
    source: int
    to: int


class LaunchError(RuntimeError):
    """The launcher and the MPI library do not fit each other: the user's to mend."""

    exit_code = 2


class Communicator(Protocol):
    """Ranks 0 to `size` - 1 of a job; every rank calls the same methods in the same order.

    Attributes
    ----------
    rank, size : int
        This process's number and how many there are.
    local_rank : int
        Its number among the ranks of its own host; modulo the devices there, it picks the device.
    is_silent : bool
        Whether nobody answers although `size` says that there are others: a rehearsal.
    survives : bool
        Whether ranks may be lost, so that the others go on without them. Then words are shared by messages, and a
        `counter` is each rank's own.
    lost : sequence of int
        Ranks, by their numbers when the job began, that others have gone on without.

    """

    rank: int
    size: int
    local_rank: int
    is_silent: bool
    survives: bool
    lost: Sequence[int]

    def host(self) -> str:
        """Name the host and process space that this rank lives in: the same for ranks that can share memory."""

    def minloc(self, value: int, index: int) -> tuple[int, int]:
        """Find the least value of all ranks and its index; of equal values the smallest index.

        Parameters
        ----------
        value
            From -2^63 to 2^64 - 1, compared exactly; a rank without a candidate passes 2^64 - 1.
        index
            From 0 to 2^64 - 1.

        Raises
        ------
        OverflowError
            The value or the index is outside these bounds.

        """

    def sum(self, summand: Summand) -> Summand:
        """Add up exactly over all ranks, in no matter which order.

        A Python integer grows as it must; a NumPy integer, and arrays of one shape and integer type, wrap
        around in their type, as digests want it.

        Raises
        ------
        TypeError
            The summand is no integer: a float's sum would depend on the number of ranks.

        """

    def bcast(self, item: T) -> T:
        """Hand rank 0's object or array to all ranks; what the others pass is ignored."""

    def gather(self, item: T) -> list[T] | None:
        """Collect one object of each rank, in order of rank: the list on rank 0, None elsewhere."""

    def join(self, items: np.ndarray) -> np.ndarray:
        """Put the flat arrays of all ranks, of one dtype and any lengths, one after the other, for every rank."""

    def reduce(self, items: np.ndarray, operation: str) -> None:
        """Combine arrays of integers of all ranks element by element, in place: every rank's holds the result.

        Parameters
        ----------
        items : contiguous, the same shape and dtype on all ranks
            Sums wrap around in this type.
        operation
            ``least`` or ``sum``.

        """

    def transfer(self, messages: Sequence[Message]) -> None:
        """Send and receive arrays at once, in place; all ranks call this, each with the messages that concern it.

        Messages between two ranks are in the same order on both.
        """

    def send(self, items: np.ndarray, to: int) -> None:
        """Hand an array to another rank, which calls `receive`; may wait until it does."""

    def receive(self, items: np.ndarray, source: int) -> None:
        """Wait for an array from another rank and put it into ``items``, of its size and dtype and contiguous."""

    def departed(self) -> int | None:
        """Name a rank that has ended and takes part in nothing more; None: nobody has.

        For who waits for the others elsewhere than in MPI, in a kernel say, and looks now and then: it costs a few
        microseconds a rank and no help of the others. A rank that was killed is no matter of this: its launcher ends
        all others.
        """

    def barrier(self) -> None:
        """Wait until every rank is here."""

    def assemble(self) -> None:
        """Wait until every rank is here, asleep: for waits of a second or an hour, which shall cost others nothing.

        A rank goes on up to `idle_waiting.LONGEST_NAP_S` later than after `barrier`.
        """

    def word(self) -> Word:
        """Make a word that ranks share; all ranks together."""

    def counter(self) -> SharedCounter:
        """Make a counter from which ranks take numbers without meeting; all ranks together."""

    def least(self, value: int) -> SharedMinimum:
        """Make a least value, at first this one, that ranks lower without meeting; all ranks together."""


class Solo(SharedWordFactory):
    """The communicator of a process alone, which returns what it is given."""

    rank = 0
    size = 1
    local_rank = 0
    is_silent = survives = False
    lost: Sequence[int] = ()

    def host(self) -> str:
        """See `Communicator`."""
        return host_name()

    def minloc(self, value: int, index: int) -> tuple[int, int]:
        """Return its input; see `Communicator`."""
        _check_pair(value, index)
        return int(value), int(index)

    def sum(self, summand: Summand) -> Summand:
        """Return its input, an array as a copy; see `Communicator`."""
        _check_summand(summand)
        return summand.copy() if isinstance(summand, np.ndarray) else summand

    def bcast(self, item: T) -> T:
        """Return its input; see `Communicator`."""
        return item

    def gather(self, item: T) -> list[T] | None:
        """Return its input as the only element of a list; see `Communicator`."""
        return [item]

    def join(self, items: np.ndarray) -> np.ndarray:
        """Return a copy of its input; see `Communicator`."""
        return np.array(items)

    def reduce(self, items: np.ndarray, operation: str) -> None:
        """Leave them as they are; see `Communicator`."""
        _check_summand(items)

    def transfer(self, messages: Sequence[Message]) -> None:
        """There is nobody to send to; see `Communicator`."""
        if messages:
            raise ValueError(f"{len(messages)} messages of a process alone")

    def send(self, items: np.ndarray, to: int) -> None:
        """There is nobody to send to; see `Communicator`."""
        raise ValueError(f"rank {to} of a process alone")

    def receive(self, items: np.ndarray, source: int) -> None:
        """There is nobody who sends; see `Communicator`."""
        raise ValueError(f"rank {source} of a process alone")

    def departed(self) -> int | None:
        """Nobody; see `Communicator`."""
        return None

    def barrier(self) -> None:
        """Return at once; see `Communicator`."""

    def assemble(self) -> None:
        """Return at once; see `Communicator`."""

    def word(self) -> Word:
        """Make a word of its own; see `Communicator`."""
        return LocalWord()


class Mpi(SharedWordFactory):
    """The communicator of a rank under MPI, one for a process (`cluster.default_communicator`).

    Making it starts MPI and installs `cluster.mpi.abort`, `cluster.mpi.liveness` and `cluster.mpi.lost_hosts`, so that
    a rank that fails, leaves the others or is cut off ends the job.

    Raises
    ------
    LaunchError
        mpi4py is missing, or belongs to another MPI than the launcher, which would make every process rank 0.

    """

    is_silent = survives = False
    lost: Sequence[int] = ()

    def __init__(self) -> None:
        try:
            mpi = liveness.start_mpi()
        except ImportError as error:
            raise LaunchError(
                f"an MPI launcher started this, but mpi4py fails ({error}): pip install 'onekernel[mpi]'"
            ) from error
        self._mpi = mpi
        self.world = mpi.COMM_WORLD
        self.rank = self.world.Get_rank()
        self.size = self.world.Get_size()
        announced = launcher.size()
        if announced not in (None, self.size):
            raise LaunchError(
                f"the launcher started {announced} ranks, but the MPI library of mpi4py sees {self.size}: "
                "use the mpirun that belongs to this library"
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
        self._windows: list[WordWindow] = []
        # What is registered first runs last: when all ranks have ended, as `Liveness.leave` sees to.
        atexit.register(self.free)
        self._presence = self._present(mpi)

    def _present(self, mpi: Any) -> liveness.Liveness | liveness.NoLiveness:
        """What the others see of this rank."""
        return liveness.own_liveness(mpi)

    def host(self) -> str:
        """See `Communicator`."""
        return host_name()

    def minloc(self, value: int, index: int) -> tuple[int, int]:
        """Reduce in one Allreduce; see `Communicator`."""
        _check_pair(value, index)
        self._presence.together()
        value = int(value)
        mine = PAIR.pack(value >> 64, value & WORD, index)
        least = bytearray(PAIR.size)
        self.world.Allreduce([mine, 1, self._pair], [least, 1, self._pair], self._least)
        high, low, where = PAIR.unpack(least)
        return (high << 64) + low, where

    def sum(self, summand: Summand) -> Summand:
        """Reduce in one Allreduce; see `Communicator`."""
        _check_summand(summand)
        self._presence.together()
        if isinstance(summand, int):
            return self.world.allreduce(summand, self._mpi.SUM)
        mine = np.array(summand, order="C")
        total: Any = np.empty_like(mine)
        self.world.Allreduce(mine, total, self._mpi.SUM)
        return total if isinstance(summand, np.ndarray) else total[()]

    def bcast(self, item: T) -> T:
        """Send arrays as they lie in memory and anything else pickled; see `Communicator`."""
        self._presence.together()
        is_array = self.rank == 0 and isinstance(item, np.ndarray) and not item.dtype.hasobject
        header = (item.shape, item.dtype) if is_array else None  # type: ignore[attr-defined]
        header = self.world.bcast(header)
        if header is None:
            return self.world.bcast(item)
        words: Any = np.ascontiguousarray(item) if self.rank == 0 else np.empty(*header)
        self.world.Bcast(words.reshape(-1).view(np.uint8))
        return item if self.rank == 0 else words

    def gather(self, item: T) -> list[T] | None:
        """Send pickled; see `Communicator`."""
        self._presence.together()
        return self.world.gather(item)

    def join(self, items: np.ndarray) -> np.ndarray:
        """Collect in one Allgatherv; see `Communicator`."""
        self._presence.together()
        lengths = self.world.allgather(items.size)
        whole: Any = np.empty(sum(lengths), items.dtype)
        element = self._mpi.BYTE.Create_contiguous(items.dtype.itemsize).Commit()
        mine = np.ascontiguousarray(items).view(np.uint8)
        try:
            self.world.Allgatherv([mine, items.size, element], [whole.view(np.uint8), lengths, element])
        finally:
            element.Free()
        return np.asarray(whole)

    def reduce(self, items: np.ndarray, operation: str) -> None:
        """Reduce in one Allreduce, in place; see `Communicator`."""
        _check_summand(items)
        self._presence.together()
        self.world.Allreduce(self._mpi.IN_PLACE, items, self._operations[operation])

    def transfer(self, messages: Sequence[Message]) -> None:
        """Send and receive in pieces that MPI can count; see `Communicator`."""
        self._presence.together()
        requests = []
        for items, source, to in messages:
            words = items.reshape(-1).view(np.uint8)
            for first in range(0, words.size, PIECE):
                piece: Any = words[first : first + PIECE]
                if source == self.rank:
                    requests.append(self.world.Isend(piece, to, ITEMS))
                else:
                    requests.append(self.world.Irecv(piece, source, ITEMS))
        self._mpi.Request.Waitall(requests)

    def send(self, items: np.ndarray, to: int) -> None:
        """Send an array as it lies in memory; see `Communicator`."""
        with self._presence.exchange(to):
            self.world.Send(np.ascontiguousarray(items).reshape(-1).view(np.uint8), to, ITEMS)

    def receive(self, items: np.ndarray, source: int) -> None:
        """Receive in place; see `Communicator`."""
        with self._presence.exchange(source):
            self.world.Recv(items.reshape(-1).view(np.uint8), source, ITEMS)

    def departed(self) -> int | None:
        """Look at what ranks leave behind; see `Communicator`."""
        return self._presence.departed()

    def barrier(self) -> None:
        """Wait for all; see `Communicator`."""
        self._presence.together()
        self.world.Barrier()

    def assemble(self) -> None:
        """Tell rank 0, and wait until it tells that all have; see `Communicator`."""
        self._presence.together()
        others = range(1, self.size) if self.rank == 0 else [0]
        if self.rank:
            self.world.Send(NOTHING, 0, HERE)
        for other in others:
            idle_waiting.wait_until(lambda: self.world.Iprobe(other, HERE))  # noqa: B023 (called before the next rank's turn)
            self.world.Recv(NOTHING, other, HERE)
        if self.rank == 0:
            self._mpi.Request.Waitall([self.world.Isend(NOTHING, other, HERE) for other in others])

    def word(self) -> Word:
        """Make a word that lies with rank 0; see `Communicator`."""
        if self.size == 1:
            return LocalWord()
        window = next((one for one in self._windows if one.free), None)
        if window is None:
            window = WordWindow(self)
            self._windows.append(window)
        return WindowWord(self, window)

    def free(self) -> None:
        """Give back what MPI keeps for this communicator; all ranks call it together, when nothing follows."""
        if self._mpi.Is_finalized():
            return
        for window in self._windows:
            window.close()
        self._least.Free()
        self._pair.Free()


def host_name() -> str:
    """The host and the process space of this process: processes with equal names can open each other's memory."""
    try:
        space = os.readlink("/proc/self/ns/pid")
        with open("/proc/sys/kernel/random/boot_id") as file:
            return f"{file.read().strip()} {space}"
    except OSError:
        import socket

        return socket.gethostname()


def _keep_least(candidate: Any, least: Any, _: Any) -> None:
    if PAIR.unpack(candidate) < PAIR.unpack(least):
        least[:] = candidate


def _check_pair(value: int, index: int) -> None:
    if not LEAST_VALUE <= value <= MOST_VALUE:
        raise OverflowError(f"value {value} is outside -2^63 to 2^64 - 1")
    if not 0 <= index <= MOST_INDEX:
        raise OverflowError(f"index {index} is outside 0 to 2^64 - 1")


def _check_summand(summand: Any) -> None:
    kind = summand.dtype if isinstance(summand, np.ndarray | np.generic) else type(summand)
    if kind is not int and not (isinstance(kind, np.dtype) and kind.kind in "iu"):
        raise TypeError(f"ranks add up integers and arrays of integers, found {kind}")
