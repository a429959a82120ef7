"""Anomalies of measured ranks and hosts: slow, crowded or throttled ones, unequal versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

from cluster.measure.measurement import RankSpeed
from cluster.mpi.consistency import format_ranks, join_names

SLOW = 0.8
"""A rank is slow if it computes at less than this part of the median of similar ranks."""
CROWDED = 1.5
"""Ranks of a host slow each other down if one alone is faster by this factor."""
LOW_CLOCK = 0.8
"""A processor's clock is low below this part of the median of all."""


def find_anomalies(ranks: Sequence[RankSpeed]) -> Iterator[str]:
    """Yield all anomalies, a sentence each."""
    for find in (find_slow_ranks, find_crowded_hosts, find_throttled, find_unequal_versions):
        yield from find(ranks)


def find_slow_ranks(ranks: Sequence[RankSpeed]) -> Iterator[str]:
    """Yield ranks slower than others with the same kind of device, even while the others of their host wait."""
    for backend in dict.fromkeys(rank.backend for rank in ranks):
        alike = [rank for rank in ranks if rank.backend == backend]
        typical = median(rank.rate_in_turn for rank in alike)
        slow = [rank for rank in alike if rank.rate_in_turn < SLOW * typical]
        if slow:
            least = min(rank.rate_in_turn for rank in slow) / typical
            where = join_names(dict.fromkeys(rank.host for rank in slow))
            numbers = format_ranks([rank.rank for rank in slow])
            yield f"{numbers} ({where}): slow, from {100 * least:.0f} % of the median speed of all ranks with {backend}"


def find_crowded_hosts(ranks: Sequence[RankSpeed]) -> Iterator[str]:
    """Yield hosts with too few cores for their ranks, or with ranks that slow each other down."""
    for host in dict.fromkeys(rank.host for rank in ranks):
        ranks_of_host = [rank for rank in ranks if rank.host == host]
        needed, cores = sum(rank.cores for rank in ranks_of_host), min(rank.host_cores for rank in ranks_of_host)
        faster = median(rank.rate_in_turn / rank.rate for rank in ranks_of_host)
        ratio = f"a rank alone is {faster:.2g} times as fast"
        if needed > cores:
            reason = f"; {ratio}" if faster > 1 else ""
            yield f"{host} is oversubscribed: {len(ranks_of_host)} ranks want {needed} cores of {cores}{reason}"
        elif len(ranks_of_host) > 1 and faster > CROWDED:
            yield (
                f"ranks of {host} slow each other down: {ratio}, though {len(ranks_of_host)} ranks want {needed} of "
                f"{cores} cores (bound to the same core, or other programs run there?)"
            )


def find_throttled(ranks: Sequence[RankSpeed]) -> Iterator[str]:
    """Yield throttled GPUs with the reasons, and processors with a lower clock than the others."""
    clocks: dict[str, list[tuple[int, float]]] = {}
    for rank in ranks:
        reasons = rank.conditions.get("throttled_by")
        if isinstance(reasons, list) and reasons:
            yield f"rank {rank.rank} ({rank.host}): its GPU is throttled by {join_names(reasons)}"
        clock = rank.conditions.get("cpu_mhz_mean")
        if isinstance(clock, float):
            clocks.setdefault(rank.device, []).append((rank.rank, clock))
    for device, measured in clocks.items():
        typical = median(clock for _, clock in measured)
        low = [(rank, clock) for rank, clock in measured if clock < LOW_CLOCK * typical]
        if low:
            least = min(clock for _, clock in low)
            ranks_at_low = format_ranks([rank for rank, _ in low])
            yield f"{ranks_at_low}: {device} runs at {least:.0f} MHz, elsewhere at {typical:.0f}"


def find_unequal_versions(ranks: Sequence[RankSpeed]) -> Iterator[str]:
    """Yield software with different versions on different ranks."""
    for name in dict.fromkeys(name for rank in ranks for name in rank.versions):
        counts = Counter(rank.versions.get(name, "none") for rank in ranks)
        if len(counts) > 1:
            reference = counts.most_common(1)[0][0]
            others = [rank for rank in ranks if rank.versions.get(name, "none") != reference]
            theirs = join_names(dict.fromkeys(rank.versions.get(name, "none") for rank in others))
            where = join_names(dict.fromkeys(rank.host for rank in others))
            unlike = format_ranks([rank.rank for rank in others])
            yield f"{name}: found {theirs} on {unlike} ({where}), elsewhere {reference}"
