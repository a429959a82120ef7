"""Iterative hill climbing with random restart for the TSP (`oneil2011`): many independent 2-opt climbs, the best wins.

A climb depends on nothing but its number, so devices take climbers by ticket, ranks by share or in batches, and the
result is the same: best (length, climber) by one reduction, and a digest of every climb's (climber, length, steps).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from core.errors import UserError
from core.kernels import two_opt
from core.kernels.tours import start_tours
from core.kernels.two_opt import MOST_CITIES, CountedClimbs
from core.search.batches import Batches
from core.search.shares import alike, share
from core.search.two_opt_scans import Scan, scan_for

NOTHING = np.iinfo(np.uint64).max
FEWEST_CITIES = 5
STARTS = ("oneil2011", "philox")
PERIOD = 2**31
"""Climbers that the paper's generator tells apart."""
BATCH = 1 << 17
"""Climbers whose tours lie in the device's memory at a time, if the scan does not ask for more."""
PARTS = 20
"""Into which work is cut where a progress bar shows."""


class Outcome(NamedTuple):
    """The outcome of all climbs of all ranks.

    Attributes
    ----------
    length, climber : int
        The shortest tour, and the smallest number of a climber that reached it.
    steps : int
        Steps of all climbs, the last one of each, which finds no move, included.
    evaluations : int
        Moves evaluated, as the scan counts them.
    digest : int
        64-bit digest of the trajectories: a sum over climbs, so of no order.

    """

    length: int
    climber: int
    steps: int
    evaluations: int
    digest: int


