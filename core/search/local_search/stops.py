"""When a search ends: criteria that combine with ``|``, the first that holds wins."""

from __future__ import annotations

from typing import NamedTuple

from core.errors import UserError

MOST = 2**31 - 1


class Stop(NamedTuple):
    """The criteria of one search; `Iterations`, `Seconds`, `Target` and `NoImprovement` make them.

    All but the time end a search after the same iteration on every backend.

    Attributes
    ----------
    iterations : int
        Iterations of a walk at most; for simulated annealing, draws.
    seconds : float
        Wall-clock time, looked at between batches of iterations.
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
        return Stop(
            min(self.iterations, other.iterations),
            min(self.seconds, other.seconds),
            max(self.target, other.target),
            min(self.patience, other.patience),
        )

    def check(self) -> None:
        """Refuse what would never end or cannot be counted in 31 bits.

        Raises
        ------
        UserError
            Names the criterion, what was found and what was expected.

        """
        for name in ("iterations", "patience"):
            if not 1 <= getattr(self, name) <= MOST:
                raise UserError(f"stop after {getattr(self, name)} {name}: expected 1 to {MOST}")
        if not self.seconds > 0:
            raise UserError(f"stop after {self.seconds} seconds: expected more than 0")
        if not -MOST <= self.target <= MOST:
            raise UserError(f"stop at cost {self.target}: expected {-MOST} to {MOST}")


def Iterations(count: int) -> Stop:  # noqa: N802
    """Stop after ``count`` iterations of a walk."""
    return Stop(iterations=count)


def Seconds(seconds: float) -> Stop:  # noqa: N802
    """Stop when this much wall-clock time has passed."""
    return Stop(seconds=seconds)


def Target(cost: int) -> Stop:  # noqa: N802
    """Stop when a solution of at most this cost is found."""
    return Stop(target=cost)


def NoImprovement(iterations: int) -> Stop:  # noqa: N802
    """Stop when the best solution has not changed for this many iterations."""
    return Stop(patience=iterations)
