"""Reference solver: its interface, its answer, and its measurement."""

from __future__ import annotations

import os
import shutil
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from drivers.peers.environment import PeerEnvironment


class PeerError(Exception):
    """A solver gave no answer that counts; the message has the reason."""


class PeerAnswer(NamedTuple):
    """Result of a solver.

    Attributes
    ----------
    solution : object
        Argument of its `PeerSubject`'s scorer: a tour, a selection, a permutation, or the length of a subsequence.
    proved : bool
        True if the solver proved that there is no better one.
    reported_cost : int, optional
        The cost reported by the solver; it must agree with our scorer's.
    """

    solution: object
    proved: bool
    reported_cost: int | None = None


SHORT_S, MOST_RUNS = 0.2, 21
"""Seconds of a solver's runs after which it is not run again for its median, and their largest number."""


def median_run(run: Callable[[], tuple[float, PeerAnswer]]) -> tuple[float, PeerAnswer]:
    """Return the first answer of a solver, and the median seconds of its runs, several if they are short."""
    runs = [run()]
    while len(runs) < MOST_RUNS and sum(seconds for seconds, _ in runs) < SHORT_S:
        runs.append(run())
    return statistics.median(seconds for seconds, _ in runs), runs[0][1]


@dataclass(frozen=True)
class PeerSubject:
    """A kind of problem common to several solvers.

    Parameters
    ----------
    cost : callable
        Takes a problem and a solution, and returns the solution's cost by our plain scorer, an int. Raises
        `PeerError` or ValueError for an invalid solution.
    minimal : object
        The smallest problem that every solver accepts, used to measure a solver's start.
    largest_is_best : bool
        True if a larger cost is better.
    """

    cost: Callable[[Any, Any], int]
    minimal: object
    largest_is_best: bool = False

    def worst(self, costs: Sequence[int]) -> int:
        return min(costs) if self.largest_is_best else max(costs)

    def as_good(self, cost: int, ours: int) -> bool:
        return cost >= ours if self.largest_is_best else cost <= ours


@dataclass(frozen=True)
class Peer:
    """A reference solver; the two subclasses define its calls.

    Parameters
    ----------
    how_to_get : str
        Command that installs it; that of a package follows from its requirement.
    refuses : callable
        Takes a problem and returns the reason against this solver on it, or None.
    """

    kind: ClassVar[str]
    name: str
    subject: PeerSubject
    _: KW_ONLY
    how_to_get: str = ""
    refuses: Callable[[Any], str | None] = lambda problem: None

    def find(self) -> tuple[str, str] | None:
        """Return the program, or the interpreter that has the package, and its version, empty if unknown; or None."""
        raise NotImplementedError


@dataclass(frozen=True)
class PeerPackage(PeerEnvironment, Peer):
    """A Python package, measured in a separate warm process: after its import and a minimal run.

    Parameters
    ----------
    form : callable
        Converts a problem to an argument of `solve`, which can be pickled; its time does not count.
    solve : callable
        A function of a module (it is sent to another process by its name). Takes the result of `form`, seconds and a
        seed from 1 on, and returns a `PeerAnswer`. Imports the package when it is called.
    timed : bool
        True if the solver searches for the given seconds; else they are only a limit.
    shortest_s : float
        The least seconds that a timed solver accepts.
    """

    kind: ClassVar[str] = "package"
    form: Callable[[Any], Any]
    solve: Callable[[Any, float, int], PeerAnswer]
    _: KW_ONLY
    timed: bool = False
    shortest_s: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "how_to_get", f"onekernel peers install {self.package}")


@dataclass(frozen=True)
class PeerProgram(Peer):
    """A program on PATH, or in an environment variable with its name in capitals, as `CONCORDE`; measured as a process.

    Parameters
    ----------
    write : callable
        Takes a problem, a folder and a name without suffix, and writes the program's input there.
    command : callable
        Takes the folder, that name and a seed from 1 on; returns the arguments. The program runs in the folder.
    answer_file : str
        The file that the program leaves there.
    read : callable
        Takes that file; returns a `PeerAnswer`.
    """

    kind: ClassVar[str] = "program"
    write: Callable[[Any, Path, str], None]
    command: Callable[[Path, str, int], Sequence[str]]
    answer_file: str
    read: Callable[[Path], PeerAnswer]

    def find(self) -> tuple[str, str] | None:
        found = shutil.which(os.environ.get(self.name.upper()) or self.name)
        return (os.path.abspath(found), "") if found else None  # it runs in another folder


class PeerMeasurement(NamedTuple):
    """Measurements of a solver; plain numbers and texts, so that `_asdict()` is the content of a record.

    Attributes
    ----------
    name, version, kind : str
        `kind` is "package" or "program"; the version is empty if unknown.
    proved : bool
        True if every repetition proved its result optimal.
    cost : int, optional
        Of the worst of the repetitions, by our scorer; None if there is no answer.
    solve_s : float, optional
        Median of the repetitions without the start. A package: seconds of a call in a warm process. A program: those
        of its process less `startup_s`.
    startup_s : float, optional
        A package: its import and a minimal run. A program: a whole run of a minimal problem, median.
    time_to_cost_s : float, optional
        Seconds until it had a cost at least as good as ours: of a package without its start, of a program with it.
        For a solver with a time limit: the shortest of the limits, each half of the one before, from which on it
        always had such a cost. None if it never had, or our cost is unknown.
    time_limit_s : float, optional
        Time limit of a solver that searches for a given time.
    repetitions : int
    failure : str
        Reason for missing results; else empty.
    costs : tuple of int
        Of every repetition, by our scorer; unequal if the solver uses random numbers.
    """

    name: str
    version: str = ""
    kind: str = "package"
    proved: bool = False
    cost: int | None = None
    solve_s: float | None = None
    startup_s: float | None = None
    time_to_cost_s: float | None = None
    time_limit_s: float | None = None
    repetitions: int = 0
    failure: str = ""
    costs: tuple[int, ...] = ()


# --- verdicts on a result that claims to be optimal ---


def peer_rejections(
    peers: Sequence[Peer], measured: Sequence[PeerMeasurement], cost: int, noun: str = "cost"
) -> Iterator[str]:
    """Yield objections to a result that claims to be optimal: a better result, or a proof of another.

    ``measured`` is from `drivers.peers.measurement.PeerRace.measured`, ``noun`` is the name of the cost: length, value.
    """
    for peer, found in zip(peers, measured, strict=True):
        if found.cost not in (None, cost) and (found.proved or not peer.subject.as_good(cost, found.cost)):
            yield f"{found.name} finds {noun} {found.cost}"


def confirming_peers(measured: Sequence[PeerMeasurement], cost: int) -> list[str]:
    return [found.name for found in measured if found.proved and found.cost == cost]
