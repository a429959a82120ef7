"""Local search for the linear ordering problem, on any backend and over any number of ranks.

python -m drivers.linearordering                                      tabu search on a random matrix, in seconds
python -m drivers.linearordering --instance be75eec --data FOLDER     a file of LOLIB
python -m drivers.linearordering --instance random:100:seed=1 --algorithm ils

The cost is minus the sum of the weights above the diagonal.
"""

import sys

from drivers.cli.exit_codes import run_driver
from drivers.runs.workload_main import driver
from drivers.workload.more import more_problem

LINEARORDERING = more_problem("linearordering")
main = driver(LINEARORDERING, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
