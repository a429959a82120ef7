"""Iterative hill climbing with random restart for the TSP (`oneil2011`): many independent 2-opt climbs, the best wins.

A climb depends only on its number. Devices take climbers by ticket, ranks by share or in batches, and the result is the
same: best (length, climber) by one reduction, and a digest of every climb's (climber, length, steps).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from typing import Unpack

import numpy as np

from core.errors import UserError, check_choice
from core.hill_climbing.kernels import climbs as two_opt_climbs
from core.hill_climbing.kernels.climbs import MOST_CITIES, CountedClimbs, start_tours
from core.hill_climbing.outcome import NOTHING, HillClimbOutcome, HillClimbState, StepRange, nothing_climbed
from core.hill_climbing.scans import Scan, scan_for
from core.run.batches import Batches, EqualShare
from core.run.checkpoint import Checkpoint, CheckpointArray
from core.run.devices import ComputeDevice, DeviceArray, Ranks
from core.run.loop import AsynchronousRun, Step, execute
from core.run.partition import Intervals, equal_part, have_equal_devices
from core.run.protocol import Search, Watching
from core.run.stop import Stop, checked_stop
from core.tours.distances import check_lengths

BATCH = 1 << 17
"""Climbers with tours in the device's memory at a time, unless the scan needs more."""


