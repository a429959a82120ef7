"""Other people's solvers on the same problem in the same run, measured like our search and judged by our scorer.

`peer` says what a solver is and what was measured of it, `measuring` runs solvers (`warm` and `child` a package in a
process of its own), `verdict` asks what they found whether ours can be right, and `format_table` prints them. The
solvers stand in `tours`, `knapsacks`, `strings` and `assignments`; `by_workload` says which workload has which.
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
