"""Local search for low autocorrelation binary sequences, on any backend and over any number of ranks.

python -m drivers.labs                                        tabu search for 40 signs, in seconds
python -m drivers.labs --instance 27 --target 37 --walks 64   until the least energy of 27 signs is found
"""

import sys

from drivers.cli.exit_codes import run_driver
from drivers.runs.workload_main import driver
from drivers.workload.more import more_problem

LABS = more_problem("labs")
main = driver(LABS, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
