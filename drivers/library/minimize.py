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
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NoReturn, TypedDict, Unpack, overload

from cluster import default_communicator
from cluster.mpi.failures.abort import end_by_exception
from core.arguments import checked_call, checked_class, function, named_keywords, refuse, text
from core.errors import UserError, did_you_mean, shown
from core.local_search import Algorithm, Stop
from core.local_search.algorithms import ALGORITHMS
from core.local_search.plan import Neighbourhoods
from core.local_search.problem import Problem, checked_problem
from core.run.protocol import Callback
from core.run.stop import MAKERS
from drivers.cli.interrupts import repeat_if_dropped
from drivers.cli.messages import are_logged
from drivers.library.collected import CollectedRepetitions
from drivers.library.custom_problem import CustomProblemWorkload
from drivers.library.results import Result, Results
from drivers.options.declaration import CHECKPOINT_EVERY_S, AnyOptions
from drivers.options.local_search import PARAMETERS, Execution
from drivers.runs.seeds import run_seeds
from drivers.workload.declaration import Workload
from drivers.workload.registry import NAMES, get_workload

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cluster import Communicator

Path = str | os.PathLike[str]


@checked_class
@dataclass(frozen=True)
class CheckpointFile:
    """File in which a search is saved.

    Attributes
    ----------
    path
        Its name.
    every
        Seconds between two checkpoints.
    resume
        True to continue from the file, if there is one.
    """

    path: Path
    every: float = CHECKPOINT_EVERY_S
    resume: bool = False


FORMS = {name: repr(algorithm) for name, algorithm in ALGORITHMS.items()}
"""Python expressions of the algorithms named by programs."""
KEYWORD_FORMS = {
    **{one: f"ok.{type(ALGORITHMS[name]).__name__}({one}=...)" for name, own in PARAMETERS.items() for one in own},
    **{name: f"stop=ok.{maker}(...)" for name, maker in MAKERS.items()},
    **{name: f"execution=ok.Execution({name}=...)" for name in Execution.__dataclass_fields__},
    "checkpoint_every": "checkpoint=ok.CheckpointFile(..., every=...)",
    "resume": "checkpoint=ok.CheckpointFile(..., resume=True)",
    "curve": "history=True and `history` of the result",
    "plot": "history=True and `plot` of the result",
    "solution": "`solution` of the result",
    "repeats": "one repetition, or ok.compare(..., repeats=...)",
    "measure": "ok.compare(..., measure=...)",
    "quiet": "no keyword, since nothing is printed",
    "start": "initial=...",
}
"""Python expressions of options of programs that are no keywords of `minimize`."""


class SearchKeywords(TypedDict, total=False):
    """Keywords of `minimize`."""

    stop: Stop | None
    iterations: int | None
    walks: int | None
    exchange: int | None
    seed: int | None
    initial: ArrayLike | str | None
    backend: str
    execution: Execution | None
    ranks: Communicator | None
    callback: Callback | None
    progress: bool | None
    history: bool
    record: Path | None
    checkpoint: Path | CheckpointFile | None
    workers: int | None


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


