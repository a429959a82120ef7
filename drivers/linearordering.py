"""Local search for the linear ordering problem, on any backend and over any number of ranks.

python -m drivers.linearordering                                      tabu search on a random matrix, in seconds
python -m drivers.linearordering --instance be75eec --data FOLDER     a file of LOLIB
python -m drivers.linearordering --instance random:100:seed=1 --algorithm ils

The cost is minus the sum of the weights above the diagonal.
"""

import sys
from dataclasses import dataclass
from typing import Any

from drivers.cli.exit_codes import run_driver
from drivers.options.declaration import instance_option
from drivers.options.local_search import SearchOptions, neighbourhood_option
from drivers.runs.workload_main import driver
from drivers.workload.local_search import local_search

DEFAULT_INSTANCE = "random:100:seed=1"


@dataclass(frozen=True)
class LinearorderingOptions(SearchOptions):
    """What local search for the linear ordering problem understands."""

    instance: str | None = instance_option("random:40:seed=1", DEFAULT_INSTANCE)
    neighbourhood: str = neighbourhood_option("insert")


def load(options: LinearorderingOptions) -> tuple[Any, str]:
    """The problem, and where its instance came from."""
    from core.problems.more.linear_ordering.problem import LinearOrdering

    problem = LinearOrdering(options.instance or DEFAULT_INSTANCE, options.data)
    return problem, problem.instance.source


def fitted(problem: Any) -> tuple[str, ...]:
    """About a second of one core's work: an iteration takes the square of the size.

    So many walks keep all cores and a GPU busy.
    """
    return ("--walks", "64", "--iterations", str(max(1, 600 * 100**2 // problem.encoding.n**2)))


LINEARORDERING = local_search(
    "linearordering",
    "local search for the linear ordering problem",
    LinearorderingOptions,
    load=load,
    chosen=DEFAULT_INSTANCE,
    standard=("--walks", "64", "--iterations", "600"),
    fitted=fitted,
    speed=lambda problem: 3e8,
)
main = driver(LINEARORDERING, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
