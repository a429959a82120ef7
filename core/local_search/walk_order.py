"""Walks of a search one after another (`luong2013`, section 6.7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from core.local_search.checkpoint import solution_array
from core.local_search.launcher import WalkLauncher
from core.local_search.outcome import Outcome, combine_outcomes
from core.run.checkpoint import ANY, ANY_WORD, Checkpoint, CheckpointArray
from core.run.loop import Step, Steps, SynchronousRun, execute

NUMBERS, SOLUTIONS = "walks before numbers", "walks before solutions"
"""Arrays of the outcomes of earlier walks in a checkpoint."""
NUMBER_FIELDS = ("cost", "walk", "found_at", "iterations", "evaluations", "digest")
"""Numbers of an outcome, a column each."""


class WalksInTurn:
    """Walks that a search makes one after another, and none after the time is over.

    Attributes
    ----------
    earlier : list of Outcome
        Outcomes of the walks before the present one.
    """

    def __init__(self, search: Steps[SynchronousRun, Outcome], launcher: WalkLauncher) -> None:
        self.search, self.launcher, self.plan = search, launcher, launcher.plan

    def execute(self, run: SynchronousRun) -> Outcome:
        """Make all walks, each until a stop criterion holds."""
        self.earlier: list[Outcome] = []
        while True:
            outcome = execute(self, run)  # replaces the list of outcomes of a resumed search
            self.earlier.append(outcome)
            is_late = run.ranks.bcast(run.monitor.seconds) >= run.stop.seconds
            is_last = len(self.earlier) == self.plan.settings.walks
            if is_late or run.is_interrupted or is_last:
                self.earlier[-1] = replace(outcome, by_time=outcome.by_time or (is_late and not is_last))
                return combine_outcomes(self.earlier)
            run.restart()

    # --- one walk, as the run loop calls it ---

    def begin(self, run: SynchronousRun, checkpoint: Checkpoint | None) -> None:
        """Start the next walk, or that of a checkpoint."""
        if checkpoint is not None:
            self.earlier = list(outcomes_of(checkpoint))
        self.launcher.memory.number_walks(len(self.earlier))
        run.monitor.done = sum(outcome.iterations for outcome in self.earlier)
        self.search.begin(run, checkpoint)

    def step(self, run: SynchronousRun) -> Step:
        return self.search.step(run)

    def checkpoint(self, run: SynchronousRun) -> Checkpoint | None:
        """Return the state of the walk, with the outcomes of those before it."""
        state, encoding = self.search.checkpoint(run), self.plan.problem.encoding
        # A digest has 64 bits, and a cost may be negative.
        numbers = [[getattr(outcome, name) % 2**64 for name in NUMBER_FIELDS] for outcome in self.earlier]
        solutions = np.array([outcome.solution for outcome in self.earlier], encoding.dtype)
        earlier = {
            NUMBERS: np.array(numbers, np.uint64).reshape(-1, len(NUMBER_FIELDS)),
            SOLUTIONS: solutions.reshape(-1, encoding.n),
        }
        return state and {**state, **earlier}

    def layout(self, run: SynchronousRun, state: Checkpoint) -> Iterator[CheckpointArray]:
        yield from self.search.layout(run, state)
        bounds = [(0, ANY_WORD), (0, self.plan.settings.walks - 2), *[(0, ANY)] * 3, (0, ANY_WORD)]
        yield CheckpointArray(NUMBERS, np.uint64, (None, len(NUMBER_FIELDS)), bounds, order_fault)
        yield solution_array(SOLUTIONS, self.plan.problem.encoding, len(state[NUMBERS]))

    def result(self, run: SynchronousRun) -> Outcome:
        return self.search.result(run)


def outcomes_of(state: Checkpoint) -> Iterator[Outcome]:
    """Yield the outcomes of the walks before the one of a checkpoint."""
    for row, solution in zip(state[NUMBERS], state[SOLUTIONS], strict=True):
        cost = int(row[:1].view(np.int64)[0])
        walk, found_at, iterations, evaluations, digest = (int(number) for number in row[1:])
        yield Outcome(cost, walk, found_at, iterations, evaluations, digest, solution)


def order_fault(numbers: np.ndarray) -> str | None:
    """Return the fault of walks that were not made one after another, or None."""
    order = numbers[:, 1].tolist()
    return None if order == list(range(len(order))) else f"found walks {order}, expected them in order from 0"
