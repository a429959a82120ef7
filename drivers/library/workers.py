"""Several seeds at a time: calls of the library in separate processes, with a core each (joblib's loky)."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping

from backends import NAMES, automatic, backend_class
from cluster import default_communicator
from core.arguments import integer
from core.errors import UserError
from drivers.library.results import Result
from drivers.options.declaration import AnyOptions
from drivers.runs.seeds import refuse_several_solutions
from drivers.workload.declaration import Workload
from drivers.workload.serialisation import serialise_by_value


def run_in_workers(
    run: Callable[..., list[Result]],
    workload: Workload[AnyOptions],
    values: Mapping[str, object],
    owner: str,
    workers: object,
    **excluded: object,
) -> list[Result]:
    """Run a workload once for each seed by ``run(workload, values)``, in separate processes with a core each.

    ``values`` are values of its options, with ``seeds``; ``excluded`` are further arguments, which must be None. Raises
    `UserError` for arguments that processes cannot share.
    """
    workers, given = integer("workers", workers, 1), {**values, **excluded}
    if given.get("seeds") is None:
        raise UserError(f"workers={workers} without seeds: expected several seeds, such as seeds=range(10)")
    for name in ("seed", "callback", "checkpoint", "cores", "ranks", "repeats"):
        if given.get(name) is not None:
            raise UserError(f"workers={workers} and {name}: expected one of them")
    own = workload.options.checked(values, owner)
    refuse_several_solutions(own)
    backend = one_core_backend(own.backend)
    if default_communicator().size > 1:
        raise UserError(f"workers={workers} on several ranks: expected one rank")
    from joblib import Parallel, delayed

    shared = {name: value for name, value in values.items() if name != "seeds"}
    called = serialise_by_value((run, workload, {**shared, "backend": backend, "progress": False}))
    tasks = (delayed(run_serialised)(called, seed) for seed in own.seeds or ())
    return list(Parallel(n_jobs=workers, backend="loky")(tasks))


def one_core_backend(name: str) -> str:
    """Return a backend on one core; ``auto`` selects one. Raises `UserError` for other devices or several cores."""
    if name == "auto":
        return automatic("core") or name
    one_core = [name for name in NAMES if (kind := backend_class(name)).memory == "host" and not kind.takes_cores]
    if name not in one_core:
        raise UserError(f"workers with backend={name!r}: expected one of {', '.join(one_core)}")
    return name


def run_serialised(called: bytes, seed: int) -> Result:
    run, workload, values = pickle.loads(called)
    result: Result = run(workload, {**values, "seed": seed})[0]
    return result
