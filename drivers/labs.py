"""Local search for low autocorrelation binary sequences, on any backend and over any number of ranks.

python -m drivers.labs                                        tabu search for 40 signs, in seconds
python -m drivers.labs --instance 27 --target 37 --walks 64   until the least energy of 27 signs is found
"""

import sys
from dataclasses import dataclass
from typing import Any

from drivers.cli.exit_codes import run_driver
from drivers.options.declaration import option
from drivers.options.local_search import SearchOptions, neighbourhood_option
from drivers.runs.workload_main import driver
from drivers.workload.local_search import local_search

DEFAULT_INSTANCE = "40"


@dataclass(frozen=True)
class LabsOptions(SearchOptions):
    """What local search for low autocorrelation binary sequences understands."""

    instance: str | None = option(None, f"how many signs (default: {DEFAULT_INSTANCE})", metavar="N")
    neighbourhood: str = neighbourhood_option("flip1")


def load(options: LabsOptions) -> tuple[Any, str]:
    """The problem; its size is all that there is to say of it."""
    from core.problems.more.labs.problem import Labs

    return Labs(options.instance or DEFAULT_INSTANCE), "the number of its signs"


def fitted(problem: Any) -> tuple[str, ...]:
    """About a second of one core's work: an iteration looks at every sign and every lag.

    So many walks keep all cores and a GPU busy.
    """
    return ("--walks", "64", "--iterations", str(max(1, 2_500 * 40**2 // problem.encoding.n**2)))


LABS = local_search(
    "labs",
    "local search for low autocorrelation binary sequences",
    LabsOptions,
    load=load,
    chosen=DEFAULT_INSTANCE,
    standard=("--walks", "64", "--iterations", "2500"),
    fitted=fitted,
    speed=lambda problem: 5e8 / problem.encoding.n,
)
main = driver(LABS, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
