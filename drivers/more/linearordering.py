"""Local search for the linear ordering problem, on any backend and over any number of ranks.

python -m drivers.linearordering                                      iterated greedy search on a random matrix
python -m drivers.linearordering --instance be75eec --data FOLDER     a file of LOLIB
python -m drivers.linearordering --instance random:100:seed=1 --algorithm ils

The cost is minus the sum of the weights above the diagonal.
"""

import sys
from dataclasses import dataclass
from typing import Any

from drivers.cli.exit_codes import run_driver
from drivers.options.local_search import ALGORITHMS, SearchOptions
from drivers.runs.workload_main import driver
from drivers.workload.local_search import LocalSearchWorkload

DEFAULT_INSTANCE = "random:100:seed=1"


@dataclass(frozen=True)
class LinearOrderingOptions(
    SearchOptions, generator="random:40:seed=1", chosen=DEFAULT_INSTANCE, algorithms=("auto", *ALGORITHMS)
):
    """Options of local search for the linear ordering problem."""

    algorithm: str = "auto"
    neighbourhood: str = "insert"
    automatic = ("greedy", "tabu")


class LinearOrderingWorkload(LocalSearchWorkload):
    """Insertions of one row."""

    name = "linearordering"
    title = "local search for the linear ordering problem"
    options = LinearOrderingOptions
    chosen = DEFAULT_INSTANCE
    arguments = ("--algorithm", "tabu", "--walks", "64")
    iterations, usual_size = 600, 100**2

    def load_problem(self, options: Any) -> tuple[Any, str]:
        from core.problems.more.linear_ordering.problem import LinearOrdering

        problem = LinearOrdering(options.instance, options.data)
        return problem, problem.instance.source

    def speed(self, problem: Any) -> float:
        return 3e8


LINEARORDERING = LinearOrderingWorkload()
main = driver(LINEARORDERING, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
