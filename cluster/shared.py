"""Two numbers that ranks share without meeting: a counter of work taken, and the least value that any has found.

MPI one-sided: both live in a window on rank 0, which need not be in a call for others to reach them. Within a host Open
MPI does that through shared memory; between hosts without hardware for it, rank 0 answers when it next calls MPI.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class SoloCounter:
    """Numbers 0, 1, 2 ... for a process alone."""

    def __init__(self) -> None:
        self.next = 0

    def take(self, count: int) -> int:
        """Take the next ``count`` numbers; returns the first."""
        first = self.next
        self.next += count
        return first

    def close(self) -> None:
        """Nothing to give back."""


class SoloLeast:
    """The least value of a process alone."""

    def __init__(self, value: int) -> None:
        self.value = value

    def lower(self, value: int) -> int:
        """Enter a value; returns the least so far."""
        self.value = min(self.value, value)
        return self.value

    def close(self) -> None:
        """Nothing to give back."""


class _Window:
    """One integer of 64 bits on rank 0, for all ranks of a communicator of mpi4py."""

    def __init__(self, world: Any, value: int) -> None:
        from mpi4py import MPI

        self._mpi = MPI
        self._window = MPI.Win.Allocate(8 if world.Get_rank() == 0 else 0, 8, comm=world)
        if world.Get_rank() == 0:
            self._window.Lock(0, MPI.LOCK_EXCLUSIVE)
            np.frombuffer(self._window.tomemory(), np.int64)[0] = value
            self._window.Unlock(0)
        world.Barrier()
        self._window.Lock_all()

    def fetch(self, operand: int, operation: Any) -> int:
        """Apply an operation to the number on rank 0; returns what it was before."""
        before = np.zeros(1, np.int64)
        self._window.Fetch_and_op(np.array([operand], np.int64), before, 0, 0, operation)
        self._window.Flush(0)
        return int(before[0])

    def close(self) -> None:
        """Give the window back; all ranks together."""
        self._window.Unlock_all()
        self._window.Free()


class MpiCounter(_Window):
    """Numbers 0, 1, 2 ... given out once over all ranks.

    Parameters
    ----------
    world
        A communicator of mpi4py; all its ranks make the counter together.

    """

    def __init__(self, world: Any) -> None:
        super().__init__(world, 0)

    def take(self, count: int) -> int:
        """Take the next ``count`` numbers; returns the first."""
        return self.fetch(count, self._mpi.SUM)


class MpiLeast(_Window):
    """The least value that any rank has found.

    Parameters
    ----------
    world
        A communicator of mpi4py; all its ranks make it together.
    value
        What it is at first.

    """

    def lower(self, value: int) -> int:
        """Enter a value; returns the least so far."""
        return min(value, self.fetch(value, self._mpi.MIN))
