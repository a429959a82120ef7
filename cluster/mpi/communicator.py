"""Communicator of ranks: the calls that they make together, alone (`solo`) or over MPI (`mpi_communicator`).

An error that one rank alone raises leaves the others waiting for it. So work that ranks do apart, such as reading a
file or making a search, ends with an exchange of errors (`Communicator.on_all`), and all ranks raise the same one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol, TypeVar

import numpy as np

from cluster.mpi.shared_words import SharedCounter, SharedMinimum, Word
from core.errors import UserError

T = TypeVar("T")
Summand = TypeVar("Summand", int, np.integer, np.ndarray)

LEAST_VALUE, MOST_VALUE = -(1 << 63), (1 << 64) - 1
MOST_INDEX = (1 << 64) - 1


Message = tuple[np.ndarray, int, int]
"""A contiguous array, as both ranks hold it, the rank that has it, and the one that gets it."""


class Communicator(Protocol):
    """Ranks 0 to `size` - 1 of a job; every rank calls the same methods in the same order.

    Attributes
    ----------
    local_rank
        Number among the ranks of its host; modulo the number of devices there, it is the device's index.
    is_silent
        True for a rehearsal, in which no other rank takes part although `size` counts them.
    survives
        True if the others continue when ranks are lost. Then words are shared by messages, and every rank has a
        separate `counter`.
    lost
        Lost ranks, by their numbers when the job began.
    """

    rank: int
    size: int
    local_rank: int
    is_silent: bool = False
    survives: bool = False
    lost: Sequence[int] = ()

    def host(self) -> str:
        """Return a name of host and process space, equal for ranks that can share memory."""
        return host_name()

    def minloc(self, value: int, index: int) -> tuple[int, int]:
        """Return the least value of all ranks and its index; of equal values the smallest index.

        Values are from -2^63 to 2^64 - 1, compared exactly, and indices from 0 to 2^64 - 1; others raise
        `OverflowError`. A rank without a candidate passes 2^64 - 1.
        """

    def sum(self, summand: Summand) -> Summand:
        """Add up exactly over all ranks, in any order.

        A Python integer grows as it must; a NumPy integer, and arrays of one shape and integer type, wrap around in
        their type, as digests want it. Raises `TypeError` if the summand is no integer: a float's sum would depend on
        the number of ranks.
        """

    def bcast(self, item: T) -> T:
        """Send rank 0's object or array to all ranks; arguments of other ranks are ignored."""

    def gather(self, item: T) -> list[T] | None:
        """Collect one object of each rank in order of rank; a list on rank 0, None elsewhere."""

    def join(self, items: np.ndarray) -> np.ndarray:
        """Concatenate flat arrays of all ranks, of one dtype and any lengths, on every rank."""

    def reduce(self, items: np.ndarray, operation: str) -> None:
        """Combine the ranks' contiguous integer arrays in place, element by element, by ``least`` or ``sum``.

        They have the same shape and dtype on all ranks; sums wrap around in this type.
        """

    def transfer(self, messages: Sequence[Message]) -> None:
        """Send and receive arrays at once, in place; all ranks call this, each with its own messages.

        Messages between two ranks are in the same order on both.
        """

    def send(self, items: np.ndarray, to: int) -> None:
        """Send an array to another rank, which calls `receive`; may wait for that call."""

    def receive(self, items: np.ndarray, source: int) -> None:
        """Wait for an array from another rank and put it into ``items``, of its size and dtype and contiguous."""

    def on_first(self, act: Callable[[], T], *, is_long: bool = True) -> T:
        """Call a function on rank 0 alone; return its result, or raise its error, on every rank.

        In a rehearsal, other ranks get None; else see `on_all`.
        """
        own: Callable[[], Any] = act if self.rank == 0 else lambda: None
        return self.bcast(self.on_all(own, is_long=is_long))

    def on_all(self, act: Callable[[], T], *, is_long: bool = True) -> T:
        """Call a function on every rank; return its own result, or raise the first failing rank's error on every rank.

        The function does not communicate. Ranks wait for each other in sleep if it ``is_long``. The error has the
        attribute ``on_rank``, the first rank that raised it.
        """
        if self.size == 1 or self.is_silent:
            return act()
        own: BaseException | None = None
        try:
            result = act()
        except BaseException as error:
            own = error
        if is_long:
            self.assemble()
        everyone = self.gather(None if own is None else _sent_error(own, self.rank))
        sent = self.bcast(next(filter(None, everyone or ()), None))
        if sent is not None:
            raise own if own is not None and sent[-1]["on_rank"] == self.rank else _restored_error(*sent)
        return result

    def is_awaited(self) -> bool:
        """Return True if another rank waits for a call that this rank, which has failed, will not make.

        Every rank that fails calls this before it raises its error.
        """
        return False

    def departed(self) -> int | None:
        """Return a rank that has ended, None if all take part.

        For waits outside MPI, such as in a kernel: a call costs a few microseconds a rank and needs no other rank.
        Killed ranks are not reported: their launcher ends all others.
        """
        return None

    def barrier(self) -> None:
        """Wait for all ranks."""

    def assemble(self) -> None:
        """Wait for all ranks in sleep, which leaves the core to others; for waits of a second and more.

        A rank continues up to `idle_waiting.LONGEST_NAP_S` later than after `barrier`.
        """

    def word(self) -> Word:
        """Make a word that ranks share; all ranks together."""

    def counter(self) -> SharedCounter:
        """Make a counter from which ranks take numbers without synchronisation; all ranks call this."""
        return SharedCounter(self.word())

    def least(self, value: int) -> SharedMinimum:
        """Make a minimum with an initial value that ranks lower without synchronisation; all ranks call this."""
        return SharedMinimum(self.word(), value)