class HillClimbing:
    """Iterative hill climbing on one instance and one device, ready to be repeated.

    Parameters
    ----------
    backend
        A `backends.base.Backend`.
    communicator
        A `cluster.Communicator`, or a rehearsal of one; every rank constructs and calls the same.
    distances : ndarray, shape (n, n), uint16 or uint32
        Symmetric.
    start
        ``oneil2011``, the generator of the paper's released program, or ``philox``, counter-based.
    seed
        Of the counter-based start; the paper's generator takes none.
    scan
        ``pruned``, ``full`` or ``auto``: see `core.search.two_opt_scans`. The trajectory is the same.
    published
        None: the suite's mapping. The paper's mapping, in which a climber is one lane, is asked for by how lanes get
        their climbers: ``static``, ``worklist``, or ``auto`` (see `core.search.two_opt_scans.LanesScan`). The
        trajectory is the same.
    name
        Of the instance, for messages.

    Raises
    ------
    UserError
        Too few or too many cities, too many for the scan, or tours whose length does not fit 31 bits.

    """

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        distances: np.ndarray,
        *,
        start: str = "oneil2011",
        seed: int = 0,
        scan: str = "auto",
        published: str | None = None,
        name: str = "the instance",
    ) -> None:
        n = len(distances)
        check_cities(n, name)
        if start not in STARTS:
            raise UserError(f"start {start!r}; choose one of {', '.join(STARTS)}")
        check_lengths(n, int(distances.max()), name)
        self.backend = backend
        self.communicator = communicator
        self.n = n
        self.start = start
        self.seed = seed
        self.scan: Scan = scan_for(scan, backend, distances, published)
        self.ticket = backend.allocate(1, np.uint32)
        self.best = backend.allocate(1, np.uint64)
        self.totals = backend.allocate(two_opt.TOTALS, np.uint64)
        self.tours: Any = None
        self.speed, self.is_measured = 0.0, False
        """Climbs per second of this device; guessed from one climb until batches have measured it."""
        self.met: Any = None
        self.are_alike = True
        self.notes: list[str] = []

    def warm_up(self) -> None:
        """Climb once, so that everything is compiled; the time counts as the backend's compilation."""
        backend = self.backend
        with backend.warming_up():
            self._climb_batch(0, 1)
            backend.synchronize()
            if backend.timings.kernel_s > 0:
                self.speed = self.scan.climbers_at_a_time() / backend.timings.kernel_s

    def run(self, climbers: int, advance: Callable[[int], None] | None = None, ranks: Any = None) -> Outcome:
        """Run climbers 0 to ``climbers`` - 1, shared out over the ranks.

        Ranks with devices of one kind have equal shares; others take batches that fit their speed, one after another.

        Parameters
        ----------
        climbers
            How many climbs, over all ranks.
        advance
            Called with the number of climbers that have finished since the last call, of this rank's or, where ranks
            take batches, of all divided by their number; with it, work is launched in smaller parts.
        ranks
            The communicator of those who climb together; None: that of the constructor.

        Raises
        ------
        UserError
            The start tours would repeat.

        """
        if self.start == "oneil2011" and climbers > PERIOD:
            raise UserError(f"the generator oneil2011 has {PERIOD} start tours, not {climbers}; use --start philox")
        ranks = ranks or self.communicator
        self.backend.write(self.totals, np.zeros(two_opt.TOTALS, np.uint64))
        if self.met is not ranks:
            self.met, self.are_alike = ranks, alike(self.backend, ranks)
        if self.are_alike:
            length, climber = self._climb(*share(climbers, ranks.rank, ranks.size), advance)
        else:
            length, climber = self._climb_in_batches(climbers, advance, ranks)
        totals = self.backend.download(self.totals)
        totals[two_opt.EVALUATIONS] += totals[two_opt.STEPS] * np.uint64(self.scan.evaluations_per_step)
        totals = ranks.sum(totals)
        length, climber = ranks.minloc(length, climber)
        steps, evaluations, digest = (int(totals[k]) for k in (two_opt.STEPS, two_opt.EVALUATIONS, two_opt.DIGEST))
        return Outcome(length, climber, steps, evaluations, digest)

    def _climb(self, begin: int, end: int, advance: Callable[[int], None] | None) -> tuple[int, int]:
        """Climb as the climbers from ``begin`` to ``end`` - 1: the shortest length, and who has it first."""
        best = (int(NOTHING), 0)
        part = self._batch(end - begin, advance is not None)
        for first in range(begin, end, part):
            count = min(part, end - first)
            self._climb_batch(first, count)
            key = int(self.backend.download(self.best)[0])
            best = min(best, (key >> 32, first + (key & 0xFFFFFFFF)))
            if advance is not None:
                advance(count)
        return best

    def _climb_in_batches(self, climbers: int, advance: Callable[[int], None] | None, ranks: Any) -> tuple[int, int]:
        """Climb together with faster and slower ranks."""
        best = (int(NOTHING), 0)
        least = max(self.scan.fewest_climbers(), self.scan.climbers_at_a_time())
        first = climbers if self.is_measured else max(least, climbers // (PARTS * ranks.size))
        most = max(least, climbers // PARTS) if advance is not None else climbers
        batches = Batches(ranks, climbers, first, least=least, most=most, speed=self.speed)
        shown = 0
        for begin, end in batches:
            best = min(best, self._climb(begin, end, None))
            if advance is not None:
                finished = batches.taken() // ranks.size
                advance(finished - shown)
                shown = finished
        if advance is not None:
            advance(climbers // ranks.size - shown)
        self.is_measured = self.is_measured or batches.done > 0
        self.speed = batches.speed
        batches.close()
        return best

    def tour_of(self, climber: int) -> np.ndarray:
        """Climb again as one climber.

        Returns
        -------
        ndarray, shape (n,), int64
            The local optimum that it reaches, from city 0.

        """
        self._batch(1, False)
        self._climb_batch(climber, 1)
        return self.backend.download(self.tours)[: self.n].astype(np.int64)

    def _batch(self, share: int, in_parts: bool) -> int:
        """Climbers to launch at a time: as many as the device's memory holds, halving until they fit."""
        fewest = self.scan.fewest_climbers()
        part = max(1, min(share, max(BATCH, fewest), (2**31 - 1) // self.n))
        if in_parts:
            part = max(1, min(part, max(share // PARTS, fewest)))
        while self.tours is None or self.tours.size < part * self.n:
            try:
                self.tours = self.backend.allocate(part * self.n, np.uint16)
            except MemoryError as error:
                if part == 1:
                    raise
                part //= 2
                self.notes.append(f"{error}: {part} climbers at a time")
        return part

    def _climb_batch(self, first: int, count: int) -> None:
        """Queue the climbs of climbers ``first`` to ``first + count - 1``."""
        if self.tours is None:
            self._batch(count, False)
        backend = self.backend
        backend.write(self.ticket, np.zeros(1, np.uint32))
        backend.write(self.best, np.full(1, NOTHING))
        lanes = min(64, backend.capabilities.max_team_size)
        teams = min(-(-count // lanes), 16 * backend.capabilities.compute_units)
        counter_based = self.start == "philox"
        backend.launch(start_tours, teams, lanes, self.tours, self.n, count, first, self.seed, counter_based)
        self.scan.launch(CountedClimbs(self.n, self.tours, count, self.ticket, first, self.best, self.totals))


def check_cities(n: int, name: str) -> None:
    """Raise `UserError` unless hill climbing takes so many cities."""
    if not FEWEST_CITIES <= n <= MOST_CITIES:
        raise UserError(f"{name} has {n} cities: hill climbing takes {FEWEST_CITIES} to {MOST_CITIES} cities, not {n}")


def check_lengths(n: int, longest: int, name: str) -> None:
    """Raise `UserError` unless every tour of ``n`` cities at distances up to ``longest`` has a length of 31 bits."""
    if n * longest >= 2**31:
        raise UserError(f"{name}: tours of {n} cities at distances up to {longest} do not fit 31 bits")
