"""How ranks speak to each other: communicators, what they agree on, and how a failing rank ends the job.

64 ranks may start on two cores and each pays for every import, so everything here imports next to nothing.
"""

from cluster.mpi.communicators import Communicator, Mpi, Solo
from cluster.mpi.consistency import require_equal_arguments, require_equal_content
from cluster.mpi.default import default_communicator

__all__ = ["Communicator", "Mpi", "Solo", "require_equal_arguments", "require_equal_content", "default_communicator"]
