"""Local search for low autocorrelation binary sequences, on any backend and over any number of ranks.

python -m drivers.labs                                        tabu search for 40 signs, in seconds
python -m drivers.labs --instance 27 --target 37 --walks 64   until the least energy of 27 signs is found
"""

import sys
from dataclasses import dataclass
from typing import Any

from drivers.cli.exit_codes import run_driver
from drivers.options.declaration import option
from drivers.options.local_search import SearchOptions
from drivers.options.values import NAME
from drivers.runs.workload_main import driver
from drivers.workload.local_search import LocalSearchWorkload


@dataclass(frozen=True)
class LabsOptions(SearchOptions):
    """Options of local search for low autocorrelation binary sequences."""

    instance: str | None = option(None, "how many signs (default: 40)", NAME, "N")
    neighbourhood: str = "flip1"


class LabsWorkload(LocalSearchWorkload):
    """Changes of one sign."""

    name = "labs"
    title = "local search for low autocorrelation binary sequences"
    options = LabsOptions
    chosen = "40"
    iterations, usual_size = 2_500, 40**2

    def load_problem(self, options: Any) -> tuple[Any, str]:
        from core.problems.more.labs.problem import Labs

        return Labs(options.instance), "the number of its signs"

    def speed(self, problem: Any) -> float:
        return float(5e8 / problem.encoding.n)


LABS = LabsWorkload()
main = driver(LABS, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
