"""Stop criteria, combined with ``|``: the first that holds ends the search.

Launches under a time limit have sizes: a search reads the clock between launches, so its last launches are short. A
launch may take several times its estimate, because walks become slower as they improve, and other programs use the
machine. So a launch is estimated at a part of the remaining time.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf

from core.arguments import checked_call, checked_class, integer, number, refuse
from core.errors import UserError

MOST, ANY_NUMBER = 2**31 - 1, 2**63
CRITERIA = {"iterations": "iterations", "seconds": "seconds", "target": "a target", "patience": "patience"}
"""The criteria, and the name of each in errors."""
MAKERS = {"iterations": "Iterations", "seconds": "Seconds", "target": "Target", "patience": "NoImprovement"}
"""The function that makes each criterion."""


@checked_class
@dataclass(frozen=True, repr=False)
class Stop:
    """The criteria of one search; `Iterations`, `Seconds`, `Target` and `NoImprovement` make them.

    All but the time end a search after the same iteration on every backend. The ``run`` of a search defines its
    iterations, and refuses other criteria than its own (`only`).

    Attributes
    ----------
    iterations
        Largest number of iterations of a walk (for simulated annealing, draws) or of a colony, or of climbs of hill
        climbing from random tours.
    seconds
        Wall-clock time, read between launches.
    target
        Cost of a sufficient solution.
    patience
        Iterations without a better best solution.
    """

    iterations: int = MOST
    seconds: float = float("inf")
    target: int = -MOST
    patience: int = MOST

    def __post_init__(self) -> None:
        self.check(ANY_NUMBER)

    def __or__(self, other: Stop) -> Stop:
        """Stop as soon as either would."""
        check_stop_type(other)
        return Stop(
            min(self.iterations, other.iterations),
            min(self.seconds, other.seconds),
            max(self.target, other.target),
            min(self.patience, other.patience),
        )

    def __repr__(self) -> str:
        return " | ".join(f"{MAKERS[name]}({getattr(self, name)!r})" for name in self.given) or "Stop()"

    @property
    def limit(self) -> int | None:
        """Largest number of iterations; None if unlimited."""
        return None if self.iterations == MOST else self.iterations

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the criteria that differ from the default."""
        return tuple(one.name for one in fields(self) if getattr(self, one.name) != one.default)

    def only(self, search: str, *honoured: str) -> Stop:
        """Return these criteria. Raises `UserError` for one that a search does not honour."""
        for name in self.given:
            if name not in honoured:
                known = " or ".join(CRITERIA[one] for one in honoured) or "none, since it ends by itself"
                raise UserError(f"{search} cannot stop by {CRITERIA[name]}: expected {known}")
        return self

    def check(self, most: int = MOST) -> None:
        """Raise `UserError` for criteria out of range, or more than ``most`` iterations."""
        for name, least in (("iterations", 1), ("patience", 1), ("target", -most)):
            integer(name, getattr(self, name), least, most)
        if not number("seconds", self.seconds) > 0:
            refuse("seconds", self.seconds, "a number above 0")


def check_stop_type(stop: object) -> None:
    if not isinstance(stop, Stop):
        refuse("stop", stop, "a stop criterion such as Iterations(1000)")


def checked_stop(stop: Stop | None, search: str, *honoured: str, callback: object, most: int = MOST) -> Stop:
    """Return the criteria of a search that does not end by itself.

    ``callback`` may end the search too. Raises `UserError` for a criterion out of range, one that is not ``honoured``,
    or none that would end it.
    """
    stop = Stop() if stop is None else stop
    check_stop_type(stop)
    stop.only(search, *honoured).check(most)
    if not stop.given and callback is None:
        expected = ", ".join(honoured[:-1])
        raise UserError(f"{search}: nothing would end it: expected {expected} or {honoured[-1]}, or a callback")
    return stop


@checked_call
def Iterations(count: int) -> Stop:  # noqa: N802
    """Stop after ``count`` iterations of a walk."""
    return Stop(iterations=count)


@checked_call
def Seconds(seconds: float) -> Stop:  # noqa: N802
    """Stop when this much wall-clock time has passed."""
    return Stop(seconds=number("seconds", seconds, 0))


@checked_call
def Target(cost: int) -> Stop:  # noqa: N802
    """Stop when a solution of at most this cost is found."""
    return Stop(target=cost)


@checked_call
def NoImprovement(iterations: int) -> Stop:  # noqa: N802
    """Stop when the best solution has not changed for this many iterations."""
    return Stop(patience=iterations)


LATE_PART, LEAST_LATE_S, MOST_LATE_S = 0.1, 0.05, 0.25
SAFETY_FACTOR = 4.0
"""A launch that takes up to this many times its estimate still ends in time."""
MOST_SAFETY_FACTOR = 128.0
"""The same at most, where iterations are expected to become slower: shorter launches would cost too much."""


def allowance_s(limit_s: float) -> float:
    """Return the seconds by which a run may exceed its time limit: a tenth, at least 50 and at most 250 ms."""
    return min(MOST_LATE_S, max(LEAST_LATE_S, LATE_PART * limit_s))


def longest_launch_s(limit_s: float, spent_s: float, uneven: float = SAFETY_FACTOR) -> float:
    """Return the longest estimate of the next launch in seconds; infinite without a time limit.

    ``uneven`` is the factor by which a launch may exceed its estimate.
    """
    return inf if limit_s == inf else max(0.0, limit_s + allowance_s(limit_s) - spent_s) / uneven


def is_time_for(limit_s: float, spent_s: float, seconds: float) -> bool:
    """Return True if a launch of this estimate, which cannot be shortened, ends within the allowance."""
    return spent_s + seconds <= limit_s + allowance_s(limit_s)


class BatchSizes:
    """Number of steps of each batch between synchronisations: batches last about ``seconds``, and less at the end.

    A batch has at most ``growth`` times the steps of the one before; ``first`` is the first one's.
    """

    def __init__(self, first: int = 1, growth: int = 4, seconds: float = 0.2) -> None:
        self.first, self.growth, self.seconds = first, growth, seconds
        self.next = first

    def learn(self, step_s: float, longest_s: float) -> None:
        """Choose the next size from the seconds of a step, and from the most seconds that a batch may take."""
        self.next = max(1, min(self.growth * self.next, int(min(self.seconds, longest_s) / step_s)))
