"""Runs from Python: `minimize` searches a problem, `run` runs any workload; both return results.

They are the programs' own runs (`drivers.runs.seeds`), with the same devices, verifiers and records. Nothing is
printed: notes go to the logger `onekernel`. All MPI ranks make the same call and get the first rank's results, or raise
the error of one rank.

These runs are monitored, so that Ctrl-C can end them: hill climbing and exact search launch smaller parts than a
program without a bar. `drivers.library.comparison.compare` runs programs for times to compare.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypedDict, Unpack, overload

from cluster import default_communicator
from cluster.mpi.failures.abort import end_by_exception
from core.arguments import checked_call, function, named_keywords, refuse, text
from core.errors import UserError, did_you_mean, shown
from core.local_search import Algorithm, Stop
from core.local_search.algorithms import ALGORITHMS
from core.local_search.encodings import Neighbourhood
from core.local_search.problem import Problem, checked_problem
from core.run.protocol import Callback
from drivers.cli.interrupts import repeat_if_dropped
from drivers.cli.messages import are_logged
from drivers.library.collected import CollectedRepetitions
from drivers.library.custom_problem import CustomProblemOptions, class_workload
from drivers.library.results import Result, Results
from drivers.options.declaration import CHECKPOINT_EVERY_S, Options
from drivers.options.local_search import CRITERIA, PARAMETERS
from drivers.runs.seeds import refuse_several_solutions, run_seeds
from drivers.workload.declaration import Workload
from drivers.workload.registry import NAMES, get_workload

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cluster import Communicator

Neighbourhoods = str | Neighbourhood | Sequence[str | Neighbourhood]
Path = str | os.PathLike[str]

FORMS = {name: repr(algorithm) for name, algorithm in ALGORITHMS.items()}
"""Python expressions of the algorithms named by programs."""
PARAMETER_FORMS = {
    option: f"ok.{type(ALGORITHMS[name]).__name__}({option}=...)" for name, own in PARAMETERS.items() for option in own
}
"""Python expressions of parameters of algorithms."""
PROGRAM_FORMS = {
    "curve": "history=True and `history` of the result",
    "plot": "history=True and `plot` of the result",
    "solution": "`solution` of the result",
    "repeats": "one repetition, or ok.compare(..., repeats=...)",
    "quiet": "no keyword, since nothing is printed",
    "start": "initial=...",
}
"""Python expressions of other options of programs."""

USUAL = {field.name: field.default for field in fields(CustomProblemOptions)} | {"algorithm": None, "seed": None}
"""Defaults of keywords: tabu search, and seed 0."""


class SearchKeywords(TypedDict, total=False):
    """Keywords of `minimize`."""

    stop: Stop | None
    iterations: int | None
    seconds: float | None
    target: int | None
    patience: int | None
    walks: int | None
    exchange: int | None
    evaluation: str
    level: Literal["iteration", "algorithm", "solution"] | None
    mapping: Literal["native", "published"]
    generate: Literal["device", "host"]
    select: Literal["device", "host"] | None
    shape: Literal["fixed", "tuned"]
    data_memory: Literal["global", "readonly", "shared", "image"]
    seed: int | None
    initial: ArrayLike | str | None
    workers: int | None
    backend: str
    device: str | int
    cores: int | None
    callback: Callback | None
    progress: bool | None
    history: bool
    record: Path | None
    checkpoint: Path | None
    checkpoint_every: float
    resume: bool
    ranks: Communicator | None
    pin_cores: bool


@overload
def minimize(
    problem: Problem,
    algorithm: Algorithm | None = None,
    neighbourhood: Neighbourhoods = "auto",
    *,
    seeds: None = None,
    **keywords: Unpack[SearchKeywords],
) -> Result: ...


@overload
def minimize(
    problem: Problem,
    algorithm: Algorithm | None = None,
    neighbourhood: Neighbourhoods = "auto",
    *,
    seeds: Sequence[int],
    **keywords: Unpack[SearchKeywords],
) -> Results: ...


@named_keywords(PARAMETER_FORMS | PROGRAM_FORMS)
def minimize(
    problem: Problem,
    algorithm: Algorithm | None = None,
    neighbourhood: Neighbourhoods = "auto",
    *,
    stop: Stop | None = None,
    iterations: int | None = None,
    seconds: float | None = None,
    target: int | None = None,
    patience: int | None = None,
    walks: int | None = None,
    exchange: int | None = None,
    evaluation: str = "auto",
    level: Literal["iteration", "algorithm", "solution"] | None = None,
    mapping: Literal["native", "published"] = "native",
    generate: Literal["device", "host"] = "device",
    select: Literal["device", "host"] | None = None,
    shape: Literal["fixed", "tuned"] = "fixed",
    data_memory: Literal["global", "readonly", "shared", "image"] = "global",
    seed: int | None = None,
    seeds: Sequence[int] | None = None,
    initial: ArrayLike | str | None = None,
    workers: int | None = None,
    backend: str = "auto",
    device: str | int = "0",
    cores: int | None = None,
    callback: Callback | None = None,
    progress: bool | None = None,
    history: bool = False,
    record: Path | None = None,
    checkpoint: Path | None = None,
    checkpoint_every: float = CHECKPOINT_EVERY_S,
    resume: bool = False,
    ranks: Communicator | None = None,
    pin_cores: bool = False,
) -> Result | Results:
    """Search for a cheap solution of a problem by local search.

    Without ``stop``, ``iterations``, ``seconds``, ``target``, ``patience``, ``walks``, ``exchange``, ``level`` and
    ``record``, 64 walks do some seconds of one core's work.

    Parameters
    ----------
    problem
        See `core.local_search.problem.Problem`.
    algorithm
        Tabu search by default.
    neighbourhood
        One, as a name or an object, or up to three that a descent tries one after another; by default the problem's
        first.
    stop
        Stop criteria, such as ``Seconds(5) | Target(0)``; or the four below.
    iterations, seconds, target, patience
        Iterations of each walk, wall-clock seconds, cost to reach, and iterations without improvement. The search ends
        at the first one reached.
    walks
        Number of walks over all ranks; 1 by default.
    exchange
        Number of iterations after which all walks continue from the best one; never by default.
    evaluation
        Evaluation of neighbours; the fastest one by default.
    level
        Level of parallelism: one walk's neighbourhood, walks, or each neighbour's evaluation too.
    mapping, generate, select, shape, data_memory
        Experiments of the paper: the same trajectory, with other times. See ``python -m drivers.qap --help``.
    seed, seeds
        Random seed of the run, 0 by default; or several, with a run for each.
    initial
        Start solution of all walks, an array with one for each, or the name of a file
        (`drivers.options.initial.read_solutions`); by default random ones.
    workers
        Number of processes for several seeds, each on a separate core; by default one seed runs after another.
    backend, device, cores
        Device of the kernels; by default the fastest one here.
    callback
        Function that gets the progress a few times a second. If it returns True, the search ends with the best solution
        so far.
    progress
        True shows a progress bar; by default it is shown in notebooks and terminals.
    history
        True keeps each improvement of the best cost.
    record
        File of records to which the run is appended.
    checkpoint, checkpoint_every, resume
        File in which the search is saved, seconds between two checkpoints, and True to continue from the file.
    ranks
        Communicator; by default this process's.
    pin_cores
        True binds each rank to its own cores.

    Returns
    -------
    Result or Results
        The result of one seed. For several seeds all results; their `cost` and `solution` are the best.

    Raises
    ------
    UserError
        An unknown keyword or a wrong value, a missing device, or a problem with wrong functions.
    Unconfirmed
        The scorer finds another cost for the best solution than the search does. The error holds the solution and
        both costs. A record keeps the run as one that is not confirmed; of several seeds no further one runs.
    """
    named = locals()
    if workers is not None:
        from drivers.library.workers import run_in_workers

        return run_in_workers(minimize, "problem", named)
    values = {one: named[one] for one, usual in USUAL.items() if named.get(one, usual) is not usual}
    if not isinstance(problem, Problem) or not hasattr(problem, "encoding"):
        checked_problem(problem)
    if algorithm is not None and not isinstance(algorithm, Algorithm):
        refuse_algorithm(algorithm)
    objects = {} if algorithm is None else {"algorithm": values.pop("algorithm")}
    if stop is not None:
        values |= stop_criteria(stop, {name: named[name] for name in CRITERIA if named[name] is not None})
    declared = class_workload(type(problem))  # type: ignore[arg-type]
    workload = replace(declared, load_problem=lambda _: (problem, "made by a program"))
    runs = run_workload(workload, values, callback, ranks, objects, "minimize")
    return Results(runs) if seeds is not None else runs[0]


@overload
def run(
    workload: str,
    *,
    seeds: None = None,
    repeats: None = None,
    callback: Callback | None = None,
    ranks: Communicator | None = None,
    **options: Any,
) -> Result: ...


@overload
def run(
    workload: str,
    *,
    seeds: Sequence[int] | None = None,
    repeats: int | None = None,
    workers: int | None = None,
    callback: Callback | None = None,
    ranks: Communicator | None = None,
    **options: Any,
) -> Results: ...


@checked_call
def run(
    workload: str,
    *,
    seeds: Sequence[int] | None = None,
    repeats: int | None = None,
    workers: int | None = None,
    callback: Callback | None = None,
    ranks: Communicator | None = None,
    **options: Any,
) -> Result | Results:
    """Run any workload of the suite: ``run("ihc", instance="kroE100", climbers=100_000, backend="threads")``.

    Parameters
    ----------
    workload
        Its name, as ``python -m drivers`` lists them.
    seeds
        Several random seeds, with a run for each.
    repeats
        Number of timed repetitions of each run.
    workers, callback, ranks
        See `minimize`.
    **options
        Options of its program by name, with underscores.

    Returns
    -------
    Result or Results
        The result; with ``seeds`` or ``repeats`` all results.

    Raises
    ------
    UserError
        No such workload; else as `minimize`.
    Unconfirmed
        See `minimize`.
    """
    text("workload", workload, f"one of {', '.join(NAMES)}")
    several = {name: value for name, value in (("seeds", seeds), ("repeats", repeats)) if value is not None}
    declared = get_workload(workload)
    if workers is not None:
        from drivers.library.workers import run_in_workers

        if seeds is not None:
            refuse_several_solutions(declared.options.checked({**options, **several}, workload))
        shared = {"workload": workload, "workers": workers, "callback": callback, "ranks": ranks}
        return run_in_workers(run, "workload", {**options, **several, **shared})
    runs = run_workload(declared, {**options, **several}, callback, ranks)
    return Results(runs) if several else runs[0]


def run_workload(
    workload: Workload[Any],
    values: Mapping[str, Any],
    callback: Callback | None,
    ranks: Communicator | None,
    objects: Mapping[str, Any] = {},  # noqa: B006
    owner: str = "",
) -> list[Result]:
    """Run a workload with values of its options, once for each seed; see `minimize`.

    Parameters
    ----------
    values
        Values of options, to be checked.
    objects
        Values of options that were checked.
    owner
        Name of the options' owner in errors; by default the workload's.
    """
    if ranks is not None and not hasattr(ranks, "local_rank"):
        refuse("ranks", ranks, "a communicator; numbers of ranks are for mpirun -n, or ok.compare(..., ranks=[2, 4])")
    token, report = are_logged.set(True), sys.unraisablehook
    sys.unraisablehook = partial(repeat_if_dropped, report, threading.main_thread())
    try:
        if "seed" in values and "seeds" in values:
            raise UserError(f"seed={shown(values['seed'])} and seeds: expected one of them")
        own: Options = replace(workload.options.checked(values, owner or workload.name), **objects)
        if callback is not None:
            function("callback", callback)
        runs = run_seeds(workload, own, partial(CollectedRepetitions, callback), ranks=ranks)
    except BaseException as error:
        if (ranks or default_communicator()).is_awaited():
            end_by_exception(type(error), error, error.__traceback__)
        raise
    finally:
        sys.unraisablehook = report
        are_logged.reset(token)
    return [result for results in runs for result in results]


def refuse_algorithm(algorithm: object) -> NoReturn:
    name = getattr(algorithm, "__name__", shown(algorithm))
    form = FORMS.get(algorithm, "") if isinstance(algorithm, str) else f"{name}()"
    if form not in FORMS.values():
        near = [f"ok.{form}" for known, form in FORMS.items() if did_you_mean(algorithm, [known])]
        refuse("algorithm", algorithm, near[0] if near else "an algorithm such as ok.TabuSearch()")
    raise UserError(f"algorithm={name}: expected ok.{form}")


def stop_criteria(stop: Stop, limits: dict[str, Any]) -> dict[str, Any]:
    """Return the options equal to stop criteria. Raises `UserError` for other objects, or further criteria."""
    if not isinstance(stop, Stop):
        refuse("stop", stop, "stop criteria such as ok.Seconds(5) | ok.Target(0)")
    for name, value in limits.items():
        raise UserError(f"stop and {name}={shown(value)}: expected one of them")
    return {name: getattr(stop, name) for name in stop.given}
