"""`python -m drivers.bench`."""

import sys

from drivers.bench.command_line import main
from drivers.cli.exit_codes import run_driver

if __name__ == "__main__":
    sys.exit(run_driver(main))
