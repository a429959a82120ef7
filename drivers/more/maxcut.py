"""Local search for max-cut, in two parts or more, on any backend and over any number of ranks.

python -m drivers.maxcut                                      tabu search on a random graph, in seconds
python -m drivers.maxcut --instance G1 --data FOLDER          a file of Gset, or any other that rudy has written
python -m drivers.maxcut --instance random:100:density=0.1 --parts 3

Of two parts the cost is minus the weight of the edges that are cut, of more parts the weight of those that are not.
"""

import sys
from dataclasses import dataclass
from typing import Any

from core.errors import UserError
from drivers.cli.exit_codes import run_driver
from drivers.options.local_search import RESULTS, SearchOptions
from drivers.options.values import positive
from drivers.runs.workload_main import driver
from drivers.workload.local_search import LocalSearchWorkload

DEFAULT_INSTANCE = "random:400:density=0.1:weights=1..1"


@dataclass(frozen=True)
class MaxCutOptions(SearchOptions, generator="random:100:density=0.1", chosen=DEFAULT_INSTANCE):
    """Options of local search for max-cut."""

    neighbourhood: str = "auto"
    parts: int = RESULTS.option(2, "how many (%(default)s)", positive, "K", decides="work")


class MaxCutWorkload(LocalSearchWorkload):
    """Moves of one vertex to another part."""

    name = "maxcut"
    title = "local search for max-cut, in two parts or more"
    options = MaxCutOptions
    chosen = DEFAULT_INSTANCE
    best_known = "best known"
    iterations, usual_size = 10_000, 400

    def load_problem(self, options: Any) -> tuple[Any, str]:
        from core.problems.more.max_cut import graphs

        graph = graphs.load(options.instance, options.data, k=options.parts)
        if graph.k != options.parts:
            raise UserError(f"--parts {options.parts} for {graph.name}: expected {graph.k}, as the instance says")
        if graph.k == 2:
            from core.problems.more.max_cut.problem import MaxCut

            return MaxCut(graph), graph.source
        from core.problems.more.max_cut.k_cut import MaxKCut

        return MaxKCut(graph), graph.source

    def size(self, problem: Any) -> int:
        return int(problem.encoding.n * (problem.encoding.choices - 1))

    def speed(self, problem: Any) -> float:
        return 5e8


MAXCUT = MaxCutWorkload()
main = driver(MAXCUT, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
