"""Other people's solvers on the same problem in the same run, measured like our search and judged by our scorer.

`peer` says what a solver is and what was measured of it, `measuring` runs solvers (`warm` and `child` a package in a
process of its own), `verdict` asks what they found whether ours can be right, and `table` prints them. The solvers
stand in `tours`, `knapsacks`, `strings` and `assignments`; `by_workload` says which workload has which.
"""

from drivers.peers.by_workload import peers_for
from drivers.peers.measuring import measure, present
from drivers.peers.peer import Measured, Peer, this_search
from drivers.peers.table import table
from drivers.peers.verdict import confirming, objections

__all__ = ["Measured", "Peer", "confirming", "measure", "objections", "peers_for", "present", "table", "this_search"]