@named_keywords(KEYWORD_FORMS)
def minimize(
    problem: Problem,
    algorithm: Algorithm | None = None,
    neighbourhood: Neighbourhoods = "auto",
    *,
    stop: Stop | None = None,
    iterations: int | None = None,
    walks: int | None = None,
    exchange: int | None = None,
    seed: int | None = None,
    seeds: Sequence[int] | None = None,
    initial: ArrayLike | str | None = None,
    backend: str = "auto",
    execution: Execution | None = None,
    ranks: Communicator | None = None,
    callback: Callback | None = None,
    progress: bool | None = None,
    history: bool = False,
    record: Path | None = None,
    checkpoint: Path | CheckpointFile | None = None,
    workers: int | None = None,
) -> Result | Results:
    """Search for a cheap solution of a problem by local search.

    Without ``stop``, ``iterations``, ``walks``, ``exchange``, ``record`` and a level of execution, 64 walks do some
    seconds of one core's work.

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
        Stop criteria, such as ``Seconds(5) | Target(0)``: the search ends at the first one reached.
    iterations
        Iterations of each walk; the same as ``stop=Iterations(...)``.
    walks
        Number of walks over all ranks; 1 by default.
    exchange
        Number of iterations after which all walks continue from the best one; never by default.
    seed, seeds
        Random seed of the run, 0 by default; or several, with a run for each.
    initial
        Start solution of all walks, an array with one for each, or the name of a file
        (`drivers.options.initial.read_solutions`); by default random ones.
    backend
        Backend that runs the kernels; by default the fastest one here.
    execution
        Device, cores, level of parallelism, evaluation and mapping: they change the speed and not the trajectory.
    ranks
        Communicator; by default this process's.
    callback
        Function that gets the progress a few times a second. If it returns True, the search ends with the best solution
        so far.
    progress
        True shows a progress bar; by default it is shown in notebooks and terminals.
    history
        True keeps each improvement of the best cost.
    record
        File of records to which the run is appended.
    checkpoint
        File in which the search is saved, by name, or as a `CheckpointFile`, which a run can resume from.
    workers
        Number of processes for several seeds, each on a separate core; by default one seed runs after another.

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
    if not isinstance(problem, Problem) or not hasattr(problem, "encoding"):
        checked_problem(problem)
    if algorithm is not None and not isinstance(algorithm, Algorithm):
        refuse_algorithm(algorithm)
    values: dict[str, object] = {
        **{name: value for name, value in (("algorithm", algorithm), ("seed", seed)) if value is not None},
        **{"neighbourhood": neighbourhood, "iterations": iterations, "walks": walks, "exchange": exchange},
        **{"seeds": seeds, "initial": initial, "backend": backend, "progress": progress, "history": history},
        **{"record": record, "checkpoint": checkpoint},
    }
    if isinstance(checkpoint, CheckpointFile):
        values |= {"checkpoint": checkpoint.path, "checkpoint_every": checkpoint.every, "resume": checkpoint.resume}
    if execution is not None:
        if not isinstance(execution, Execution):
            refuse("execution", execution, "execution settings such as ok.Execution(cores=4)")
        values |= vars(execution)
    if stop is not None:
        if not isinstance(stop, Stop):
            refuse("stop", stop, "stop criteria such as ok.Seconds(5) | ok.Target(0)")
        if iterations is not None:
            raise UserError(f"stop and iterations={shown(iterations)}: expected one of them")
        values |= {name: getattr(stop, name) for name in stop.given}
    runs = run_workload(CustomProblemWorkload(problem), values, callback, ranks, workers, "minimize")
    return Results(runs) if seeds is not None else runs[0]


@overload
def run(
    workload: str,
    *,
    seeds: None = None,
    repeats: None = None,
    workers: None = None,
    callback: Callback | None = None,
    ranks: Communicator | None = None,
    **options: object,
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
    **options: object,
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
    **options: object,
) -> Result | Results:
    """Run any workload of the suite: ``run("ihc", instance="kroE100", climbers=100_000, backend="threads")``.

    Parameters
    ----------
    workload
        Its name, as ``onekernel`` lists them.
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
    runs = run_workload(get_workload(workload), {**options, **several}, callback, ranks, workers)
    return Results(runs) if several else runs[0]


def run_workload(
    workload: Workload[AnyOptions],
    values: Mapping[str, object],
    callback: Callback | None = None,
    ranks: Communicator | None = None,
    workers: int | None = None,
    owner: str = "",
) -> list[Result]:
    """Run a workload with values of its options, once for each seed; see `minimize`.

    Parameters
    ----------
    values
        Values of options, to be checked.
    owner
        Name of the options' owner in errors; by default the workload's.
    """
    if ranks is not None and not hasattr(ranks, "local_rank"):
        refuse("ranks", ranks, "a communicator; numbers of ranks are for mpirun -n, or ok.compare(..., ranks=[2, 4])")
    token, report = are_logged.set(True), sys.unraisablehook
    sys.unraisablehook = partial(repeat_if_dropped, report, threading.main_thread())
    try:
        if "seed" in values and values.get("seeds") is not None:
            raise UserError(f"seed={shown(values['seed'])} and seeds: expected one of them")
        own = workload.options.checked(values, owner or workload.name)
        if own.measure is not None:
            raise UserError(f"measure={own.measure:g}: expected ok.compare, or the program with --measure")
        if workers is not None:
            from drivers.library.workers import run_in_workers

            given = {**values, "callback": callback, "ranks": ranks}
            return run_in_workers(partial(run_workload, workload), own, given, workers)
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
