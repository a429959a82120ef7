"""Networks between emulated hosts, as data.

Times are round trips, as `ping` and Grid'5000 state them (5 to 20 ms between sites); a packet takes half of one. Rates
are of a host's line in each direction, with Ethernet's headers.
"""

from __future__ import annotations

from typing import NamedTuple

MS, GBIT = 1e-3, 1e9


class Profile(NamedTuple):
    """A network: sites with hosts, and a line from every host.

    `round_trip_s` is between two hosts of a site, `bits_per_s` the bandwidth of a host's line in each direction, and
    `between_sites_s` has the round trips between sites, row by row.
    """

    name: str
    round_trip_s: float
    bits_per_s: float
    between_sites_s: tuple[tuple[float, ...], ...] = ((0.0,),)

    def round_trips(self, count: int) -> list[list[float]]:
        """Return the seconds between hosts; neighbours share a site, and sizes of sites differ by at most one host."""
        sites = [host * len(self.between_sites_s) // count for host in range(count)]
        return [[self.between_sites_s[a][b] if a != b else self.round_trip_s for b in sites] for a in sites]


FURTHEST_MS = (
    (0, 5, 8, 11, 13, 17, 20),
    (5, 0, 6, 9, 10, 14, 18),
    (8, 6, 0, 7, 9, 12, 16),
    (11, 9, 7, 0, 5, 10, 14),
    (13, 10, 9, 5, 0, 8, 12),
    (17, 14, 12, 10, 8, 0, 7),
    (20, 18, 16, 14, 12, 7, 0),
)
"""Seven sites along a line across a country, the outermost 20 ms apart as in Grid'5000."""


def grid(sites: int) -> Profile:
    """Return a network of the first ``sites`` of seven sites, each like `cow`."""
    apart = tuple(tuple(ms * MS for ms in row[:sites]) for row in FURTHEST_MS[:sites])
    return Profile(f"grid{sites}", 0.1 * MS, 1 * GBIT, apart)


PROFILES = {
    "lan": Profile("lan", 0.05 * MS, 10 * GBIT),
    "cow": Profile("cow", 0.1 * MS, 1 * GBIT),
    **{f"grid{sites}": grid(sites) for sites in range(2, 8)},
    "grid": grid(3),
}
"""Networks by name."""
