"""Ant colony optimisation on one device per rank: colonies shared out over ranks, or one colony's ants (`menezes2019`).

An iteration of a colony is recorded once and replayed, whether all its ants are on one rank or several ranks share them
out: what these do together are launches too. Tours stay where they were made; what travels are the deposits.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from core.errors import UserError
from core.kernels.ant_colony.ants import Ant
from core.search.ant_colony.checkpoint import HISTORY, layout, make_checkpoint, resume_colonies, shortest_of_iterations
from core.search.ant_colony.colony import UNKNOWN, Colony, ColonyInstance, ColonyOutcome
from core.search.ant_colony.published import PublishedColony
from core.search.ant_colony.settings import STRATEGIES, Settings
from core.search.checkpoint import Checkpointer, seconds_before, take_checkpoint
from core.search.checkpoint_layout import Checkpoint
from core.search.partition import equal_part
from core.search.protocol import Callback, ProgressMonitor, checked_stop
from core.search.stop import Stop
from core.search.time_limits import is_time_for, longest_launch_s

BATCH_SECONDS = 0.2
"""Iterations queue for about this long before the host looks."""
FIRST_PLACES = 1 << 16
"""Iterations at most whose lengths there is room for at first: another criterion may end the search long before."""
NO_LENGTH = 2**64 - 1
"""What a rank says to `Communicator.minloc` if it has nothing to say."""
MAPPINGS: dict[str, type[Colony]] = {"native": Colony, "published": PublishedColony}
"""How a colony is laid on a device: by the native mapping, or in the paper's."""


