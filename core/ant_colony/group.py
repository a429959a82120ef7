"""The colonies of one rank, or its part of the ants of a colony that ranks share, and their exchange of tours."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from core.ant_colony.colony import UNKNOWN, Colony
from core.ant_colony.instance import ColonyInstance
from core.ant_colony.kernels.ants import Ant
from core.ranks import Ranks

NO_LENGTH = 2**64 - 1
"""Value of `Communicator.minloc` for a rank without a tour."""


class ColonyGroup:
    """The colonies of this rank, which run one after another, and their best tour.

    ``is_shared`` is True if there is one colony, and each rank has a part of its ants. Otherwise a rank may have no
    colony. ``winner`` has length, colony, iteration and ant of the best tour of all ranks, as of the last `find_best`;
    empty before it.
    """

    def __init__(self, instance: ColonyInstance, ranks: Ranks, colonies: Sequence[Colony], is_shared: bool) -> None:
        self.instance, self.ranks, self.colonies, self.is_shared = instance, ranks, colonies, is_shared
        self.backend = instance.backend
        self.leader = self.backend.rows(Ant(n=instance.n, first=0), 1)
        self.winner: tuple[int, ...] = ()

    def join(self, ranks: Ranks) -> None:
        """Communicate with these ranks from now on; those with ants of one colony each join it."""
        self.ranks = ranks
        if self.is_shared:
            self.colonies[0].join(self.backend.collectives(ranks))

    def begin(self, places: int) -> None:
        """Put the first pheromone on all trails, with memory for the lengths of ``places`` iterations."""
        self.winner = ()
        for colony in self.colonies:
            colony.begin(places)

    def iterate(self, done: int, iterations: int, record: Callable[[Colony, int], None]) -> None:
        """Make iterations of all colonies, after ``done`` earlier ones.

        ``record`` is called with each colony and its number of iterations after they are made.
        """
        for colony in self.colonies:
            colony.make_places(done + iterations)
            colony.replay(iterations)
            self.backend.synchronize()
            record(colony, done + iterations)

    def exchange(self) -> None:
        """Set the best tour of all as that of every colony."""
        self.find_best()
        length, number, _, ant = self.winner
        mine = next((c for c in self.colonies if c.number == number), None)
        tour = self.backend.download(mine.memory.best) if mine else np.zeros(self.instance.n, np.uint16)
        self.leader.bundle.first = ant
        self.backend.write(self.leader.tour, self.ranks.sum(tour))
        for colony in self.colonies:
            self.backend.write(colony.memory.least, np.array([length << 32 | ant], np.uint64))
            colony.update_best(self.leader)

    def find_best(self) -> None:
        """Find the colony of all ranks with the best tour; one that others adopted remains its finder's."""
        best = {colony.number: colony.best() for colony in self.colonies}
        best_here = min(((length, number) for number, (length, _, _) in best.items()), default=(NO_LENGTH, NO_LENGTH))
        length, number = self.ranks.minloc(*best_here)
        _, iteration, ant = best.get(number, (0, NO_LENGTH, NO_LENGTH))
        iteration, ant = self.ranks.minloc(iteration, ant)
        if not self.winner or length < self.winner[0]:
            self.winner = (length, number, iteration, ant)

    def best_here(self) -> int | None:
        """Return the least length of this rank's colonies, None if it has none; waits for the device."""
        return min((colony.best()[0] for colony in self.colonies), default=None)

    def best_tour(self) -> np.ndarray:
        """Return the best tour of all ranks: shape (n,), int64, in the instance's numbers; all ranks call this."""
        best = (colony for colony in self.colonies if colony.number == self.winner[1])
        return self.ranks.sum(next((colony.best_tour() for colony in best), np.zeros(self.instance.n, np.int64)))

    def digest(self) -> int:
        """Return the digest of all ranks; all ranks call this."""
        digest = np.zeros(1, np.uint64)
        for colony in self.colonies:
            digest += self.backend.download(colony.memory.digest)
        return int(self.ranks.sum(digest)[0])

    def curve(self, done: int) -> np.ndarray:
        """Return the least length of each iteration, over all colonies of all ranks, on every rank: (done,), uint32."""
        nothing = np.full(done, UNKNOWN, np.uint32)
        curve = np.minimum.reduce([nothing, *(colony.lengths(done) for colony in self.colonies)])
        curves = self.ranks.gather(curve)
        return self.ranks.bcast(curve if curves is None else np.minimum.reduce(curves))
