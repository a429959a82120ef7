"""Ranks: communicators, the start of jobs, and a model of their run time.

A rank gets its communicator from `default_communicator`: `Mpi` under a launcher, else `Solo`. Searches call only the
methods of `Communicator`. `launch` builds the command that starts ranks, `model` computes run times of a paper's
clusters, and `emulation` emulates hosts on one machine.

Other packages import the names below, `command_line`, and modules of the packages here. 64 ranks may start on two
cores and each pays for every import, so this module imports almost nothing.
"""

from __future__ import annotations

from functools import cache

from cluster.mpi import launcher
from cluster.mpi.communicator import Communicator
from cluster.mpi.consistency import require_equal_arguments, require_equal_content
from cluster.mpi.mpi_communicator import Mpi
from cluster.mpi.solo import Solo

__all__ = ["Communicator", "Mpi", "Solo", "require_equal_arguments", "require_equal_content", "default_communicator"]


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
