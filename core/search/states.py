"""States of searches: what another process needs to go on from where this one stands, and who keeps them.

A state is of no backend and no number of ranks: it holds what the search is, by walk or by item, and what a backend
keeps besides is made anew from it. A search asks its `Keeper` between launches whether a state is due, as it asks its
`core.search.shape.Watch` whether to end; all ranks then meet, the first one puts the state together, and keeps it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from core.errors import UserError

EVERY_S = 60.0
"""A state is kept so often."""
TERMINATED = 143
"""The exit code of a process that SIGTERM has ended, as shells count: 128 + 15."""
SECONDS = "seconds"

State = dict[str, np.ndarray]
"""Arrays by name; a number is an array of shape ()."""


class Terminated(SystemExit):
    """The run was asked to end, and does, with exit code `TERMINATED`: its state is kept."""

    def __init__(self) -> None:
        super().__init__(TERMINATED)


class Keeper:
    """Keeps the states of one run, on every rank.

    Parameters
    ----------
    write
        Keeps a state for good, in place of the one before; called on the first rank. May raise OSError or UserError.
    earlier : State, optional
        Where the run goes on from, the same on all ranks; None: it begins.
    every_s : float
        Seconds from one state to the next.

    Attributes
    ----------
    asked : bool
        Whether this process was asked to end, by a signal: it does so as soon as a state is kept.

    """

    def __init__(self, write: Callable[[State], None], earlier: State | None = None, every_s: float = EVERY_S) -> None:
        self.write = write
        self.every_s = every_s
        self.asked = False
        self.go_on(earlier)

    def go_on(self, earlier: State | None) -> None:
        """Begin a run, from this state if there is one."""
        self.earlier = earlier
        self.before_s = 0.0 if earlier is None else float(earlier[SECONDS])
        """Seconds that the run had taken when the state was kept."""
        self.kept = time.perf_counter()
        self.began = self.kept - self.before_s

    def taken(self) -> State | None:
        """The state from which a run goes on, once: what follows in the same run begins."""
        earlier, self.earlier = self.earlier, None
        return earlier

    def is_due(self) -> bool:
        """Whether this rank wants a state to be kept: if one does, all meet and call `keep`."""
        return self.asked or time.perf_counter() - self.kept >= self.every_s

    def keep(self, ranks: Any, state: State | None) -> None:
        """Keep the state that the first rank gives; all ranks call this together.

        A disk that refuses it is no reason to end a run: the state before remains, and a warning says so.

        Raises
        ------
        Terminated
            On all ranks, if one was asked to end; on the first, whose state could not be kept, the reason for that.

        """
        refused: Exception | None = None
        if ranks.rank == 0 and state is not None:
            try:
                self.write({**state, SECONDS: np.array(time.perf_counter() - self.began)})
            except (OSError, UserError) as error:
                refused = error
        asked = ranks.sum(int(self.asked))
        self.kept = time.perf_counter()
        if asked:
            raise refused or Terminated()
        if refused is not None:
            warnings.warn(f"{refused}: no state is kept, the run goes on", stacklevel=2)


def spent_s(keeper: Keeper | None) -> float:
    """Seconds that a run had taken before it goes on here; 0 where it begins."""
    return keeper.before_s if keeper is not None else 0.0
