"""Two numbers that all ranks see: a counter that hands out work, and the least value found so far.

Both are one 64-bit word in the memory of rank 0, which the others change by MPI's one-sided Fetch_and_op: nobody has to
answer. On one host the word lies in shared memory, and a call takes a microsecond or two whatever rank 0 does, running
a kernel included (Open MPI 5.0.11, two cores). Over several hosts it depends on the network: where its cards do atomics
no processor is needed, but over TCP rank 0's own processor answers, the next time that it is inside MPI (in `take`,
`lower` or a method of its communicator). There calls from other hosts wait while rank 0 computes: 1.8 s for one made
1.8 s before its end. So rank 0 should take small portions there.
"""

from __future__ import annotations

import time
from typing import Any, Protocol

import numpy as np

from cluster.communicators import Communicator, Mpi, Solo
from cluster.timed import Timed

MOST = 2**63 - 1
"""What `SharedLeast` begins with: no value is larger."""


class SharedCounter:
    """Gives out the numbers 0, 1, 2, ... to all ranks, each number once.

    Parameters
    ----------
    ranks
        The communicator of the ranks that share the counter; every one makes its `SharedCounter` at the same place of
        its program. A communicator that answers itself (`Solo`, `Rehearsal`) has a counter of its own. The time
        that `take` spends in MPI is added to a `Timed`.

    """

    def __init__(self, ranks: Communicator) -> None:
        self._word = _SharedWord(ranks, 0)

    def take(self, count: int = 1) -> int:
        """Take the next `count` numbers and return the first of them; no other rank has to call.

        Raises
        ------
        ValueError
            The count is not positive.

        """
        if count < 1:
            raise ValueError(f"found a count of {count}, expected at least 1")
        return self._word.add(count)

    def reset(self) -> None:
        """Begin at 0 again; every rank calls it."""
        self._word.reset(0)

    def close(self) -> None:
        """Give the memory back; every rank calls it, after its last `take`.

        Not in a `finally`: a rank that fails would wait here for ranks that wait for it elsewhere.
        """
        self._word.close()


class SharedLeast:
    """Keeps the least of the values that any rank has found, such as the length of the best tour.

    Parameters
    ----------
    ranks
        As for `SharedCounter`.

    """

    def __init__(self, ranks: Communicator) -> None:
        self._word = _SharedWord(ranks, MOST)

    def lower(self, value: int) -> int:
        """Offer a value, from -2^63 to 2^63 - 1; return the least so far, this one included.

        `lower(MOST)` only asks. No other rank has to call.

        Raises
        ------
        OverflowError
            The value is outside these bounds.

        """
        return min(self._word.lower(_checked(value)), int(value))

    def reset(self, value: int = MOST) -> None:
        """Forget all values and begin with this one, the same on every rank; every rank calls it."""
        self._word.reset(_checked(value))

    def close(self) -> None:
        """Give the memory back; every rank calls it, after its last `lower`; see `SharedCounter.close`."""
        self._word.close()


class _Word(Protocol):
    """A 64-bit number; each operation returns what it was before."""

    def add(self, summand: int) -> int: ...

    def lower(self, value: int) -> int: ...

    def replace(self, value: int) -> int: ...

    def close(self) -> None: ...


class _OwnWord:
    """The word of a process that shares it with nobody."""

    def __init__(self) -> None:
        self._value = 0

    def add(self, summand: int) -> int:
        return self.replace(self._value + summand)

    def lower(self, value: int) -> int:
        return self.replace(min(self._value, value))

    def replace(self, value: int) -> int:
        before, self._value = self._value, int(value)
        return before

    def close(self) -> None:
        """Hold nothing that is to be given back."""


class _WindowWord:
    """A word in an MPI window of rank 0, open to all ranks from the beginning to the end."""

    def __init__(self, world: Any) -> None:
        from mpi4py import MPI

        self._mpi = MPI
        # Memory that MPI allocates itself can lie in a segment that all ranks of a host share.
        size = MPI.INT64_T.Get_size()
        self._window = MPI.Win.Allocate(size if world.Get_rank() == 0 else 0, size, comm=world)
        self._window.Lock_all(MPI.MODE_NOCHECK)
        self._operand = np.zeros(1, np.int64)
        self._before = np.zeros(1, np.int64)

    def add(self, summand: int) -> int:
        return self._fetch(summand, self._mpi.SUM)

    def lower(self, value: int) -> int:
        return self._fetch(value, self._mpi.MIN)

    def replace(self, value: int) -> int:
        return self._fetch(value, self._mpi.REPLACE)

    def close(self) -> None:
        self._window.Unlock_all()
        self._window.Free()

    def _fetch(self, operand: int, operation: Any) -> int:
        self._operand[0] = operand
        word = self._mpi.INT64_T
        self._window.Fetch_and_op([self._operand, word], [self._before, word], 0, 0, operation)
        self._window.Flush(0)
        return int(self._before[0])


class _SharedWord:
    """The word that a communicator's ranks share, with a value that it begins with, on the clock of a `Timed`."""

    def __init__(self, ranks: Communicator, value: int) -> None:
        self._ranks = ranks
        self._clocks: list[Timed] = []
        inner = ranks
        while isinstance(inner, Timed):
            self._clocks.append(inner)
            inner = inner.ranks
        self._word: _Word
        if isinstance(inner, Mpi) and inner.size > 1:
            self._word = _WindowWord(inner.world)
        elif isinstance(inner, Mpi | Solo):
            self._word = _OwnWord()
            # Nothing is said to other ranks: nothing is measured.
            self._clocks = []
        else:
            raise TypeError(f"ranks share memory through Mpi or Solo, found {type(inner).__name__}")
        self.reset(value)

    def add(self, summand: int) -> int:
        began = time.perf_counter()
        return self._clocked(began, self._word.add(summand))

    def lower(self, value: int) -> int:
        began = time.perf_counter()
        return self._clocked(began, self._word.lower(value))

    def reset(self, value: int) -> None:
        """Write a value between two barriers: after all that came before it, and before all that comes."""
        self._ranks.barrier()
        if self._ranks.rank == 0 or isinstance(self._word, _OwnWord):
            self._word.replace(value)
        self._ranks.barrier()

    def close(self) -> None:
        self._word.close()

    def _clocked(self, began: float, result: int) -> int:
        spent = time.perf_counter() - began
        for clock in self._clocks:
            clock.seconds += spent
            clock.calls += 1
        return result


def _checked(value: int) -> int:
    if not -MOST - 1 <= value <= MOST:
        raise OverflowError(f"value {value} is outside -2^63 to 2^63 - 1")
    return int(value)
