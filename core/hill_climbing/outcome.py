"""Outcome and checkpoint of iterative hill climbing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from core.hill_climbing.kernels import climbs as two_opt_climbs
from core.ranks import Ranks
from core.run.checkpoint import ANY, ANY_WORD, Checkpoint, CheckpointArray, history_array, interval_array
from core.run.partition import Intervals
from core.run.protocol import Digested, alias

NOTHING = int(np.iinfo(np.uint64).max)
"""Length before the first climb."""


class StepRange(NamedTuple):
    """The fewest and the most steps of a climb; before the first climb `NOTHING` and 0."""

    fewest: int = NOTHING
    most: int = 0

    def joined(self, other: StepRange) -> StepRange:
        """Return the range of the climbs of both."""
        return StepRange(min(self.fewest, other.fewest), max(self.most, other.most))

    def of_all(self, ranks: Ranks) -> StepRange:
        """Return the range of the climbs of all ranks; all ranks call this."""
        return StepRange(ranks.minloc(self.fewest, 0)[0], NOTHING - ranks.minloc(NOTHING - self.most, 0)[0])


@dataclass(frozen=True)
class HillClimbOutcome(Digested):
    """The outcome of all climbs of all ranks.

    Attributes
    ----------
    length, climber
        The shortest tour, and the smallest number of a climber that reached it.
    steps
        Steps of all climbs, including the last of each, which finds no move.
    steps_of_a_climb
        The fewest and the most steps of a climb.
    evaluations
        Moves evaluated, as the scan counts them.
    digest
        64-bit digest of the trajectories: a sum over climbs, in any order.
    climbs
        Number of climbs.
    tour : ndarray, shape (n,), int64, or None
        The shortest tour, from city 0; None unless requested.
    history
        Rows [climbs, evaluations, seconds, shortest length] between launches; see `core.run.progress`. None unless
        requested.
    finished
        See `core.run.protocol.SearchResult`.
    """

    length: int = NOTHING
    climber: int = 0
    steps: int = 0
    steps_of_a_climb: StepRange = StepRange()
    evaluations: int = 0
    digest: int = 0
    climbs: int = 0
    tour: np.ndarray | None = None
    history: list[list[Any]] | None = None
    finished: bool = True

    cost, solution = alias("length"), alias("tour")

    def with_more(self, best: tuple[int, int], totals: np.ndarray, steps: StepRange, climbs: int) -> HillClimbOutcome:
        """Return this outcome combined with that of further climbs."""
        length, climber = min((self.length, self.climber), best)
        return replace(
            self,
            length=length,
            climber=climber,
            steps=self.steps + int(totals[two_opt_climbs.STEPS]),
            steps_of_a_climb=self.steps_of_a_climb.joined(steps),
            evaluations=self.evaluations + int(totals[two_opt_climbs.EVALUATIONS]),
            digest=(self.digest + int(totals[two_opt_climbs.DIGEST])) % 2**64,
            climbs=self.climbs + climbs,
        )


class HillClimbState(NamedTuple):
    """Remaining climbers, and the outcome of all others: the checkpoint of hill climbing.

    The outcome has no tour, and its history is separate: rows of four columns.
    """

    remaining: Intervals
    outcome: HillClimbOutcome
    history: np.ndarray | None = None

    @classmethod
    def of(cls, state: Checkpoint) -> HillClimbState:
        climbs, length, climber, steps, fewest, most, evaluations, digest = map(int, state["found"])
        outcome = HillClimbOutcome(length, climber, steps, StepRange(fewest, most), evaluations, digest, climbs)
        return cls(Intervals(state["left"]), outcome, state.get("history"))

    def layout(self, state: Checkpoint, before_s: float, history: bool) -> Iterator[CheckpointArray]:
        """Declare the checkpoint of a run that begins with this state."""
        climbers = self.remaining.count
        best = [(0, climbers), (0, ANY_WORD), (0, climbers - 1)]
        steps_and_work = [(0, ANY), (0, ANY_WORD), (0, ANY), (0, ANY), (0, ANY_WORD)]
        yield CheckpointArray("found", np.uint64, (8,), [*best, *steps_and_work])
        climbs, length, *_, evaluations, _digest = (int(word) for word in state["found"])

        def climbed(pairs: np.ndarray) -> str | None:
            count = int((pairs[:, 1] - pairs[:, 0]).sum())
            wanted = climbers - climbs
            return None if count == wanted else f"found {count} climbers after {climbs} climbs, expected {wanted}"

        yield interval_array("left", 0, climbers, climbed)
        if history:
            yield history_array("history", climbs, evaluations, before_s, length if climbs else None)

    def checkpoint(self) -> Checkpoint:
        best = self.outcome
        words = [best.climbs, best.length, best.climber, best.steps, *best.steps_of_a_climb, best.evaluations]
        rows = {} if self.history is None else {"history": self.history}
        return {"left": self.remaining.array(), "found": np.array([*words, best.digest], np.uint64), **rows}


def nothing_climbed(climbers: int) -> HillClimbState:
    """Return the state before the first climb."""
    return HillClimbState(Intervals([(0, climbers)]), HillClimbOutcome())
