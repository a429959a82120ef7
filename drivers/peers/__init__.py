"""Solvers of other projects, run on the problem of a run, timed like our search and scored by our scorer.

`peers_for` returns the solvers of a workload, and a `measurement.PeerRace` measures one of them; `child` is the process
in which a package is timed, in its own `environment`. Comparisons of our own devices belong in `drivers.experiments`,
tables in `reports`.
"""

from drivers.peers import assignments, knapsacks, strings, tours
from drivers.peers.peer import Peer, PeerPackage

PEERS: dict[str, tuple[Peer, ...]] = {
    **dict.fromkeys(("exact", "heldkarp"), tours.PEERS),
    **dict.fromkeys(("ihc", "tsp", "aco"), tuple(peer for peer in tours.PEERS if peer is not tours.HIGHS)),
    "knapsack": (knapsacks.ORTOOLS,),
    "lcs": (strings.RAPIDFUZZ,),
    "qap": (assignments.SCIPY_FAQ, assignments.SCIPY_2OPT),
}
"""Solvers by workload; packages come before programs. No package on PyPI solves the others."""


def peers_for(workload: str) -> tuple[Peer, ...]:
    """Return the reference solvers of a workload; none for an unknown one, such as a user-defined problem."""
    return PEERS.get(workload, ())


def packages() -> dict[str, PeerPackage]:
    """Return a solver of each package, by package."""
    return {peer.package: peer for peers in PEERS.values() for peer in peers if isinstance(peer, PeerPackage)}
