"""Outcome of ant colony optimisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.search.protocol import Digested, alias


@dataclass(frozen=True)
class ColonyOutcome(Digested):
    """What the ants of all ranks together found.

    Attributes
    ----------
    length, colony, ant, iteration : int
        The shortest tour, and who found it first.
    evaluations : int
        Cities that ants looked at to choose the next: n for each of n choices, visited or not, as equation 1 counts.
    digest : int
        64-bit digest of every (colony, iteration, ant, length): a sum, so of no order.
    curve : ndarray, shape (iterations,), uint32
        Length of each iteration's best tour.
    history : list of list, optional
        Rows [iteration, evaluations, seconds, best length] of the iterations that improved the best of all colonies,
        counted from 0; evaluations and seconds when all colonies had made that iteration. None: not asked for.
    tour : ndarray, shape (n,), int64, or None
        The shortest tour, in the instance's numbers; None: not fetched yet.
    finished : bool
        Whether the stop criteria ended the search; False: its callback did.
    by_time : bool
        True if the time limit ended the search: another run with the same seed ends elsewhere, with another hash.

    """

    length: int
    colony: int
    ant: int
    iteration: int
    evaluations: int
    digest: int
    curve: np.ndarray
    history: list[list[Any]] | None = None
    tour: np.ndarray | None = None
    finished: bool = True
    by_time: bool = False

    cost, solution = alias("length"), alias("tour")
