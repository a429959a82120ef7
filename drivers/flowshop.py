"""Local search for the permutation flow shop, on any backend and over any number of ranks.

python -m drivers.flowshop                                    iterated local search on ta021, in seconds
python -m drivers.flowshop --instance ta001 --target 1278     until its shortest makespan is found
python -m drivers.flowshop --instance taillard:30:10:seed=7   30 jobs on 10 machines
"""

import sys
from dataclasses import dataclass
from typing import Any

from drivers.cli.exit_codes import run_driver
from drivers.options.declaration import option
from drivers.options.local_search import SearchOptions, algorithm_option, neighbourhood_option
from drivers.runs.workload_main import driver
from drivers.workload.local_search import local_search

DEFAULT_INSTANCE = "ta021"


@dataclass(frozen=True)
class FlowshopOptions(SearchOptions):
    """What local search for the permutation flow shop understands."""

    instance: str | None = option(
        None,
        f"one of Taillard's, ta001 to ta120, or a generator, taillard:30:10:seed=7 (default: {DEFAULT_INSTANCE})",
        metavar="NAME",
    )
    algorithm: str = algorithm_option("ils")
    neighbourhood: str = neighbourhood_option("insert")


def load(options: FlowshopOptions) -> tuple[Any, str]:
    """The problem, and where its instance came from."""
    from core.problems.more.flow_shop.problem import FlowShop

    problem = FlowShop(options.instance or DEFAULT_INSTANCE)
    return problem, problem.instance.source


def fitted(problem: Any) -> tuple[str, ...]:
    """About a second of one core's work: an iteration tries all positions of all jobs, each through all machines.

    So many walks keep all cores and a GPU busy.
    """
    steps = problem.instance.times.size * problem.instance.jobs**2
    return ("--walks", "64", "--iterations", str(max(1, 250 * 400 * 20**2 // steps)))


FLOWSHOP = local_search(
    "flowshop",
    "local search for the permutation flow shop",
    FlowshopOptions,
    load=load,
    chosen=DEFAULT_INSTANCE,
    standard=("--walks", "64", "--iterations", "250"),
    fitted=fitted,
    speed=lambda problem: 5e8 / problem.instance.times.size,
)
main = driver(FLOWSHOP, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