def gather_on_all(ranks: Communicator, item: T) -> list[T]:
    """Collect one object of each rank in order of rank, on every rank."""
    return ranks.bcast(ranks.gather(item) or [])


def host_name() -> str:
    """Return a name of host and process space; processes with equal names can open each other's memory."""
    try:
        space = os.readlink("/proc/self/ns/pid")
        with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as file:
            return f"{file.read().strip()} {space}"
    except OSError:
        import socket

        return socket.gethostname()


def check_pair(value: int, index: int) -> None:
    """Raise `OverflowError` for invalid operands of `Communicator.minloc`."""
    if not LEAST_VALUE <= value <= MOST_VALUE:
        raise OverflowError(f"value {value} is outside -2^63 to 2^64 - 1")
    if not 0 <= index <= MOST_INDEX:
        raise OverflowError(f"index {index} is outside 0 to 2^64 - 1")


def check_summand(summand: object) -> None:
    """Raise `TypeError` for anything but integers and arrays of integers."""
    kind = summand.dtype if isinstance(summand, np.ndarray | np.generic) else type(summand)
    if kind is not int and not (isinstance(kind, np.dtype) and kind.kind in "iu"):
        raise TypeError(f"ranks add up integers and arrays of integers, found {kind}")


# --- errors as messages between ranks ---


def _sent_error(error: BaseException, rank: int) -> tuple[type[BaseException], tuple[Any, ...], dict[str, Any]]:
    """Return the parts of an error for other ranks, or of one with its text if they cannot be sent."""
    import pickle

    error.__dict__["on_rank"] = rank
    # `args` lacks a file's name, which the method of Python's own class has.
    sent = type(error), tuple(_builtin(type(error)).__reduce__(error)[1]), error.__dict__
    with suppress(Exception):
        if str(_restored_error(*pickle.loads(pickle.dumps(sent)))) == str(error):
            return sent
    is_users = getattr(error, "exit_code", None) == UserError.exit_code
    return _sent_error(UserError(str(error)) if is_users else RuntimeError(f"{type(error).__name__}: {error}"), rank)


def _restored_error(kind: type[BaseException], arguments: tuple[Any, ...], state: dict[str, Any]) -> BaseException:
    """Return an error from its parts; unlike pickle, this calls no constructor outside of Python's own classes."""
    error = kind.__new__(kind, *arguments)
    _builtin(kind).__init__(error, *arguments)
    error.__dict__.update(state)
    return error


def _builtin(kind: type[BaseException]) -> type[BaseException]:
    return next(base for base in kind.__mro__ if base.__module__ == "builtins")
