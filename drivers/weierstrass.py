"""Local search for the Weierstrass function's minimum, on any backend and over any number of ranks.

onekernel weierstrass                                          ten coordinates, some seconds
onekernel weierstrass --instance 100 --points 10000 --dtype float64    100 coordinates in double precision
onekernel weierstrass --instance 100 --neighbourhood axes      points that differ in one coordinate

The paper's neighbourhood, crowns, evaluates every neighbour in full: it is a benchmark of arithmetic throughput. Points
on the axes cost 1/n of that and find lower values in the same time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from drivers.options.local_search import RESULTS, SearchOptions
from drivers.options.values import positive
from drivers.runs.workload_main import driver, exit_with
from drivers.workload.local_search import LocalSearchWorkload

if TYPE_CHECKING:
    from core.weierstrass.problem import Weierstrass

DEFAULT_INSTANCE = "10"


@dataclass(frozen=True)
class WeierstrassOptions(SearchOptions, generator="100 (coordinates)", chosen=DEFAULT_INSTANCE, hidden=("peers",)):
    """Options of local search for the Weierstrass function's minimum."""

    neighbourhood: str = "crowns"
    points: int = RESULTS.option(
        10_000, "number of neighbours drawn for each solution (%(default)s)", positive, "M", decides="work"
    )
    dtype: str = RESULTS.option(
        "float32", "type of coordinates and costs (%(default)s)", choices=("float32", "float64"), decides="work"
    )


class WeierstrassWorkload(LocalSearchWorkload[WeierstrassOptions, "Weierstrass"]):
    """Drawn points; a neighbour's time grows with the number of coordinates."""

    name = "weierstrass"
    title = "local search for the Weierstrass function's minimum"
    options = WeierstrassOptions
    chosen = DEFAULT_INSTANCE
    arguments = ()
    iterations, usual_size = 20, 10 * 10_000

    def load_problem(self, options: WeierstrassOptions) -> tuple[Weierstrass, str]:
        from core.weierstrass.problem import Weierstrass

        settings = {"points": options.points, "dtype": options.dtype, "seed": options.seed}
        problem = Weierstrass.load(options.instance or DEFAULT_INSTANCE, options.data, **settings)
        return problem, problem.instance.source

    def size(self, problem: Weierstrass) -> int:
        return int(problem.encoding.n * problem.points)

    def speed(self, problem: Weierstrass) -> float:
        return float(2e6 / problem.encoding.n)

    def in_words(self, cost: int) -> str:
        from core.weierstrass.scorer import COST_UNIT

        return f"{cost * COST_UNIT:.6f}"


WEIERSTRASS = WeierstrassWorkload()
main = driver(WEIERSTRASS, __doc__)

if __name__ == "__main__":
    exit_with(main)
