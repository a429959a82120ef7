"""The one main of all workloads: options, problem, device, search, repetitions."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from drivers.cli import messages
from drivers.options.declaration import AnyOptions, Options, add_options, option_flag, options_for_rank, read_parsed
from drivers.options.output_files import OutputFile, require_writable_files
from drivers.runs.checkpointing import RecoveryState
from drivers.runs.device_selection import compiles_for_others, cores_of_a_rank, gpus_here, select_backend
from drivers.runs.parallel_benefit import ParallelBenefitCheck
from drivers.runs.repetitions import Repetitions
from drivers.workload.declaration import PreparedRun, Task, Workload
from drivers.workload.serialisation import serialise

if TYPE_CHECKING:
    from pathlib import Path

    from cluster import Communicator

AnyRepetitions = TypeVar("AnyRepetitions", bound=Repetitions)
PACKAGES = ("core", "backends", "cluster", "reports", "drivers")
"""The packages of the suite."""


def driver(workload: Workload[Any], description: str | None) -> Callable[[Sequence[str] | None], int]:
    """The program of a workload: a function of its arguments (None: those of the process) that returns its exit code.

    Parameters
    ----------
    workload
        The declaration.
    description
        What its help says first; a module's docstring.

    """

    def main(argv: Sequence[str] | None = None) -> int:
        return run(workload, description, sys.argv[1:] if argv is None else argv)

    return main


def run(workload: Workload[Any], description: str | None, argv: Sequence[str]) -> int:
    """Run a workload with the given arguments; returns the exit code, on all ranks the same."""
    return start(workload, parse_options(workload, description, argv), argv)


def start(workload: Workload[AnyOptions], own: AnyOptions, argv: Sequence[str]) -> int:
    """Run a workload with this rank's options, which stand in the arguments; returns the exit code, as `run` does."""
    from cluster import default_communicator
    from cluster.mpi.fault_tolerance import rerun_on_survivors

    messages.set_quiet(own.quiet)
    if own.quiet:
        own = replace(own, progress=False)
    refuse_several_solutions(own)
    ranks = default_communicator()
    seeds = own.seeds or (own.seed,)
    with RecoveryState() as memory:

        def attempt() -> int:
            timed = start_ranks(workload, own, ranks, memory)
            return max(run_seed(workload, replace(own, seed=seed), timed, argv, memory) for seed in seeds)

        return rerun_on_survivors(ranks, attempt)


def start_ranks(workload: Workload[AnyOptions], own: AnyOptions, ranks: Communicator, memory: RecoveryState) -> Any:
    """The ranks, which measure their own time, once all know that they were started alike.

    Raises
    ------
    UserError
        See `check_argument_consistency` and `drivers.runs.checkpointing.RecoveryState.claim`.

    """
    from cluster.mpi.proxies import TimedCommunicator

    memory.attempts += 1
    check_argument_consistency(ranks, workload, own)
    if ranks.rank == 0:
        if memory.attempts == 1:
            report_separate_tasks()
        memory.claim(own)
    return TimedCommunicator(ranks)


def report_separate_tasks() -> None:
    """Say it, once, where a batch system has started several processes that know nothing of each other."""
    from cluster.mpi import launcher

    tasks = launcher.first_of_separate_tasks()
    if tasks:
        messages.print_note(
            f"srun started {tasks} tasks without MPI between them, so each would do all the work: expected `srun "
            "--mpi=pmix`, `mpirun` or `python -m cluster launch`"
        )


def run_seed(
    workload: Workload[AnyOptions], own: AnyOptions, ranks: Any, argv: Sequence[str], memory: RecoveryState
) -> int:
    """All repetitions with one seed; returns the exit code, on all ranks the same."""
    with prepare_repetitions(workload, own, ranks, argv, Repetitions, memory) as repetitions:
        return repetitions.repeat()


@contextmanager
def prepare_repetitions(
    workload: Workload[AnyOptions],
    own: AnyOptions,
    ranks: Any,
    argv: Sequence[str],
    kind: Callable[..., AnyRepetitions],
    memory: RecoveryState | None = None,
) -> Iterator[AnyRepetitions]:
    """The repetitions of a run with one seed, whose search is compiled and warm; its device is given back at the end.

    Parameters
    ----------
    workload
        The declaration.
    own
        This rank's options.
    ranks
        The communicator, which measures its own time; all ranks call this.
    argv
        The command line, for the record.
    kind
        What makes the repetitions: `drivers.runs.repetitions.Repetitions`, or a class that inherits from it.
    memory
        What this rank remembers of earlier attempts.

    """
    from backends import kept
    from cluster import Solo

    first = load_task(workload, own, ranks.size) if ranks.rank == 0 else None
    ranks.assemble()
    task = broadcast_task(first, own, ranks)
    options = options_for_rank(task.options, own)
    details = workload.details(task, ranks, argv) if ranks.rank == 0 else {}
    placed = pin_ranks(ranks, options)
    search = prepare_search(workload, ranks, task.problem, options)
    try:
        one = PreparedRun(options, task.problem, task.source, search, ranks)
        sharing = ParallelBenefitCheck(
            workload, one, lambda: workload.search(search.backend, Solo(), task.problem, options)
        )
        scaled = getattr(own, "scaled", None)
        grown = {} if scaled is None else {"weak_scaling_ranks": scaled}
        yield kind(workload, one, {"options": own.asked(), **grown, **placed, **details}, sharing, memory)
    except BaseException:
        search.backend.close()
        raise
    kept.give_back(search.backend)


