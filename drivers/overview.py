"""`make overview`: every workload on every device of this machine: a table and a heat map.

onekernel overview                                        ten workloads, a minute each on two cores
onekernel overview --workloads qap lcs --ranks 2          qap and lcs, on two ranks too
onekernel overview --seconds-each 60 --out elsewhere      longer measurements; report in elsewhere/overview.md

All devices do the same work of about a second on one core, which equal hashes prove; then the rate of each is measured,
one core before and after the others. The best one-core algorithm of each problem and the installed reference solvers
(`onekernel peers`) run too. An interrupted overview continues where it stopped.
"""

import sys
from functools import partial

from drivers.cli.exit_codes import run_driver
from drivers.experiments.presets import overview

main = partial(overview.main, description=__doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
