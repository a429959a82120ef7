"""Two numbers shared by all ranks: a counter that distributes work, and the smallest value so far.

Both are one 64-bit word in the memory of rank 0, which the others change by MPI's one-sided Fetch_and_op. On one host
the word is in shared memory, and a call takes a microsecond or two, even while rank 0 runs a kernel (Open MPI 5.0.11,
two cores). Over several hosts it depends on the network. Cards with atomics need no processor. Over TCP the processor
of rank 0 replies the next time that it is inside MPI (in `take`, `lower` or a method of its communicator). Calls from
other hosts then wait while rank 0 computes, so rank 0 should take small portions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm, Op

MAX_VALUE = 2**63 - 1
"""Largest value of `SharedMinimum`."""
WORDS, WORD_BYTES = 32, 64
"""Words of a window, and bytes of each: one cache line."""


class Word(Protocol):
    """A 64-bit number that ranks share."""

    def add(self, summand: int) -> int:
        """Add a number and return the previous value."""

    def lower(self, value: int) -> int:
        """Store the smaller of this value and the present one; returns the previous value."""

    def reset(self, value: int) -> None:
        """Write a value, after all earlier calls and before all later ones; every rank calls it before others."""

    def close(self) -> None:
        """Free the word; every rank calls it, and all close their words in the same order."""


class WindowRanks(Protocol):
    """Operations of an MPI communicator that a word in a window needs."""

    rank: int
    world: Intracomm

    def barrier(self) -> None:
        """Wait for all ranks."""


class SharedCounter:
    """Gives out the numbers 0, 1, 2, ... to all ranks, each number once (`Communicator.counter`)."""

    def __init__(self, word: Word) -> None:
        self.word = word
        word.reset(0)

    def take(self, count: int = 1) -> int:
        """Take the next `count` numbers, at least 1, and return the first of them; no other rank has to call."""
        if count < 1:
            raise ValueError(f"found a count of {count}, expected at least 1")
        return self.word.add(count)

    def taken(self) -> int:
        """Return the number of values requested so far, which may exceed the amount of work."""
        return self.word.add(0)

    def close(self) -> None:
        """Free the word; every rank calls it, after its last `take`."""
        self.word.close()


class SharedMinimum:
    """Minimum of values from all ranks, such as the length of the best tour (`Communicator.least`)."""

    def __init__(self, word: Word, value: int) -> None:
        self.word = word
        word.reset(_checked(value))

    def lower(self, value: int) -> int:
        """Offer a value, from -2^63 to 2^63 - 1; return the least so far, this one included.

        `lower(MAX_VALUE)` only reads it. No other rank has to call.
        """
        return min(self.word.lower(_checked(value)), int(value))

    def close(self) -> None:
        """Free the word; every rank calls it, after its last `lower`."""
        self.word.close()


class LocalWord:
    """The word of a single process."""

    def __init__(self) -> None:
        self._value = 0

    def add(self, summand: int) -> int:
        before = self._value
        self._value += summand
        return before

    def lower(self, value: int) -> int:
        before = self._value
        self._value = min(before, int(value))
        return before

    def reset(self, value: int) -> None:
        self._value = int(value)

    def close(self) -> None:
        """Hold nothing that is to be given back."""


class WordWindow:
    """An MPI window of rank 0 for some words, open to all ranks until they close it.

    Opening a window takes 0.2 to 5 ms; placing a word in an open one takes no time.
    """

    def __init__(self, ranks: WindowRanks) -> None:
        from mpi4py import MPI

        self.mpi = MPI
        ranks.barrier()
        # Memory allocated by MPI can be in a segment that all ranks of a host share.
        self.memory = MPI.Win.Allocate(WORDS * WORD_BYTES if ranks.rank == 0 else 0, 1, comm=ranks.world)
        self.memory.Lock_all(MPI.MODE_NOCHECK)
        self.free = list(range(0, WORDS * WORD_BYTES, WORD_BYTES))
        """Free offsets; the same on all ranks, which make and close the same words."""

    def close(self) -> None:
        """Free the window; all ranks call it together."""
        self.memory.Unlock_all()
        self.memory.Free()


class WindowWord:
    """A word in a window, until it is closed."""

    def __init__(self, ranks: WindowRanks, window: WordWindow) -> None:
        self._ranks = ranks
        self._window = window
        self._place = window.free.pop(0)
        self._operand = np.zeros(1, np.int64)
        self._before = np.zeros(1, np.int64)

    def add(self, summand: int) -> int:
        return self._fetch(summand, self._window.mpi.SUM)

    def lower(self, value: int) -> int:
        return self._fetch(value, self._window.mpi.MIN)

    def reset(self, value: int) -> None:
        self._ranks.barrier()
        if self._ranks.rank == 0:
            self._fetch(value, self._window.mpi.REPLACE)
        self._ranks.barrier()

    def close(self) -> None:
        """Close the word; the next one in its place is reset before use."""
        self._window.free.append(self._place)

    def _fetch(self, operand: int, operation: Op) -> int:
        self._operand[0] = operand
        word = self._window.mpi.INT64_T
        memory = self._window.memory
        memory.Fetch_and_op([self._operand, word], [self._before, word], 0, self._place, operation)
        memory.Flush(0)
        return int(self._before[0])


def _checked(value: int) -> int:
    if not -MAX_VALUE - 1 <= value <= MAX_VALUE:
        raise OverflowError(f"value {value} is outside -2^63 to 2^63 - 1")
    return int(value)
