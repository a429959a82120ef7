"""Local search for the travelling salesman problem, on any backend and over any number of ranks.

python -m drivers.tsp                                                       tabu search by swaps, in seconds
python -m drivers.tsp --instance kroA100 --algorithm ils --neighbourhood 2opt --tour best.tour
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from drivers.local_search import Workload, run
from drivers.options import UNIFORM, run_driver
from drivers.tour_files import add_tour_options, refuse_blank_drawing, save_tour


def main(argv: Sequence[str] | None = None) -> int:
    """Run the driver; returns the exit code."""
    workload = Workload(
        "tsp",
        load,
        instance=None,
        generator=UNIFORM,
        algorithm="tabu",
        neighbourhood="exchange2",
        add_options=add_tour_options,
        save=lambda options, problem, tour: save_tour(options, problem.instance, tour, "drivers.tsp"),
    )
    return run(workload, __doc__, argv)


def load(options: argparse.Namespace) -> tuple[Any, str]:
    """The problem, and where its instance came from."""
    from core.problems.tsp_moves import TspTour

    if options.instance is not None:
        problem = TspTour.load(options.instance, options.data)
        source = problem.instance.source
    else:
        from core.problems.sources import default_instance

        spec, source = default_instance(options.data)
        problem = TspTour.load(spec, options.data)
    refuse_blank_drawing(options, problem.instance)
    return problem, source


if __name__ == "__main__":
    sys.exit(run_driver(main))
