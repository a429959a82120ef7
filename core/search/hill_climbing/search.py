"""Iterative hill climbing with random restart for the TSP (`oneil2011`): many independent 2-opt climbs, the best wins.

A climb depends on nothing but its number, so devices take climbers by ticket, ranks by share or in batches, and the
result is the same: best (length, climber) by one reduction, and a digest of every climb's (climber, length, steps).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np

from core.errors import UserError
from core.kernels.two_opt import climbs as two_opt_climbs
from core.kernels.two_opt.climbs import MOST_CITIES, CountedClimbs
from core.kernels.two_opt.start_tours import start_tours
from core.search.batches import Batches, EqualShare
from core.search.checkpoint import Checkpointer
from core.search.checkpoint_layout import Checkpoint, CheckpointArray
from core.search.hill_climbing.outcome import NOTHING, HillClimbOutcome, HillClimbState, nothing_climbed
from core.search.hill_climbing.scans import Scan, scan_for
from core.search.intervals import Intervals
from core.search.partition import equal_part, have_equal_devices
from core.search.protocol import Callback
from core.search.run import AsynchronousRun, Step, execute
from core.search.stop import Stop, checked_stop

FEWEST_CITIES = 5
STARTS = ("oneil2011", "philox")
PERIOD = 2**31
"""Climbers that the paper's generator tells apart."""
BATCH = 1 << 17
"""Climbers whose tours lie in the device's memory at a time, if the scan does not ask for more."""
MOST_CLIMBERS = 1 << 62
"""The counter of all ranks has 63 bits."""
PARTS = 20
"""Ranks of unlike speeds begin with batches of this part of their share."""


