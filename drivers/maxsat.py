"""Local search for MAX-SAT, on any backend and over any number of ranks.

python -m drivers.maxsat                                               tabu search on a random formula, in seconds
python -m drivers.maxsat --instance uf50-01.cnf --walks 64 --target 0  until all clauses of a file are satisfied
"""

import sys

from drivers.cli.exit_codes import run_driver
from drivers.workload.more import more_problem

MAXSAT, main = more_problem("maxsat", __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
