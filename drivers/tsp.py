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
from drivers.options.local_search import SearchOptions
from drivers.options.output_files import OutputFile
from drivers.runs.workload_main import driver
from drivers.workload import tours
from drivers.workload.declaration import PreparedRun
from drivers.workload.local_search import LocalSearchWorkload

PAPER_ARGUMENTS = ("--algorithm", "tabu", "--neighbourhood", "exchange2")
"""What comparisons run unless they are told otherwise: tabu search by swaps, the work of the paper's tables."""


@dataclass(frozen=True)
class TspOptions(SearchOptions):
    """What local search for the travelling salesman problem understands."""

    algorithm: str = "ils"
    neighbourhood: str = "2opt"
    tour: OutputFile | None = None
    svg: OutputFile | None = None


class TspWorkload(LocalSearchWorkload):
    """Moves of tours; an iteration looks at every pair of cities."""

    name = "tsp"
    title = "local search for the travelling salesman problem"
    options = TspOptions
    arguments = (*PAPER_ARGUMENTS, "--walks", "64")
    iterations, usual_size = 400, 100**2

    def load_problem(self, options: TspOptions) -> tuple[Any, str]:
        """The problem, and where its instance came from."""
        from core.problems.tsp.problem import TspTour

        task = tours.available_instance(options)
        tours.refuse_blank_drawing(options, task.problem)
        return TspTour(task.problem), task.source

    def size(self, problem: Any) -> int:
        """The square of the number of cities."""
        return int(problem.encoding.n**2)

    def save_problem(self, run: PreparedRun[SearchOptions], solution: Any) -> None:
        """The shortest tour."""
        tours.save_tour(self.name, run.options, self.for_peers(run.problem), solution)

    def for_peers(self, problem: Any) -> Any:
        """The instance of the tours."""
        return problem.instance


TSP = TspWorkload()
main = driver(TSP, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