class HillClimbing:
    """Iterative hill climbing on one instance and one device, ready to be repeated.

    Parameters
    ----------
    backend
        A `backends.launch.Backend`.
    communicator
        A `cluster.Communicator`, or a rehearsal of one; every rank constructs and calls the same.
    distances : ndarray, shape (n, n), uint16 or uint32
        Symmetric.
    start
        ``oneil2011``, the generator of the paper's released program, or ``philox``, counter-based.
    seed
        Of the counter-based start; the paper's generator takes none.
    scan
        ``pruned``, ``full`` or ``auto``: see `core.search.hill_climbing.scans`. The trajectory is the same.
    published
        None: the native mapping. The paper's mapping, in which a climber is one lane, is asked for by how lanes get
        their climbers: ``static``, ``worklist``, or ``auto`` (see `core.search.hill_climbing.scans.LanesScan`). The
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
        self.totals = backend.allocate(two_opt_climbs.TOTALS, np.uint64)
        self.tours: Any = None
        self.speed, self.is_measured = 0.0, False
        """Climbs per second of this device; guessed from one climb until batches have measured it."""
        self.met: Any = None
        self.are_alike = True
        self.notes: list[str] = []
        self.room = MOST_CLIMBERS
        """Climbers whose tours fit the device's memory, as far as allocations have shown."""

    def warm_up(self) -> None:
        """Climb once, so that everything is compiled; the time counts as the backend's compilation."""
        backend = self.backend
        with backend.warming_up():
            self._climb_batch(0, 1)
            backend.synchronize()
            if backend.timings.kernel_s > 0:
                self.speed = self.scan.climbers_at_a_time() / backend.timings.kernel_s

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Any = None,
        checkpointer: Checkpointer | None = None,
        trace: bool = True,
    ) -> HillClimbOutcome:
        """Climb from random tours, as climbers 0, 1, 2, ..., which are shared out over the ranks.

        Ranks with devices of one kind have equal shares; others take batches that fit their speed, one after another.

        Parameters
        ----------
        stop
            Its ``iterations`` are climbs, over all ranks; of its criteria all but ``patience`` are honoured, time and
            target between launches.
        history
            Whether `HillClimbOutcome.history` says when the shortest length improved.
        callback
            See `core.search.protocol.Callback`. Its steps are climbs: of this rank's share or, where ranks take
            batches, of all divided by their number. Where there is one work is launched in smaller parts; so it is for
            a history, a time and a target.
        ranks
            The communicator of those who climb together; None: that of the constructor.
        checkpointer
            See `core.search.protocol.Search.run`. A state is which climbers have climbed, and what they have found.
        trace
            Whether the shortest tour is wanted too, which takes one climb more; see `tour_of`.

        Raises
        ------
        UserError
            A criterion that is none, nothing that would end the search, or start tours that would repeat.

        """
        stop = checked_stop(stop, "hill climbing", "iterations", "seconds", "target", callback=callback,
                            most=MOST_CLIMBERS)  # fmt: skip
        climbers = stop.iterations
        if self.start == "oneil2011" and climbers > PERIOD:
            raise UserError(f"the generator oneil2011 has {PERIOD} start tours, not {climbers}; use --start philox")
        run = AsynchronousRun(ranks or self.communicator, stop, callback, checkpointer=checkpointer, history=history)
        found = execute(self, run)
        return found._replace(tour=self.tour_of(found.climber)) if trace else found

    # --- the search, as the run loop calls it ---

    def begin(self, run: AsynchronousRun, checkpoint: Checkpoint | None) -> None:
        """See `core.search.run.Steps`: no climber has climbed, or those that a checkpoint does not have left."""
        ranks, climbers = run.ranks, run.stop.iterations
        self.backend.write(self.totals, np.zeros(two_opt_climbs.TOTALS, np.uint64))
        if self.met is not ranks:
            self.met, self.are_alike = ranks, have_equal_devices(self.backend, ranks)
        self.before = HillClimbState.of(checkpoint) if checkpoint is not None else nothing_climbed(climbers)
        self.left, self.shortest, self.made = self.before.left, (int(NOTHING), 0), 0
        run.begin_samples(None, self.before.history, (self.before.evaluations, self.before.climbs))
        if run.stop.limit is not None:
            begin, end = equal_part(climbers, ranks.rank, ranks.size) if self.are_alike else (0, climbers // ranks.size)
            run.monitor.total = end - begin

    def step(self, run: AsynchronousRun) -> Step:
        """See `core.search.run.Steps`: climb from random tours to local optima, and keep the best of all."""
        batches, taken, before = self._batches(run), [], self.made
        for begin, end in batches:
            began = time.perf_counter()
            for first, behind in self.left.part(begin, end).pairs:
                self._climb(first, behind)
            taken.append((begin, end))
            self.made += end - begin
            spent = time.perf_counter() - began
            next_s = spent * min(1.0, self._least() / (end - begin)) if batches.has_more else 0.0
            if self._report(run, before + batches.taken() // run.ranks.size, next_s):
                break
            batches.seconds = run.launch_s
        batches.close()
        if isinstance(batches, Batches):
            self.speed, self.is_measured = batches.speed, self.is_measured or batches.done > 0
        self.left = self.left.less_taken(run.ranks, taken) if run.is_watched else Intervals([])
        return Step(undone=self.left.count)

    def checkpoint(self, run: AsynchronousRun) -> Checkpoint:
        """See `core.search.run.Steps`: which climbers have climbed, and what they have found."""
        return self._found(run)._replace(history=run.history_rows(numbered=False)).state()

    def layout(self, run: AsynchronousRun, state: Checkpoint) -> Iterator[CheckpointArray]:
        """See `core.search.run.Steps`."""
        return nothing_climbed(run.stop.iterations).layout(state, run.before_s, run.has_history)

    def result(self, run: AsynchronousRun) -> HillClimbOutcome:
        """See `core.search.run.Steps`: the outcome without its tour."""
        found, climbers, total = self._found(run), run.stop.iterations, run.monitor.total
        is_complete = found.climbs == climbers
        run.end(total if is_complete and total is not None else self._steps(run, self.made), found.length)
        return HillClimbOutcome(
            found.length,
            found.climber,
            found.steps,
            found.evaluations,
            found.digest,
            found.climbs,
            history=run.history(numbered=False),
            finished=is_complete or not run.is_interrupted,
        )

    def _batches(self, run: AsynchronousRun) -> EqualShare | Batches:
        """Return the batches of climbers that this rank makes: of an equal share, or by speed."""
        ranks, climbers, least, launch_s = run.ranks, self.left.count, self._least(), run.launch_s
        if self.are_alike:
            return EqualShare(ranks, climbers, least=least, seconds=launch_s)
        first = climbers if self.is_measured else max(least, climbers // (PARTS * ranks.size))
        return Batches(
            ranks, climbers, first if launch_s == inf else least, least=least, seconds=launch_s, speed=self.speed
        )

    def _report(self, run: AsynchronousRun, made: int, next_s: float) -> bool:
        """Report this rank's progress. Return True if the ranks synchronise."""
        if run.samples is not None:
            run.sample(self.shortest[0], int(self._totals()[two_opt_climbs.EVALUATIONS]), self.made)
        return run.report(self._steps(run, made), self.shortest[0], next_s=next_s)

    def _steps(self, run: AsynchronousRun, further: int) -> int:
        """Climbs of this rank, those before the checkpoint included."""
        return self.before.climbs // run.ranks.size + further

    def _found(self, run: AsynchronousRun) -> HillClimbState:
        """Return what the climbers of all ranks have found; all ranks call this."""
        return self.before.with_more(run.ranks.minloc(*self.shortest), run.ranks.sum(self._totals()), self.left)

    def _totals(self) -> np.ndarray:
        """What this rank's climbs have counted since the run began."""
        totals = self.backend.download(self.totals)
        totals[two_opt_climbs.EVALUATIONS] += totals[two_opt_climbs.STEPS] * np.uint64(self.scan.evaluations_per_step)
        return totals

    def _climb(self, first: int, end: int) -> None:
        """Climb as the climbers from ``first`` to ``end - 1``, in launches that memory has room for."""
        while first < end:
            count = self._batch(end - first)
            self._climb_batch(first, count)
            key = int(self.backend.download(self.best)[0])
            self.shortest = min(self.shortest, (key >> 32, first + (key & 0xFFFFFFFF)))
            first += count

    def _least(self) -> int:
        """Climbers of the smallest launch that keeps the device busy."""
        return max(self.scan.fewest_climbers(), self.scan.climbers_at_a_time())

    def tour_of(self, climber: int) -> np.ndarray:
        """Climb again as one climber.

        Returns
        -------
        ndarray, shape (n,), int64
            The local optimum that it reaches, from city 0.

        """
        self._batch(1)
        self._climb_batch(climber, 1)
        return self.backend.download(self.tours)[: self.n].astype(np.int64)

    def _batch(self, climbers: int) -> int:
        """Climbers to launch at a time: as many of these as the device's memory holds, halving until they fit."""
        part = max(1, min(climbers, self.room, max(BATCH, self.scan.fewest_climbers()), (2**31 - 1) // self.n))
        while self.tours is None or self.tours.size < part * self.n:
            try:
                self.tours = self.backend.allocate(part * self.n, np.uint16)
            except MemoryError as error:
                if part == 1:
                    raise
                self.room = part = part // 2
                self.notes.append(f"{error}: {part} climbers at a time")
        return part

    def _climb_batch(self, first: int, count: int) -> None:
        """Queue the climbs of climbers ``first`` to ``first + count - 1``."""
        if self.tours is None:
            self._batch(count)
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
