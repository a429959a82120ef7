"""Which communicator a process has: none of MPI where no launcher started it."""

from __future__ import annotations

from cluster import launcher
from cluster.communicators import Communicator, Mpi, Solo


def communicator() -> Communicator:
    """Return this process's communicator: `Mpi` if a launcher started it, else `Solo`, which needs no MPI.

    Where the launcher lets ranks survive the loss of others it is `cluster.survivors.Survivors`.
    """
    if launcher.survives():
        from cluster.survivors import Survivors

        return Survivors()
    return Mpi() if launcher.launched() else Solo()
