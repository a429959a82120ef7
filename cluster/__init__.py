"""Ranks of a job: communicators, consistency of their arguments, starts of jobs, measurements and run-time models.

64 ranks may start on two cores and each pays for every import, so everything here imports next to nothing.
"""

from cluster.mpi.communicator import Communicator
from cluster.mpi.consistency import require_equal_arguments, require_equal_content
from cluster.mpi.default import default_communicator
from cluster.mpi.mpi_communicator import Mpi
from cluster.mpi.solo import Solo

__all__ = ["Communicator", "Mpi", "Solo", "require_equal_arguments", "require_equal_content", "default_communicator"]
