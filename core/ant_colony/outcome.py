"""Outcome of ant colony optimisation, and its history.

Lengths come from the curve of all iterations, seconds from the host's clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.ant_colony.colony import UNKNOWN, Colony
from core.ranks import Ranks
from core.run.protocol import Digested, alias


@dataclass(frozen=True)
class ColonyOutcome(Digested):
    """Result of the ants of all ranks together.

    Attributes
    ----------
    length, colony, ant, iteration : int
        The shortest tour's length, with the first ant that found it.
    evaluations : int
        Cities considered by ants: n for each of n choices, visited or not, as equation 1 counts.
    digest : int
        64-bit digest of every (colony, iteration, ant, length): a sum, in any order.
    curve : ndarray, shape (iterations,), uint32
        Length of each iteration's best tour.
    history : list of list, optional
        Rows [iteration, evaluations, seconds, best length] of the iterations that improved the best of all colonies,
        counted from 0; evaluations and seconds when all colonies had made that iteration. None unless requested.
    tour : ndarray, shape (n,), int64, or None
        The shortest tour, in the instance's numbers; None until it is fetched.
    finished : bool
        True if the stop criteria ended the search; False if its callback did.
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


class ColonyHistory:
    """Times of the iterations of this rank's colonies.

    ``earlier`` has the rows of the history up to the checkpoint from which the run resumes, ``done`` its iterations,
    and ``seconds`` its run time; 0 for a new run.
    """

    def __init__(self, colonies: Sequence[Colony], earlier: list[list[Any]], done: int, seconds: float) -> None:
        known = {0: 0.0, **({done: seconds} if done else {})}
        known.update({int(iteration) + 1: time for iteration, _, time, _ in earlier})
        self.samples = {colony.number: sorted(known.items()) for colony in colonies}

    def add(self, colony: Colony, iterations: int, seconds: float) -> None:
        """Record the time of the run at which a colony has made its first ``iterations``."""
        self.samples[colony.number].append((iterations, seconds))

    def rows(self, ranks: Ranks, curve: np.ndarray, evaluations: int) -> list[list[Any]]:
        """Return the rows of `ColonyOutcome.history`, on every rank; all ranks call this.

        ``curve``, shape (iterations,), has the least length of each iteration; ``evaluations`` are those of one
        iteration of all colonies.
        """
        curve = curve.astype(np.int64)
        before = np.concatenate([[UNKNOWN], np.minimum.accumulate(curve)[:-1]])
        better = np.flatnonzero(curve < before)
        seconds = [np.interp(better + 1, *np.transpose(samples)) for samples in self.samples.values()]
        latest = np.max([np.zeros(len(better)), *seconds], axis=0)
        latest = ranks.bcast(np.max(ranks.gather(latest) or [latest], axis=0))
        rows = zip(better.tolist(), latest.tolist(), curve[better].tolist(), strict=True)
        return [[iteration, evaluations * (iteration + 1), time, length] for iteration, time, length in rows]
