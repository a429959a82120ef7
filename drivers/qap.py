"""Local search for the quadratic assignment problem, on any backend and over any number of ranks.

onekernel qap                                         tabu search on tai30a, some seconds
onekernel qap --instance nug30 --data FOLDER          an instance file from QAPLIB
mpirun -n 4 onekernel qap --walks 64 --exchange 1000  walks that continue from the best one
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from drivers.options.local_search import SearchOptions
from drivers.runs.workload_main import driver, exit_with
from drivers.workload.local_search import LocalSearchWorkload

if TYPE_CHECKING:
    from core.qap.problem import Qap

DEFAULT_INSTANCE = "tai30a"


@dataclass(frozen=True)
class QapOptions(SearchOptions, generator="taillard:40:seeds=1,2", chosen=DEFAULT_INSTANCE, takes="Qap"):
    """Options of local search for the quadratic assignment problem."""


class QapWorkload(LocalSearchWorkload[QapOptions, "Qap"]):
    """Exchanges of facilities; the time of an iteration grows with the square of the size."""

    name = "qap"
    title = "local search for the quadratic assignment problem"
    options = QapOptions
    chosen = DEFAULT_INSTANCE
    best_known = "best known"
    iterations, usual_size = 10_000, 30**2

    def load_problem(self, options: QapOptions) -> tuple[Qap, str]:
        from core.qap.problem import Qap

        problem = Qap.load(options.instance or DEFAULT_INSTANCE, options.data)
        return problem, problem.instance.source


QAP = QapWorkload()
main = driver(QAP, __doc__)

if __name__ == "__main__":
    exit_with(main)
