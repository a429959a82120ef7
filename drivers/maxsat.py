"""Local search for MAX-SAT, on any backend and over any number of ranks.

python -m drivers.maxsat                                               tabu search on a random formula, in seconds
python -m drivers.maxsat --instance uf50-01.cnf --walks 64 --target 0  until all clauses of a file are satisfied
"""

import sys

from drivers.cli.exit_codes import run_driver
from drivers.runs.workload_main import driver
from drivers.workload.more import more_problem

MAXSAT = more_problem("maxsat")
main = driver(MAXSAT, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
