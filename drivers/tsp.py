"""Local search for the travelling salesman problem, on any backend and over any number of ranks.

python -m drivers.tsp                                                       tabu search by swaps, in seconds
python -m drivers.tsp --instance kroA100 --algorithm ils --neighbourhood 2opt --tour best.tour
"""

import sys
from dataclasses import dataclass
from typing import Any

from drivers import tours
from drivers.command import driver
from drivers.endings import run_driver
from drivers.local_search import local_search
from drivers.outputs import OutputFile
from drivers.search_options import RESULTS, SearchOptions


@dataclass(frozen=True)
class TspOptions(SearchOptions):
    """What local search for the travelling salesman problem understands."""

    tour: OutputFile | None = tours.tour_option(RESULTS)
    svg: OutputFile | None = tours.svg_option(RESULTS)


def load(options: TspOptions) -> tuple[Any, str]:
    """The problem, and where its instance came from."""
    from core.problems.tsp_moves import TspTour

    task = tours.at_hand(options)
    tours.refuse_blank_drawing(options, task.problem)
    return TspTour(task.problem), task.source


def fitted(problem: Any) -> tuple[str, ...]:
    """About a second of one core's work: an iteration looks at every pair of cities.

    So many walks keep all cores and a GPU busy.
    """
    return ("--walks", "64", "--iterations", str(max(1, 400 * 100**2 // problem.encoding.n**2)))


TSP = local_search(
    "tsp",
    "local search for the travelling salesman problem",
    TspOptions,
    load=load,
    chosen=None,
    standard=("--walks", "64", "--iterations", "400"),
    fitted=fitted,
    save=lambda run, tour: tours.save_tour(run.options, run.problem.instance, tour, "drivers.tsp"),
    for_peers=lambda problem: problem.instance,
)
main = driver(TSP, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
