"""Several seeds at a time: calls of the library in separate processes, with a core each (joblib's loky)."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping

from backends import NAMES, automatic, backend_class
from cluster import default_communicator
from core.arguments import integer
from core.errors import UserError
from drivers.library.results import Result
from drivers.options.declaration import Options
from drivers.runs.seeds import refuse_several_solutions
from drivers.workload.serialisation import serialise_by_value


def run_in_workers(
    run: Callable[..., list[Result]], own: Options, values: Mapping[str, object], workers: int
) -> list[Result]:
    """Call ``run`` with values of options once for each seed, in separate processes with a core each.

    ``own`` are the options with these values, among them ``seeds``; further arguments of the call are among the values,
    too. Raises `UserError` for arguments that processes cannot share.
    """
    workers = integer("workers", workers, 1)
    if own.seeds is None:
        raise UserError(f"workers={workers} without seeds: expected several seeds, such as seeds=range(10)")
    for name in ("seed", "callback", "checkpoint", "cores", "ranks", "repeats"):
        if values.get(name) is not None:
            raise UserError(f"workers={workers} and {name}: expected one of them")
    refuse_several_solutions(own)
    shared = {name: value for name, value in values.items() if value is not None and name != "seeds"}
    shared |= {"backend": one_core_backend(own.backend), "progress": False}
    if default_communicator().size > 1:
        raise UserError(f"workers={workers} on several ranks: expected one rank")
    from joblib import Parallel, delayed

    called = serialise_by_value((run, shared))
    return list(Parallel(n_jobs=workers, backend="loky")(delayed(run_serialised)(called, seed) for seed in own.seeds))


def one_core_backend(name: str) -> str:
    """Return a backend on one core; ``auto`` selects one. Raises `UserError` for other devices or several cores."""
    if name == "auto":
        return automatic("core") or name
    one_core = [name for name in NAMES if (kind := backend_class(name)).memory == "host" and not kind.takes_cores]
    if name not in one_core:
        raise UserError(f"workers with backend={name!r}: expected one of {', '.join(one_core)}")
    return name


def run_serialised(called: bytes, seed: int) -> Result:
    run, values = pickle.loads(called)
    result: Result = run({**values, "seed": seed})[0]
    return result
