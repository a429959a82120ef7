"""Iterated 3-opt and local search for the travelling salesman problem, on any backend and over any number of ranks.

python -m drivers.tsp                                                         iterated 3-opt, some seconds
python -m drivers.tsp --instance pr1002 --seconds 1                           a thousand cities on one core
python -m drivers.tsp --instance uniform:100000:seed=1 --walks 8 --seconds 60 eight walks share the cores
python -m drivers.tsp --instance uniform:100000:seed=1 --algorithm windows --seconds 60 one tour by all cores
python -m drivers.tsp --instance a280 --tour best.tour --svg best.svg         save and draw the best tour
python -m drivers.tsp --algorithm tabu --neighbourhood exchange2 --walks 64   tabu search by swaps, as in the paper
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.errors import UserError
from drivers.cli.exit_codes import run_driver
from drivers.options.local_search import ALGORITHMS, SearchOptions
from drivers.options.output_files import OutputFile
from drivers.runs.workload_main import driver
from drivers.workload import tours
from drivers.workload.declaration import PreparedRun, Task
from drivers.workload.local_search import LocalSearchWorkload

PAPER_ARGUMENTS = ("--algorithm", "tabu", "--neighbourhood", "exchange2")
"""Default arguments of comparisons: tabu search by swaps, as in the paper's tables."""


THREE_OPT, WINDOWS = "3opt", "windows"
FEWEST_CITIES = 5
PERTURBATIONS_PER_SECOND = 150_000
"""Perturbations per second of a core, on instances of up to 10,000 cities."""


@dataclass(frozen=True)
class TspOptions(SearchOptions, table="tsp", algorithms=("auto", THREE_OPT, WINDOWS, *ALGORITHMS), takes="TspTour"):
    """Options of searches for the travelling salesman problem."""

    algorithm: str = "auto"
    neighbourhood: str = "2opt"
    drop: tuple[str, ...] = ()
    window: int | None = None
    tour: OutputFile | None = None
    svg: OutputFile | None = None
    automatic = (THREE_OPT, "ils")


class TspWorkload(LocalSearchWorkload):
    """Iterated 3-opt by neighbour lists, or moves of tours in iterations over all pairs of cities."""

    name = "tsp"
    title = "iterated 3-opt and local search for the TSP"
    options = TspOptions
    arguments = (*PAPER_ARGUMENTS, "--walks", "64")
    iterations, usual_size = 400, 100**2
    in_overview = ("--walks", "64", "--iterations", "1200")

    cost_word = "length"

    def load(self, options: Any, ranks: int) -> Task:
        """Load the instance, and fill in the options; fewer than five cities have another algorithm."""
        if options.window is not None and options.algorithm != WINDOWS:
            raise UserError(f"--window {options.window} with --algorithm {options.algorithm}: expected with windows")
        if options.algorithm == WINDOWS:
            if options.walks not in (None, 1):
                raise UserError(f"--walks {options.walks} with --algorithm windows: expected 1, since all share a tour")
            options = replace(options, walks=1)
        task = super().load(options, ranks)
        if options.algorithm == "auto" and not task.options.has_plan and task.problem.encoding.n < FEWEST_CITIES:
            return super().load(replace(options, algorithm="ils"), ranks)
        return task

    def make_search(self, backend: Any, ranks: Any, problem: Any, options: Any) -> Any:
        from core.three_opt import IteratedThreeOpt, WindowedThreeOpt

        if options.algorithm == WINDOWS:
            size = {} if options.window is None else {"window": options.window}
            return WindowedThreeOpt(backend, ranks, problem.instance, seed=options.seed, **size)
        return IteratedThreeOpt(backend, ranks, problem.instance, walks=options.walks, seed=options.seed)

    def rounds_per_second(self, options: Any, problem: Any) -> float:
        return PERTURBATIONS_PER_SECOND / (problem.encoding.n if options.algorithm == WINDOWS else 1)

    def on_one_core(self, options: Any) -> bool:
        """Windows of one tour keep all cores busy."""
        return options.algorithm != WINDOWS and super().on_one_core(options)

    def details(self, problem: Any) -> Mapping[str, Any]:
        return tours.instance_details(problem.instance)

    def load_problem(self, options: TspOptions) -> tuple[Any, str]:
        from core.tours.problem import TspTour

        task = tours.available_instance(options)
        tours.refuse_blank_drawing(options, task.problem)
        return TspTour(task.problem), task.source

    def save_problem(self, run: PreparedRun[SearchOptions], solution: Any) -> None:
        tours.save_tour(self.name, run.options, self.for_peers(run.problem), solution)

    def for_peers(self, problem: Any) -> Any:
        return problem.instance


TSP = TspWorkload()
main = driver(TSP, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
