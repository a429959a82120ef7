"""Local search for MAX-SAT, on any backend and over any number of ranks.

python -m drivers.maxsat                                               tabu search on a random formula, in seconds
python -m drivers.maxsat --instance uf50-01.cnf --walks 64 --target 0  until all clauses of a file are satisfied
"""

import sys
from dataclasses import dataclass
from typing import Any

from drivers.cli.exit_codes import run_driver
from drivers.options.local_search import SearchOptions
from drivers.runs.workload_main import driver
from drivers.workload.local_search import LocalSearchWorkload

DEFAULT_INSTANCE = "random:250:ratio=5:seed=1"


@dataclass(frozen=True)
class MaxSatOptions(SearchOptions, generator="random:50:ratio=4.2:seed=1", chosen=DEFAULT_INSTANCE):
    """Options of local search for MAX-SAT."""

    neighbourhood: str = "flip1"


class MaxSatWorkload(LocalSearchWorkload):
    """Changes of one variable."""

    name = "maxsat"
    title = "local search for MAX-SAT, clauses to be satisfied"
    options = MaxSatOptions
    chosen = DEFAULT_INSTANCE
    iterations, usual_size = 1_000, 3_750

    def load_problem(self, options: Any) -> tuple[Any, str]:
        from core.problems.more.max_sat.problem import MaxSat

        problem = MaxSat(options.instance, options.data)
        return problem, problem.instance.source

    def size(self, problem: Any) -> int:
        return len(problem.instance.literals)

    def speed(self, problem: Any) -> float:
        return float(3e8 * problem.encoding.n / len(problem.instance.literals))


MAXSAT = MaxSatWorkload()
main = driver(MAXSAT, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
