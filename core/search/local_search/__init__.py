"""Local search as a family (`luong2013`): one template for any problem, on any backend and any number of ranks.

Other packages import this package, `algorithms`, `plan` and `checks.validation`. Kernels belong to `core.kernels`;
problems and their scorers belong to `core.problems`.
"""

from core.kernels.local_search.moves import OWN, exchanged, flipped, inserted, moved, reversed_
from core.kernels.local_search.walks import AnyMove, Draw, Move, Share
from core.problems.encodings import NEIGHBOURHOODS, Bits, Neighbourhood, Permutation, Reals, Values
from core.problems.problem import Evaluation, Problem
from core.problems.problem_errors import (
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
from core.search.local_search.algorithms import (
    Algorithm,
    HillClimbing,
    IteratedLocalSearch,
    Rule,
    SimulatedAnnealing,
    TabuSearch,
    VariableNeighbourhoodSearch,
)
from core.search.local_search.checks.validation import Checked, check
from core.search.local_search.outcome import Outcome, Unconfirmed
from core.search.local_search.search import LocalSearch
from core.search.stop import Iterations, NoImprovement, Seconds, Stop, Target

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
