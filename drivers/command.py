"""The one main of all workloads: options, problem, device, search, repetitions."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from drivers import notes
from drivers.automatic import chosen_backend, compiles_for_others, cores_of_a_rank, gpus_here
from drivers.long_runs import Memory
from drivers.options import AnyOptions, Options, add_options, at_place_of, parsed, spelled
from drivers.outputs import OutputFile, require_places
from drivers.pickled import packed
from drivers.repetitions import Repetitions
from drivers.sharing import Sharing
from drivers.workload import Run, Task, Workload

if TYPE_CHECKING:
    from pathlib import Path

    from cluster import Communicator

AnyRepetitions = TypeVar("AnyRepetitions", bound=Repetitions)
HOUSE = ("core", "backends", "cluster", "reports", "drivers")
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
    return start(workload, parse(workload, description, argv), argv)


def start(workload: Workload[AnyOptions], own: AnyOptions, argv: Sequence[str]) -> int:
    """Run a workload with this rank's options, which stand in the arguments; returns the exit code, as `run` does."""
    from cluster import communicator
    from cluster.survivors import surviving

    notes.keep_quiet(own.quiet)
    if own.quiet:
        own = replace(own, progress=False)
    refuse_several_solutions(own)
    ranks = communicator()
    seeds = own.seeds or (own.seed,)
    with Memory() as memory:

        def attempt() -> int:
            timed = begun(workload, own, ranks, memory)
            return max(run_of_seed(workload, replace(own, seed=seed), timed, argv, memory) for seed in seeds)

        return surviving(ranks, attempt)


def begun(workload: Workload[AnyOptions], own: AnyOptions, ranks: Communicator, memory: Memory) -> Any:
    """The ranks, which measure their own time, once all know that they were started alike.

    Raises
    ------
    UserError
        See `agree_on_start` and `drivers.long_runs.Memory.claim`.

    """
    from cluster.timed import Timed

    memory.attempts += 1
    agree_on_start(ranks, workload, own)
    if ranks.rank == 0:
        if memory.attempts == 1:
            tell_of_separate_tasks()
        memory.claim(own)
    return Timed(ranks)


def tell_of_separate_tasks() -> None:
    """Say it, once, where a batch system has started several processes that know nothing of each other."""
    from cluster import launcher

    tasks = launcher.first_of_separate_tasks()
    if tasks:
        notes.note(
            f"srun started {tasks} tasks and told MPI nothing of each other, so each does all of the work alone: "
            "expected `srun --mpi=pmix`, `mpirun` or `python -m cluster launch`"
        )


def run_of_seed(
    workload: Workload[AnyOptions], own: AnyOptions, ranks: Any, argv: Sequence[str], memory: Memory
) -> int:
    """All repetitions with one seed; returns the exit code, on all ranks the same."""
    with made_ready(workload, own, ranks, argv, Repetitions, memory) as repetitions:
        return repetitions.repeat()


