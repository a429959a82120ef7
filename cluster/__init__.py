"""Ranks: communicators, the start of jobs, measurements of their network, and a model of their run time.

A rank gets its communicator from `default_communicator`: `Mpi` under a launcher, else `Solo`. Searches call only the
methods of `Communicator`. `launch` builds the command that starts ranks, `measure` measures them, `model` computes
run times of a paper's clusters, and `emulation` emulates hosts on one machine.

Other packages import the names below, `command_line`, and modules of the packages here. 64 ranks may start on two
cores and each pays for every import, so this module imports almost nothing.
"""

from cluster.mpi.communicator import Communicator
from cluster.mpi.consistency import require_equal_arguments, require_equal_content
from cluster.mpi.mpi_communicator import Mpi, default_communicator
from cluster.mpi.solo import Solo

__all__ = ["Communicator", "Mpi", "Solo", "require_equal_arguments", "require_equal_content", "default_communicator"]
