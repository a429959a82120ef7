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
    """Task of a run, which the first rank makes of the options and sends to all ranks.

    Attributes
    ----------
    options : Options
        Options with their defaults filled in.
    problem
        The problem; it has a ``name`` and a ``sha256``, and can be pickled.
    source : str
        Origin of the problem, as text.

    """

    options: Any
    problem: Any
    source: str


@dataclass(frozen=True)
class RepetitionResult:
    """Result of one repetition.

    Attributes
    ----------
    cost : int
        Cost of the best solution; its value if the workload maximises.
    evaluations : int
        Amount of work, in the workload's unit.
    digest : int or str
        Digest of what the workload's hash covers: 64 bits, as a number or as 16 hexadecimal digits.
    words : str
        Text of the result, for the line on standard output.
    solution
        Solution for the files that the workload writes; None: no file is written.
    index : int
        Number of the climber, ant or walk that found the solution.
    details : Mapping
        Entries for the record's ``details``.
    gave_up : str
        Reason why this is no result, even if its cost is confirmed; empty: it is one.
    unit : str
        Unit of `evaluations`, plural, if it is not the workload's.
    history : list of list, optional
        Rows [iteration, evaluations, seconds, best cost], one for each improvement; None: not wanted.

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
        """Return the result of a search; ``more`` are further attributes."""
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
        Reason to reject the result, a whole sentence; None: the verifier does not reject it.
    cost : int or None
        Cost of the result's solution by this scorer; None if it computed none.

    """

    judge: str
    objection: str | None = None
    cost: int | None = None


@dataclass
class PreparedRun(Generic[AnyOptions]):
    """A search that is compiled and warm on this rank: the argument of most functions of a workload.

    Attributes
    ----------
    options
        Options of the workload with their defaults filled in.
    problem, source
        See `Task`.
    search
        The search that `Workload.search` made.
    ranks
        The communicator, which measures its own time.
    checkpointer
        Keeps checkpoints of the search; None: no checkpoints.

    """

    options: AnyOptions
    problem: Any
    source: str
    search: Any
    ranks: Any
    checkpointer: Checkpointer | None = None
    found_before: dict[Any, Any] = field(default_factory=dict)

    def once(self, name: Any, compute: Callable[[], Any]) -> Any:
        """Return the result of a computation that all repetitions share; the first call computes it."""
        if name not in self.found_before:
            self.found_before[name] = compute()
        return self.found_before[name]


def no_headline(run: PreparedRun[Any]) -> None:
    """Return no line before the first repetition."""


def unknown_work(run: PreparedRun[Any]) -> None:
    """Return None: the amount of work is not known in advance."""


@dataclass(frozen=True)
class Workload(Generic[AnyOptions]):
    """Declaration of a workload, of which `drivers.runs.workload_main.driver` makes a program.

    Attributes
    ----------
    name : str
        Name of the program (``python -m drivers.NAME``) and in records.
    title : str
        Problem and method, in one line.
    options : type
        Class of its `Options`.
    unit : str
        Unit of its work and its rates, plural.
    hash_scope : str
        Meaning of equal hashes, a key of `reports.records.schema.HASH_SCOPES`.
    doing : str or callable
        Text before the progress bar, or a function of the run that returns it.
    load : callable
        (options, number of ranks) -> `Task`, on the first rank: refuses options that change nothing or exclude each
        other before it reads a file.
    search : callable
        (backend, ranks, problem, options) -> the search on this rank's device, compiled and warm, with the attribute
        ``backend``. It does not communicate with other ranks.
    once : callable
        (run, callback or None) -> outcome: searches once, on all ranks: calls the search's ``run`` as
        `core.search.protocol.Search` has it, with the callback, which a bar waits for, the ranks and the checkpointer.
    result : callable
        (run, outcome) -> `RepetitionResult`, on the first rank.
    judges : callable
        (run, outcome, result) -> a `VerifierVerdict` of each verifier that is independent of the search, the plain
        scorer first.
    noun : str
        Word for the cost in messages: length, value.
    in_words : callable
        (cost) -> text, for the progress bar.
    standard : tuple of str
        Options with values, the defaults of a comparison, which takes about a second on one core. Empty: they depend on
        the problem, also if the user names no instance.
    fitted : callable
        (problem) -> such options for a problem.
    scaled : str
        Name of the option that weak scaling multiplies by the number of ranks; its options have
        `drivers.options.declaration.scaled_option` then. Empty: there is no weak scaling.
    shorter : callable, optional
        (run, iterations) -> its options with at most these iterations and no time limit, for a rehearsal of all ranks;
        it returns None if ranks do not synchronise in every iteration. None: a run has no iterations.
    work : callable
        (run) -> the work of one repetition on all ranks; None if it is not known in advance.
    parameters, execution : callable
        (run) -> parameters and execution settings in addition to those that options declare.
    headline : callable
        (run) -> a line before the first repetition, or None.
    save : callable
        (run, solution): writes the output files that the options name.
    details : callable, optional
        (task, ranks, arguments) -> further entries for the record's ``details``, computed before a device is opened.
    on_one_core : callable
        (options) -> True if one core is the fastest device for them, so that `--backend auto` takes it.
    for_peers : callable
        (problem) -> the problem in the form that `drivers.peers` takes.
    program : tuple of str
        Arguments by which Python starts its program; by default the module of its name in `drivers`.

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
        """Arguments by which Python starts its program."""
        return self.program or ("-m", f"drivers.{self.name}")

    @property
    def command(self) -> str:
        """Command by which a user starts its program."""
        return shlex.join(("python", *self.started))


def describe_time_limit(outcome: Any) -> str:
    """Return a note if the time limit ended the search, else an empty text."""
    return (
        ", ended by the time limit (other runs end at other iterations, with other hashes)" if outcome.by_time else ""
    )


def describe_gap(cost: int, best: int | None, name: str = "optimum") -> str:
    """Return the gap to the optimum or best known value, in brackets; empty if none is known."""
    if best is None:
        return ""
    if cost == best:
        return f" (the {name})"
    if best == 0:
        return f" (the {name} is 0)"
    return f" ({100 * (cost - best) / abs(best):.2f} % {'above' if cost > best else 'below'} the {name} {best})"
