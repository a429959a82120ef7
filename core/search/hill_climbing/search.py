"""Iterative hill climbing with random restart for the TSP (`oneil2011`): many independent 2-opt climbs, the best wins.

A climb depends on nothing but its number, so devices take climbers by ticket, ranks by share or in batches, and the
result is the same: best (length, climber) by one reduction, and a digest of every climb's (climber, length, steps).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from core.errors import UserError
from core.kernels.two_opt import climbs as two_opt_climbs
from core.kernels.two_opt.climbs import MOST_CITIES, CountedClimbs
from core.kernels.two_opt.start_tours import start_tours
from core.search.batches import Batches
from core.search.checkpoint import Checkpoint, Checkpointer, seconds_before, take_checkpoint
from core.search.checkpoint_layout import ANY, ANY_WORD, CheckpointArray, history_array, interval_array
from core.search.hill_climbing.scans import Scan, scan_for
from core.search.intervals import Intervals
from core.search.partition import equal_part, have_equal_devices
from core.search.progress_samples import ProgressSamples
from core.search.protocol import PROGRESS_INTERVAL_S, Callback, SharedProgressMonitor, checked_stop, hex_digest
from core.search.stop import Stop

NOTHING = np.iinfo(np.uint64).max
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
GROWTH = 2
"""Where the host looks between launches, each has at most so many times as many climbers as the one before."""

BatchCallback = Callable[[int, int, int, float], float]
"""Called with a rank's climbs, its shortest length, the steps that the callback gets, and the least seconds of the
next launch. Returns the most seconds that the next launch may be estimated at; 0: it ends."""


class HillClimbOutcome(NamedTuple):
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
    climbs : int
        How many were made.
    tour : ndarray, shape (n,), int64, or None
        The shortest tour, from city 0; None: not asked for.
    history : list of list, optional
        Rows [climbs, evaluations, seconds, shortest length], as the host saw them between launches; see
        `core.search.progress_samples`. None: not asked for.
    finished : bool
        See `core.search.protocol.SearchResult`.

    """

    length: int
    climber: int
    steps: int
    evaluations: int
    digest: int
    climbs: int
    tour: np.ndarray | None = None
    history: list[list[Any]] | None = None
    finished: bool = True

    @property
    def cost(self) -> int:
        """The shortest length."""
        return self.length

    @property
    def solution(self) -> np.ndarray | None:
        """The shortest tour."""
        return self.tour

    @property
    def hash(self) -> str:
        """The digest."""
        return hex_digest(self.digest)


