"""Declaration of a workload, from which its command line, runs, records and comparisons follow."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

from drivers.options.declaration import AnyOptions

if TYPE_CHECKING:
    from core.search.checkpoint import Checkpointer
    from core.search.protocol import Callback, SearchResult
    from drivers.workload.run_time import RepetitionWork


class Task(NamedTuple):
    """What the first rank makes of the command line, for all ranks.

    Attributes
    ----------
    options : Options
        With everything filled in that the command line left open.
    problem
        What is solved: has a ``name`` and a ``sha256``, can be pickled.
    source : str
        Where it came from, in words.

    """

    options: Any
    problem: Any
    source: str


@dataclass(frozen=True)
class RepetitionResult:
    """What one repetition found.

    Attributes
    ----------
    cost : int
        Of the best solution, or its value where that is sought.
    evaluations : int
        Units of work that were done, as the workload counts them.
    digest : int or str
        64 bits, as a number or as 16 hexadecimal digits, of what the workload's hash covers.
    words : str
        What was found, for the line on standard output.
    solution
        What the workload's files are written from; None: nothing to write.
    index : int
        Which climber, ant or walk found it.
    details : Mapping
        What the record's ``details`` shall hold of it.
    gave_up : str
        Why this is no result, whoever confirms its cost; empty: it is one.
    unit : str
        What `evaluations` counts, plural, where this search does not count in the workload's unit.
    history : list of list, optional
        Rows [iteration, evaluations, seconds, best cost] where the best cost improved; None: not asked for.

    """

    cost: int
    evaluations: int
    digest: int | str
    words: str
    solution: Any = None
    index: int = 0
    details: Mapping[str, Any] = field(default_factory=dict)
    gave_up: str = ""
    unit: str = ""
    history: list[list[Any]] | None = None

    @property
    def hash(self) -> str:
        """The digest as 16 hexadecimal digits."""
        return self.digest if isinstance(self.digest, str) else f"{self.digest:016x}"

    @classmethod
    def of(cls, found: SearchResult, words: str, solution: Any = None, **more: Any) -> RepetitionResult:
        """What a search found, as every search says it; ``more`` are further attributes."""
        solution = found.solution if solution is None else solution
        return cls(found.cost, found.evaluations, found.hash, words, solution, history=found.history, **more)


SCORER, PUBLISHED_OPTIMUM, GENERATOR, INSTANCE_FILE = "scorer", "published optimum", "generator", "instance file"
"""Names of verifiers, as records have them; a sentence puts an article before them."""


def verifier_with_article(name: str) -> str:
    """Return a verifier's name as it stands in a sentence: `the scorer`, but `NumPy`."""
    return f"the {name}" if name in (SCORER, PUBLISHED_OPTIMUM, GENERATOR, INSTANCE_FILE) else name


class VerifierVerdict(NamedTuple):
    """Verdict of one verifier on a result.

    Attributes
    ----------
    judge : str
        Name of the verifier. Empty if the verifier can only reject a result.
    objection : str or None
        What speaks against the result, a whole sentence with its subject; None: nothing does.
    cost : int or None
        Cost of the result's solution by this scorer; None if it computed none.

    """

    judge: str
    objection: str | None = None
    cost: int | None = None


@dataclass
class PreparedRun(Generic[AnyOptions]):
    """One search made ready on this rank: what the functions of a workload are given.

    Attributes
    ----------
    options
        Of the workload, filled in.
    problem, source
        See `Task`.
    search
        What `Workload.search` made.
    ranks
        The communicator, which measures its own time.
    checkpointer
        Keeps the search's state, where somebody wants that.

    """

    options: AnyOptions
    problem: Any
    source: str
    search: Any
    ranks: Any
    checkpointer: Checkpointer | None = None
    found_before: dict[Any, Any] = field(default_factory=dict)

    def once(self, name: Any, compute: Callable[[], Any]) -> Any:
        """What a computation yields that all repetitions share, made when the first of them needs it."""
        if name not in self.found_before:
            self.found_before[name] = compute()
        return self.found_before[name]


def no_headline(run: PreparedRun[Any]) -> None:
    """Say nothing before the first repetition."""


def unknown_work(run: PreparedRun[Any]) -> None:
    """Nobody can tell before."""


