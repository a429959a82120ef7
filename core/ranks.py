"""Protocol of a communicator as `core` and `backends` see it; `cluster` has the classes.

Ranks are numbered from 0, and every rank calls the same methods in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

T = TypeVar("T")
Summand = TypeVar("Summand", int, np.integer, np.ndarray)
Message = tuple[np.ndarray, int, int]
"""A contiguous array, as both ranks hold it, the rank that has it, and the one that gets it."""


class Transfer(NamedTuple):
    """Elements of a buffer that one rank has and another needs."""

    source: int
    to: int
    start: int
    length: int


class SharedNumber(Protocol):
    """A number that ranks share: `cluster.mpi.shared_words.Word`."""

    def add(self, summand: int) -> int: ...
    def reset(self, value: int) -> None: ...
    def close(self) -> None: ...


class WorkCounter(Protocol):
    """Distributes numbers of items among ranks: `cluster.mpi.shared_words.SharedCounter`."""

    @property
    def word(self) -> SharedNumber: ...
    def take(self, count: int = 1) -> int: ...
    def taken(self) -> int: ...
    def close(self) -> None: ...


class LeastNumber(Protocol):
    """Least value of all ranks so far: `cluster.mpi.shared_words.SharedMinimum`."""

    def lower(self, value: int) -> int: ...
    def close(self) -> None: ...


class ReducingRanks(Protocol):
    """Ranks that reduce numbers: number of this rank, and how many there are."""

    rank: int
    size: int

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


class Ranks(ReducingRanks, Protocol):
    """Communicator of the ranks that search together.

    Attributes
    ----------
    is_silent
        True for a rehearsal, in which no other rank takes part although `size` counts them.
    survives
        True if the others continue when ranks are lost. Then words are shared by messages, and every rank has a
        separate `counter`.
    """

    is_silent: bool
    survives: bool

    def host(self) -> str:
        """Return a name of host and process space, equal for ranks that can share memory."""

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

        The function does not communicate. Other ranks wait in sleep if it ``is_long``.
        """

    def on_all(self, act: Callable[[], T], *, is_long: bool = True) -> T:
        """Call a function on every rank; return its own result, or raise the first failing rank's error on every rank.

        The function does not communicate.
        """

    def barrier(self) -> None:
        """Wait for all ranks."""

    def word(self) -> SharedNumber:
        """Make a word that ranks share; all ranks together."""

    def counter(self) -> WorkCounter:
        """Make a counter from which ranks take numbers without synchronisation; all ranks call this."""

    def least(self, value: int) -> LeastNumber:
        """Make a minimum with an initial value that ranks lower without synchronisation; all ranks call this."""


class OneRank:
    """Communicator of work that is not divided: this rank alone, without synchronisation."""

    rank, size = 0, 1

    def minloc(self, value: int, index: int) -> tuple[int, int]:
        return value, index

    def reduce(self, items: np.ndarray, operation: str) -> None:
        """Leave the items as they are."""

    def gather(self, item: T) -> list[T] | None:
        return [item]


def gather_on_all(ranks: Ranks, item: T) -> list[T]:
    """Collect one object of each rank in order of rank, on every rank."""
    return ranks.bcast(ranks.gather(item) or [])
