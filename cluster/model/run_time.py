"""Modelled time of a search on ranks of a network, from alpha, beta and compute rates.

One iteration is what a rank computes of the work (the largest share, times gamma), what every rank does by itself, and
what ranks say to each other. Each way of sharing is a function: neighbourhoods and walks (one word an iteration, or
none), ants (arrays), subtrees (a counter), strips and halves of tables (messages from rank to rank). These are the
exchanges of the suite's ranks on cores (`backends.collectives`, `core.search`); ranks begin an iteration together, so
what a rank waits for others is the largest share and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import ceil, log
from typing import NamedTuple

import numpy as np

from cluster.model.allreduce import reduction_s
from cluster.model.interconnects import Hop, Interconnect
from core.errors import UserError

WORD = 8
"""Bytes of what ranks reduce in every iteration: the smallest key, the shortest tour and its ant."""
SAMPLE_INTERVAL_S = 0.19
"""Seconds of a batch of iterations, after which ranks compare where they stand: between 0.125 and 0.25."""


class Work(NamedTuple):
    """What a search computes and what its ranks hand each other.

    Attributes
    ----------
    way : str
        How ranks share it, a key of `PARTITION_SCHEMES`.
    units : float
        Of work in an iteration of all ranks together.
    iterations : int
        Of a run; subtrees, strips and halves have one.
    shares : int
        Walks, climbers or ants, whole numbers of which a rank has.
    reduced_bytes, gathered_bytes : int
        Arrays that all ranks add up in each iteration, and those whose parts every host needs from all others. Of
        strips and halves: a border of the whole table, and the last row.
    collected_bytes : int
        What the first rank collects from all others in each iteration; the suite's ranks: nothing.
    least : float
        Units of the smallest batch, of subtrees.
    pieces : int
        Messages in which a strip hands on its border.
    waves : int
        Parts of a table, each by its own ranks, that are computed from both ends: 1 or 2.

    """

    way: str
    units: float
    iterations: int = 1
    shares: int = 1
    reduced_bytes: int = 0
    gathered_bytes: int = 0
    collected_bytes: int = 0
    least: float = 1.0
    pieces: int = 1
    waves: int = 1


class Speed(NamedTuple):
    """How fast a rank is.

    Attributes
    ----------
    unit_s : float
        Seconds for a unit of work, gamma, when it works alone.
    serial_s : float
        Seconds of an iteration that every rank spends by itself: the move, an update.
    meeting_s : float
        Seconds that a rank's own processor takes for a meeting besides the messages: Python, between two kernels.

    """

    unit_s: float
    serial_s: float = 0.0
    meeting_s: float = 0.0


class IterationTimes(NamedTuple):
    """Seconds of an iteration of the slowest rank."""

    compute_s: float
    serial_s: float
    communication_s: float

    @property
    def total_s(self) -> float:
        """All of it."""
        return sum(self)

    @property
    def communication_share(self) -> float:
        """The part of the time in which ranks communicate, 0 to 1."""
        return self.communication_s / self.total_s


class ScalingPoint(NamedTuple):
    """An iteration on so many ranks.

    Attributes
    ----------
    ranks : int
    parts : Parts
    speedup : float
        Over one rank.

    """

    ranks: int
    parts: IterationTimes
    speedup: float

    @property
    def efficiency(self) -> float:
        """Speed-up per rank."""
        return self.speedup / self.ranks


# --- ways of sharing ---


def neighbourhood(work: Work, speed: Speed, network: Interconnect, ranks: int) -> IterationTimes:
    """Neighbours in equal parts; the smallest key of all ranks in each iteration, and a comparison after each batch."""
    compute = speed.unit_s * ceil(work.units / ranks) * network.crowding(ranks)
    meetings = synchronisation_s(speed, network, ranks, WORD) + collection_s(network, ranks, work.collected_bytes)
    return add_comparison(IterationTimes(compute, speed.serial_s, meetings), speed, network, ranks)


def walks(work: Work, speed: Speed, network: Interconnect, ranks: int) -> IterationTimes:
    """Whole walks or climbs; ranks meet after each batch alone."""
    part = ceil(work.shares / ranks) / work.shares
    compute = speed.unit_s * work.units * part * network.crowding(ranks)
    return add_comparison(IterationTimes(compute, speed.serial_s, 0.0), speed, network, ranks)


def ants(work: Work, speed: Speed, network: Interconnect, ranks: int) -> IterationTimes:
    """Whole ants; the shortest tour, the sum of deposits on all edges, and rows of weights that other hosts compute."""
    part = ceil(work.shares / ranks) / work.shares
    compute = speed.unit_s * work.units * part * network.crowding(ranks)
    meetings = synchronisation_s(speed, network, ranks, WORD) + synchronisation_s(
        speed, network, ranks, work.reduced_bytes
    )
    meetings += gathering_s(network, ranks, work.gathered_bytes)
    return add_comparison(IterationTimes(compute, speed.serial_s, meetings), speed, network, ranks)


def subtrees(work: Work, speed: Speed, network: Interconnect, ranks: int) -> IterationTimes:
    """Batches from a counter, each a part of what is left (Polychronopoulos and Kuck, 1987), the last the smallest.

    The counter lies with rank 0; a batch takes a request and an answer over the longest way, an incumbent as much.
    """
    compute = speed.unit_s * work.units / ranks * network.crowding(ranks)
    if ranks == 1:
        return IterationTimes(compute, speed.serial_s, 0.0)
    batches = max(1.0, log(max(1.0, work.units / (ranks * work.least))))
    asked = batches * 2 * 2 * longest_latency_s(network, ranks)
    left_over = speed.unit_s * min(work.least, work.units / ranks)
    return IterationTimes(
        compute + left_over, speed.serial_s, asked + synchronisation_s(speed, network, ranks, 3 * WORD)
    )


def strips(work: Work, speed: Speed, network: Interconnect, ranks: int) -> IterationTimes:
    """Columns of a table in strips, each of which hands its border on in pieces: a pipeline of as many stages.

    The last strip begins when all to its left have done a piece, and each piece has come to its right neighbour; from
    then on a message travels while the next piece is computed. Waves from both ends are two pipelines of half of the
    ranks on half of the rows each.
    """
    waves = min(work.waves, ranks)
    strip = ceil(ranks / waves)
    piece = speed.unit_s * work.units / (waves * strip * work.pieces) * network.crowding(ranks)
    talk = 0.0
    if strip > 1:
        size = work.reduced_bytes / (waves * work.pieces)
        waits = max(0.0, size * slowest_hop(network, ranks).beta_s_per_byte - piece)
        talk = borders_s(network, strip, size)
        talk += (work.pieces - 1) * waits + (work.pieces + strip - 1) * speed.meeting_s
    end = synchronisation_s(speed, network, ranks, WORD)
    return IterationTimes(piece * (work.pieces + strip - 1), speed.serial_s, talk + end)


def halves(work: Work, speed: Speed, network: Interconnect, ranks: int) -> IterationTimes:
    """Two ranks with a table each, of which one hands its last row to the other.

    Raises
    ------
    UserError
        More than two ranks.

    """
    if ranks > 2:
        raise UserError(f"{ranks} ranks: two ranks share a table in halves, expected at most 2")
    compute = speed.unit_s * work.units / ranks * network.crowding(ranks)
    row = border_s(network, ranks, work.reduced_bytes) if ranks == 2 else 0.0
    return IterationTimes(compute, speed.serial_s, row + synchronisation_s(speed, network, ranks, WORD))


PARTITION_SCHEMES: dict[str, Callable[[Work, Speed, Interconnect, int], IterationTimes]] = {
    "neighbourhood": neighbourhood,
    "walks": walks,
    "ants": ants,
    "subtrees": subtrees,
    "strips": strips,
    "halves": halves,
}
MAX_RANKS = {"halves": 2}
"""Of ways that more ranks cannot share."""


def iteration(work: Work, speed: Speed, network: Interconnect, ranks: int) -> IterationTimes:
    """An iteration on so many ranks."""
    return PARTITION_SCHEMES[work.way](work, speed, network, ranks)


# --- what ranks say ---


def synchronisation_s(speed: Speed, network: Interconnect, ranks: int, size: int) -> float:
    """A reduction of an array of so many bytes, and what the host does for it; nothing for one rank."""
    return speed.meeting_s + reduction_s(network, ranks, size) if ranks > 1 and size else 0.0


def add_comparison(parts: IterationTimes, speed: Speed, network: Interconnect, ranks: int) -> IterationTimes:
    """An iteration with its part of the comparison of all ranks that follows a batch: 3 words, and one of each rank."""
    samples = min(1.0, parts.total_s / SAMPLE_INTERVAL_S)
    told = samples * synchronisation_s(speed, network, ranks, WORD * (3 + ranks))
    return parts._replace(communication_s=parts.communication_s + told)


def collection_s(network: Interconnect, ranks: int, size: int) -> float:
    """The first rank collects an array of which every rank has a part: from other hosts by the network of its own."""
    if ranks == 1 or not size:
        return 0.0
    hop, hosts = slowest_hop(network, ranks), network.hosts_of(ranks)
    parts = hosts if hosts > 1 else ranks
    return longest_latency_s(network, ranks) + size * (parts - 1) / parts * hop.beta_s_per_byte


def gathering_s(network: Interconnect, ranks: int, size: int) -> float:
    """Every host takes from each other one its part of an array; cores of one host have it in common memory."""
    hosts = network.hosts_of(ranks)
    if hosts == 1 or not size:
        return 0.0
    hop = slowest_hop(network, ranks)
    return longest_latency_s(network, ranks) + size * (hosts - 1) / hosts * hop.beta_s_per_byte


def borders_s(network: Interconnect, ranks: int, size: float) -> float:
    """A message from each rank to the next, one after the other."""
    first = np.arange(ranks - 1)
    return float(network.message_s(network.places(ranks), first, first + 1, size).sum())


def border_s(network: Interconnect, ranks: int, size: float) -> float:
    """A message to the next rank, over the slowest border between two ranks."""
    hop = slowest_hop(network, ranks)
    return hop.alpha_s + hop.beta_s_per_byte * size


def slowest_hop(network: Interconnect, ranks: int) -> Hop:
    """The slowest kind of way between two of so many ranks."""
    hosts = network.hosts_of(ranks)
    if hosts == 1:
        return network.cores
    return network.between_sites if min(hosts, network.sites) > 1 else network.hosts


def longest_latency_s(network: Interconnect, ranks: int) -> float:
    """Seconds of an empty message between the two ranks that are farthest apart."""
    hop = slowest_hop(network, ranks)
    return max(hop.alpha_s, hop.farthest_s)


# --- what follows ---


def scaling_curve(work: Work, speed: Speed, network: Interconnect, ranks: Iterable[int]) -> list[ScalingPoint]:
    """Time, speed-up and efficiency against ranks; those that cannot share the work are left out."""
    alone = iteration(work, speed, network, 1).total_s
    most = MAX_RANKS.get(work.way)
    every = [(count, iteration(work, speed, network, count)) for count in ranks if most is None or count <= most]
    return [ScalingPoint(count, parts, alone / parts.total_s) for count, parts in every]
