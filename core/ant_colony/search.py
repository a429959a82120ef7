"""Ant colony optimisation on one device per rank: ranks share colonies, or one colony's ants (`menezes2019`).

An iteration of a colony is recorded once and replayed, also if several ranks share its ants: their collectives are
launches too. Tours stay where they were made; ranks exchange deposits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Unpack

import numpy as np

from core.ant_colony.checkpoint import HISTORY, layout, make_checkpoint, resume_colonies
from core.ant_colony.colony import Colony
from core.ant_colony.group import ColonyGroup
from core.ant_colony.instance import ColonyInstance
from core.ant_colony.outcome import ColonyHistory, ColonyOutcome
from core.ant_colony.published import PublishedColony
from core.ant_colony.settings import STRATEGIES, Settings
from core.errors import UserError, check_choice
from core.run.checkpoint import Checkpoint, CheckpointArray
from core.run.devices import ComputeDevice, Ranks
from core.run.loop import Step, SynchronousRun, execute
from core.run.partition import equal_part
from core.run.protocol import Search, Watching
from core.run.stop import Stop, checked_stop

FIRST_PLACES = 1 << 16
"""Iterations with memory for their lengths at first: another criterion may end the search earlier."""
MAPPINGS: dict[str, type[Colony]] = {"native": Colony, "published": PublishedColony}
"""Mapping of a colony to a device: native, or as in the paper."""


class AntColony(Search):
    """Ant System or Max-Min Ant System on one instance, ready to be repeated.

    Parameters
    ----------
    backend, communicator
        See `core.run.protocol.Search`.
    distances : ndarray, shape (n, n), uint16 or uint32
        Symmetric.
    strategy
        ``coarse``: an ant per lane, pheromone updated by one lane; ``fine``: an ant per group of lanes;
        ``fine-deposit``: and pheromone updated by all lanes. The tours are the same.
    mapping
        ``native``, or ``published``: the strategy as the paper describes it (`core.ant_colony.kernels.published_ants`),
        for plain Ant System alone. The tours are the same.
    team
        Lanes and ants of a team; None: chosen for the device.

    Raises
    ------
    UserError
        Invalid settings or settings without a published mapping, tours longer than 31 bits, or more memory than the
        device has: the message has the number of bytes.
    """

    unit = "selections"

    def __init__(
        self,
        backend: ComputeDevice,
        communicator: Ranks,
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
        check_choice("strategy", strategy, STRATEGIES)
        check_choice("mapping", mapping, MAPPINGS)
        if n * int(distances.max()) >= 2**31:
            raise UserError(f"tours of {n} cities at distances up to {distances.max()} do not fit 31 bits")
        rank, size = communicator.rank, communicator.size
        shared = settings.colonies == 1
        begin, end = equal_part(settings.ants if shared else settings.colonies, rank, size)
        self.backend, self.communicator, self.n, self.settings = backend, communicator, n, settings
        kind = MAPPINGS[mapping]
        most = -(-settings.ants // size) if shared else settings.ants
        self.shape = kind.shape_for(strategy, backend.capabilities, n, settings._replace(ants=most), team)
        if shared and size > 1 and not kind.shared_by_ranks:
            raise UserError(
                f"--mapping {mapping} has all ants of a colony on one rank: expected 1 rank, or several colonies; "
                f"found {size} ranks"
            )
        colonies, count, first = (1, end - begin, begin) if shared else (end - begin, settings.ants, 0)
        wide = distances.dtype != np.uint16
        self.bytes_needed = kind.bytes_needed(n, settings, self.shape, colonies, count, wide)
        memory = backend.device.memory_bytes
        room = f"{count} ants on {n} cities need {self.bytes_needed} bytes"
        if 0 < memory < self.bytes_needed:
            raise UserError(f"{room}; {backend.device.name} has {memory}")
        try:
            instance = ColonyInstance(backend, distances, settings, kind.numbered)
            self.colonies = [
                kind(instance, settings, self.shape, number=number, count=count, first=first, seed=seed)
                for number in ([0] if shared else range(begin, end))
            ]
            self.shape = self.colonies[0].shape if self.colonies else self.shape
            self.group = ColonyGroup(instance, communicator, self.colonies, shared)
        except MemoryError as error:
            raise UserError(f"{room}: {error}") from error
        self.team_size, self.ants_per_team = self.shape.team_size, self.shape.ants_per_team
        self.evaluations = settings.colonies * settings.ants * n * n
        """Evaluations of an iteration of all colonies of all ranks."""
        self.history: ColonyHistory | None = None

    def warm_up(self) -> None:
        """Make an iteration of every kind, so that everything is compiled; the time counts as compilation."""
        with self.backend.warming_up():
            for colony in self.colonies[:1]:
                colony.begin(2)
                colony.iterate()

    def join(self, ranks: Ranks) -> None:
        """Make two iterations of every colony, with memory for those of a run."""
        with self.backend.warming_up():
            self.group.join(ranks)
            self.group.begin(FIRST_PLACES)
            self.group.iterate(0, 2, lambda colony, iterations: None)

    def run(
        self, stop: Stop | None = None, *, ranks: Ranks | None = None, **watching: Unpack[Watching]
    ) -> ColonyOutcome:
        """Run all colonies from the beginning, or from a checkpoint.

        Parameters
        ----------
        stop
            Iterations of every colony, the time, or a target; patience is refused. The time is read between batches of
            iterations, which become shorter towards its end; an iteration that would end too late is not begun. With a
            target the host checks after every iteration, so that the search ends with the first one that reaches it, on
            every backend.
        history
            True to record improvements of the best length in `ColonyOutcome.history`. Seconds between two checks of the
            host are interpolated linearly by iteration.
        callback
            See `core.run.protocol.Callback`. Its steps are iterations, its cost the best length of this rank's
            colonies.
        ranks
            The communicator of all ranks, passed by all of them; by default that of the last run, at first the
            constructor's.
        checkpointer
            See `core.run.protocol.Search.run`. A checkpoint has the state of every colony after an iteration.

        Raises
        ------
        UserError
            An invalid criterion, no criterion that ends the search, or a checkpoint of other colonies.
        OutOfMemory
            The common memory of the ranks does not fit.
        """
        callback, criteria = watching.get("callback"), ("iterations", "seconds", "target")
        stop = checked_stop(stop, "ant colony optimisation", *criteria, callback=callback)
        self.communicator = ranks = ranks or self.communicator
        return execute(self, SynchronousRun(ranks, stop, total=stop.limit, **watching))

    # --- the search, as the run loop calls it ---

    def begin(self, run: SynchronousRun, checkpoint: Checkpoint | None) -> None:
        """Put the first pheromone on all trails, or that of a checkpoint."""
        self.group.join(run.ranks)
        self.group.begin(min(run.stop.iterations, FIRST_PLACES))
        rows = []
        if checkpoint is not None:
            run.done = resume_colonies(self.group, checkpoint)
            rows = checkpoint.get(HISTORY, np.zeros((0, 4))).tolist()
        seconds = run.monitor.seconds
        self.history = ColonyHistory(self.colonies, rows, run.done, seconds) if run.has_history else None

    def step(self, run: SynchronousRun) -> Step:
        """Construct tours, let pheromone evaporate, and deposit; then exchange the best tour between colonies."""
        group, exchange, target = self.group, self.settings.exchange or run.stop.iterations, run.stop.target
        has_target, most = target != Stop().target, run.budget().steps
        iterations = 1 if has_target else min(most, exchange - run.done % exchange)
        done = run.done + iterations

        def record(colony: Colony, iterations: int) -> None:
            if self.history is not None:
                self.history.add(colony, iterations, run.monitor.seconds)

        group.iterate(run.done, iterations, record)
        if self.settings.exchange and done % exchange == 0:
            group.exchange()
        is_due = run.is_report_due
        best = group.best_here() if has_target or is_due else None
        if is_due:
            run.report(done, best, done * self.evaluations)
        return Step(iterations, is_ended=has_target and best is not None and best <= target)

    def checkpoint(self, run: SynchronousRun) -> Checkpoint | None:
        """Return pheromone, best tours and lengths of all colonies."""
        curve = self.group.curve(run.done)
        return make_checkpoint(self.group, curve, self._history(run, curve))

    def layout(self, run: SynchronousRun, state: Checkpoint) -> Iterator[CheckpointArray]:
        history_s = run.before_s if run.has_history else None
        return layout(self.settings, self.n, run.stop.iterations, history_s, state)

    def result(self, run: SynchronousRun) -> ColonyOutcome:
        group, evaluations = self.group, self.evaluations * run.done
        group.find_best()
        length, number, iteration, ant = group.winner
        curve = group.curve(run.done)
        run.end(run.done, length, evaluations)
        work = evaluations, group.digest(), curve
        history, tour = self._history(run, curve), group.best_tour()
        return ColonyOutcome(length, number, ant, iteration, *work, history, tour, run.is_finished, run.by_time)

    def _history(self, run: SynchronousRun, curve: np.ndarray) -> list[list[Any]] | None:
        return None if self.history is None else self.history.rows(run.ranks, curve, self.evaluations)
