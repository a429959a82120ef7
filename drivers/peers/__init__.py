"""Solvers of other projects, run on the problem of a run, timed like our search and scored by our scorer.

Used from outside: the names in `__all__`; `child` is the process in which a package is timed.
Comparisons of our own devices belong in `drivers.experiments`, tables for pages in `reports`.
"""

from drivers.peers.by_workload import peers_for
from drivers.peers.measurement import installed_peers, measure
from drivers.peers.peer import Peer, PeerMeasurement, this_search
from drivers.peers.table import format_table
from drivers.peers.verdict import confirming_peers, peer_rejections

__all__ = [
    "PeerMeasurement",
    "Peer",
    "confirming_peers",
    "measure",
    "peer_rejections",
    "peers_for",
    "installed_peers",
    "format_table",
    "this_search",
]
