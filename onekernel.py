"""onekernel from Python: ``import onekernel as ok``.

Problems and searches: `minimize`, `run`, `compare`, `load`, and `main` and `check` for a problem of your own. The rest
is the kernel language (`function`, `bundle`, `Array`, `i32`, ...), the base class `Problem` with its encodings, the
algorithms, stop criteria and the problems of the house.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from core.errors import UserError
from core.lang import *  # noqa: F403
from core.lang import __all__ as _language
from core.problems.max_k_cut import MaxKCut
from core.problems.ppp import Ppp
from core.problems.qap import Qap
from core.problems.tsp_moves import TspTour
from core.problems.weierstrass import Weierstrass
from core.search.local_search import *  # noqa: F403
from core.search.local_search import __all__ as _local_search
from drivers.own_problem import main

if TYPE_CHECKING:
    from drivers.minimize import minimize, run
    from drivers.results import Result, Results
    from drivers.side_by_side import Comparison, compare
    from reports.runs import Runs, load

_FOUND_IN = {
    "Comparison": "drivers.side_by_side",
    "Result": "drivers.results",
    "Results": "drivers.results",
    "Runs": "reports.runs",
    "compare": "drivers.side_by_side",
    "load": "reports.runs",
    "minimize": "drivers.minimize",
    "run": "drivers.minimize",
}
"""What is imported when it is first asked for: the ranks of an own problem need none of it, and pay for imports."""

__all__ = [
    "Comparison", "MaxKCut", "Ppp", "Qap", "Result", "Results", "Runs", "TspTour", "UserError", "Weierstrass",
    "compare", "load", "main", "minimize", "run", *_language, *_local_search,
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """What is imported late, by its name."""
    if name not in _FOUND_IN:
        raise AttributeError(f"module 'onekernel' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_FOUND_IN[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
