"""Which communicator a process has: none of MPI where no launcher started it."""

from __future__ import annotations

from functools import cache

from cluster import launcher
from cluster.communicators import Communicator, Mpi, Solo


def communicator() -> Communicator:
    """Return this process's communicator: `Mpi` if a launcher started it, else `Solo`, which needs no MPI.

    Where the launcher lets ranks survive the loss of others it is `cluster.survivors.Survivors`. A process has one of
    them, which every call returns: MPI has few operations, windows and datatypes, and ranks make them together.
    """
    return _of_this_process() if launcher.launched() or launcher.survives() else Solo()


@cache
def _of_this_process() -> Mpi:
    """Start MPI."""
    if launcher.survives():
        from cluster.survivors import Survivors

        return Survivors()
    return Mpi()