class HillClimbState(NamedTuple):
    """What climbers of all ranks have found, and who has yet to climb: the state of hill climbing.

    Attributes
    ----------
    left : Intervals
    length, climber, steps, evaluations, digest, history
        See `HillClimbOutcome`; the history as an array of four columns.

    """

    left: Intervals
    climbs: int = 0
    length: int = int(NOTHING)
    climber: int = 0
    steps: int = 0
    evaluations: int = 0
    digest: int = 0
    history: np.ndarray | None = None

    @classmethod
    def of(cls, checkpointer: Checkpointer | None, climbers: int, history: bool) -> HillClimbState:
        """Return the content of the state from which a run resumes; where there is none, no climber has climbed."""
        nothing = cls(Intervals([(0, climbers)]))
        state = take_checkpoint(
            checkpointer, lambda state: nothing.layout(state, seconds_before(checkpointer), history)
        )
        if state is None:
            return nothing
        climbs, length, climber, steps, evaluations, digest = (int(number) for number in state["found"])
        return cls(Intervals(state["left"]), climbs, length, climber, steps, evaluations, digest, state.get("history"))

    def layout(self, state: Checkpoint, before_s: float, history: bool) -> Iterator[CheckpointArray]:
        """Declare the state of a run that begins with this."""
        climbers = self.left.count
        yield CheckpointArray(
            "found", np.uint64, (6,),
            [(0, climbers), (0, ANY_WORD), (0, climbers - 1), (0, ANY), (0, ANY), (0, ANY_WORD)],
        )  # fmt: skip
        climbs, length, _, _, evaluations, _ = (int(number) for number in state["found"])

        def climbed(pairs: np.ndarray) -> str | None:
            left = int((pairs[:, 1] - pairs[:, 0]).sum())
            wanted = climbers - climbs
            return None if left == wanted else f"found {left} climbers after {climbs} climbs, expected {wanted}"

        yield interval_array("left", 0, climbers, climbed)
        if history:
            yield history_array("history", climbs, evaluations, before_s, length if climbs else None)

    def state(self) -> Checkpoint:
        """The same as arrays."""
        rows = {} if self.history is None else {"history": self.history}
        return {"left": self.left.array(), "found": np.array(self[1:7], np.uint64), **rows}

    def with_more(self, best: tuple[int, int], totals: np.ndarray, left: Intervals) -> HillClimbState:
        """This and what climbers have found since, of whom these are left."""
        steps, evaluations, digest = (
            int(totals[k]) for k in (two_opt_climbs.STEPS, two_opt_climbs.EVALUATIONS, two_opt_climbs.DIGEST)
        )
        return HillClimbState(
            left,
            self.climbs + self.left.count - left.count,
            *min((self.length, self.climber), best),
            self.steps + steps,
            self.evaluations + evaluations,
            (self.digest + digest) % 2**64,
            self.history,
        )


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
        ranks = ranks or self.communicator
        self.backend.write(self.totals, np.zeros(two_opt_climbs.TOTALS, np.uint64))
        if self.met is not ranks:
            self.met, self.are_alike = ranks, have_equal_devices(self.backend, ranks)
        before = HillClimbState.of(checkpointer, climbers, history)
        began = perf_counter() - seconds_before(checkpointer)
        samples = ProgressSamples(began, None, before.history, (before.evaluations, before.climbs)) if history else None
        part = equal_part(climbers, ranks.rank, ranks.size) if self.are_alike else (0, climbers // ranks.size)
        total = None if stop.limit is None else part[1] - part[0]
        monitor = SharedProgressMonitor.of(ranks, stop, callback, total, checkpointer)
        steps, best, made, left = before.climbs // ranks.size, (int(NOTHING), 0), 0, before.left
        while True:
            found, own, left = self._climb_together(left, self._look(monitor, samples, made, steps), ranks)
            best, made = min(best, found), made + own
            now = before.with_more(ranks.minloc(*best), ranks.sum(self._totals()), left)
            if monitor is None or checkpointer is None or not monitor.goes_on(left.count):
                break
            rows = samples.rows(ranks, numbered=False) if samples is not None else None
            checkpointer.keep(ranks, now._replace(history=rows).state())
            monitor.resume()
        climbs, interrupted = climbers - left.count, False
        if monitor is not None:
            done = steps + made
            monitor.tell_end(done if monitor.total is None or climbs < climbers else monitor.total, now.length)
            interrupted = monitor.close()
        return HillClimbOutcome(
            now.length,
            now.climber,
            now.steps,
            now.evaluations,
            now.digest,
            climbs,
            self.tour_of(now.climber) if trace else None,
            samples.history(ranks, numbered=False) if samples is not None else None,
            finished=climbs == climbers or not interrupted,
        )

    def _totals(self) -> np.ndarray:
        """What this rank's climbs have counted since the run began."""
        totals = self.backend.download(self.totals)
        totals[two_opt_climbs.EVALUATIONS] += totals[two_opt_climbs.STEPS] * np.uint64(self.scan.evaluations_per_step)
        return totals

    def _look(
        self, monitor: SharedProgressMonitor | None, samples: ProgressSamples | None, made: int, steps: int
    ) -> BatchCallback | None:
        """What is done between launches; None: nothing, so there are as few of them as can be.

        Before them this rank has made so many climbs in this run, and told of so many ``steps`` of an earlier one.
        """
        if monitor is None and samples is None:
            return None

        def look(further: int, length: int, taken: int, next_s: float) -> float:
            if samples is not None:
                samples.see(length, int(self._totals()[two_opt_climbs.EVALUATIONS]), made + further)
            if monitor is None:
                return PROGRESS_INTERVAL_S
            if monitor.is_due():
                monitor.tell(steps + made + taken, length)
            return 0.0 if monitor.ends(length, next_s) else monitor.longest_launch_s(PROGRESS_INTERVAL_S)

        return look

    def _climb_together(
        self, left: Intervals, look: BatchCallback | None, ranks: Any
    ) -> tuple[tuple[int, int], int, Intervals]:
        """Let all ranks climb as these climbers, until there are no more or a look ends it.

        Returns
        -------
        tuple of int
            The shortest length of this rank's climbs, and who has it first.
        int
            How many it has made.
        Intervals
            The climbers whom no rank has let climb.

        """
        if not self.are_alike:
            best, taken = self._climb_in_batches(left, look, ranks)
            # Whoever has taken a batch has finished it.
            return best, sum(end - begin for begin, end in taken), left.less_taken(ranks, taken)
        mine = left.part(*equal_part(left.count, ranks.rank, ranks.size))
        best, made = (int(NOTHING), 0), 0
        for begin, end in mine.pairs:
            found, climbed, is_over = self._climb(begin, end, look, made)
            best, made = min(best, found), made + climbed
            if is_over:
                break
        if look is None:
            return best, made, Intervals([])
        undone = ranks.join(mine.part(made, mine.count).array().reshape(-1))
        return best, made, Intervals(undone.reshape(-1, 2))

    def _climb(
        self, begin: int, end: int, look: BatchCallback | None, made: int = 0
    ) -> tuple[tuple[int, int], int, bool]:
        """Climb as the climbers from ``begin`` to ``end`` - 1, after so many others.

        Returns
        -------
        tuple of int
            The shortest length, and who has it first.
        int
            How many have climbed.
        bool
            Whether a look has ended it.

        """
        best, is_over = (int(NOTHING), 0), False
        wanted = end - begin if look is None else self._least()
        most, first = end - begin, begin
        while first < end and not is_over:
            asked = min(wanted, most, end - first)
            part = self._batch(asked)
            if part < asked:
                most = part  # as many as there is memory for
            began = perf_counter()
            self._climb_batch(first, part)
            key = int(self.backend.download(self.best)[0])
            best = min(best, (key >> 32, first + (key & 0xFFFFFFFF)))
            first += part
            if look is not None:
                spent = max(perf_counter() - began, 1e-9)
                next_s = spent * min(1.0, self._least() / part) if first < end else 0.0
                longest_s = look(made + first - begin, best[0], made + first - begin, next_s)
                is_over = longest_s == 0
                wanted = max(self._least(), min(GROWTH * part, int(part * longest_s / spent)))
        return best, first - begin, is_over

    def _climb_in_batches(
        self, left: Intervals, look: BatchCallback | None, ranks: Any
    ) -> tuple[tuple[int, int], list[tuple[int, int]]]:
        """Climb together with faster and slower ranks; the best, as `_climb` says it, and this rank's batches."""
        best = (int(NOTHING), 0)
        least, climbers = self._least(), left.count
        first = climbers if self.is_measured else max(least, climbers // (PARTS * ranks.size))
        few = look is not None
        batches = Batches(
            ranks,
            climbers,
            least if few else first,
            least=least,
            seconds=PROGRESS_INTERVAL_S if few else inf,
            speed=self.speed,
        )
        made, taken = 0, []
        for begin, end in batches:
            began = perf_counter()
            for one, behind in left.part(begin, end).pairs:
                best = min(best, self._climb(one, behind, None)[0])
            made += end - begin
            taken.append((begin, end))
            if look is not None:
                next_s = (perf_counter() - began) * min(1.0, least / (end - begin))
                batches.seconds = look(made, best[0], batches.taken() // ranks.size, next_s)
                if batches.seconds == 0:
                    break
        self.is_measured = self.is_measured or batches.done > 0
        self.speed = batches.speed
        batches.close()
        return best, taken

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
        part = max(1, min(climbers, max(BATCH, self.scan.fewest_climbers()), (2**31 - 1) // self.n))
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
