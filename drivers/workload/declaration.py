"""Declaration of a workload, from which its command line, runs, records and comparisons follow."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from drivers.options.declaration import AnyOptions, Options
from drivers.workload.run_time import WorkUnit

if TYPE_CHECKING:
    from backends.launch import Backend
    from cluster.mpi.proxies import TimedCommunicator
    from core.run.checkpoint import Checkpointer
    from core.run.devices import ComputeDevice, Ranks
    from core.run.protocol import Callback, Search, SearchResult
    from core.run.stop import Stop

T = TypeVar("T")

FREE_PREPARATION_S = 1.0
"""Seconds of preparation that no time limit covers: imports take some of them."""
SHORTEST_S = 1e-3
"""Time limit after a preparation that took as long as the limit or longer."""


class RunProblem(Protocol):
    """A problem of a run; it can be pickled."""

    @property
    def name(self) -> str: ...
    @property
    def sha256(self) -> str:
        """Digest of the data."""

    @property
    def optimum(self) -> int | None:
        """The optimum or best known cost; None if none is known."""


AnyProblem = TypeVar("AnyProblem", bound=RunProblem)
AnySearch = TypeVar("AnySearch", bound="Search")
AnyOutcome = TypeVar("AnyOutcome", bound="SearchResult")


SearchPlace = tuple["ComputeDevice", "Ranks"]
"""Device of a search, and ranks that do not communicate."""


class Task(NamedTuple, Generic[AnyOptions, T]):
    """Task of a run, which the first rank makes of the options and sends to all ranks.

    Attributes
    ----------
    options : Options
        Options with their defaults filled in.
    problem
        The problem (`RunProblem`), or its name and digest in a plan.
    source : str
        Origin of the problem, as text.
    """

    options: AnyOptions
    problem: T
    source: str


@dataclass(frozen=True)
class RepetitionResult:
    """Result of one repetition.

    Attributes
    ----------
    outcome : SearchResult
        Result of the search; its cost is a value if the workload maximises.
    words : str
        Text of the result, for the line on standard output.
    index : int
        Number of the climber, ant or walk that found the solution.
    details : Mapping
        Entries for the record's ``details``.
    gave_up : str
        Reason why this is no result, even if its cost is confirmed; empty: it is one.
    """

    outcome: SearchResult
    words: str
    index: int = 0
    details: Mapping[str, Any] = field(default_factory=dict)
    gave_up: str = ""


SCORER, PUBLISHED_OPTIMUM, GENERATOR, INSTANCE_FILE = "scorer", "published optimum", "generator", "instance file"
"""Names of verifiers, as records have them; a sentence puts an article before them."""


def verifier_with_article(name: str) -> str:
    """Return a verifier's name for use in a sentence: `the scorer`, but `NumPy`."""
    return f"the {name}" if name in (SCORER, PUBLISHED_OPTIMUM, GENERATOR, INSTANCE_FILE) else name


class VerifierVerdict(NamedTuple):
    """Verdict of one verifier on a result.

    Attributes
    ----------
    verifier : str
        Name of the verifier. Empty if the verifier can only reject a result.
    objection : str or None
        Reason to reject the result, a whole sentence; None: the verifier does not reject it.
    cost : int or None
        Cost of the result's solution by this scorer; None if it computed none.
    """

    verifier: str
    objection: str | None = None
    cost: int | None = None


