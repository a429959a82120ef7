"""Stop criteria, combined with ``|``: the first that holds ends the search."""

from __future__ import annotations

from typing import NamedTuple

from core.arguments import integer, number, refuse
from core.errors import UserError

MOST = 2**31 - 1
CRITERIA = {"iterations": "iterations", "seconds": "seconds", "target": "a target", "patience": "patience"}
"""The criteria, and what each is called where a search does not know it."""


class Stop(NamedTuple):
    """The criteria of one search; `Iterations`, `Seconds`, `Target` and `NoImprovement` make them.

    All but the time end a search after the same iteration on every backend. A search says in its ``run`` what an
    iteration is there, and refuses criteria that it cannot honour (`only`).

    Attributes
    ----------
    iterations : int
        Iterations of a walk at most (for simulated annealing, draws), of a colony, or climbs of hill climbing from
        random tours.
    seconds : float
        Wall-clock time, looked at between launches.
    target : int
        A cost at which the search is content.
    patience : int
        Iterations without a better best solution.

    """

    iterations: int = MOST
    seconds: float = float("inf")
    target: int = -MOST
    patience: int = MOST

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
        """Return the criteria as they are written."""
        makers = {"iterations": "Iterations", "seconds": "Seconds", "target": "Target", "patience": "NoImprovement"}
        return " | ".join(f"{makers[name]}({getattr(self, name)!r})" for name in self.given) or "Stop()"

    @property
    def limit(self) -> int | None:
        """Iterations at most; None: as many as the other criteria let through."""
        return None if self.iterations == MOST else self.iterations

    @property
    def given(self) -> tuple[str, ...]:
        """The names of the criteria that say something."""
        return tuple(name for name, usual in self._field_defaults.items() if getattr(self, name) != usual)

    def only(self, search: str, *honoured: str) -> Stop:
        """These criteria, if they are among those that a search honours.

        Raises
        ------
        UserError
            Names the search, the first criterion that it does not know, and those that it does.

        """
        for name in self.given:
            if name not in honoured:
                known = " or ".join(CRITERIA[one] for one in honoured) or "none, since it ends by itself"
                raise UserError(f"{search} cannot stop by {CRITERIA[name]}: expected {known}")
        return self

    def check(self, most: int = MOST) -> None:
        """Refuse what would never end, or more iterations than these.

        Raises
        ------
        UserError
            Names the criterion, what was found and what was expected.

        """
        for name in ("iterations", "patience"):
            if not 1 <= getattr(self, name) <= most:
                raise UserError(f"stop after {getattr(self, name)} {name}: expected 1 to {most}")
        if not self.seconds > 0:
            raise UserError(f"stop after {self.seconds} seconds: expected more than 0")
        if not -MOST <= self.target <= MOST:
            raise UserError(f"stop at cost {self.target}: expected {-MOST} to {MOST}")


def check_stop_type(stop: object) -> None:
    """Refuse what is no `Stop`."""
    if not isinstance(stop, Stop):
        refuse("stop", stop, "a stop criterion such as Iterations(1000)")


def checked_stop(stop: Stop | None, search: str, *honoured: str, callback: object, most: int = MOST) -> Stop:
    """Return the criteria of a search that does not end by itself.

    Parameters
    ----------
    stop
        Criteria of the caller.
    search, honoured
        Name of the search, and the criteria that it honours.
    callback
        See `core.search.protocol.Callback`; it may end the search too.
    most
        Largest number of iterations.

    Raises
    ------
    UserError
        A criterion out of range, one that the search does not honour, or nothing that would end it.

    """
    stop = Stop() if stop is None else stop
    check_stop_type(stop)
    stop.only(search, *honoured).check(most)
    if not stop.given and callback is None:
        expected = ", ".join(honoured[:-1])
        raise UserError(f"{search}: nothing would end it: expected {expected} or {honoured[-1]}, or a callback")
    return stop


def Iterations(count: int) -> Stop:  # noqa: N802
    """Stop after ``count`` iterations of a walk."""
    return Stop(iterations=integer("count", count))


def Seconds(seconds: float) -> Stop:  # noqa: N802
    """Stop when this much wall-clock time has passed."""
    return Stop(seconds=number("seconds", seconds))


def Target(cost: int) -> Stop:  # noqa: N802
    """Stop when a solution of at most this cost is found."""
    return Stop(target=integer("cost", cost))


def NoImprovement(iterations: int) -> Stop:  # noqa: N802
    """Stop when the best solution has not changed for this many iterations."""
    return Stop(patience=integer("iterations", iterations))
