"""Default communicator of a process: without MPI unless a launcher started it."""

from __future__ import annotations

from functools import cache

from cluster.mpi import launcher
from cluster.mpi.communicator import Communicator
from cluster.mpi.mpi_communicator import Mpi
from cluster.mpi.solo import Solo


def default_communicator() -> Communicator:
    """Return this process's communicator: `Mpi` if a launcher started it, else `Solo`, which needs no MPI.

    If the launcher lets ranks survive the loss of others, it is `cluster.mpi.failures.survivors.FaultTolerantMpi`. All
    calls return the same object: MPI limits operations, windows and datatypes, and ranks must create them together.
    """
    return _of_this_process() if launcher.launched() or launcher.survives_lost_ranks() else Solo()


@cache
def _of_this_process() -> Mpi:
    if launcher.survives_lost_ranks():
        from cluster.mpi.failures.survivors import FaultTolerantMpi

        return FaultTolerantMpi()
    return Mpi()
