"""Local search for the permuted perceptron problem, on any backend and over any number of ranks.

onekernel ppp                                            tabu search on 73-73, some seconds
onekernel ppp --instance 73-73:seed=5 --target 0         a stop at the cost of the secret
mpirun -n 64 onekernel ppp                               the first command's work on 64 ranks
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from core.errors import UserError
from drivers.options.local_search import EXPERIMENTS, SearchOptions
from drivers.runs.workload_main import driver, exit_with
from drivers.workload.local_search import LocalSearchWorkload

if TYPE_CHECKING:
    from core.ppp.problem import Ppp

DEFAULT_INSTANCE = "73-73"


@dataclass(frozen=True)
class PppOptions(SearchOptions, generator="101-117:seed=5", chosen=DEFAULT_INSTANCE, takes="Ppp", hidden=("peers",)):
    """Options of local search for the permuted perceptron problem."""

    neighbourhood: str = "flip2"
    layout: str | None = EXPERIMENTS.option(
        None,
        "with histogram evaluation: memory of each lane's histogram, local, or global and coalesced (columns) or not "
        "(rows) (section 5.3; default with --mapping published: local)",
        choices=("local", "columns", "rows"),
        decides="execution",
    )

    def settled(self, chosen: str | None, ranks: int) -> Self:
        """Return these options with defaults filled in. Refuse a layout of histograms that the evaluation lacks."""
        settled = super().settled(chosen, ranks)
        by_histograms = self.evaluation == "histogram" or (self.evaluation == "auto" and self.mapping == "published")
        if self.layout is not None and not by_histograms:
            raise UserError(f"--layout {self.layout}: expected with --mapping published or --evaluation histogram")
        return replace(settled, layout=self.layout or "local") if by_histograms else settled


class PppWorkload(LocalSearchWorkload[PppOptions, "Ppp"]):
    """Changes of two signs; an iteration examines every pair of columns and all rows."""

    name = "ppp"
    title = "local search for the permuted perceptron problem"
    options = PppOptions
    chosen = DEFAULT_INSTANCE
    iterations, usual_size = 160, 73**3

    def load_problem(self, options: PppOptions) -> tuple[Ppp, str]:
        from core.ppp.problem import Ppp

        problem = Ppp.load(options.instance or DEFAULT_INSTANCE, options.data, layout=options.layout or "local")
        return problem, problem.instance.source

    def size(self, problem: Ppp) -> int:
        return int(problem.instance.n**2 * problem.instance.m)

    def speed(self, problem: Ppp) -> float:
        return 1e7


PPP = PppWorkload()
main = driver(PPP, __doc__)

if __name__ == "__main__":
    exit_with(main)
