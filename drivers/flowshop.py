"""Local search for the permutation flow shop, on any backend and over any number of ranks.

python -m drivers.flowshop                                    iterated local search on ta021, in seconds
python -m drivers.flowshop --instance ta001 --target 1278     until its shortest makespan is found
python -m drivers.flowshop --instance taillard:30:10:seed=7   30 jobs on 10 machines
"""

import sys

from drivers.cli.exit_codes import run_driver
from drivers.runs.workload_main import driver
from drivers.workload.more import more_problem

FLOWSHOP = more_problem("flowshop")
main = driver(FLOWSHOP, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
