"""Run of a workload with typed options, once for each seed: the one path of programs and of the library."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from core.errors import UserError
from drivers.options.declaration import CHECKPOINT_EVERY_S, AnyOptions, Options, option_flag, options_for_rank
from drivers.options.output_files import OutputFile, require_writable_files
from drivers.runs.device_selection import cores_of_a_rank, gpus_here, select_backend
from drivers.workload.declaration import PreparedRun, Task, Workload
from drivers.workload.serialisation import serialise

if TYPE_CHECKING:
    from cluster import Communicator
    from drivers.runs.checkpointing import RecoveryState
    from drivers.workload.declaration import DeviceSearch


Collected_co = TypeVar("Collected_co", covariant=True)
Collected = TypeVar("Collected")


class SeedRun(Protocol[Collected_co]):
    """The repetitions of one seed: `drivers.runs.repetitions.Repetitions`."""

    @property
    def ended(self) -> bool:
        """True if no further seed must run."""

    def collect(self) -> Collected_co: ...


def run_seeds(
    workload: Workload[AnyOptions],
    own: AnyOptions,
    kind: Callable[..., SeedRun[Collected]],
    argv: Sequence[str] = (),
    ranks: Communicator | None = None,
    memory: RecoveryState | None = None,
) -> list[Collected]:
    """Run a workload once for each seed, on all ranks. Return `SeedRun.collect` of each seed up to an interrupt.

    Parameters
    ----------
    own
        This rank's options.
    kind
        Class of the repetitions: `drivers.runs.repetitions.Repetitions`, or one that inherits from it.
    argv
        The command line, for the record.
    ranks
        The communicator; None: this process's.
    memory
        State of earlier attempts, if several ranks were checked for equal arguments; see `run_resumable`.
    """
    if ranks is None:
        from cluster import Solo, default_communicator
        from cluster.mpi.launcher import VARIABLES

        ranks = Solo() if os.environ.keys().isdisjoint(VARIABLES) else default_communicator()
    is_long = own.resume or own.checkpoint is not None or own.checkpoint_every != CHECKPOINT_EVERY_S
    if memory is None and (ranks.size > 1 or ranks.survives or is_long):
        from drivers.runs.rank_start import run_resumable

        return run_resumable(workload, own, ranks, partial(run_seeds, workload, own, kind, argv))
    if own.seeds is not None:
        refuse_several_solutions(own)
    from backends import kept
    from cluster.mpi.proxies import TimedCommunicator

    outcomes = []
    for seed in own.seeds or (own.seed,):
        began = time.thread_time()
        load = partial(load_task, workload, replace(own, seed=seed), ranks.size)
        task = load() if ranks.size == 1 else share_task(load, own, ranks)
        loaded_s = time.thread_time() - began
        options, chosen = task.options, workload.variant(task.options)
        details: dict[str, object] = {}
        if vars(options).get("profile"):
            details |= ranks.on_first(partial(profile_details, chosen, options, argv, ranks.size))
        if options.pin_cores:
            details |= pin_ranks(ranks, options)
        build = build_search if ranks.size == 1 and options.backend != "auto" else prepare_search
        search = build(chosen, ranks, task.problem, options)
        try:
            timed = ranks if isinstance(ranks, TimedCommunicator) else TimedCommunicator(ranks)
            prepared_s = ranks.bcast(loaded_s + search.backend.timings.prepare_s)
            if ranks.size > 1 and search.backend.collectives(timed).on_device:
                search.join(timed)
            prepared = PreparedRun(options, task.problem, task.source, search, timed, prepared_s=prepared_s)
            repetitions = kind(chosen, prepared, {"options": replace(own, seed=seed).asked(), **details}, memory)
            outcomes.append(repetitions.collect())
        except BaseException:
            search.backend.close()
            raise
        kept.give_back(search.backend)
        if repetitions.ended:
            break
    return outcomes


def profile_details(workload: Workload[Any], options: Options, argv: Sequence[str], ranks: int) -> dict[str, object]:
    from drivers.runs.kernel_profile import METRICS, run_profiled

    metrics = workload.profiled or tuple(METRICS)
    profile = run_profiled(workload.name, argv, backend=options.backend, ranks=ranks, metrics=metrics)
    return {} if profile is None else {"profile": profile}


# --- the task ---


def load_task(workload: Workload[AnyOptions], options: AnyOptions, ranks: int) -> Task:
    """Return the task after checking output files; on the first rank.

    Raises `UserError` for a file that could not be written at the end, or as `Workload.load`.
    """
    if any(isinstance(value, OutputFile) for value in vars(options).values()):
        require_writable_files(options)
    if options.measure is not None:
        refuse_unmeasurable(options)
    if options.peers:
        if ranks > 1:
            raise UserError(f"--peers on {ranks} ranks: expected one, since waiting ranks occupy the solvers' cores")
        refuse_without_peers(workload)
    return workload.load(options, ranks)


def refuse_without_peers(workload: Workload[Any]) -> None:
    from drivers.peers import peers_for

    if not peers_for(workload.name):
        raise UserError(f"--peers: found no reference solver for {workload.name}, expected a run without it")


def refuse_unmeasurable(options: Options) -> None:
    """Refuse options that contradict a measurement; raises `UserError`."""
    others = {"--repeats": options.repeats > 1, "--checkpoint": options.checkpoint is not None}
    others["--seconds"] = vars(options).get("seconds") is not None
    for flag, given in others.items():
        if given:
            raise UserError(f"{flag} and --measure: expected one of them")


def refuse_several_solutions(options: Options) -> None:
    if options.seed:
        raise UserError(f"--seed {options.seed} and --seeds: expected one of them")
    for field, _ in options.declared():
        if field.name != "record" and isinstance(getattr(options, field.name), OutputFile):
            raise UserError(
                f"{option_flag(field)} with --seeds: expected one seed, since each seed has another solution"
            )


def share_task(load: Callable[[], Task], own: Options, ranks: Communicator) -> Task:
    """Return the task that the first rank loads on every rank, with each rank's own place.

    Options are sent as values: a user's program makes their class itself, and pickle would not find it.
    """
    first: list[Task] = []

    def serialised() -> tuple[bytes, bytes, str]:
        first.append(load())
        return serialise(vars(first[0].options)), serialise(first[0].problem), first[0].source

    def received() -> Task:
        return first[0] if first else Task(type(own)(**pickle.loads(values)), pickle.loads(problem), source)

    values, problem, source = ranks.on_first(serialised)
    task: Task = ranks.on_all(received)
    return task._replace(options=options_for_rank(task.options, own))


# --- the search ---


def pin_ranks(ranks: Communicator, options: Options) -> dict[str, object]:
    """Bind every rank to separate cores; return the cores of each rank for the record."""
    from cluster.mpi.affinity import format_cores, pin_to_own_cores

    cores = ranks.on_all(partial(cores_of_a_rank, options))
    return {"rank_cores": [format_cores(core) for core in pin_to_own_cores(ranks, cores)]}


def prepare_search(
    workload: Workload[AnyOptions], ranks: Communicator, problem: object, options: AnyOptions
) -> DeviceSearch:
    """Return the compiled, warm search on this rank's device. Rank 0 compiles for all, others for their host."""
    gpus = gpus_here() if options.backend == "auto" else 0
    made: list[DeviceSearch] = []

    def build(compiled: Mapping[str, str]) -> Mapping[str, str]:
        made.append(build_search(workload, ranks, problem, options, gpus, compiled))
        return dict(made[0].backend.compiled_here)

    try:
        compiled = ranks.on_first(partial(build, {}))
        # A host's first rank compiles for its others; so does the first without a GPU, on a core with other kernels.
        for is_turn in (ranks.local_rank in (0, gpus), True):
            ranks.on_all(lambda: made or not is_turn or build(compiled))  # noqa: B023 (called at once)
        made[0].backend.collectives(ranks)  # the ranks' devices find each other before anything is timed
    except BaseException:
        for search in made:
            search.backend.close()
        raise
    return made[0]


def build_search(
    workload: Workload[AnyOptions],
    ranks: Communicator,
    problem: object,
    options: AnyOptions,
    gpus: int = 0,
    compiled: Mapping[str, str] | None = None,
) -> DeviceSearch:
    """Return the search on this rank's device, compiled and warm; does not communicate."""
    from backends import kept
    from cluster.mpi.proxies import Rehearsal

    if ranks.size == 1 and options.backend != "auto":
        backend = kept.take(options.backend, options.device, options.cores, options.compiler)
    else:
        backend = select_backend(options, ranks, gpus, one_core=workload.on_one_core(options))
    backend.compiled_earlier = dict(compiled or {})
    began = time.thread_time() + backend.timings.compile_s
    place = backend, Rehearsal(ranks) if ranks.size > 1 else ranks
    search: DeviceSearch = workload.make_search(place, problem, options)
    workload.warm_up(search, options)
    backend.timings.prepare_s = time.thread_time() - began - backend.timings.compile_s
    return search
