"""Ranks: communicators, how jobs of ranks are started, how their network is measured, and a model of their run time.

Other packages import the names below, `command_line`, and modules of `mpi`, `launch`, `measure` and `model`.
64 ranks may start on two cores and each pays for every import, so this module imports next to nothing.
"""

from cluster.mpi.communicator import Communicator
from cluster.mpi.consistency import require_equal_arguments, require_equal_content
from cluster.mpi.default import default_communicator
from cluster.mpi.mpi_communicator import Mpi
from cluster.mpi.solo import Solo

__all__ = ["Communicator", "Mpi", "Solo", "require_equal_arguments", "require_equal_content", "default_communicator"]
