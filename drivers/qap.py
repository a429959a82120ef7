"""Local search for the quadratic assignment problem, on any backend and over any number of ranks.

python -m drivers.qap                                         tabu search on tai30a, some seconds
python -m drivers.qap --instance nug30 --data FOLDER          an instance file from QAPLIB
mpirun -n 4 python -m drivers.qap --walks 64 --exchange 1000  walks that continue from the best one
"""

import sys
from dataclasses import dataclass
from typing import Any

from drivers.cli.exit_codes import run_driver
from drivers.options.declaration import instance_option
from drivers.options.local_search import SearchOptions
from drivers.runs.workload_main import driver
from drivers.workload.local_search import local_search

DEFAULT_INSTANCE = "tai30a"


@dataclass(frozen=True)
class QapOptions(SearchOptions):
    """What local search for the quadratic assignment problem understands."""

    instance: str | None = instance_option("taillard:40:seeds=1,2", DEFAULT_INSTANCE)


def load(options: QapOptions) -> tuple[Any, str]:
    """The problem, and where its instance came from."""
    from core.problems.qap.problem import Qap

    problem = Qap.load(options.instance or DEFAULT_INSTANCE, options.data)
    return problem, problem.instance.source


def fitted(problem: Any) -> tuple[str, ...]:
    """About a second of one core's work: an iteration takes the square of the size.

    So many walks keep all cores and a GPU busy.
    """
    return ("--walks", "64", "--iterations", str(max(1, 10_000 * 30**2 // problem.encoding.n**2)))


QAP = local_search(
    "qap",
    "local search for the quadratic assignment problem",
    QapOptions,
    load=load,
    chosen=DEFAULT_INSTANCE,
    standard=("--walks", "64", "--iterations", "10000"),
    fitted=fitted,
    best_known="best known",
)
main = driver(QAP, __doc__)

if __name__ == "__main__":
    sys.exit(run_driver(main))
