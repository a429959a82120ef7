"""Reference solver: its interface, its answer, and its measurement."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

THIS_SEARCH = "this search"


class PeerError(Exception):
    """A solver ran and gave no answer that counts; says why."""


class PeerAnswer(NamedTuple):
    """What a solver gives back.

    Attributes
    ----------
    solution : object
        What the scorer of its `PeerSubject` takes: a tour, a selection, a permutation, or the length of a subsequence.
    proved : bool
        Whether the solver proved that there is no better one.
    said : int, optional
        The cost that the solver itself states; it must agree with our scorer's.
    reported_s : float, optional
        The seconds that it took, as the solver itself prints them.
    """

    solution: Any
    proved: bool
    said: int | None = None
    reported_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class PeerSubject:
    """A kind of problem that solvers share.

    Parameters
    ----------
    cost : callable
        Takes a problem and a solution, and returns the solution's cost as our plain scorer finds it, an int. Raises
        `PeerError` or ValueError where it is no solution.
    minimal : object
        The smallest problem that every solver takes, which a solver's start is measured with.
    largest_is_best : bool
        Whether the cost is a value of which more is better.
    """

    cost: Callable[[Any, Any], int]
    minimal: Any
    largest_is_best: bool = False

    def worst(self, costs: Sequence[int]) -> int:
        """Return the worst of several costs."""
        return min(costs) if self.largest_is_best else max(costs)

    def as_good(self, cost: int, ours: int) -> bool:
        """Return whether a cost is at least as good as ours."""
        return cost >= ours if self.largest_is_best else cost <= ours


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A solver to compare with; one of its two subclasses, which say how it is asked.

    Parameters
    ----------
    name : str
    how_to_get : str
        What the user does to have it.
    proves : bool
        Whether it is an exact solver, whose answer is proved to be the best unless it is cut short.
    subject : Subject
    refuses : callable
        Takes a problem and says in words why this solver is not run on it, or returns None.
    """

    kind: ClassVar[str]
    name: str
    how_to_get: str
    proves: bool = False
    subject: PeerSubject
    refuses: Callable[[Any], str | None] = lambda problem: None


@dataclass(frozen=True, kw_only=True)
class PeerPackage(Peer):
    """A Python package, which is measured inside a process of its own, warm: after its import and a minimal run.

    Parameters
    ----------
    module : str
        What is imported.
    form : callable
        Brings a problem into the form that `solve` takes, which can be pickled; its time does not count.
    solve : callable
        A function of a module (it travels to another process by its name). Takes what `form` returned, seconds and a
        seed from 1 on, and returns an `PeerAnswer`. Imports the package when it is called.
    distribution : str
        The name by which it is installed and its version is known, where that is not `module`.
    timed : bool
        Whether the solver searches for the seconds that it is given; else they are a limit at most.
    shortest_s : float
        The least seconds that a timed solver accepts.
    """

    kind: ClassVar[str] = "package"
    module: str
    form: Callable[[Any], Any]
    solve: Callable[[Any, float, int], PeerAnswer]
    distribution: str = ""
    timed: bool = False
    shortest_s: float = 0.0


@dataclass(frozen=True, kw_only=True)
class PeerProgram(Peer):
    """A program on PATH, found by its name, which is measured as a whole process.

    Parameters
    ----------
    write : callable
        Takes a problem, a folder and a name without suffix, and writes there what the program reads.
    command : callable
        Takes the folder, that name and a seed from 1 on; returns the arguments. The program runs in the folder.
    answer_file : str
        The file that the program leaves there.
    read : callable
        Takes that file and what the program printed, and returns an `PeerAnswer`.
    """

    kind: ClassVar[str] = "program"
    write: Callable[[Any, Path, str], None]
    command: Callable[[Path, str, int], Sequence[str]]
    answer_file: str
    read: Callable[[Path, str], PeerAnswer]


