"""Outcome of a search, and the error for a result that the problem's scorer rejects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from core.errors import UserError
from core.instances.random_words import GOLDEN, mixed
from core.local_search.problem import Problem
from core.ranks import Ranks
from core.run.protocol import Digested


@dataclass(frozen=True)
class Outcome(Digested):
    """Result of all walks of all ranks.

    Attributes
    ----------
    cost
        Of the best solution.
    walk
        The smallest number of a walk that found it.
    found_at
        The iteration in which that walk found it.
    iterations
        Of all walks together.
    evaluations
        Neighbours evaluated, as a sequential run counts them.
    digest
        64-bit digest of the trajectories of all walks.
    solution : ndarray, shape (n,)
        The best solution.
    history
        Rows [iteration, evaluations, seconds, best cost]: the start, and where the best of all walks improved; see
        `core.local_search.history.HistoryRecorder`. None unless requested.
    finished
        True if the stop criteria ended the search; False if its callback did.
    by_time
        True if the time limit ended the search: another run with the same seed ends elsewhere, with another hash.
    """

    cost: int
    walk: int
    found_at: int
    iterations: int
    evaluations: int
    digest: int
    solution: np.ndarray
    history: list[list[Any]] | None = None
    finished: bool = True
    by_time: bool = False


def combine_outcomes(outcomes: Sequence[Outcome]) -> Outcome:
    """Combine the outcomes of walks made one after another, as if made side by side; without a history."""
    return replace(
        min(outcomes, key=lambda outcome: (outcome.cost, outcome.walk)),
        iterations=sum(outcome.iterations for outcome in outcomes),
        evaluations=sum(outcome.evaluations for outcome in outcomes),
        digest=sum(outcome.digest for outcome in outcomes) % 2**64,
        by_time=any(outcome.by_time for outcome in outcomes),
    )


class Claim(Protocol):
    """Outcome of a search, as far as `Unconfirmed` reads it."""

    @property
    def cost(self) -> int:
        """Cost of the best solution by the search."""

    @property
    def solution(self) -> np.ndarray | None:
        """The best solution."""


class Unconfirmed(UserError):  # noqa: N818
    """The scorer finds another cost for the best solution than the search claims, so there is no result.

    Parameters
    ----------
    searched
        Problem, algorithm, neighbourhoods and evaluation, as text.
    outcome
        The outcome that the search claims.
    cost
        Cost of its solution by the scorer; None if the objection is another one.
    objection
        The objection as text, if it is not raised by a problem's `cost`.
    """

    exit_code = 1

    def __init__(self, searched: str, outcome: Claim, cost: int | None, objection: str = "") -> None:
        by_cost = (
            f"the search claims that its best solution costs {outcome.cost}, but `cost` says {cost}: expected the "
            "same; look at the evaluation and what it reads: --check, or ok.check(problem), compares it with `cost`"
        )
        super().__init__(
            f"{searched}: {f'found {outcome.cost}, but {objection}: expected the same' if objection else by_cost}"
        )
        self.searched = searched
        self.outcome = outcome
        self.cost = cost
        self.objection = objection

    @property
    def claimed(self) -> int:
        """Cost of the solution by the search."""
        return self.outcome.cost

    @property
    def solution(self) -> np.ndarray | None:
        return self.outcome.solution

    def __reduce__(self) -> tuple:
        """Pickle by its parts, so that the error crosses process borders."""
        return Unconfirmed, (self.searched, self.outcome, self.cost, self.objection)


def confirm(outcome: Outcome, problem: Problem, ranks: Ranks, searched: str) -> None:
    """Raise `Unconfirmed` unless the problem's scorer finds the same cost on the first rank; all ranks call this."""
    cost = ranks.on_first(lambda: int(problem.cost(outcome.solution)), is_long=False)
    if abs(cost - outcome.cost) > problem.tolerance():
        raise Unconfirmed(searched, outcome, cost)


def mix_digests(digests: np.ndarray, walks: np.ndarray) -> int:
    """Return one digest of all walks: a sum, in any order."""
    with np.errstate(over="ignore"):
        return int(mixed(digests ^ (walks + np.uint64(1)) * GOLDEN).sum(dtype=np.uint64))
