"""Local search for max-cut, in two parts or more, on any backend and over any number of ranks.

python -m drivers.maxcut                                      tabu search on a random graph, in seconds
python -m drivers.maxcut --instance G1 --data FOLDER          a file of Gset, or any other that rudy has written
python -m drivers.maxcut --instance random:100:density=0.1 --parts 3

Of two parts the cost is minus the weight of the edges that are cut, of more parts the weight of those that are not.
"""

import sys
from dataclasses import dataclass
from typing import Any

from drivers.cli.exit_codes import run_driver
from drivers.options.declaration import instance_option, option, positive
from drivers.options.local_search import RESULTS, SearchOptions, neighbourhood_option
from drivers.runs.workload_main import driver
from drivers.workload.local_search import local_search

DEFAULT_INSTANCE = "random:400:density=0.1:weights=1..1"


@dataclass(frozen=True)
class MaxcutOptions(SearchOptions):
    """What local search for max-cut understands."""

    instance: str | None = instance_option("random:100:density=0.1", DEFAULT_INSTANCE)
    parts: int = option(2, "how many (%(default)s)", positive, "K", group=RESULTS, decides="work")
    neighbourhood: str = neighbourhood_option("auto")


def load(options: MaxcutOptions) -> tuple[Any, str]:
    """The problem, and where its instance came from."""
    from core.errors import UserError
    from core.problems.more.max_cut import graphs

    graph = graphs.load(options.instance or DEFAULT_INSTANCE, options.data, k=options.parts)
    if graph.k != options.parts:
        raise UserError(f"--parts {options.parts} for {graph.name}: expected {graph.k}, as the instance says")
    if graph.k == 2:
        from core.problems.more.max_cut.problem import MaxCut

        return MaxCut(graph), graph.source
    from core.problems.more.max_cut.k_cut import MaxKCut

    return MaxKCut(graph), graph.source


def fitted(problem: Any) -> tuple[str, ...]:
    """About a second of one core's work: an iteration looks at every vertex and every other part.

    So many walks keep all cores and a GPU busy.
    """
    neighbours = problem.encoding.n * (problem.encoding.choices - 1)
    return ("--walks", "64", "--iterations", str(max(1, 10_000 * 400 // neighbours)))


MAXCUT = local_search(
    "maxcut",
    "local search for max-cut, in two parts or more",
    MaxcutOptions,
    load=load,
    chosen=DEFAULT_INSTANCE,
    standard=("--walks", "64", "--iterations", "10000"),
    fitted=fitted,
    best_known="best known",
    speed=lambda problem: 5e8,
)
main = driver(MAXCUT, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
