"""Networks of hosts with cores, at one site or several, and the time of a message between two ranks.

A message of m bytes takes alpha + beta * m seconds (Hockney, Parallel Computing 20, 1994): cores of a host, hosts of a
site and sites each have an alpha and a beta. Messages that leave or enter a host at once share its bandwidth, those of
a site the site's. LogP and LogGP (Culler et al. 1993, Alexandrov et al. 1995) separate the time of the processor from
that of the network. The difference does not matter to a rank that waits for one word in each iteration.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from core.errors import UserError

FILE = Path(__file__).with_name("interconnects.toml")


class Hop(NamedTuple):
    """Time of a message from rank to rank: alpha in seconds of an empty message, beta in seconds for each byte.

    Between sites, alpha is that of neighbours, and ``farthest_s`` that of the two most distant sites; 0 if it is the
    same.
    """

    alpha_s: float
    beta_s_per_byte: float
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
    hops are between ``cores`` of a host, ``hosts`` of a site, and hosts of two sites.
    """

    title: str
    cores_per_host: int
    cores: Hop
    hosts: Hop
    between_sites: Hop = NO_HOP
    sites: int = 1

    def places(self, ranks: int) -> RankLocations:
        host = np.arange(ranks) // self.cores_per_host
        hosts = int(host[-1]) + 1
        return RankLocations(host, host * min(self.sites, hosts) // hosts)

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


def interconnect(name: str, cores_per_host: int, sites: int = 1) -> Interconnect:
    """Return a network of the file for hosts of ``cores_per_host`` cores. Raises `UserError` for an unknown name."""
    networks = tomllib.loads(FILE.read_text(encoding="utf-8"))
    if name not in networks:
        raise UserError(f"network {name!r}: expected one of {', '.join(networks)}")
    hops = {key: read_hop(value) for key, value in networks[name].items() if key != "title"}
    return Interconnect(networks[name]["title"], cores_per_host, sites=sites, **hops)


def read_hop(content: Mapping[str, Any]) -> Hop:
    """Convert microseconds and megabytes per second to seconds."""
    latency = content["latency_us"]
    near, far = latency if isinstance(latency, list) else (latency, 0)
    return Hop(near * 1e-6, 1e-6 / content["megabytes_per_s"], far * 1e-6)
