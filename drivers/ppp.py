"""Local search for the permuted perceptron problem, on any backend and over any number of ranks.

python -m drivers.ppp                                            tabu search on 73-73, in seconds
python -m drivers.ppp --instance 73-73:seed=5 --target 0         until the secret's cost is found
mpirun -n 64 python -m drivers.ppp                               the first one's work shared by 64 ranks
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
        "ppp",
        load,
        instance="73-73",
        generator="101-117:seed=5",
        algorithm="tabu",
        neighbourhood="flip2",
        speed=lambda problem: 1e7,
    )
    return run(workload, __doc__, argv)


def load(options: argparse.Namespace) -> tuple[Any, str]:
    """The problem, and where its instance came from."""
    from core.problems.ppp import Ppp

    problem = Ppp.load(options.instance, options.data)
    return problem, problem.instance.source


if __name__ == "__main__":
    sys.exit(run_driver(main))
