"""Local search for the permutation flow shop, on any backend and over any number of ranks.

python -m drivers.flowshop                                    iterated greedy search on ta021, in seconds
python -m drivers.flowshop --instance ta001 --target 1278     until its shortest makespan is found
python -m drivers.flowshop --instance taillard:30:10:seed=7   30 jobs on 10 machines
python -m drivers.flowshop --algorithm ils --initial neh      local search by insertions, from a constructed order
"""

import sys
from dataclasses import dataclass
from typing import Any

from drivers.cli.exit_codes import run_driver
from drivers.options.declaration import option
from drivers.options.local_search import ALGORITHMS, SearchOptions
from drivers.options.values import NAME
from drivers.runs.workload_main import driver
from drivers.workload.independent_walks import POSITIONS_PER_ROUND
from drivers.workload.local_search import LocalSearchWorkload


@dataclass(frozen=True)
class FlowShopOptions(SearchOptions, algorithms=("auto", *ALGORITHMS)):
    """Options of local search for the permutation flow shop."""

    instance: str | None = option(
        None, "one of Taillard's, ta001 to ta120, or a generator, taillard:30:10:seed=7 (default: ta021)", NAME, "NAME"
    )
    algorithm: str = "auto"
    neighbourhood: str = "insert"
    automatic = ("greedy", "ils")


class FlowShopWorkload(LocalSearchWorkload):
    """Insertions of one job."""

    name = "flowshop"
    title = "local search for the permutation flow shop"
    options = FlowShopOptions
    chosen = "ta021"
    arguments = ("--algorithm", "ils", "--walks", "64")
    iterations, usual_size = 250, 20 * 20 * 20**2

    def load_problem(self, options: Any) -> tuple[Any, str]:
        from core.problems.more.flow_shop.problem import FlowShop

        problem = FlowShop(options.instance)
        return problem, problem.instance.source

    def size(self, problem: Any) -> int:
        return int(problem.instance.times.size * problem.instance.jobs**2)

    def rounds_per_second(self, options: Any, problem: Any) -> float:
        return 2e8 / (POSITIONS_PER_ROUND * problem.instance.times.size * problem.encoding.n)

    def speed(self, problem: Any) -> float:
        return float(5e8 / problem.instance.times.size)


FLOWSHOP = FlowShopWorkload()
main = driver(FLOWSHOP, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
