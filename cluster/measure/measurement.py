"""Measurements of `python -m cluster check`, and the file that has all of them as JSON.

A message of m bytes takes alpha + beta * m seconds between two ranks, and a rank gamma seconds for a unit of work: the
three parameters of a model of ranks that compute and synchronise.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from core.atomic_files import atomic_write
from core.errors import UserError


class Network(NamedTuple):
    """Cost of a message: alpha in seconds, and beta in seconds for each byte, one over the bandwidth."""

    alpha_s: float
    beta_s_per_byte: float


@dataclass(frozen=True)
class Link:
    """Messages between two ranks: half a ping-pong, with alpha and beta as in `Network` fitted to several sizes.

    ``same_host`` is True if both ranks are on one host, so that messages pass through its memory.
    """

    source: int
    target: int
    same_host: bool
    alpha_s: float
    beta_s_per_byte: float


@dataclass(frozen=True)
class Reduction:
    """A reduction of an array of ``bytes`` on each rank (MPI's Allreduce) over the first ``ranks`` of the job.

    ``seconds`` is the time of a call that follows another, on the slowest rank: the median over batches of ``calls``.
    ``low_s`` and ``high_s`` are its 95 % confidence interval by order statistics, or the least and largest batch if
    there are too few.
    """

    ranks: int
    hosts: int
    bytes: int
    seconds: float
    low_s: float
    high_s: float
    calls: int


@dataclass(frozen=True)
class Pace:
    """Compute rate of the first ``ranks`` of the job, which synchronise after every step.

    Ranks that share cores, memory or the power of a processor slow each other down, and all wait for a rank that the
    system interrupts. The speed of a single rank does not show this. ``unit_s`` is the seconds for a unit of work of
    each rank, without synchronisation: the median over batches of ``steps``, with an interval as in `Reduction`.
    """

    ranks: int
    hosts: int
    unit_s: float
    low_s: float
    high_s: float
    steps: int


@dataclass(frozen=True)
class RankSpeed:
    """A rank, its device, and its compute rate.

    ``device`` is the name of the processor or GPU, with 1 core if it is a core or a GPU, which needs one core of its
    host; ranks share ``host_cores``. ``rate`` counts units of work per second while all ranks work, and ``rate_alone``
    while the others of its host wait. ``unit`` is plural, such as moves. ``kernel`` is workload and instance of the
    measurement. ``clock_offset_s`` is its clock less that of rank 0, right to half of a message's round trip.
    ``versions`` are those of Python, NumPy, MPI and the suite's sources, by name.
    """

    rank: int
    host: str
    device: str
    backend: str
    cores: int
    host_cores: int
    rate: float
    unit: str
    kernel: str
    rate_alone: float
    clock_offset_s: float
    versions: Mapping[str, str]


@dataclass(frozen=True)
class ClusterMeasurement:
    """Measurements of one run of `check`, on a date in UTC such as ``2026-11-22T23:00:00Z``.

    ``mpi`` is the library with its version. ``links`` are between some pairs of ranks. ``reductions`` are over 2, 4, 8,
    ... and all ranks, by their number and then by bytes, and ``paces`` of 1, 2, 4, 8, ... and all ranks.
    """

    made: str
    mpi: str
    links: tuple[Link, ...]
    reductions: tuple[Reduction, ...]
    paces: tuple[Pace, ...]
    ranks: tuple[RankSpeed, ...]

    @property
    def within_host(self) -> Network | None:
        """Medians over all pairs on one host; None without such pairs."""
        return median_network(link for link in self.links if link.same_host)

    @property
    def between_hosts(self) -> Network | None:
        """Medians over all pairs on two hosts; None if all ranks are on one."""
        return median_network(link for link in self.links if not link.same_host)

    def slowdown(self, pace: Pace) -> float:
        """Return the time of a unit of work over that of the first rank alone; 1 if their intervals overlap."""
        alone = next((pace for pace in self.paces if pace.ranks == 1), None)
        if alone is None or alone.unit_s <= 0 or pace.low_s <= alone.high_s:
            return 1.0
        return pace.unit_s / alone.unit_s

    @property
    def hosts(self) -> int:
        return len({rank.host for rank in self.ranks})

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file completely or not at all; an existing file stays until all is on the disk."""
        import msgspec

        try:
            with atomic_write(path) as file:
                file.write(msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n")
        except OSError as error:
            raise UserError(f"{path}: cannot write there: {error.strerror or error}") from None


def median_network(links: Iterable[Link]) -> Network | None:
    """Return the median alpha and the median beta of links; None if there are none."""
    chosen = list(links)
    if not chosen:
        return None
    return Network(median(link.alpha_s for link in chosen), median(link.beta_s_per_byte for link in chosen))