class AntColony:
    """Ant System or Max-Min Ant System on one instance, ready to be repeated.

    Parameters
    ----------
    backend
        A `backends.launch.Backend`.
    communicator
        A `cluster.Communicator`, whose rank and size say what this rank's part is; every rank constructs and calls the
        same. `run` may be given another of the same size, to which it talks.
    distances : ndarray, shape (n, n), uint16 or uint32
        Symmetric.
    settings
        What decides the work.
    strategy
        ``coarse``: an ant per lane, pheromone updated by one lane; ``fine``: an ant per group of lanes;
        ``fine-deposit``: and pheromone updated by all lanes. The tours are the same.
    mapping
        ``native``, or ``published``: the strategy as the paper describes it (`core.kernels.ant_colony.published_ants`),
        for plain Ant System alone. The tours are the same.
    seed
        Of all draws.
    team
        Lanes and ants of a team; None: chosen for the device.

    Raises
    ------
    UserError
        Settings that make no sense or have no published mapping, tours whose length does not fit 31 bits, or more
        memory than the device has: the message says how many bytes it takes.

    """

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        distances: np.ndarray,
        settings: Settings | None = None,
        *,
        strategy: str = "fine-deposit",
        mapping: str = "native",
        seed: int = 0,
        team: tuple[int, int] | None = None,
    ) -> None:
        settings = settings or Settings()
        n = len(distances)
        settings.check(n)
        if strategy not in STRATEGIES:
            raise UserError(f"strategy {strategy!r}; choose one of {', '.join(STRATEGIES)}")
        if mapping not in MAPPINGS:
            raise UserError(f"mapping {mapping!r}; choose one of {', '.join(MAPPINGS)}")
        if n * int(distances.max()) >= 2**31:
            raise UserError(f"tours of {n} cities at distances up to {distances.max()} do not fit 31 bits")
        rank, size = communicator.rank, communicator.size
        self.shared = settings.colonies == 1
        begin, end = equal_part(settings.ants if self.shared else settings.colonies, rank, size)
        self.backend = backend
        self.communicator = communicator
        self.n = n
        self.settings = settings
        self.notes: list[str] = []
        kind = MAPPINGS[mapping]
        most = -(-settings.ants // size) if self.shared else settings.ants
        self.shape = kind.shape_for(strategy, backend.capabilities, n, settings._replace(ants=most), team)
        if self.shared and size > 1 and not kind.shared_by_ranks:
            raise UserError(
                f"--mapping {mapping} has all ants of a colony on one rank: expected 1 rank, or several colonies; "
                f"found {size} ranks"
            )
        colonies, count, first = (1, end - begin, begin) if self.shared else (end - begin, settings.ants, 0)
        wide = distances.dtype != np.uint16
        self.bytes_needed = kind.bytes_needed(n, settings, self.shape, colonies, count, wide)
        memory = backend.device.memory_bytes
        room = f"{count} ants on {n} cities need {self.bytes_needed} bytes"
        if 0 < memory < self.bytes_needed:
            raise UserError(f"{room}; {backend.device.name} has {memory}")
        try:
            self.ground = ColonyInstance(backend, distances, settings, kind.numbered)
            self.colonies = [
                kind(self.ground, settings, self.shape, number=number, count=count, first=first, seed=seed)
                for number in ([0] if self.shared else range(begin, end))
            ]
            self.shape = self.colonies[0].shape if self.colonies else self.shape
            self.leader = backend.rows(Ant(n=n, first=0), 1)
        except MemoryError as error:
            raise UserError(f"{room}: {error}") from error
        self.team_size, self.ants_per_team = self.shape.team_size, self.shape.ants_per_team
        self.samples: dict[int, list[tuple[int, float]]] | None = None
        """Of every colony of this rank: iterations made, and the seconds of the run, whenever the host looked.

        None where no history is asked for.
        """
        self.winner: tuple[int, ...] = ()
        """Length, colony, iteration and ant of the best tour that all ranks know of."""

    def warm_up(self) -> None:
        """Make an iteration of every kind, so that everything is compiled; the time counts as compilation."""
        with self.backend.warming_up():
            for colony in self.colonies[:1]:
                colony.begin(2)
                colony.iterate()

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Any = None,
        checkpointer: Checkpointer | None = None,
    ) -> ColonyOutcome:
        """Run all colonies from the beginning, or from a state.

        Parameters
        ----------
        stop
            Iterations of every colony, the time, or a target; patience is refused. The time is read between batches of
            iterations, which become shorter towards its end; an iteration that would end too late is not begun. With a
            target the host looks after every iteration, so that the search ends with the first one that reaches it, on
            every backend.
        history
            Whether `ColonyOutcome.history` says when the best length improved. Its seconds are known where the host
            looks and interpolated linearly by iteration between.
        callback
            See `core.search.protocol.Callback`. Its steps are iterations, its cost the best length of this rank's
            colonies.
        ranks
            The communicator of all ranks, which all of them give; that of the last run, at first the constructor's,
            unless it is given.
        checkpointer
            See `core.search.protocol.Search.run`. A state is what every colony knows after an iteration.

        Raises
        ------
        UserError
            A criterion that is none, nothing that would end the search, or a state of other colonies.
        OutOfMemory
            What the ranks have in common does not fit.

        """
        stop = checked_stop(stop, "ant colony optimisation", "iterations", "seconds", "target", callback=callback)
        self._meet(ranks or self.communicator)
        self.winner = ()
        monitor = ProgressMonitor(stop, callback, stop.limit, seconds_before(checkpointer))
        for colony in self.colonies:
            colony.begin(min(stop.iterations, FIRST_PLACES))
        history_s = seconds_before(checkpointer) if history else None
        earlier = take_checkpoint(checkpointer, partial(layout, self, stop.iterations, history_s))
        done = resume_colonies(self, earlier) if earlier is not None else 0
        self.samples = (
            {one.number: initial_samples(earlier, done, monitor) for one in self.colonies} if history else None
        )
        made, by_time = self._iterate(stop, monitor, done, checkpointer)
        outcome = self._outcome(made)
        monitor.tell_end(made, outcome.length, outcome.evaluations)
        return outcome._replace(
            history=self._history(outcome.curve) if history else None,
            tour=self.best_tour(),
            finished=made == stop.iterations or not self.communicator.bcast(monitor.interrupted),
            by_time=by_time,
        )

    def _iterate(
        self, stop: Stop, monitor: ProgressMonitor, done: int, checkpointer: Checkpointer | None
    ) -> tuple[int, bool]:
        """Run further iterations of all colonies; return their number at the end, and True if time ended them."""
        batch, by_time = 1, False
        exchange = self.settings.exchange or stop.iterations
        has_target = stop.target != Stop().target
        while done < stop.iterations:
            count = 1 if has_target else min(batch, stop.iterations - done, exchange - done % exchange)
            before, began = monitor.seconds, time.perf_counter()
            for colony in self.colonies:
                colony.make_places(done + count)
                self._replay(colony, count, monitor)
            done += count
            seconds = time.perf_counter() - began
            if self.settings.exchange and done % exchange == 0:
                self._exchange()
            is_over, is_due, slowest, spent = self._compared(monitor, done, before, seconds, checkpointer)
            one, limit = max(slowest / count, 1e-6), stop.seconds
            by_time = done < stop.iterations and (spent > limit or not is_time_for(limit, spent, one))
            if is_over or by_time:
                break
            if checkpointer is not None and is_due:
                checkpointer.keep(self.communicator, self._state(done))
            longest = min(NO_LENGTH * one, longest_launch_s(limit, spent))
            batch = max(1, min(4 * batch, int(batch * BATCH_SECONDS / max(slowest, 1e-6)), int(longest / one)))
        return done, by_time and not is_over

    def _compared(
        self, monitor: ProgressMonitor, done: int, before: float, seconds: float, checkpointer: Checkpointer | None
    ) -> tuple[bool, bool, float, float]:
        """Compare all ranks after a batch; all of them call this.

        Parameters
        ----------
        before, seconds
            When the batch began, in seconds of the run, and its duration on this rank.

        Returns
        -------
        bool
            True if the run ends: by the first rank's callback, or since a rank has reached the target.
        bool
            True if a rank's checkpoint is due.
        float
            The seconds of the rank that took longest: ranks that share a colony's ants must queue equally many.
        float
            Seconds of the run, by the first rank's clock.

        """
        ranks, target = self.communicator, monitor.stop.target
        reached = False
        if monitor.is_due() or target != Stop().target:
            best = min((colony.best_so_far()[0] for colony in self.colonies), default=None)
            reached = best is not None and best <= target
            if monitor.is_due():
                monitor.tell(done, best, done * self._evaluations)
        told = np.zeros(3 + ranks.size, np.int64)
        told[0] = reached or (ranks.rank == 0 and monitor.interrupted)
        told[1] = checkpointer is not None and checkpointer.is_due()
        told[2] = round(before * 1e9) if ranks.rank == 0 else 0
        told[3 + ranks.rank] = round(seconds * 1e9)
        ranks.reduce(told, "sum")
        slowest = float(told[3:].max()) / 1e9
        return bool(told[0]), bool(told[1]), slowest, float(told[2]) / 1e9 + slowest

    def _state(self, done: int) -> Checkpoint | None:
        """The state after so many iterations, on the first rank; all ranks call this."""
        history = None if self.samples is None else self._history(shortest_of_iterations(self, done))
        return make_checkpoint(self, done, None if history is None else np.array(history).reshape(-1, 4))

    @property
    def _evaluations(self) -> int:
        """Of an iteration of all colonies of all ranks."""
        return self.settings.colonies * self.settings.ants * self.n * self.n

    def best_tour(self) -> np.ndarray:
        """The best tour of the last run: shape (n,), int64, in the instance's numbers; all ranks call it together."""
        tour = np.zeros(self.n, np.int64)
        for colony in self.colonies:
            if colony.number == self.winner[1]:
                tour = colony.tour_of_best()
        return self.ground.order[self.communicator.sum(tour)]

    def phase_seconds(self, iterations: int) -> dict[str, float]:
        """Seconds per iteration of each kernel of the first colony, mean of ``iterations`` after the first."""
        colony = self.colonies[0]
        colony.begin(iterations + 1)
        colony.iterate()
        self.backend.synchronize()
        seconds = dict.fromkeys(colony.phases, 0.0)
        for _ in range(iterations):
            for phase in seconds:
                self.backend.timings.kernel_s = 0.0
                getattr(colony, phase)()
                self.backend.synchronize()
                seconds[phase] += self.backend.timings.kernel_s / iterations
        return seconds

    def _meet(self, ranks: Any) -> None:
        """Talk to these ranks from now on; those that have ants of one colony each join it."""
        self.communicator = ranks
        if self.shared:
            self.colonies[0].join(self.backend.collectives(ranks))

    def _replay(self, colony: Colony, iterations: int, monitor: ProgressMonitor) -> None:
        """Run iterations of one colony, and wait for them."""
        colony.replay(iterations)
        self.backend.synchronize()
        if self.samples is not None:
            samples = self.samples[colony.number]
            samples.append((samples[-1][0] + iterations, monitor.seconds))

    def _exchange(self) -> None:
        """Give every colony the best tour of all."""
        self._find_best()
        length, number, _, ant = self.winner
        mine = next((c for c in self.colonies if c.number == number), None)
        tour = self.backend.download(mine.memory.best) if mine else np.zeros(self.n, np.uint16)
        self.leader.bundle.first = ant
        self.backend.write(self.leader.tour, self.communicator.sum(tour))
        for colony in self.colonies:
            self.backend.write(colony.memory.least, np.array([length << 32 | ant], np.uint64))
            colony.adopt(self.leader)

    def _find_best(self) -> None:
        """Learn which colony of all ranks has the best tour; one that others took over remains its finder's."""
        found = {colony.number: colony.best_so_far() for colony in self.colonies}
        best_here = min(((best[0], number) for number, best in found.items()), default=(NO_LENGTH, NO_LENGTH))
        length, number = self.communicator.minloc(*best_here)
        _, iteration, ant = found.get(number, (0, NO_LENGTH, NO_LENGTH))
        iteration, ant = self.communicator.minloc(iteration, ant)
        if not self.winner or length < self.winner[0]:
            self.winner = (length, number, iteration, ant)

    # --- what came out ---

    def _outcome(self, iterations: int) -> ColonyOutcome:
        """Collect the results of all ranks."""
        self._find_best()
        length, number, iteration, ant = self.winner
        digest = np.zeros(1, np.uint64)
        for colony in self.colonies:
            digest += self.backend.download(colony.memory.digest)
        curve = shortest_of_iterations(self, iterations)
        evaluations = self._evaluations * iterations
        total = int(self.communicator.sum(digest)[0])
        return ColonyOutcome(length, number, ant, iteration, evaluations, total, curve)

    def _history(self, curve: np.ndarray) -> list[list[Any]]:
        """Rows of `ColonyOutcome.history`, on every rank, from the curve."""
        curve = curve.astype(np.int64)
        before = np.concatenate([[UNKNOWN], np.minimum.accumulate(curve)[:-1]])
        better = np.flatnonzero(curve < before)
        assert self.samples is not None
        seconds = [np.interp(better + 1, *np.transpose(samples)) for samples in self.samples.values()]
        every = self.communicator.gather(np.max([np.zeros(len(better)), *seconds], axis=0))
        latest = self.communicator.bcast(None if every is None else np.maximum.reduce(every))
        each = self._evaluations
        rows = zip(better.tolist(), latest.tolist(), curve[better].tolist(), strict=True)
        return [[iteration, each * (iteration + 1), now, length] for iteration, now, length in rows]


def initial_samples(earlier: Checkpoint | None, done: int, monitor: ProgressMonitor) -> list[tuple[int, float]]:
    """What is known when a run begins, or goes on after so many iterations, of the seconds that those took."""
    if earlier is None:
        return [(0, 0.0)]
    rows = earlier.get(HISTORY, np.zeros((0, 4))).tolist()
    known = {0: 0.0, done: monitor.seconds, **{int(iteration) + 1: seconds for iteration, _, seconds, _ in rows}}
    return sorted(known.items())
