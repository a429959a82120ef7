"""Pauses of ranks that compute a table together: all stop before the same step for a checkpoint."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import UserError
from core.search.progress import PROGRESS_INTERVAL_S

if TYPE_CHECKING:
    from core.search.checkpoint import Checkpointer

GROWTH = 2
"""From one pause to the next there are at most so many times as many steps as before it."""


class CheckpointPauses:
    """The pauses of a course of steps: a quarter of a second after each other, by the first rank's clock.

    Parameters
    ----------
    checkpointer
        Of this rank.
    ranks
        Who pauses; all of them make this, and ask the same.

    Attributes
    ----------
    steps : int
        From one pause to the next.

    """

    def __init__(self, checkpointer: Checkpointer, ranks: Any) -> None:
        self.checkpointer, self.ranks = checkpointer, ranks
        self.steps = 1
        self.began = time.perf_counter()

    def are_over(self, done: int) -> bool:
        """Pause after so many steps since the last time, when the device has done them; whether a state is due."""
        spent = max(time.perf_counter() - self.began, 1e-9)
        wanted = max(1, min(GROWTH * max(1, done), int(done * PROGRESS_INTERVAL_S / spent)))
        told = np.array([self.checkpointer.is_due(), wanted if self.ranks.rank == 0 else 0], np.int64)
        due, self.steps = (int(number) for number in self.ranks.sum(told))
        self.began = time.perf_counter()
        return due > 0


def refuse_checkpoints(checkpointer: Checkpointer | None, what: str, instead: str) -> None:
    """Refuse to keep the state of a run that has none before its end.

    States that ranks only hold for the case that one of them is lost are no reason: those who are left begin anew.

    Raises
    ------
    UserError
        Somebody wants one in a file.

    """
    if checkpointer is not None and checkpointer.write is not None:
        raise UserError(f"--checkpoint with {what}: it has no checkpoints: expected {instead}, or no --checkpoint")
