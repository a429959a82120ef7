"""`python -m drivers.bench`."""

import sys

from drivers.cli.exit_codes import run_driver
from drivers.experiments.presets.bench import main

if __name__ == "__main__":
    sys.exit(run_driver(main))