@dataclass
class PreparedRun(Generic[AnyOptions, AnyProblem, AnySearch]):
    """A search that is compiled and warm on this rank: the argument of most methods of a workload.

    Attributes
    ----------
    options
        Options of the workload with their defaults filled in.
    problem, source
        See `Task`.
    search
        The search that `WorkloadDeclaration.make_search` made.
    ranks
        The communicator, which measures its own time.
    checkpointer
        Keeps checkpoints of the search; None: no checkpoints.
    prepared_s
        Seconds in which the first rank has read the instance and made the search, without compilation.
    """

    options: AnyOptions
    problem: AnyProblem
    source: str
    search: AnySearch
    ranks: TimedCommunicator
    checkpointer: Checkpointer | None = None
    prepared_s: float = 0.0
    computed: dict[object, Any] = field(default_factory=dict)

    def once(self, name: object, compute: Callable[[], T]) -> T:
        """Return the result of a computation that all repetitions share; the first call computes it."""
        if name not in self.computed:
            self.computed[name] = compute()
        result: T = self.computed[name]
        return result

    @property
    def place(self) -> str:
        """The device, or the number of ranks with the first one's device, for headlines."""
        where = f"{self.search.backend.name} ({self.search.backend.device.name})"
        return f"{self.ranks.size} ranks, the first: {where}" if self.ranks.size > 1 else where

    @property
    def covered_s(self) -> float:
        """Seconds of preparation that a time limit covers."""
        return max(0.0, self.prepared_s - FREE_PREPARATION_S)

    def searched(self, callback: Callback | None, stop: Stop | None = None, **more: Any) -> Any:
        """Return the outcome of the search with this run's ranks and checkpoints; ``more`` goes to its ``run`` too.

        A time limit covers `covered_s` too; the search makes its first step in any case.
        """
        if self.covered_s and stop is not None:
            stop = replace(stop, seconds=max(SHORTEST_S, stop.seconds - self.covered_s))
        return self.search.run(stop=stop, callback=callback, ranks=self.ranks, checkpointer=self.checkpointer, **more)


