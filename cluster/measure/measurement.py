"""Measurements of `python -m cluster check`: a message of m bytes takes alpha + beta * m seconds between two ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple


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

    ``seconds`` is the time of a call that follows another, on the slowest rank: the median over batches of calls.
    """

    ranks: int
    bytes: int
    seconds: float


@dataclass(frozen=True)
class RankSpeed:
    """A rank, its device, and its compute rate.

    ``device`` is the name of the processor or GPU, with 1 core if it is a core or a GPU, which needs one core of its
    host; ranks share ``host_cores``. ``rate`` counts units of work per second while all ranks work, and
    ``rate_in_turn`` while the others of its host wait. ``kernel`` is workload and instance of the measurement.
    ``versions`` are those of Python, NumPy, MPI and the suite's sources, by name. ``conditions`` are readings of
    `reports.records.meters` while all computed: clocks in MHz, reasons of GPU throttling.
    """

    rank: int
    host: str
    device: str
    backend: str
    cores: int
    host_cores: int
    rate: float
    kernel: str
    rate_in_turn: float
    versions: Mapping[str, str]
    conditions: Mapping[str, object]


@dataclass(frozen=True)
class ClusterMeasurement:
    """Measurements of one run of `check`.

    ``links`` are between some pairs of ranks. ``reductions`` are over 2, 4, 8, ... and all ranks, by their number and
    then by bytes.
    """

    links: tuple[Link, ...]
    reductions: tuple[Reduction, ...]
    ranks: tuple[RankSpeed, ...]

    def network(self, *, same_host: bool) -> Network | None:
        """Return the median alpha and the median beta of all pairs on one host, or on two; None without such pairs."""
        links = [link for link in self.links if link.same_host is same_host]
        if not links:
            return None
        return Network(median(link.alpha_s for link in links), median(link.beta_s_per_byte for link in links))

    @property
    def hosts(self) -> int:
        return len({rank.host for rank in self.ranks})
