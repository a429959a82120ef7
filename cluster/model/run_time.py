"""Modelled time of a local search in one neighbourhood, which all ranks share.

It follows from alpha and beta of a network, and from the speed of one core. An iteration has the largest share of the
neighbourhood and communication: the smallest key in each iteration, and the progress of all ranks after a batch. Ranks
begin an iteration together, so the largest share determines its time.
"""

from __future__ import annotations

from math import ceil

from cluster.model.allreduce import reduction_s
from cluster.model.interconnects import Interconnect

WORD = 8
"""Bytes reduced in every iteration: the smallest key."""
SYNCHRONISATION_S = 5e-6
"""Seconds of a core for a synchronisation besides its messages: Python, between two kernels."""
SAMPLE_INTERVAL_S = 0.19
"""Seconds of a batch of iterations between two comparisons of ranks: between 0.125 and 0.25."""


def iteration_s(neighbours: float, neighbour_s: float, network: Interconnect, ranks: int) -> float:
    """Return the seconds of an iteration of ranks that share ``neighbours`` evaluations equally.

    ``neighbour_s`` are the seconds of an evaluation.
    """
    seconds = neighbour_s * ceil(neighbours / ranks)
    if ranks == 1:
        return seconds
    seconds += SYNCHRONISATION_S + reduction_s(network, ranks, WORD)
    comparisons = min(1.0, seconds / SAMPLE_INTERVAL_S)
    return seconds + comparisons * (SYNCHRONISATION_S + reduction_s(network, ranks, WORD * (3 + ranks)))
