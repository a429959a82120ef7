"""`make paper PAPER=luong2013`: run a paper's tables and figures here, and show them next to the published ones.

onekernel reproduce luong2013                                     all of them, half an hour on a GPU
onekernel reproduce luong2013 --table 4 --scale quick --dry-run   the commands and their estimated times
onekernel reproduce menezes2019 --figure 3 --scale full           all rows and seeds
onekernel reproduce luong2013 --table 5 --row 1=50                an instance for a row without one in the paper
onekernel reproduce luong2013 --budget 30m                        what fits into it; run again, it continues
onekernel reproduce --list                                        all tables and figures, and what is recorded

An interrupted reproduction continues where it stopped. Runs that several tables need are made once.
"""

import sys
from functools import partial

from drivers.cli.exit_codes import run_driver
from drivers.experiments.presets import reproduce

main = partial(reproduce.main, description=__doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