class PeerMeasurement(NamedTuple):
    """What a solver did; plain numbers and texts, so that `_asdict()` is what a record holds.

    Attributes
    ----------
    name, version, kind : str
        `kind` is "package" or "program"; the version is empty where it is not known.
    proved : bool
        Whether every repetition proved that there is nothing better.
    cost : int, optional
        Of the worst of the repetitions, by our scorer; None if there is no answer.
    solve_s : float, optional
        Median of the repetitions without the start. A package: seconds of a call in a warm process. A program: those
        of its process less `startup_s`.
    startup_s : float, optional
        A package: its import and a minimal run. A program: a whole run of a minimal problem, median.
    process_s : float, optional
        A program: seconds of the whole process, median. A package: None.
    reported_s : float, optional
        The seconds that a program itself prints, median.
    time_to_cost_s : float, optional
        Seconds until it had a cost at least as good as ours, in `solve_s` for a package and `process_s` for a program.
        For a solver that is given its time: at the shortest of the times tried, each half of the one before, from which
        on it always had such a cost. None if it was never so good, or ours is not known.
    time_limit_s : float, optional
        The time that a solver was given which searches as long as it is told.
    repetitions : int
    in_process : bool
        Whether `solve_s` was measured inside a running process; else whole processes are what compares.
    failure : str
        Why there is nothing; else empty.
    costs : tuple of int
        Of every repetition, by our scorer; unequal where the solver draws random numbers.
    """

    name: str
    version: str = ""
    kind: str = "package"
    proved: bool = False
    cost: int | None = None
    solve_s: float | None = None
    startup_s: float | None = None
    process_s: float | None = None
    reported_s: float | None = None
    time_to_cost_s: float | None = None
    time_limit_s: float | None = None
    repetitions: int = 0
    in_process: bool = True
    failure: str = ""
    costs: tuple[int, ...] = ()

    @property
    def seconds(self) -> float | None:
        """What compares with ours: `solve_s` if it was measured in process, else `process_s`."""
        return self.solve_s if self.in_process else self.process_s


def this_search(
    cost: int | None,
    seconds: Sequence[float],
    *,
    proved: bool = False,
    startup_s: float | None = None,
    own_process_s: float | None = None,
) -> PeerMeasurement:
    """Return our own search as it stands beside others.

    Parameters
    ----------
    cost : int, optional
    seconds : sequence of float
        Running time of each repetition, in process and warm; may be empty.
    proved : bool
        Whether the search proves its result.
    startup_s : float, optional
        From the start of our process to the first repetition: imports, the device and compilation.
    own_process_s : float, optional
        A whole process of ours with one repetition, from its start to its result, to compare programs with.
    """
    median = statistics.median(seconds) if seconds else None
    return PeerMeasurement(
        THIS_SEARCH,
        proved=proved,
        cost=cost,
        solve_s=median,
        startup_s=startup_s,
        process_s=own_process_s,
        time_to_cost_s=median,
        repetitions=len(seconds),
    )


# --- verdicts on a result that claims to be optimal ---


def peer_rejections(
    peers: Sequence[Peer], measured: Sequence[PeerMeasurement], cost: int, noun: str = "cost"
) -> Iterator[str]:
    """Yield what speaks against a result that claims to be the best: a better one, or a proof of another.

    Parameters
    ----------
    peers, measured
        What `drivers.peers.measurement.measure` was given, and what it returned.
    cost : int
        What our search found.
    noun : str
        What the cost is of this problem: length, value.
    """
    for peer, found in zip(peers, measured, strict=True):
        if found.cost not in (None, cost) and (found.proved or not peer.subject.as_good(cost, found.cost)):
            yield f"{found.name} finds {noun} {found.cost}"


def confirming_peers(measured: Sequence[PeerMeasurement], cost: int) -> list[str]:
    """Return the names of the solvers that proved the same cost."""
    return [found.name for found in measured if found.proved and found.cost == cost]
