"""Other people's solvers on the same problem in the same run, measured like our search and judged by our scorer.

`peer` says what a solver is and what was measured, `measuring` runs the solvers, `table` prints them. The solvers stand
in `tours`, `knapsacks`, `strings` and `assignments`, and `by_workload` says which workload has which.
"""

from drivers.peers.by_workload import peers_for
from drivers.peers.measuring import measure
from drivers.peers.peer import Measured, Peer, this_search
from drivers.peers.table import table

__all__ = ["Measured", "Peer", "measure", "peers_for", "table", "this_search"]
