"""Ant colony optimisation on one device per rank: colonies shared out over ranks, or one colony's ants (`menezes2019`).

A colony whose ants are all on one rank never leaves the device: its iteration is recorded once and replayed. Ants that
are shared out meet once in an iteration, by one sum over the ranks: of the deposits or of the tours, whichever is less.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from core.errors import UserError
from core.kernels.ants import Ant
from core.lang.bundles import Rows
from core.search.ant_colony.colony import UNKNOWN, Colony, Ground, Outcome
from core.search.ant_colony.published import PublishedColony
from core.search.ant_colony.settings import STRATEGIES, Settings

BATCH_SECONDS = 0.2
"""Iterations queue for about this long before the host looks."""
MAPPINGS: dict[str, type[Colony]] = {"suite": Colony, "published": PublishedColony}
"""How a colony is laid on a device: in the suite's own way, or in the paper's."""

Report = Callable[[int, int], None]


class AntColony:
    """Ant System or Max-Min Ant System on one instance, ready to be repeated.

    Parameters
    ----------
    backend
        A `backends.base.Backend`.
    communicator
        A `cluster.Communicator`; every rank constructs and calls the same.
    distances : ndarray, shape (n, n), uint16 or uint32
        Symmetric.
    settings
        What decides the work.
    strategy
        ``coarse``: an ant per lane, pheromone updated by one lane; ``fine``: an ant per group of lanes;
        ``fine-deposit``: and pheromone updated by all lanes. The tours are the same.
    mapping
        ``suite``, or ``published``: the strategy as the paper describes it (`core.kernels.ants_published`), for plain
        Ant System alone. The tours are the same.
    seed
        Of all draws.
    team
        Lanes and ants of a team; None: chosen for the device.

    Raises
    ------
    UserError
        Settings that make no sense or have no published mapping, tours whose length does not fit 31 bits, fewer ants
        or colonies than ranks, or more memory than the device has: the message says how many bytes it takes.

    """

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        distances: np.ndarray,
        settings: Settings | None = None,
        *,
        strategy: str = "fine-deposit",
        mapping: str = "suite",
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
        split = settings.colonies == 1
        shared_out, what = (settings.ants, "ants") if split else (settings.colonies, "colonies")
        if shared_out < size:
            raise UserError(f"{shared_out} {what} for {size} ranks; every rank takes at least one")
        begin, end = shared_out * rank // size, shared_out * (rank + 1) // size
        self.backend = backend
        self.communicator = communicator
        self.n = n
        self.settings = settings
        self.notes: list[str] = []
        kind = MAPPINGS[mapping]
        self.shape = kind.shape_for(strategy, backend.capabilities, n, settings, team)
        colonies, count = (1, end - begin) if split else (end - begin, settings.ants)
        wide = distances.dtype != np.uint16
        self.split = split and size > 1
        if self.split and not kind.shared_by_ranks:
            raise UserError(
                f"--mapping {mapping} has all ants of a colony on one rank: expected 1 rank, or several colonies; "
                f"found {size} ranks"
            )
        self.send_tours = self.split and self._tours_are_less()
        exchanged = settings.ants * (2 * n + 4) if self.send_tours else 0
        self.bytes_needed = kind.bytes_needed(n, settings, self.shape, colonies, count, wide) + exchanged
        memory = backend.device.memory_bytes
        room = f"{count} ants on {n} cities need {self.bytes_needed} bytes"
        if 0 < memory < self.bytes_needed:
            raise UserError(f"{room}; {backend.device.name} has {memory}")
        try:
            self.ground = Ground(backend, distances, settings, kind.numbered)
            numbers = [0] if split else range(begin, end)
            first = begin if split else 0
            self.colonies = [
                kind(self.ground, settings, self.shape, number=number, count=count, first=first, seed=seed)
                for number in numbers
            ]
            self.shape = self.colonies[0].shape
            self.leader = backend.rows(Ant(n=n, first=0), 1)
            if self.send_tours:
                self.all_ants = backend.rows(Ant(n=n, first=0), settings.ants)
        except MemoryError as error:
            raise UserError(f"{room}: {error}") from error
        self.team_size, self.ants_per_team = self.shape.team_size, self.shape.ants_per_team
        self.recorded: dict[int, Any] = {}
        self.looks: dict[int, list[tuple[int, float]]] = {}
        """Of every colony of this rank: iterations made, and the clock, whenever the host looked."""
        self.winner: tuple[int, ...] = ()
        """Length, colony, iteration and ant of the best tour that all ranks know of."""

    def _tours_are_less(self) -> bool:
        """Whether all tours take fewer bytes than all deposits."""
        tours, deposits = self.settings.ants * (2 * self.n + 4), 4 * self.n * self.n
        return self.settings.variant == "as" and tours < deposits

    def warm_up(self) -> None:
        """Make an iteration of every kind, so that everything is compiled; the time counts as compilation."""
        with self.backend.warming_up():
            colony = self.colonies[0]
            colony.begin(2)
            colony.iterate()

    def run(self, iterations: int, report: Report | None = None, *, history: bool = False) -> Outcome:
        """Run all colonies from the beginning.

        Parameters
        ----------
        iterations
            At least 1.
        report
            Called now and then with the number of iterations finished since its last call and the best length so far
            of the colony that made them.
        history
            Whether `Outcome.history` says when the best length improved. Its seconds are known where the host looks
            and interpolated linearly by iteration between (ants that are shared out: in every iteration).

        """
        if not 1 <= iterations < 2**31:
            raise UserError(f"there is at least 1 iteration, not {iterations}")
        self.winner = ()
        began = time.perf_counter()
        for colony in self.colonies:
            colony.begin(iterations)
        self.looks = {colony.number: [(0, time.perf_counter())] for colony in self.colonies if history}
        if self.split:
            self._run_split(iterations, report)
        else:
            self._run_apart(iterations, report)
        outcome = self._outcome(iterations)
        return outcome._replace(history=self._history(outcome, began)) if history else outcome

    def best_tour(self) -> np.ndarray:
        """The best tour of the last run: shape (n,), int64, in the instance's numbers; all ranks call it together."""
        number = self.winner[1]
        mine = next((c for c in self.colonies if c.number == number), None)
        tour = np.zeros(self.n, np.int64)
        if mine is not None and (not self.split or self.communicator.rank == 0):
            tour = self.backend.download(mine.memory.best).astype(np.int64)
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

    # --- colonies that are each on one rank ---

    def _run_apart(self, iterations: int, report: Report | None) -> None:
        """Replay the iterations of every colony of this rank; exchange tours where the settings say so."""
        exchange = self.settings.exchange or iterations
        for done in range(0, iterations, exchange):
            together = min(exchange, iterations - done)
            for colony in self.colonies:
                self._replay(colony, together, report)
            if self.settings.exchange and together == exchange:
                self._exchange()

    def _replay(self, colony: Colony, iterations: int, report: Report | None) -> None:
        """Run iterations of one colony, in batches of about `BATCH_SECONDS`."""
        sequence = self.recorded.get(colony.number)
        if sequence is None or sequence[0] is not colony.memory.curve:
            with self.backend.record() as launches:
                colony.iterate()
            sequence = self.recorded[colony.number] = (colony.memory.curve, launches)
        batch = 1
        while iterations > 0:
            batch = min(batch, iterations)
            began = time.perf_counter()
            sequence[1].replay(batch)
            self.backend.synchronize()
            spent = time.perf_counter() - began
            self._looked(colony, batch, began + spent)
            iterations -= batch
            if report is not None:
                report(batch, colony.best_so_far()[0])
            batch = max(1, min(4 * batch, int(batch * BATCH_SECONDS / max(spent, 1e-6))))

    def _exchange(self) -> None:
        """Give every colony the best tour of all."""
        self._find_best()
        length, number, _, ant = self.winner
        mine = next((c for c in self.colonies if c.number == number), None)
        tour = self.backend.download(mine.memory.best) if mine else np.zeros(self.n, np.uint16)
        leader = self._leader(ant, tour)
        for colony in self.colonies:
            self.backend.write(colony.memory.least, np.array([length << 32 | ant], np.uint64))
            colony.judge(leader, adopt=True)

    def _leader(self, ant: int, tour: np.ndarray) -> Rows:
        """The ant whose tour is to be judged, on every rank; ``tour`` is all 0 on the ranks that do not have it."""
        self.leader.bundle.first = ant
        self.backend.write(self.leader.tour, self.communicator.sum(tour))
        return self.leader

    def _find_best(self) -> None:
        """Learn which colony of all ranks has the best tour; one that others took over remains its finder's."""
        mine = min((colony.best_so_far()[0], colony.number) for colony in self.colonies)
        length, number = self.communicator.minloc(*mine)
        who = np.zeros(2, np.int64)
        for colony in self.colonies:
            if colony.number == number and not (self.split and self.communicator.rank):
                who[:] = colony.best_so_far()[1:]
        iteration, ant = (int(x) for x in self.communicator.sum(who))
        if not self.winner or length < self.winner[0]:
            self.winner = (length, number, iteration, ant)

    # --- one colony whose ants are on several ranks ---

    def _run_split(self, iterations: int, report: Report | None) -> None:
        """Make iterations together with the other ranks; every rank has the whole pheromone."""
        colony = self.colonies[0]
        with self.backend.record() as tours:
            colony.construct()
            colony.climb()
            colony.measure()
        with self.backend.record() as weights:
            colony.evaporate()
            colony.weigh()
        for _ in range(iterations):
            tours.replay()
            key = int(self.backend.download(colony.memory.least)[0])
            length, ant = self.communicator.minloc(key >> 32, key & 0xFFFFFFFF)
            self.backend.write(colony.memory.least, np.array([length << 32 | ant], np.uint64))
            if self.send_tours:
                self._share_tours(colony)
                colony.judge(self.all_ants)
                colony.deposit(self.all_ants)
            else:
                colony.judge(self._leader(ant, self._tour_of(colony, ant)))
                colony.deposit()
                if not colony.limited:
                    self._share_deposits(colony)
            weights.replay()
            self._looked(colony, 1, time.perf_counter())
            if report is not None:
                report(1, colony.best_so_far()[0])

    def _share_tours(self, colony: Colony) -> None:
        """Bring all ranks' tours and lengths to every rank."""
        tours = np.zeros((self.settings.ants, self.n), np.uint16)
        lengths = np.zeros(self.settings.ants, np.uint32)
        ants = colony.ants
        own = slice(ants.first, ants.first + ants.count)
        tours[own] = self.backend.download(ants.tour).reshape(-1, self.n)
        lengths[own] = self.backend.download(ants.length)
        self.backend.write(self.all_ants.tour, self.communicator.sum(tours))
        self.backend.write(self.all_ants.length, self.communicator.sum(lengths))

    def _tour_of(self, colony: Colony, ant: int) -> np.ndarray:
        """The tour of one ant of the colony, all 0 if the ant is on another rank."""
        row = ant - colony.ants.first
        if 0 <= row < colony.ants.count:
            return self.backend.read(colony.ants.tour, row * self.n, self.n)
        return np.zeros(self.n, np.uint16)

    def _share_deposits(self, colony: Colony) -> None:
        """Add up the deposits of all ranks."""
        deposits = colony.trails.deposits
        self.backend.write(deposits, self.communicator.sum(self.backend.download(deposits)))

    # --- what came out ---

    def _outcome(self, iterations: int) -> Outcome:
        """Collect the results of all ranks."""
        self._find_best()
        length, number, iteration, ant = self.winner
        digest = np.zeros(1, np.uint64)
        curve = np.full(iterations, np.iinfo(np.uint32).max, np.uint32)
        for colony in self.colonies:
            digest += self.backend.download(colony.memory.digest)
            curve = np.minimum(curve, colony.lengths_of_best(iterations))
        curves = self.communicator.gather(curve)
        curve = self.communicator.bcast(None if curves is None else np.minimum.reduce(curves))
        evaluations = self.settings.colonies * self.settings.ants * self.n * self.n * iterations
        total = int(self.communicator.sum(digest)[0])
        return Outcome(length, number, ant, iteration, evaluations, total, curve)

    def _looked(self, colony: Colony, iterations: int, now: float) -> None:
        """Remember by when a colony had made further iterations, if a history is asked for."""
        looks = self.looks.get(colony.number)
        if looks is not None:
            looks.append((looks[-1][0] + iterations, now))

    def _history(self, outcome: Outcome, began: float) -> list[list[Any]]:
        """Rows of `Outcome.history`, on every rank, from the curve."""
        curve = outcome.curve.astype(np.int64)
        before = np.concatenate([[UNKNOWN], np.minimum.accumulate(curve)[:-1]])
        better = np.flatnonzero(curve < before)
        seconds = [np.interp(better + 1, *np.transpose(looks)) - began for looks in self.looks.values()]
        every = self.communicator.gather(np.maximum.reduce(seconds))
        latest = self.communicator.bcast(None if every is None else np.maximum.reduce(every))
        each = outcome.evaluations // len(curve)
        rows = zip(better.tolist(), latest.tolist(), curve[better].tolist(), strict=True)
        return [[iteration, each * (iteration + 1), now, length] for iteration, now, length in rows]
