"""Local search for the travelling salesman problem, on any backend and over any number of ranks.

python -m drivers.tsp                                                         iterated 2-opt, some seconds
python -m drivers.tsp --instance a280 --tour best.tour --svg best.svg          save and draw the best tour
python -m drivers.tsp --instance pr1002 --algorithm annealing --plateau 100000 --seconds 30    a thousand cities
python -m drivers.tsp --algorithm tabu --neighbourhood exchange2 --walks 64    tabu search by swaps, as in the paper
"""

import sys
from dataclasses import dataclass
from typing import Any

from drivers.cli.exit_codes import run_driver
from drivers.options import tours as tour_options
from drivers.options.local_search import RESULTS, SearchOptions, algorithm_option, neighbourhood_option
from drivers.options.output_files import OutputFile
from drivers.runs.workload_main import driver
from drivers.workload import tour_files, tours
from drivers.workload.local_search import local_search

PAPER_ARGUMENTS = ("--algorithm", "tabu", "--neighbourhood", "exchange2")
"""What comparisons run unless they are told otherwise: tabu search by swaps, the work of the paper's tables."""


@dataclass(frozen=True)
class TspOptions(SearchOptions):
    """What local search for the travelling salesman problem understands."""

    algorithm: str = algorithm_option("ils")
    neighbourhood: str = neighbourhood_option("2opt")
    tour: OutputFile | None = tour_options.tour_option(RESULTS)
    svg: OutputFile | None = tour_options.svg_option(RESULTS)


def load(options: TspOptions) -> tuple[Any, str]:
    """The problem, and where its instance came from."""
    from core.problems.tsp.problem import TspTour

    task = tours.available_instance(options)
    tour_files.refuse_blank_drawing(options, task.problem)
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
    standard=(*PAPER_ARGUMENTS, "--walks", "64", "--iterations", "400"),
    fitted=lambda problem: (*PAPER_ARGUMENTS, *fitted(problem)),
    save=lambda run, tour: tour_files.save_tour(run.options, run.problem.instance, tour, "drivers.tsp"),
    for_peers=lambda problem: problem.instance,
)
main = driver(TSP, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