@contextmanager
def made_ready(
    workload: Workload[AnyOptions],
    own: AnyOptions,
    ranks: Any,
    argv: Sequence[str],
    kind: Callable[..., AnyRepetitions],
    memory: Memory | None = None,
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
        What makes the repetitions: `drivers.repetitions.Repetitions`, or a class that inherits from it.
    memory
        What this rank remembers of earlier attempts.

    """
    from cluster import Solo

    first = checked(workload, own, ranks.size) if ranks.rank == 0 else None
    ranks.assemble()
    task = shared_task(first, own, ranks)
    options = at_place_of(task.options, own)
    details = workload.details(task, ranks, argv) if ranks.rank == 0 else {}
    placed = kept_apart(ranks, options)
    search = prepared(workload, ranks, task.problem, options)
    try:
        one = Run(options, task.problem, task.source, search, ranks)
        sharing = Sharing(workload, one, lambda: workload.search(search.backend, Solo(), task.problem, options))
        scaled = getattr(own, "scaled", None)
        grown = {} if scaled is None else {"scaled": scaled}
        yield kind(workload, one, {"asked": own.asked(), **grown, **placed, **details}, sharing, memory)
    finally:
        search.backend.close()


def shared_task(first: Task | None, own: Options, ranks: Any) -> Task:
    """What the first rank is to solve, on every rank.

    Options travel as their values: a user's own program makes their class itself, and pickle would not find it.
    """
    if ranks.size == 1 and first is not None:
        return first
    values, problem, source = ranks.bcast(first and (vars(first.options), packed(first.problem), first.source))
    return first or Task(type(own)(**values), pickle.loads(problem), source)


def parse(workload: Workload[AnyOptions], description: str | None, argv: Sequence[str]) -> AnyOptions:
    """Read the command line."""
    from cluster.command_line import RankParser
    from core.command_line import program

    parser = RankParser(
        prog=workload.command if workload.program else program(f"drivers.{workload.name}"),
        description=description,
    )
    add_options(parser, workload.options)
    positional = any(not spelled(one).startswith("-") for one, _ in workload.options.declared())
    # Files may stand anywhere among the options.
    values = parser.parse_intermixed_args(argv) if positional else parser.parse_args(argv)
    return parsed(workload.options, vars(values))


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
            raise UserError(f"{spelled(one)} with --seeds: expected one seed, since each finds a solution of its own")


def checked(workload: Workload[AnyOptions], options: AnyOptions, ranks: int) -> Task:
    """What is to be solved, after a look at the files to write; on the first rank.

    Raises
    ------
    UserError
        A file that could not be written at the end, or what `Workload.load` refuses.

    """
    from core.errors import UserError

    require_places(options)
    if options.peers:
        if ranks > 1:
            raise UserError(f"--peers on {ranks} ranks: expected one, since waiting ranks take the peers' cores")
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
        raise UserError(f"--peers: found no solver that knows {workload.name}, expected a run without it")


# --- ranks ---


def agree_on_start(ranks: Communicator, workload: Workload[Any], options: Options) -> None:
    """Let all ranks find out whether they were started alike.

    An instance need not be compared: the first rank loads it and hands it to the others.

    Raises
    ------
    UserError
        The ranks run different programs, or the same with different options or sources.

    """
    from pathlib import Path

    from cluster import agree, agree_on_content

    if ranks.size > 1:
        given = {
            spelled(one): "not given" if (value := getattr(options, one.name)) is None else str(value)
            for one, declared in options.declared()
            if declared.decides != "place"
        }
        program = {"program": workload.command, "--help": "not given"}
        agree(ranks, {**program, **given})
        root = Path(__file__).parents[1]
        agree_on_content(ranks, "the suite's sources", str(root), lambda: sources_digest(root))
        own = Path(workload.started[-1]).absolute()
        if workload.program and own.is_file():
            agree_on_content(ranks, "the program", str(own), lambda: digest_of([own], own.parent))


def sources_digest(root: Path) -> str:
    """A short hash over the sources of the suite in a folder."""
    return digest_of(sorted(path for package in HOUSE for path in (root / package).rglob("*.py")), root)


def digest_of(files: Sequence[Path], root: Path) -> str:
    """A short hash over files and their names below a folder."""
    import hashlib

    digest = hashlib.sha256()
    for path in files:
        digest.update(f"{path.relative_to(root)} {path.stat().st_size} ".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def kept_apart(ranks: Any, options: Options) -> dict[str, Any]:
    """Keep every rank to cores of its own if the options ask for it; what a record says of that: the cores of each."""
    if not options.own_cores:
        return {}
    from cluster.placement import in_words, keep_to_own_cores

    return {"rank_cores": [in_words(one) for one in keep_to_own_cores(ranks, cores_of_a_rank(options))]}


def prepared(workload: Workload[AnyOptions], ranks: Any, problem: Any, options: AnyOptions) -> Any:
    """The search on this rank's device, compiled and warm: the first rank compiles for all, others for their host."""
    gpus = gpus_here() if options.backend == "auto" else 0

    def build(compiled: dict[str, str]) -> Any:
        backend = chosen_backend(options, ranks, gpus, one_core=workload.on_one_core(options))
        backend.compiled_earlier = dict(compiled)
        return workload.search(backend, ranks, problem, options)

    search: Any = None
    compiled: dict[str, str] = {}
    if ranks.rank == 0:
        search = build(compiled)
        compiled = search.backend.compiled_earlier
    ranks.assemble()
    compiled = ranks.bcast(compiled)
    if search is None and compiles_for_others(ranks.local_rank, gpus):
        search = build(compiled)
    ranks.assemble()
    search = search or build(compiled)
    search.backend.collectives(ranks)  # the ranks' devices find each other before anything is timed
    return search
