"""`python -m drivers`: the list of the programs, as `onekernel` prints it."""

import sys

from drivers.cli.exit_codes import run_driver
from drivers.console import print_list as main

if __name__ == "__main__":
    sys.exit(run_driver(main))
