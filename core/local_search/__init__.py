"""Local search as a family (`luong2013`): one template for any problem, on any backend and any number of ranks.

A `Problem` has an `Encoding` of its solutions, `Neighbourhood`s, and for each an `Evaluation` or more: functions for
kernels, and their data. Other packages import this package, `problem`, `encodings`, `algorithms`, `plan`,
`kernels.hooks` and the modules of `checks`. Problems with their scorers are in separate packages, such as `core.qap`.
"""

from core.local_search.algorithms import (
    Algorithm,
    HillClimbing,
    IteratedLocalSearch,
    Rule,
    SimulatedAnnealing,
    TabuSearch,
    VariableNeighbourhoodSearch,
)
from core.local_search.checks.problem_errors import (
    ProblemError,
    WrongChoice,
    WrongCost,
    WrongData,
    WrongDelta,
    WrongLanes,
    WrongNumber,
    WrongState,
    WrongSubscript,
    WrongWrite,
)
from core.local_search.checks.validation import Checked, check
from core.local_search.encodings import NEIGHBOURHOODS, Bits, Neighbourhood, Permutation, Reals, Values
from core.local_search.kernels.hooks import Evaluation
from core.local_search.kernels.moves import OWN, exchanged, flipped, inserted, moved, reversed_
from core.local_search.kernels.walks import AnyMove, Draw, Move, Share
from core.local_search.outcome import Outcome, Unconfirmed
from core.local_search.problem import Problem
from core.local_search.search import LocalSearch
from core.run.stop import Iterations, NoImprovement, Seconds, Stop, Target

__all__ = [
    "NEIGHBOURHOODS",
    "OWN",
    "Algorithm",
    "AnyMove",
    "Bits",
    "Checked",
    "Draw",
    "Evaluation",
    "HillClimbing",
    "IteratedLocalSearch",
    "Iterations",
    "LocalSearch",
    "Move",
    "Neighbourhood",
    "NoImprovement",
    "Outcome",
    "Permutation",
    "Problem",
    "ProblemError",
    "Reals",
    "Rule",
    "Seconds",
    "Share",
    "SimulatedAnnealing",
    "Stop",
    "TabuSearch",
    "Target",
    "Unconfirmed",
    "Values",
    "VariableNeighbourhoodSearch",
    "WrongChoice",
    "WrongCost",
    "WrongData",
    "WrongDelta",
    "WrongLanes",
    "WrongNumber",
    "WrongState",
    "WrongSubscript",
    "WrongWrite",
    "check",
    "exchanged",
    "flipped",
    "inserted",
    "moved",
    "reversed_",
]
