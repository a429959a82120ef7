"""`make gallery-records BUDGET=30m`: run what the papers' tables and figures still need, the most valuable first.

python -m drivers.gallery_records --budget 30m                       all papers, on all devices here
python -m drivers.gallery_records --budget 9m --only luong2013       one paper; several are separated by commas
python -m drivers.gallery_records --budget 2h --dry-run              the runs in their order, with estimated seconds

Runs whose records are stale, because kernels or searches changed since, come first. Then each table and figure gets a
row with all its columns, then all rows, then ten repetitions, then the paper's amount of work. Runs with current
records are skipped, so the same command continues where it stopped, also on another machine.
"""

import sys
from functools import partial

from drivers.cli.exit_codes import run_driver
from drivers.experiments.presets import gallery_records

main = partial(gallery_records.main, description=__doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
