"""Local search for the quadratic assignment problem, on any backend and over any number of ranks.

python -m drivers.qap                                         tabu search on tai30a, in seconds
python -m drivers.qap --instance nug30 --data FOLDER          a file of QAPLIB
mpirun -n 4 python -m drivers.qap --walks 64 --exchange 1000  walks that go on from the best of them
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from drivers.local_search import Workload, run
from drivers.options import run_driver


def main(argv: Sequence[str] | None = None) -> int:
    """Run the driver; returns the exit code."""
    workload = Workload(
        "qap",
        load,
        instance="tai30a",
        generator="taillard:40:seeds=1,2",
        algorithm="tabu",
        neighbourhood="exchange2",
        optimum="best known",
    )
    return run(workload, __doc__, argv)


def load(options: argparse.Namespace) -> tuple[Any, str]:
    """The problem, and where its instance came from."""
    from core.problems.qap import Qap

    problem = Qap.load(options.instance, options.data)
    return problem, problem.instance.source


if __name__ == "__main__":
    sys.exit(run_driver(main))
