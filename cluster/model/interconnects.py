"""Networks of hosts with cores, at one site or several, and the cost of a message between two ranks.

A message of m bytes takes alpha + beta * m seconds (Hockney, Parallel Computing 20, 1994): cores of a host, hosts of a
site and sites each have an alpha and a beta. Messages that leave or enter a host at once share its bandwidth, those of
a site the site's. LogP and LogGP (Culler et al. 1993, Alexandrov et al. 1995) separate the time of the processor from
that of the network. The difference does not matter to a rank that waits for one word in each iteration.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from cluster.measure.measurement_file import ClusterMeasurement, Link, Reduction
from core.errors import UserError

FILE = Path(__file__).with_name("interconnects.toml")
HOPS = ("cores", "hosts", "between_sites")
DOUBLING, HOSTS_FIRST = "doubling", "hosts first"
"""Algorithms of reductions, see `cluster.model.allreduce`."""


class Hop(NamedTuple):
    """Cost of a message from rank to rank: alpha in seconds of an empty message, beta in seconds for each byte.

    ``source`` describes the source of both. Between sites, alpha is that of neighbours, and ``farthest_s`` that of the
    two most distant sites; 0 if it is the same.
    """

    alpha_s: float
    beta_s_per_byte: float
    source: str = ""
    farthest_s: float = 0.0


NO_HOP = Hop(0.0, 0.0)
"""Hop between identical places."""


class RankLocations(NamedTuple):
    """Host and site of each rank."""

    host: np.ndarray
    site: np.ndarray

    @property
    def hosts(self) -> int:
        return int(self.host[-1]) + 1


@dataclass(frozen=True)
class Interconnect:
    """Hosts with cores, and the network between them.

    Hosts of ``cores_per_host`` ranks are filled one after the other, and split into equal blocks, the ``sites``. The
    hops are between ``cores`` of a host, ``hosts`` of a site, and hosts of two sites. ``algorithm`` is `HOSTS_FIRST`,
    as in Open MPI 5 for several ranks on several hosts, or `DOUBLING`. Modelled times are fitted to the reductions in
    ``measured``. ``crowds`` has numbers of ranks, and the factor by which the work of each takes longer than alone, if
    each step waits for the slowest; empty for no slowdown.
    """

    name: str
    title: str
    cores_per_host: int
    cores: Hop
    hosts: Hop
    between_sites: Hop = NO_HOP
    sites: int = 1
    algorithm: str = HOSTS_FIRST
    measured: tuple[Reduction, ...] = ()
    crowds: tuple[tuple[int, float], ...] = ()

    def places(self, ranks: int) -> RankLocations:
        host = np.arange(ranks) // self.cores_per_host
        hosts = int(host[-1]) + 1
        return RankLocations(host, host * min(self.sites, hosts) // hosts)

    def hosts_of(self, ranks: int) -> int:
        return -(-ranks // self.cores_per_host)

    def crowding(self, ranks: int) -> float:
        """Return the factor by which a rank's work takes longer when all ranks work; linear between known points.

        Beyond the last point the factor is constant, since hosts are full then.
        """
        known = sorted({1: 1.0, **dict(self.crowds)}.items())
        return float(np.interp(ranks, [count for count, _ in known], [factor for _, factor in known]))

    def message_s(self, places: RankLocations, source: np.ndarray, target: np.ndarray, size: float) -> np.ndarray:
        """Return the seconds of simultaneous messages of ``size`` bytes from ranks ``source`` to ranks ``target``."""
        leaves = places.host[source] != places.host[target]
        travels = places.site[source] != places.site[target]
        beta = np.full(len(source), self.cores.beta_s_per_byte)
        of_hosts = self.hosts.beta_s_per_byte * count_crossing_messages(places.host, source, target, leaves)
        of_sites = self.between_sites.beta_s_per_byte * count_crossing_messages(places.site, source, target, travels)
        beta[leaves] = np.maximum(of_hosts, of_sites)[leaves]
        alpha = np.where(leaves, self.hosts.alpha_s, self.cores.alpha_s)
        apart = np.abs(places.site[source] - places.site[target])
        return np.where(travels, self.travel_s(apart, places), alpha) + beta * size

    def travel_s(self, apart: np.ndarray, places: RankLocations) -> np.ndarray:
        """Return the seconds of an empty message between sites ``apart`` places apart on their line."""
        near, far = self.between_sites.alpha_s, self.between_sites.farthest_s or self.between_sites.alpha_s
        widest = max(1, int(places.site[-1]) - 1)
        return near + (far - near) * np.maximum(apart - 1, 0) / widest


def count_crossing_messages(
    area: np.ndarray, source: np.ndarray, target: np.ndarray, crosses: np.ndarray
) -> np.ndarray:
    """For each message, count those that cross the border of its source's or target's area in the same direction."""
    out = np.bincount(area[source[crosses]], minlength=area[-1] + 1)
    into = np.bincount(area[target[crosses]], minlength=area[-1] + 1)
    return np.maximum(out[area[source]], into[area[target]])


# --- networks as data ---


def find_interconnects(name: str) -> list[Interconnect]:
    """Return the networks of a name: ``grid5000`` is one for each number of sites, ``grid5000:5`` that of five."""
    content = tomllib.loads(FILE.read_text(encoding="utf-8"))
    base, _, sites = name.partition(":")
    if base not in content:
        known = ", ".join(content)
        raise UserError(f"network {name!r}: expected one of {known}, or a file of `python -m cluster check`")
    numbers = content[base].get("sites", [1])
    if sites and (not sites.isdecimal() or int(sites) < 1 or numbers == [1]):
        raise UserError(f"network {name!r}: expected a number of sites behind the colon, of a network that has several")
    return [build_interconnect(base, content[base], number) for number in ([int(sites)] if sites else numbers)]


def interconnect_names() -> list[str]:
    return list(tomllib.loads(FILE.read_text(encoding="utf-8")))


def build_interconnect(name: str, content: Mapping[str, Any], sites: int) -> Interconnect:
    cores, hosts, between_sites = (build_hop(content[hop]) if hop in content else NO_HOP for hop in HOPS)
    title = content["title"] + (f", {sites} sites" if "sites" in content else "")
    known_as = f"{name}:{sites}" if "sites" in content else name
    return Interconnect(known_as, title, content["cores_per_host"], cores, hosts, between_sites, sites)


def build_hop(content: Mapping[str, Any]) -> Hop:
    """Convert microseconds and megabytes per second to seconds."""
    latency = content["latency_us"]
    near, far = latency if isinstance(latency, list) else (latency, 0)
    return Hop(near * 1e-6, 1e-6 / content["megabytes_per_s"], content["source"], far * 1e-6)


# --- networks as measured ---


def fit_interconnect(name: str, check: ClusterMeasurement) -> Interconnect:
    """Make a network from the measurements of `python -m cluster check`; refuses those without a pair of ranks."""
    pairs, speeds = check.links, check.ranks
    if not pairs:
        raise UserError(f"{name}: no pair of ranks was measured: start `check` on two ranks or more")
    hosts = Counter(speed.host for speed in speeds)
    ranks_per_host = max(hosts.values())
    on_hosts = [link for link in pairs if link.same_host] or pairs
    inside, between = median_hop(on_hosts), median_hop([link for link in pairs if not link.same_host] or on_hosts)
    crowds = tuple((pace.ranks, max(1.0, check.slowdown(pace))) for pace in check.paces if pace.ranks > 1)
    measured = tuple(reduction for reduction in check.reductions if reduction.ranks > 1)
    title = f"as measured ({Path(name).name}, {len(speeds)} ranks on {len(hosts)} hosts)"
    return Interconnect(name, title, ranks_per_host, inside, between, measured=measured, crowds=crowds)


def median_hop(links: Sequence[Link]) -> Hop:
    alpha, beta = median(link.alpha_s for link in links), median(link.beta_s_per_byte for link in links)
    return Hop(alpha, beta, f"measured, the median of {len(links)} pairs")