@dataclass(frozen=True)
class Workload(Generic[AnyOptions]):
    """A workload, declared: `drivers.runs.workload_main.driver` makes a program of it.

    Attributes
    ----------
    name : str
        Of the program (``python -m drivers.NAME``) and in records.
    title : str
        What it solves and how, in one line.
    options : type
        The `Options` that it understands.
    unit : str
        What its work and its rates are counted in, plural.
    hash_scope : str
        What equal hashes prove, a key of `reports.records.schema.HASH_SCOPES`.
    doing : str or callable
        What stands before the progress bar; a function of the run where its options decide what the bar counts.
    load : callable
        (options, number of ranks) -> `Task`, on the first rank: refuses options that change nothing or exclude each
        other before it reads a file.
    search : callable
        (backend, ranks, problem, options) -> the search on this rank's device, compiled and warm, which has
        ``backend``. Says no word to other ranks.
    once : callable
        (run, callback or None) -> outcome: searches once, on all ranks: calls the search's ``run`` as
        `core.search.protocol.Search` has it, with the callback, which a bar waits for, the ranks and the checkpointer.
    result : callable
        (run, outcome) -> `RepetitionResult`, on the first rank.
    judges : callable
        (run, outcome, result) -> an `VerifierVerdict` of everybody who knows about the result without the search, the
        plain scorer first.
    noun : str
        What the cost is, in the words of the solvers that object to it: length, value.
    in_words : callable
        (cost) -> text, for the progress bar.
    standard : tuple of str
        Options, each with a value, that make a comparison of about a second on one core where they are not given.
        Empty: they depend on the problem, whether or not the user names an instance.
    fitted : callable
        (problem) -> such arguments for a problem.
    scaled : str
        The option that is multiplied by the number of ranks where the work shall grow with them; its options have
        `drivers.options.declaration.scaled_option` then. Empty: the work is one problem, which does not grow.
    shorter : callable, optional
        (run, iterations) -> its options with no more iterations than these and no clock, for a rehearsal of what its
        ranks do together; None from it where the ranks do not meet in every iteration. None: a run has no iterations.
    work : callable
        (run) -> what one repetition computes on all ranks; None where nobody can tell before.
    parameters, execution : callable
        (run) -> parameters and execution settings in addition to those that options declare.
    headline : callable
        (run) -> a line before the first repetition, or None.
    save : callable
        (run, solution): writes the files that the options ask for.
    details : callable, optional
        (task, ranks, arguments) -> what the record's ``details`` hold besides, made before the device is.
    on_one_core : callable
        (options) -> whether one core is the fastest device for what they ask for, so that `--backend auto` takes it.
    for_peers : callable
        (problem) -> the problem as `drivers.peers` takes it.
    program : tuple of str
        What Python is told to run for it; by default the module of its name in `drivers`.

    """

    name: str
    title: str
    options: type[AnyOptions]
    unit: str
    hash_scope: str
    doing: str | Callable[[PreparedRun[AnyOptions]], str]
    load: Callable[[AnyOptions, int], Task]
    search: Callable[[Any, Any, Any, AnyOptions], Any]
    once: Callable[[PreparedRun[AnyOptions], Callback | None], Any]
    result: Callable[[PreparedRun[AnyOptions], Any], RepetitionResult]
    judges: Callable[[PreparedRun[AnyOptions], Any, RepetitionResult], Iterator[VerifierVerdict]]
    noun: str = "cost"
    in_words: Callable[[int], str] = str
    standard: tuple[str, ...] = ()
    fitted: Callable[[Any], tuple[str, ...]] = lambda problem: ()
    scaled: str = ""
    shorter: Callable[[PreparedRun[AnyOptions], int], AnyOptions | None] | None = None
    work: Callable[[PreparedRun[AnyOptions]], RepetitionWork | None] = unknown_work
    parameters: Callable[[PreparedRun[AnyOptions]], Mapping[str, Any]] = lambda run: {}
    execution: Callable[[PreparedRun[AnyOptions]], Mapping[str, Any]] = lambda run: {}
    headline: Callable[[PreparedRun[AnyOptions]], str | None] = no_headline
    save: Callable[[PreparedRun[AnyOptions], Any], None] = lambda run, solution: None
    details: Callable[[Task, Any, Sequence[str]], Mapping[str, Any]] | None = None
    on_one_core: Callable[[AnyOptions], bool] = lambda options: False
    for_peers: Callable[[Any], Any] = lambda problem: problem
    program: tuple[str, ...] = ()

    @property
    def started(self) -> tuple[str, ...]:
        """What Python is told to run for it."""
        return self.program or ("-m", f"drivers.{self.name}")

    @property
    def command(self) -> str:
        """The same as a user types it."""
        return shlex.join(("python", *self.started))


def describe_time_limit(outcome: Any) -> str:
    """Words for a search that its time limit ended; empty for any other."""
    return (
        ", ended by the time limit (other runs end at other iterations, with other hashes)" if outcome.by_time else ""
    )


def describe_gap(cost: int, best: int | None, name: str = "optimum") -> str:
    """How far a cost is from the optimum or the best known value, in brackets; nothing where none is known."""
    if best is None:
        return ""
    if cost == best:
        return f" (the {name})"
    if best == 0:
        return f" (the {name} is 0)"
    return f" ({100 * (cost - best) / abs(best):.2f} % {'above' if cost > best else 'below'} the {name} {best})"
