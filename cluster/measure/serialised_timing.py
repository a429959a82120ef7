"""Serialised timing: ranks act one after another, and the others sleep so that they do not disturb.

64 ranks that wait in MPI keep two cores busy, and the measured ranks would hardly run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.mpi import idle_waiting

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

TURN = 7
"""Tag of the message that starts a rank's turn."""
NOTHING = bytearray()


def pass_turn(world: Intracomm, to: int) -> None:
    """Start the turn of a rank of mpi4py's communicator; may wait until the message is received."""
    world.Send(NOTHING, to, TURN)


def wait_for_turn(world: Intracomm, source: int) -> None:
    idle_waiting.wait_until(lambda: world.Iprobe(source, TURN))
    world.Recv(NOTHING, source, TURN)
