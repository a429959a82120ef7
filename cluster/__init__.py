"""How ranks speak to each other: communicators, what they agree on, and how a failing rank ends the job.

64 ranks may start on two cores and each pays for every import, so everything here imports next to nothing.
"""

from cluster.agreement import agree, agree_on_content
from cluster.communicators import Communicator, Mpi, Solo
from cluster.this_process import communicator

__all__ = ["Communicator", "Mpi", "Solo", "agree", "agree_on_content", "communicator"]