def broadcast_task(first: Task | None, own: Options, ranks: Any) -> Task:
    """What the first rank is to solve, on every rank.

    Options travel as their values: a user's own program makes their class itself, and pickle would not find it.
    """
    if ranks.size == 1 and first is not None:
        return first
    values, problem, source = ranks.bcast(first and (vars(first.options), serialise(first.problem), first.source))
    return first or Task(type(own)(**values), pickle.loads(problem), source)


def parse_options(workload: Workload[AnyOptions], description: str | None, argv: Sequence[str]) -> AnyOptions:
    """Read the command line."""
    from cluster.command_line import RankParser
    from core.program_parser import invocation

    parser = RankParser(
        prog=workload.command if workload.program else invocation(f"drivers.{workload.name}"),
        description=description,
    )
    add_options(parser, workload.options)
    positional = any(not option_flag(one).startswith("-") for one, _ in workload.options.declared())
    # Files may stand anywhere among the options.
    values = parser.parse_intermixed_args(argv) if positional else parser.parse_args(argv)
    return read_parsed(workload.options, vars(values))


def refuse_several_solutions(options: Options) -> None:
    """Refuse one file for the best solutions of several seeds.

    Raises
    ------
    UserError
        Names the file's option.

    """
    from core.errors import UserError

    if options.seeds is None:
        return
    if options.seed:
        raise UserError(f"--seed {options.seed} and --seeds: expected one of them")
    for one, _ in options.declared():
        if one.name != "record" and isinstance(getattr(options, one.name), OutputFile):
            raise UserError(f"{option_flag(one)} with --seeds: expected one seed, since each seed has another solution")


def load_task(workload: Workload[AnyOptions], options: AnyOptions, ranks: int) -> Task:
    """What is to be solved, after a look at the files to write; on the first rank.

    Raises
    ------
    UserError
        A file that could not be written at the end, or what `Workload.load` refuses.

    """
    from core.errors import UserError

    require_writable_files(options)
    if options.peers:
        if ranks > 1:
            raise UserError(f"--peers on {ranks} ranks: expected one, since waiting ranks occupy the solvers' cores")
        refuse_without_peers(workload)
    return workload.load(options, ranks)


def refuse_without_peers(workload: Workload[Any]) -> None:
    """Refuse `--peers` for a workload that nobody else solves.

    Raises
    ------
    UserError
        Names the workload.

    """
    from core.errors import UserError
    from drivers.peers import peers_for

    if not peers_for(workload.name):
        raise UserError(f"--peers: found no reference solver for {workload.name}, expected a run without it")


# --- ranks ---


def check_argument_consistency(ranks: Communicator, workload: Workload[Any], options: Options) -> None:
    """Let all ranks find out whether they were started alike.

    An instance need not be compared: the first rank loads it and hands it to the others.

    Raises
    ------
    UserError
        The ranks run different programs, or the same with different options or sources.

    """
    from pathlib import Path

    from cluster import require_equal_arguments, require_equal_content

    if ranks.size > 1:
        given = {
            option_flag(one): "not given" if (value := getattr(options, one.name)) is None else str(value)
            for one, declared in options.declared()
            if declared.decides != "place"
        }
        program = {"program": workload.command, "--help": "not given"}
        require_equal_arguments(ranks, {**program, **given})
        root = Path(__file__).parents[2]
        require_equal_content(ranks, "the suite's sources", str(root), lambda: sources_digest(root))
        own = Path(workload.started[-1]).absolute()
        if workload.program and own.is_file():
            require_equal_content(ranks, "the program", str(own), lambda: digest_of([own], own.parent))


def sources_digest(root: Path) -> str:
    """A short hash over the sources of the suite in a folder."""
    return digest_of(sorted(path for package in PACKAGES for path in (root / package).rglob("*.py")), root)


def digest_of(files: Sequence[Path], root: Path) -> str:
    """A short hash over files and their names below a folder."""
    import hashlib

    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(root)} {path.stat().st_size} ".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def pin_ranks(ranks: Any, options: Options) -> dict[str, Any]:
    """Keep every rank to cores of its own if the options ask for it; what a record says of that: the cores of each."""
    if not options.pin_cores:
        return {}
    from cluster.mpi.affinity import format_cores, pin_to_own_cores

    return {"rank_cores": [format_cores(one) for one in pin_to_own_cores(ranks, cores_of_a_rank(options))]}


def prepare_search(workload: Workload[AnyOptions], ranks: Any, problem: Any, options: AnyOptions) -> Any:
    """The search on this rank's device, compiled and warm: the first rank compiles for all, others for their host."""
    gpus = gpus_here() if options.backend == "auto" else 0

    def build(compiled: dict[str, str]) -> Any:
        backend = select_backend(options, ranks, gpus, one_core=workload.on_one_core(options))
        backend.compiled_earlier = dict(compiled)
        return workload.search(backend, ranks, problem, options)

    search: Any = None
    compiled: dict[str, str] = {}
    if ranks.rank == 0:
        search = build(compiled)
        compiled = search.backend.compiled_here
    ranks.assemble()
    compiled = ranks.bcast(compiled)
    if search is None and compiles_for_others(ranks.local_rank, gpus):
        search = build(compiled)
    ranks.assemble()
    search = search or build(compiled)
    search.backend.collectives(ranks)  # the ranks' devices find each other before anything is timed
    return search
