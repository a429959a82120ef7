"""`make compare`: the same work of any workload on every device of this machine, checked to be equal, and a report.

onekernel compare                                                   hill climbing
onekernel compare qap --instance tai30a tai60a --ranks 2            two instances, a section for each
onekernel compare ppp --walks 64 --iterations 500 --seeds 0..9      ten seeds
onekernel compare ihc --ranks 2 4 --weak                            weak scaling
onekernel compare ppp --ranks 2 --rank-backend threads --cores 4    ranks with four threads each
"""

import sys

from drivers.cli.exit_codes import run_driver
from drivers.experiments.presets.compare import main

if __name__ == "__main__":
    sys.exit(run_driver(main))