class WorkloadDeclaration(Generic[AnyOptions, AnyProblem, AnySearch, AnyOutcome]):
    """Declaration of a workload, of which `drivers.runs.workload_main.driver` makes a program.

    A workload is a subclass with these attributes, and with the methods below where it differs.

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
    doing : str
        Text before the progress bar.
    noun : str
        Word for the cost in messages: length, value.
    maximises : bool
        True if the largest cost is best.
    best_known : str
        Word for the problem's ``optimum``.
    standard : tuple of str
        Options with values, the defaults of a comparison, which takes about a second on one core. Empty: they depend on
        the problem, also if the user names no instance.
    best_core : tuple of str
        The best one-core algorithm for its problems, if it is another: its name, its program, and options, in which
        `{cost}` is the cost to reach.
    scaled : str
        Name of the option that weak scaling multiplies by the number of ranks; empty: there is no weak scaling.
    profiled : tuple of str
        Metrics of `--profile`, names of `drivers.runs.kernel_profile.METRICS`; empty: all of them.
    program : tuple of str
        Arguments by which Python starts its program; by default the module of its name in `drivers`.

    """

    name: str
    title: str
    options: type[AnyOptions]
    unit: str
    hash_scope: str
    doing: str
    noun = "cost"
    maximises = False
    best_known = "optimum"
    standard: tuple[str, ...] = ()
    best_core: tuple[str, ...] = ()
    scaled = ""
    profiled: tuple[str, ...] = ()
    with_less_room = "expected a smaller instance"
    program: tuple[str, ...] = ()

    # --- every workload has its own ---

    def load(self, options: AnyOptions, ranks: int) -> Task[AnyOptions, AnyProblem]:
        """Return the task of a run on ``ranks`` ranks; the first rank calls this.

        Options that change nothing or exclude each other are refused before a file is read.
        """
        raise NotImplementedError

    def make_search(self, place: SearchPlace, problem: AnyProblem, options: AnyOptions) -> AnySearch:
        """Return the search in its place, before its compilation."""
        raise NotImplementedError

    def result(self, run: PreparedRun[AnyOptions, AnyProblem, AnySearch], outcome: AnyOutcome) -> RepetitionResult:
        """Return the result of an outcome of `once`; the first rank calls this."""
        raise NotImplementedError

    def verify(
        self, run: PreparedRun[AnyOptions, AnyProblem, AnySearch], outcome: AnyOutcome, result: RepetitionResult
    ) -> Iterator[VerifierVerdict]:
        """Yield the verdict of each verifier that is independent of the search, the plain scorer first."""
        raise NotImplementedError

    # --- defaults ---

    def warm_up(self, search: AnySearch, options: AnyOptions) -> None:
        """Compile a search, without communication with other ranks."""
        search.warm_up()

    def variant(self, options: AnyOptions) -> Workload[AnyOptions]:
        """Return the declaration for these options of a task, if a program has several kinds of search."""
        return self

    def once(self, run: PreparedRun[AnyOptions, AnyProblem, AnySearch], callback: Callback | None) -> AnyOutcome:
        """Search once on all ranks and return the outcome; the callback gets the progress."""
        outcome: AnyOutcome = run.searched(callback, self.stop(run.options), **self.run_settings(run.options))
        return outcome

    def stop(self, options: AnyOptions) -> Stop | None:
        """Return the stop criteria of the search; None if it ends by itself."""
        return None

    def run_settings(self, options: AnyOptions) -> dict[str, object]:
        """Return further arguments of the search's ``run``."""
        return {}

    def progress_label(self, run: PreparedRun[AnyOptions, AnyProblem, AnySearch]) -> str:
        return self.doing

    def in_words(self, cost: int) -> str:
        return str(cost)

    def fitted(self, problem: AnyProblem) -> tuple[str, ...]:
        """Return options as `standard` has them, for a problem."""
        return ()

    def parts(self, run: PreparedRun[AnyOptions, AnyProblem, AnySearch]) -> tuple[int, str] | None:
        """Return the number of parts of the work that ranks do not divide, and their name; None if there are none."""
        count = vars(run.options).get(self.scaled)
        return None if count is None else (count, self.scaled)

    def core_seconds(self, options: AnyOptions, problem: AnyProblem) -> float | None:
        """Return the usual seconds of one repetition on one core, before a device is made; None if they are unknown.

        It is an upper bound if the work depends on the device. Raises `UserError` if no device can run the search.
        """
        return None

    def work_unit(self, options: AnyOptions, problem: AnyProblem) -> WorkUnit:
        """Return the unit of this workload's rate, and the option that a measurement scales; by default whole runs."""
        return WorkUnit()

    def parameters(self, run: PreparedRun[AnyOptions, AnyProblem, AnySearch]) -> Mapping[str, object]:
        """Return parameters in addition to those that options declare."""
        return {}

    def execution(self, run: PreparedRun[AnyOptions, AnyProblem, AnySearch]) -> Mapping[str, object]:
        """Return execution settings in addition to those that options declare."""
        return {}

    def headline(self, run: PreparedRun[AnyOptions, AnyProblem, AnySearch]) -> str | None:
        """Return a line before the first repetition, or None."""
        return None

    def save(self, run: PreparedRun[AnyOptions, AnyProblem, AnySearch], outcome: AnyOutcome) -> None:
        """Write the output files that the options name."""

    def on_one_core(self, options: AnyOptions) -> bool:
        """Return True if one core is the fastest device for these options, so that `--backend auto` takes it."""
        return False

    def for_peers(self, problem: AnyProblem) -> object:
        """Return the problem in the form that `drivers.peers` takes."""
        return problem

    @property
    def started(self) -> tuple[str, ...]:
        return self.program or ("-m", f"drivers.{self.name}")

    @property
    def command(self) -> str:
        return shlex.join(("python", *self.started))


if TYPE_CHECKING:

    class DeviceSearch(Search, Protocol):
        """A search on a backend of `backends`."""

        backend: Backend


RepeatedRun = PreparedRun[Options, RunProblem, "DeviceSearch"]
"""A prepared run of any workload."""
Workload = WorkloadDeclaration[AnyOptions, Any, Any, Any]
"""A workload with options of one type: for code that runs workloads of any problem and search."""


def describe_time_limit(by_time: bool) -> str:
    """Return a note if the time limit ended the search, else an empty text."""
    return ", ended by the time limit (other runs end at other iterations, with other hashes)" if by_time else ""


def describe_gap(cost: int, best: int | None, name: str = "optimum") -> str:
    """Return the gap to the optimum or best known value, in brackets; empty if none is known."""
    if best is None:
        return ""
    if cost == best:
        return f" (the {name})"
    if best == 0:
        return f" (the {name} is 0)"
    return f" ({100 * (cost - best) / abs(best):.2f} % {'above' if cost > best else 'below'} the {name} {best})"
