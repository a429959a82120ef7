"""Reference solvers of each workload."""

from __future__ import annotations

from drivers.peers import assignments, knapsacks, strings, tours
from drivers.peers.peer import Peer

TOUR_PEERS: tuple[Peer, ...] = (
    tours.FAST_TSP,
    tours.ELKAI,
    tours.ORTOOLS,
    tours.HELD_KARP,
    tours.CONCORDE,
    tours.LKH,
)

PEERS: dict[str, tuple[Peer, ...]] = {
    "ihc": TOUR_PEERS,
    "tsp": TOUR_PEERS,
    "aco": TOUR_PEERS,
    "exact": TOUR_PEERS,
    "heldkarp": TOUR_PEERS,
    "knapsack": (knapsacks.ORTOOLS,),
    "lcs": (strings.RAPIDFUZZ,),
    "qap": (assignments.SCIPY_FAQ, assignments.SCIPY_2OPT),
    "ppp": (),
    "weierstrass": (),
}
"""By the name of the workload; packages come before programs. Nobody offers a solver of the last two on PyPI."""


def peers_for(workload: str) -> tuple[Peer, ...]:
    """Return the solvers to run beside a workload; none for one that is not known here, such as a user's own."""
    return PEERS.get(workload, ())
