"""Local search for the Weierstrass function's minimum, on any backend and over any number of ranks.

python -m drivers.weierstrass                                          ten coordinates, in seconds
python -m drivers.weierstrass --instance 100 --points 10000 --dtype float64
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from drivers.local_search import Workload, run
from drivers.options import positive, run_driver


def main(argv: Sequence[str] | None = None) -> int:
    """Run the driver; returns the exit code."""
    workload = Workload(
        "weierstrass",
        load,
        instance="10",
        generator="100 (coordinates)",
        algorithm="tabu",
        neighbourhood="crowns",
        add_options=add_function_options,
        parameters=("points", "dtype"),
        shown=shown,
    )
    return run(workload, __doc__, argv)


def add_function_options(group: argparse._ActionsContainer) -> None:
    """Add `--points` and `--dtype`."""
    group.add_argument(
        "--points", type=positive, default=10_000, metavar="M", help="neighbours drawn for each solution (%(default)s)"
    )
    group.add_argument("--dtype", choices=("float32", "float64"), default="float32", help="(%(default)s)")


def load(options: argparse.Namespace) -> tuple[Any, str]:
    """The problem, and where its instance came from."""
    from core.problems.weierstrass import Weierstrass

    problem = Weierstrass.load(
        options.instance, options.data, points=options.points, dtype=options.dtype, seed=options.seed
    )
    return problem, problem.instance.source


def shown(cost: int) -> str:
    """The function's value that a cost stands for."""
    from core.problems.weierstrass_function import COST_UNIT

    return f"{cost * COST_UNIT:.6f}"


if __name__ == "__main__":
    sys.exit(run_driver(main))