class ClimbLauncher:
    """Launches climbs, as many at a time as fit the device's memory.

    ``notes`` has messages about batches that did not fit. For ``start`` and ``seed`` see `HillClimbing`.
    """

    def __init__(self, backend: ComputeDevice, scan: Scan, n: int, *, start: str, seed: int) -> None:
        self.backend, self.scan, self.n, self.start, self.seed = backend, scan, n, start, seed
        self.ticket = backend.allocate(1, np.uint32)
        self.extremes = backend.allocate(two_opt_climbs.EXTREMES, np.uint64)
        self.counted = backend.allocate(two_opt_climbs.TOTALS, np.uint64)
        self.tours: DeviceArray | None = None
        self.steps = StepRange()
        self.notes: list[str] = []
        self.room = (2**31 - 1) // n
        """Climbers of a launch at most: tours with indices of 31 bits, in memory that could be allocated."""

    def reset(self) -> None:
        self.steps = StepRange()
        self.backend.write(self.counted, np.zeros(two_opt_climbs.TOTALS, np.uint64))

    def climb(self, first: int, end: int) -> tuple[int, int]:
        """Climb as the climbers from ``first`` to ``end - 1``. Return the shortest length, and the first with it."""
        shortest = (int(NOTHING), 0)
        while first < end:
            count = self.make_room(end - first)
            self.launch(first, count)
            key, fewest, most = (int(word) for word in self.backend.download(self.extremes))
            shortest = min(shortest, (key >> 32, first + (key & 0xFFFFFFFF)))
            self.steps = self.steps.joined(StepRange(fewest, most ^ NOTHING))
            first += count
        return shortest

    def totals(self) -> np.ndarray:
        """Return the sums over all climbs since `reset`, as `core.hill_climbing.kernels.climbs` counts them."""
        totals = self.backend.download(self.counted)
        totals[two_opt_climbs.EVALUATIONS] += totals[two_opt_climbs.STEPS] * np.uint64(self.scan.evaluations_per_step)
        return totals

    def tour_of(self, climber: int) -> np.ndarray:
        """Climb again as one climber. Return its local optimum from city 0: shape (n,), int64."""
        self.make_room(1)
        self.launch(climber, 1)
        return self.backend.download(self.tours)[: self.n].astype(np.int64)

    def fewest_climbers(self) -> int:
        """Return the climbers of the smallest launch that keeps the device busy."""
        return max(self.scan.fewest_climbers(), self.scan.climbers_at_a_time())

    def make_room(self, climbers: int) -> int:
        """Allocate the tours of a launch. Return its number of climbers, halved until the tours fit the memory."""
        part = max(1, min(climbers, self.room, max(BATCH, self.scan.fewest_climbers())))
        while self.tours is None or self.tours.size < part * self.n:
            try:
                self.tours = self.backend.allocate(part * self.n, np.uint16)
            except MemoryError as error:
                if part == 1:
                    raise
                self.room = part = part // 2
                self.notes.append(f"{error}: {part} climbers at a time")
        return part

    def launch(self, first: int, count: int) -> None:
        """Queue the climbs of climbers ``first`` to ``first + count - 1``."""
        backend = self.backend
        assert self.tours is not None
        backend.write(self.ticket, np.zeros(1, np.uint32))
        backend.write(self.extremes, np.full(two_opt_climbs.EXTREMES, NOTHING))
        lanes = min(64, backend.capabilities.max_team_size)
        teams = min(-(-count // lanes), 16 * backend.capabilities.compute_units)
        counter_based = self.start == "philox"
        backend.launch(start_tours, teams, lanes, self.tours, self.n, count, first, self.seed, counter_based)
        self.scan.launch(CountedClimbs(self.n, self.tours, count, self.ticket, first, self.extremes, self.counted))


FEWEST_CITIES = 5
STARTS = ("oneil2011", "philox")
PERIOD = 2**31
"""Number of different climbers of the paper's generator."""
MOST_CLIMBERS = 1 << 62
"""The counter of all ranks has 63 bits."""
PARTS = 20
"""Ranks of unlike speeds begin with batches of this part of their share."""


class HillClimbing(Search):
    """Iterative hill climbing on one instance and one device, ready to be repeated.

    Parameters
    ----------
    backend, communicator
        See `core.run.protocol.Search`.
    distances : ndarray, shape (n, n), uint16 or uint32
        Symmetric.
    start
        ``oneil2011``, the generator of the paper's released program, or ``philox``, counter-based.
    seed
        Of the counter-based start; the paper's generator takes none.
    scan
        ``pruned``, ``full`` or ``auto``: see `core.hill_climbing.scans`. The trajectory is the same.
    published
        None for the native mapping. The paper's mapping, in which a climber is one lane, is named by the assignment of
        climbers to lanes: ``static``, ``worklist``, or ``auto`` (see `core.hill_climbing.scans.LanesScan`). The
        trajectory is the same.
    name
        Of the instance, for messages.

    Raises
    ------
    UserError
        Too few or too many cities, too many for the scan, or tours longer than 31 bits.
    """

    unit = "moves"

    def __init__(
        self,
        backend: ComputeDevice,
        communicator: Ranks,
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
        check_choice("start", start, STARTS)
        check_lengths(n, int(distances.max()), name)
        self.backend, self.communicator, self.start = backend, communicator, start
        chosen = scan_for(scan, backend, distances, published)
        self.launcher = ClimbLauncher(backend, chosen, n, start=start, seed=seed)
        self.speed, self.is_measured = 0.0, False
        """Climbs per second of this device; guessed from one climb until batches have measured it."""
        self.checked_ranks: Ranks | None = None
        self.are_alike = True

    @property
    def scan(self) -> Scan:
        return self.launcher.scan

    @property
    def notes(self) -> list[str]:
        return self.launcher.notes

    def warm_up(self) -> None:
        """Climb once, so that everything is compiled; the time counts as the backend's compilation."""
        backend = self.backend
        with backend.warming_up():
            self.launcher.tour_of(0)
            backend.synchronize()
            if backend.timings.kernel_s > 0:
                self.speed = self.scan.climbers_at_a_time() / backend.timings.kernel_s

    def join(self, ranks: Ranks) -> None:
        """Make a climb on every rank."""
        with self.backend.warming_up():
            speed = self.speed, self.is_measured
            self.run(Stop(iterations=ranks.size), ranks=ranks)
            self.speed, self.is_measured = speed

    def tour_of(self, climber: int) -> np.ndarray:
        return self.launcher.tour_of(climber)

    def run(
        self, stop: Stop | None = None, *, ranks: Ranks | None = None, trace: bool = True, **watching: Unpack[Watching]
    ) -> HillClimbOutcome:
        """Climb from random tours, as climbers 0, 1, 2, ..., which are distributed over the ranks.

        Ranks with devices of one kind have equal shares; others take successive batches by their speed. Raises
        `UserError` for an invalid criterion, if no criterion ends the search, or for repeated start tours.

        Parameters
        ----------
        stop
            Its ``iterations`` are climbs, over all ranks; ``patience`` is refused. Time and target are checked between
            launches.
        history
            True to record improvements of the shortest length in `HillClimbOutcome.history`.
        callback
            See `core.run.protocol.Callback`. Its steps are climbs: of this rank's share or, if ranks take batches,
            of all divided by their number. With a callback, a history, a time or a target the work is launched in
            smaller parts.
        ranks, checkpointer
            See `core.run.protocol.Search.run`. A checkpoint has the finished climbers and their outcome.
        trace
            True to return the shortest tour too, which takes one more climb; see `ClimbLauncher.tour_of`.
        """
        stop = checked_stop(stop, "hill climbing", "iterations", "seconds", "target", callback=watching.get("callback"),
                            most=MOST_CLIMBERS)  # fmt: skip
        climbers = stop.iterations
        if self.start == "oneil2011" and climbers > PERIOD:
            raise UserError(f"the generator oneil2011 has {PERIOD} start tours, not {climbers}; use --start philox")
        outcome = execute(self, AsynchronousRun(ranks or self.communicator, stop, **watching))
        return replace(outcome, tour=self.tour_of(outcome.climber)) if trace else outcome

    # --- the search, as the run loop calls it ---

    def begin(self, run: AsynchronousRun, checkpoint: Checkpoint | None) -> None:
        """Start with all climbers, or with the remaining ones of a checkpoint."""
        ranks, climbers = run.ranks, run.stop.iterations
        self.launcher.reset()
        if self.checked_ranks is not ranks:
            self.checked_ranks, self.are_alike = ranks, have_equal_devices(self.backend, ranks)
        self.before = HillClimbState.of(checkpoint) if checkpoint is not None else nothing_climbed(climbers)
        outcome, self.remaining, self.climbed = self.before.outcome, self.before.remaining, 0
        self.shortest = outcome.length, outcome.climber
        run.begin_samples(None, self.before.history, (outcome.evaluations, outcome.climbs))
        if run.stop.limit is not None:
            begin, end = equal_part(climbers, ranks.rank, ranks.size) if self.are_alike else (0, climbers // ranks.size)
            run.monitor.total = end - begin

    def step(self, run: AsynchronousRun) -> Step:
        """Climb from random tours to local optima, and keep the best of all."""
        batches, intervals, before = self._batches(run), [], self.climbed
        for begin, end in batches:
            for first, behind in self.remaining.part(begin, end).pairs:
                self.shortest = min(self.shortest, self.launcher.climb(first, behind))
            self.climbed += end - begin
            intervals.append((begin, end))
            if run.samples is not None:
                run.samples.see(self.shortest[0], int(self.launcher.totals()[two_opt_climbs.EVALUATIONS]), self.climbed)
            climbs = self._reported(run, before + batches.taken() // run.ranks.size)
            if run.report(climbs, self.shortest[0], next_s=batches.next_s()):
                break
            batches.seconds = run.launch_s
        batches.close()
        if isinstance(batches, Batches):
            self.speed, self.is_measured = batches.speed, self.is_measured or batches.done > 0
        self.remaining = self.remaining.less_taken(run.ranks, intervals) if run.is_watched else Intervals([])
        return Step(undone=self.remaining.count)

    def checkpoint(self, run: AsynchronousRun) -> Checkpoint:
        return HillClimbState(self.remaining, self._outcome(run), run.history_rows(numbered=False)).checkpoint()

    def layout(self, run: AsynchronousRun, state: Checkpoint) -> Iterator[CheckpointArray]:
        return nothing_climbed(run.stop.iterations).layout(state, run.before_s, run.has_history)

    def result(self, run: AsynchronousRun) -> HillClimbOutcome:
        """Return the outcome without its tour."""
        outcome, total = self._outcome(run), run.monitor.total
        is_complete = outcome.climbs == run.stop.iterations
        run.end(total if is_complete and total is not None else self._reported(run, self.climbed), outcome.length)
        is_finished = is_complete or not run.is_interrupted
        return replace(outcome, history=run.history(numbered=False), finished=is_finished)

    def _batches(self, run: AsynchronousRun) -> EqualShare | Batches:
        """Return this rank's batches of the remaining climbers: of an equal share, or by speed."""
        ranks, climbers, seconds = run.ranks, self.remaining.count, run.launch_s
        least = self.launcher.fewest_climbers()
        if self.are_alike:
            return EqualShare(ranks, climbers, least=least, seconds=seconds)
        first = climbers if self.is_measured else max(least, climbers // (PARTS * ranks.size))
        first = first if seconds == inf else least
        return Batches(ranks, climbers, first, least=least, seconds=seconds, speed=self.speed)

    def _reported(self, run: AsynchronousRun, climbs: int) -> int:
        """Return the climbs of this rank for the callback: with its part of those before the checkpoint."""
        return self.before.outcome.climbs // run.ranks.size + climbs

    def _outcome(self, run: AsynchronousRun) -> HillClimbOutcome:
        """Return the outcome of the climbers of all ranks; all ranks call this."""
        best, totals = run.ranks.minloc(*self.shortest), run.ranks.sum(self.launcher.totals())
        steps = self.launcher.steps.of_all(run.ranks)
        return self.before.outcome.with_more(best, totals, steps, self.before.remaining.count - self.remaining.count)


def check_cities(n: int, name: str) -> None:
    """Raise `UserError` unless hill climbing supports this number of cities."""
    if not FEWEST_CITIES <= n <= MOST_CITIES:
        raise UserError(f"{name} has {n} cities: hill climbing takes {FEWEST_CITIES} to {MOST_CITIES} cities, not {n}")
