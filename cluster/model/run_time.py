"""Modelled time of a search on ranks of a network, from alpha, beta and compute rates.

An iteration has the largest part of the work (times gamma), the serial work of every rank, and communication. Each
partition scheme is a function: neighbourhoods and walks (one word an iteration, or none), ants (arrays), subtrees (a
counter), strips and halves of tables (messages from rank to rank). These are the exchanges of ranks on cores
(`backends.collectives`, `core.search`). Ranks begin an iteration together, so the largest part determines its time.
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
"""Bytes reduced in every iteration: the smallest key, or the shortest tour and its ant."""
SAMPLE_INTERVAL_S = 0.19
"""Seconds of a batch of iterations between two comparisons of ranks: between 0.125 and 0.25."""


class Work(NamedTuple):
    """Computation and communication of a search.

    Attributes
    ----------
    way
        Partition scheme, a key of `PARTITION_SCHEMES`.
    units
        Units of work in an iteration of all ranks together.
    iterations
        Iterations of a run; 1 for subtrees, strips and halves.
    shares
        Number of walks, climbers or ants; a rank has a whole number of them.
    reduced_bytes, gathered_bytes
        Arrays that all ranks add up in each iteration, and arrays gathered on every host. For strips and halves: a
        border of the whole table, and the last row.
    collected_bytes
        Bytes that the first rank collects from all others in each iteration; 0 for this project's ranks.
    least
        Units of the smallest batch, of subtrees.
    pieces
        Messages in which a strip sends its border.
    waves
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
    """Speed of a rank: ``unit_s`` seconds for a unit of work, gamma, when it works alone.

    ``serial_s`` is the part of an iteration that every rank repeats: the move, an update. ``meeting_s`` is the time of
    a rank's processor for a reduction besides the messages: Python, between two kernels.
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
        return sum(self)

    @property
    def communication_share(self) -> float:
        return self.communication_s / self.total_s


class ScalingPoint(NamedTuple):
    """An iteration on a number of ranks; ``speedup`` is over one rank."""

    ranks: int
    parts: IterationTimes
    speedup: float

    @property
    def efficiency(self) -> float:
        return self.speedup / self.ranks


# --- partition schemes ---


def neighbourhood(work: Work, speed: Speed, network: Interconnect, ranks: int) -> IterationTimes:
    """Model equal parts of a neighbourhood: the smallest key in each iteration, and a comparison after each batch."""
    compute = speed.unit_s * ceil(work.units / ranks) * network.crowding(ranks)
    meetings = synchronisation_s(speed, network, ranks, WORD) + collection_s(network, ranks, work.collected_bytes)
    return add_comparison(IterationTimes(compute, speed.serial_s, meetings), speed, network, ranks)


def walks(work: Work, speed: Speed, network: Interconnect, ranks: int) -> IterationTimes:
    """Model whole walks or climbs; ranks synchronise only after each batch."""
    part = ceil(work.shares / ranks) / work.shares
    compute = speed.unit_s * work.units * part * network.crowding(ranks)
    return add_comparison(IterationTimes(compute, speed.serial_s, 0.0), speed, network, ranks)


def ants(work: Work, speed: Speed, network: Interconnect, ranks: int) -> IterationTimes:
    """Model whole ants: the shortest tour, the sum of deposits on all edges, and rows of weights from other hosts."""
    part = ceil(work.shares / ranks) / work.shares
    compute = speed.unit_s * work.units * part * network.crowding(ranks)
    meetings = synchronisation_s(speed, network, ranks, WORD) + synchronisation_s(
        speed, network, ranks, work.reduced_bytes
    )
    meetings += gathering_s(network, ranks, work.gathered_bytes)
    return add_comparison(IterationTimes(compute, speed.serial_s, meetings), speed, network, ranks)


def subtrees(work: Work, speed: Speed, network: Interconnect, ranks: int) -> IterationTimes:
    """Model batches from a counter, each a fraction of the rest (Polychronopoulos and Kuck, 1987).

    The counter is on rank 0; a batch takes a request and a reply over the longest distance, and so does an incumbent.
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
    """Model columns of a table in strips: a pipeline of as many stages, with borders sent in pieces.

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
    """Model two ranks with a table each; one sends its last row to the other."""
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
"""Largest number of ranks of schemes with a limit."""


def iteration(work: Work, speed: Speed, network: Interconnect, ranks: int) -> IterationTimes:
    return PARTITION_SCHEMES[work.way](work, speed, network, ranks)


# --- what ranks say ---


def synchronisation_s(speed: Speed, network: Interconnect, ranks: int, size: int) -> float:
    """Return the seconds of a reduction of ``size`` bytes and of the host's part in it; 0 for one rank."""
    return speed.meeting_s + reduction_s(network, ranks, size) if ranks > 1 and size else 0.0


def add_comparison(parts: IterationTimes, speed: Speed, network: Interconnect, ranks: int) -> IterationTimes:
    """Add an iteration's part of the comparison after a batch: 3 words, and one of each rank."""
    samples = min(1.0, parts.total_s / SAMPLE_INTERVAL_S)
    comparison_s = samples * synchronisation_s(speed, network, ranks, WORD * (3 + ranks))
    return parts._replace(communication_s=parts.communication_s + comparison_s)


def collection_s(network: Interconnect, ranks: int, size: int) -> float:
    """Return the seconds to collect an array with a part on every rank; only other hosts need the network."""
    if ranks == 1 or not size:
        return 0.0
    hop, hosts = slowest_hop(network, ranks), network.hosts_of(ranks)
    parts = hosts if hosts > 1 else ranks
    return longest_latency_s(network, ranks) + size * (parts - 1) / parts * hop.beta_s_per_byte


def gathering_s(network: Interconnect, ranks: int, size: int) -> float:
    """Return the seconds in which every host gets parts of an array from all others; cores share memory."""
    hosts = network.hosts_of(ranks)
    if hosts == 1 or not size:
        return 0.0
    hop = slowest_hop(network, ranks)
    return longest_latency_s(network, ranks) + size * (hosts - 1) / hosts * hop.beta_s_per_byte


def borders_s(network: Interconnect, ranks: int, size: float) -> float:
    """Return the seconds of a message from each rank to the next, one after the other."""
    first = np.arange(ranks - 1)
    return float(network.message_s(network.places(ranks), first, first + 1, size).sum())


def border_s(network: Interconnect, ranks: int, size: float) -> float:
    """Return the seconds of a message to the next rank over the slowest border between two ranks."""
    hop = slowest_hop(network, ranks)
    return hop.alpha_s + hop.beta_s_per_byte * size


def slowest_hop(network: Interconnect, ranks: int) -> Hop:
    """Return the slowest kind of connection between two of these ranks."""
    hosts = network.hosts_of(ranks)
    if hosts == 1:
        return network.cores
    return network.between_sites if min(hosts, network.sites) > 1 else network.hosts


def longest_latency_s(network: Interconnect, ranks: int) -> float:
    """Return the seconds of an empty message between the two most distant ranks."""
    hop = slowest_hop(network, ranks)
    return max(hop.alpha_s, hop.farthest_s)


# --- what follows ---


def scaling_curve(work: Work, speed: Speed, network: Interconnect, ranks: Iterable[int]) -> list[ScalingPoint]:
    """Return time, speed-up and efficiency by ranks, without numbers of ranks that cannot share the work."""
    alone = iteration(work, speed, network, 1).total_s
    limit = MAX_RANKS.get(work.way)
    times = [(count, iteration(work, speed, network, count)) for count in ranks if limit is None or count <= limit]
    return [ScalingPoint(count, parts, alone / parts.total_s) for count, parts in times]
