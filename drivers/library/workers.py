"""Several seeds at a time: calls of the library in separate processes, with a core each (joblib's loky)."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from typing import Any

from backends import NAMES, automatic, backend_class
from cluster import default_communicator
from core.arguments import integer
from core.errors import UserError
from drivers.library.results import Result, Results
from drivers.options.values import seeds as several_seeds
from drivers.workload.serialisation import serialise_by_value


def run_in_workers(function: Callable[..., Any], first: str, named: Mapping[str, Any]) -> Results:
    """Call a function of the library once for each seed, in separate processes with a core each.

    ``first`` is the name of its first parameter, ``named`` its arguments by name, with ``seeds`` and ``workers``.
    Raises `UserError` for arguments that processes cannot share.
    """
    values = {name: value for name, value in named.items() if value is not None}
    workers, listed = integer("workers", values.pop("workers"), 1), values.pop("seeds", None)
    if listed is None:
        raise UserError(f"workers={workers} without seeds: expected several seeds, such as seeds=range(10)")
    for name in ("seed", "callback", "checkpoint", "cores", "ranks", "repeats"):
        if name in values:
            raise UserError(f"workers={workers} and {name}: expected one of them")
    values["backend"] = one_core_backend(values.get("backend", "auto"))
    if default_communicator().size > 1:
        raise UserError(f"workers={workers} on several ranks: expected one rank")
    from joblib import Parallel, delayed

    called = serialise_by_value((function, values.pop(first), {**values, "progress": False}))
    tasks = (delayed(run_serialised)(called, seed) for seed in several_seeds.check("seeds", listed))
    return Results(Parallel(n_jobs=workers, backend="loky")(tasks))


def one_core_backend(name: str) -> str:
    """Return a backend on one core; ``auto`` selects one. Raises `UserError` for other devices or several cores."""
    if name == "auto":
        return automatic("core") or name
    one_core = [name for name in NAMES if (kind := backend_class(name)).memory == "host" and not kind.takes_cores]
    if name not in one_core:
        raise UserError(f"workers with backend={name!r}: expected one of {', '.join(one_core)}")
    return name


def run_serialised(called: bytes, seed: int) -> Result:
    function, first, values = pickle.loads(called)
    result: Result = function(first, seed=seed, **values)
    return result
