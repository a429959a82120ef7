"""The colonies of one rank, or its part of the ants of a colony that ranks share, and their exchange of tours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.kernels.ant_colony.ants import Ant
from core.search.ant_colony.colony import UNKNOWN, Colony
from core.search.ant_colony.instance import ColonyInstance

NO_LENGTH = 2**64 - 1
"""Value of `Communicator.minloc` for a rank without a tour."""


class ColonyGroup:
    """The colonies of this rank, which run one after another, and their best tour.

    Parameters
    ----------
    ground
        The instance on the device.
    ranks
        The communicator of all ranks.
    colonies
        Those of this rank; there may be none.
    is_shared
        True if there is one colony, and each rank has a part of its ants.

    Attributes
    ----------
    winner : tuple of int
        Length, colony, iteration and ant of the best tour of all ranks, as of the last `find_best`; empty before it.

    """

    def __init__(self, ground: ColonyInstance, ranks: Any, colonies: Sequence[Colony], is_shared: bool) -> None:
        self.ground, self.ranks, self.colonies, self.is_shared = ground, ranks, colonies, is_shared
        self.backend = ground.backend
        self.leader = self.backend.rows(Ant(n=ground.n, first=0), 1)
        self.winner: tuple[int, ...] = ()

    def join(self, ranks: Any) -> None:
        """Communicate with these ranks from now on; those that have ants of one colony each join it."""
        self.ranks = ranks
        if self.is_shared:
            self.colonies[0].join(self.backend.collectives(ranks))

    def begin(self, places: int) -> None:
        """Put the first pheromone on all trails, with room for the lengths of ``places`` iterations."""
        self.winner = ()
        for colony in self.colonies:
            colony.begin(places)

    def iterate(self, done: int, iterations: int, made: Callable[[Colony, int], None]) -> None:
        """Make iterations of all colonies, after ``done`` earlier ones.

        Parameters
        ----------
        done, iterations
        made
            Called with a colony and its number of iterations after they are made.

        """
        for colony in self.colonies:
            colony.make_places(done + iterations)
            colony.replay(iterations)
            self.backend.synchronize()
            made(colony, done + iterations)

    def exchange(self) -> None:
        """Give every colony the best tour of all."""
        self.find_best()
        length, number, _, ant = self.winner
        mine = next((c for c in self.colonies if c.number == number), None)
        tour = self.backend.download(mine.memory.best) if mine else np.zeros(self.ground.n, np.uint16)
        self.leader.bundle.first = ant
        self.backend.write(self.leader.tour, self.ranks.sum(tour))
        for colony in self.colonies:
            self.backend.write(colony.memory.least, np.array([length << 32 | ant], np.uint64))
            colony.judge(self.leader)

    def find_best(self) -> None:
        """Learn which colony of all ranks has the best tour; one that others adopted remains its finder's."""
        found = {colony.number: colony.found.best() for colony in self.colonies}
        best_here = min(((best[0], number) for number, best in found.items()), default=(NO_LENGTH, NO_LENGTH))
        length, number = self.ranks.minloc(*best_here)
        _, iteration, ant = found.get(number, (0, NO_LENGTH, NO_LENGTH))
        iteration, ant = self.ranks.minloc(iteration, ant)
        if not self.winner or length < self.winner[0]:
            self.winner = (length, number, iteration, ant)

    def best_here(self) -> int | None:
        """Return the least length of this rank's colonies, None if it has none; waits for the device."""
        return min((colony.found.best()[0] for colony in self.colonies), default=None)

    def best_tour(self) -> np.ndarray:
        """Return the best tour of all ranks: shape (n,), int64, in the instance's numbers; all ranks call this."""
        tour = np.zeros(self.ground.n, np.int64)
        for colony in self.colonies:
            if colony.number == self.winner[1]:
                tour = colony.found.tour()
        order: np.ndarray = self.ground.order
        return order[self.ranks.sum(tour)]

    def digest(self) -> int:
        """Return the digest of all ranks; all of them call this."""
        digest = np.zeros(1, np.uint64)
        for colony in self.colonies:
            digest += self.backend.download(colony.memory.digest)
        return int(self.ranks.sum(digest)[0])

    def curve(self, done: int) -> np.ndarray:
        """Return the least length of each iteration, over all colonies of all ranks, on every rank: (done,), uint32."""
        nothing = np.full(done, UNKNOWN, np.uint32)
        curve = np.minimum.reduce([nothing, *(colony.found.lengths(done) for colony in self.colonies)])
        curves = self.ranks.gather(curve)
        shortest: np.ndarray = self.ranks.bcast(None if curves is None else np.minimum.reduce(curves))
        return shortest
