"""Local search for max-cut, in two parts or more, on any backend and over any number of ranks.

python -m drivers.maxcut                                      tabu search on a random graph, in seconds
python -m drivers.maxcut --instance G1 --data FOLDER          a file of Gset, or any other that rudy has written
python -m drivers.maxcut --instance random:100:density=0.1 --parts 3

Of two parts the cost is minus the weight of the edges that are cut, of more parts the weight of those that are not.
"""

import sys

from drivers.cli.exit_codes import run_driver
from drivers.runs.workload_main import driver
from drivers.workload.more import more_problem

MAXCUT = more_problem("maxcut")
main = driver(MAXCUT, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
