"""Checkpoints of searches: data from which another process resumes, and their schedule.

A checkpoint depends on no backend and no number of ranks: it has the state of each walk, item or row, and a search
recomputes the rest. A `core.search.run.Run` asks its `Checkpointer` between launches whether a checkpoint is due; all
ranks then synchronise, and the first one assembles and keeps it. A search gets a checkpoint only in exchange for its
layout (`core.search.checkpoint_layout`).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from core.errors import UserError
from core.search.checkpoint_layout import Checkpoint, CheckpointArray, CheckpointLayout, check_layout

CHECKPOINT_INTERVAL_S = 60.0
"""A state is kept so often."""
HOLD_EVERY_S, HOLD_RATIO = 1.0, 20.0
"""A state that all ranks hold is renewed so often, or when so many times as long has passed as that took."""
TERMINATED = 143
"""The exit code of a process that SIGTERM has ended, as shells count: 128 + 15."""
SECONDS = "seconds"
MOST_SECONDS = 1e10
"""Three centuries."""


class Terminated(SystemExit):
    """The run was asked to end, and does, with exit code `TERMINATED`: its state is kept."""

    def __init__(self) -> None:
        super().__init__(TERMINATED)


class Checkpointer:
    """Keeps the states of one run, on every rank.

    Parameters
    ----------
    write
        Keeps a state for good, in place of the one before; called on the first rank. May raise OSError or UserError.
        None: nothing is kept for good.
    earlier : State, optional
        Where the run goes on from, the same on all ranks; None: it begins.
    every_s : float
        Seconds from one state to the next.
    hold
        Called with every state on every rank, so that other ranks can resume after a loss. None: no rank holds states.
    source
        The file of ``earlier``, for messages.

    Raises
    ------
    UserError
        ``earlier`` does not say how many seconds it took.

    Attributes
    ----------
    asked : bool
        Whether this process was asked to end, by a signal: it does so as soon as a state is kept.
    before_s : float
        Seconds that the run had taken when the state was kept from which it goes on.
    goes_on : bool
        True if the run resumes from a state.

    """

    def __init__(
        self,
        write: Callable[[Checkpoint], None] | None,
        earlier: Checkpoint | None = None,
        every_s: float = CHECKPOINT_INTERVAL_S,
        hold: Callable[[Checkpoint], None] | None = None,
        source: str = "the state of the search",
    ) -> None:
        self.write = write
        self.every_s = every_s
        self.hold = hold
        self.asked = False
        self.source = source
        self.earlier: Checkpoint | None = None
        self.before_s, self.goes_on = 0.0, False
        self.kept = self.held = self.began = time.perf_counter()
        self.hold_every_s = HOLD_EVERY_S
        if earlier is not None:
            self.resume_from(earlier)

    def resume_from(self, state: Checkpoint) -> None:
        """Let the run resume from a state, of which nothing is checked yet but its seconds.

        Raises
        ------
        UserError
            It does not say how many seconds it took.

        """
        seconds = {name: one for name, one in state.items() if name == SECONDS}
        self.before_s = float(check_layout(seconds, seconds_layout, self.source)[SECONDS])
        self.earlier = {name: one for name, one in state.items() if name != SECONDS}
        self.goes_on = True
        self.began = time.perf_counter() - self.before_s

    def passed_on(self) -> Checkpoint | None:
        """Return the state from which the run would resume, for another checkpointer of the same run."""
        earlier, self.earlier = self.earlier, None
        return None if earlier is None else {**earlier, SECONDS: np.array(self.before_s)}

    def taken(self, layout: CheckpointLayout) -> Checkpoint | None:
        """Return the state from which a run resumes, once: what follows in the same run begins.

        Raises
        ------
        UserError
            It does not have the layout; all ranks have the same state and raise the same error.

        """
        earlier, self.earlier = self.earlier, None
        return None if earlier is None else check_layout(earlier, layout, self.source)

    def is_due(self) -> bool:
        """Whether this rank wants a state to be kept: if one does, all meet and call `keep`."""
        is_old = self.hold is not None and time.perf_counter() - self.held >= self.hold_every_s
        return self.asked or is_old or self.is_due_for_good()

    def is_due_for_good(self) -> bool:
        """Whether the state on the disk, if there shall be one, is as old as it may get."""
        return self.write is not None and time.perf_counter() - self.kept >= self.every_s

    def keep(self, ranks: Any, state: Checkpoint | None) -> None:
        """Keep the state that the first rank gives; all ranks call this together.

        A disk that refuses it is no reason to end a run: the state before remains, and a warning says so.

        Raises
        ------
        Terminated
            On all ranks, if one was asked to end; on the first, whose state could not be kept, the reason for that.

        """
        began = time.perf_counter()
        if state is not None:
            state = {**state, SECONDS: np.array(began - self.began)}
        if self.hold is not None:
            state = ranks.bcast(state)
            assert state is not None
            self.hold(state)
            self.held = time.perf_counter()
            self.hold_every_s = max(HOLD_EVERY_S, HOLD_RATIO * (self.held - began))
        asked, due = ranks.sum(np.array([self.asked, self.is_due_for_good()], np.int64))
        refused: Exception | None = None
        if asked or due:
            if state is not None and ranks.rank == 0 and self.write is not None:
                try:
                    self.write(state)
                except (OSError, UserError) as error:
                    refused = error
            self.kept = time.perf_counter()
        if asked:
            raise refused or Terminated()
        if refused is not None:
            warnings.warn(f"{refused}: no state is kept, the run continues", stacklevel=2)


def seconds_layout(state: Checkpoint) -> Iterator[CheckpointArray]:
    """Declare the seconds that a run had taken, which every state has."""
    yield CheckpointArray(SECONDS, np.float64, (), [(0, MOST_SECONDS)])


def take_checkpoint(checkpointer: Checkpointer | None, layout: CheckpointLayout) -> Checkpoint | None:
    """Return the state from which a run resumes, or None where it begins; see `Checkpointer.taken`."""
    return checkpointer.taken(layout) if checkpointer is not None else None


def seconds_before(checkpointer: Checkpointer | None) -> float:
    """Seconds that a run had taken before it goes on here; 0 where it begins."""
    return checkpointer.before_s if checkpointer is not None else 0.0
