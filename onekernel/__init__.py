"""onekernel from Python: ``import onekernel as ok``.

Problems and searches: `minimize`, `run`, `compare`, `load`, and `main` and `check` for a custom problem. The rest is
the kernel language (`function`, `bundle`, `Array`, `i32`, ...), the base class `Problem` with its encodings, the
algorithms, stop criteria and the problems of the project.
"""

from __future__ import annotations

import os.path
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING

_PACKAGES = ("core", "backends", "cluster", "drivers", "reports")
"""Packages of the project, beside this one."""
_FOLDER = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


class _PackageFinder:
    """Import the project's packages from the folder of this one.

    Python searches the folder of the running program first, which may have a `core.py` or `reports.py`.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the location of a package of the project; None for every other module."""
        return PathFinder.find_spec(name, [_FOLDER]) if name in _PACKAGES else None


def _refuse_namesakes() -> None:
    """Refuse a foreign module that was imported in place of a package of the project."""
    for name in _PACKAGES:
        file = getattr(sys.modules.get(name), "__file__", None)
        if file and os.path.dirname(os.path.realpath(file)) != os.path.join(_FOLDER, name):
            raise ImportError(
                f"{file} was imported as {name!r}, which is the name of a package of onekernel: expected another name "
                "for that file, or its import nowhere in this program"
            )


_refuse_namesakes()
sys.meta_path.insert(0, _PackageFinder)

from core.errors import UserError as UserError
from core.lang import *  # noqa: F403
from core.lang import __all__ as _language
from core.local_search import *  # noqa: F403
from core.local_search import __all__ as _local_search
from core.ppp.problem import Ppp as Ppp
from core.qap.problem import Qap as Qap
from core.run.protocol import Progress as Progress
from core.tours.problem import TspTour as TspTour
from core.weierstrass.problem import Weierstrass as Weierstrass
from drivers.library.custom_problem import main as main
from drivers.options.local_search import Execution as Execution

if TYPE_CHECKING:
    from backends import create as create
    from core.tables.knapsack.problem import Knapsack as Knapsack
    from drivers.library.comparison import Comparison as Comparison
    from drivers.library.comparison import compare as compare
    from drivers.library.minimize import CheckpointFile as CheckpointFile
    from drivers.library.minimize import minimize as minimize
    from drivers.library.minimize import run as run
    from drivers.library.results import Result as Result
    from drivers.library.results import Results as Results
    from drivers.library.validation import check as check  # type: ignore[assignment]
    from reports.runs import Runs as Runs
    from reports.runs import load as load

_FOUND_IN = {
    "Knapsack": "core.tables.knapsack.problem",
    **dict.fromkeys(("Comparison", "compare"), "drivers.library.comparison"),
    "create": "backends",
    **dict.fromkeys(("CheckpointFile", "minimize", "run"), "drivers.library.minimize"),
    **dict.fromkeys(("Result", "Results"), "drivers.library.results"),
    "check": "drivers.library.validation",
    **dict.fromkeys(("Runs", "load"), "reports.runs"),
}
"""Names that are imported at first use, since ranks of a custom problem pay for imports and need none of them."""

# The `check` of local search takes backends; the one of this module finds them.
del globals()["check"]

__all__ = [
    *("Execution", "Ppp", "Progress", "Qap", "TspTour", "UserError", "Weierstrass", "main"),
    *_FOUND_IN,
    *_language,
    *_local_search,
]


def __getattr__(name: str) -> object:
    """Import a name at its first use."""
    if name == "__version__":
        from importlib.metadata import version

        return version("onekernel")
    if name not in _FOUND_IN:
        raise AttributeError(f"module 'onekernel' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_FOUND_IN[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
