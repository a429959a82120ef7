"""Iterated local search of tours by local moves (`core.kernels.tours`): many walks side by side, the best tour wins.

A walk depends on nothing but the seed and its number, so walks are shared out over teams and ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from core.errors import UserError
from core.kernels.tours.or_opt import Kicks, begin_tours, improve_tours, keep_best, resume_tours
from core.kernels.tours.three_opt import MOST_LISTS
from core.kernels.tours.tour_array import (
    AT_BEST,
    BEST_AT,
    BEST_LENGTH,
    CONTROL,
    DIGEST,
    KICKS,
    LENGTH,
    MOST_LOGGED,
    TOTALS,
    CityLists,
    TourWalk,
)
from core.problems.tsp import TspInstance
from core.problems.tsp.distances import distance_bound
from core.search.checkpoint import (
    ANY_WORD,
    Checkpoint,
    CheckpointArray,
    Checkpointer,
    history_array,
    permutation_fault,
)
from core.search.local_search.outcome import Outcome, mix_digests
from core.search.partition import equal_part
from core.search.protocol import Callback
from core.search.run import Step, SynchronousRun, execute
from core.search.stop import MOST, Stop, checked_stop
from core.search.tours.alpha_nearness import alpha_nearest
from core.search.tours.neighbour_lists import city_order, list_distances, neighbour_lists

FEWEST_CITIES = 5
LARGEST_TABLE = 4 << 20
"""Bytes of a table of distances that is faster than coordinates."""
LISTS, SEGMENT = 6, 100
NEAREST = 24
"""Nearest cities among which alpha-nearness chooses the list of a city."""
DESCENT_PART = 0.8
"""Length of a good tour, as a part of the start tour's."""
SLACK_EDGES, REACH_EDGES = 0.3, 5.0
"""Most by which a longer tour is accepted, per level and in all, in mean edges (`core.kernels.tours.or_opt.Kicks`)."""
PATIENCE_CITIES, PERIOD_ROUNDS = 10, 20
"""Cities for each perturbation of a walk's patience, and perturbations for each city in a period of acceptance."""
MOST_SLACK = 1 << 22
TARGET_BATCH = 1000
"""Perturbations between two looks at the target."""


class IteratedThreeOpt:
    """Iterated local search of tours on one instance and one device, ready to be repeated.

    Parameters
    ----------
    backend
        A `backends.launch.Backend`.
    communicator
        A `cluster.Communicator`, or a rehearsal of one; every rank constructs and calls the same.
    instance
        Cities with coordinates or a matrix.
    walks
        Number of walks over all ranks.
    lists
        Neighbours of a city that moves may join it to, at most; see `core.search.tours.alpha_nearness`.
    segment
        Largest number of cities in a segment of a perturbation.
    seed
        Of all random numbers.
    team_size
        Lanes of a team; None: chosen for the device. The walks are the same.

    Raises
    ------
    UserError
        Too few cities, lengths that do not fit 31 bits, or a setting out of range.

    """

    def __init__(
        self,
        backend: Any,
        communicator: Any,
        instance: TspInstance,
        *,
        walks: int = 1,
        lists: int = LISTS,
        segment: int = SEGMENT,
        seed: int = 0,
        team_size: int | None = None,
    ) -> None:
        n = instance.n
        if n < FEWEST_CITIES:
            raise UserError(f"{instance.name} has {n} cities: iterated 3-opt takes at least {FEWEST_CITIES}")
        for name, value, most in (("walks", walks, MOST), ("lists", lists, MOST_LISTS), ("segment", segment, MOST)):
            if not 1 <= value <= most:
                raise UserError(f"{name} {value}: expected 1 to {most}")
        if not 0 <= seed <= MOST:
            raise UserError(f"seed {seed}: expected 0 to {MOST}")
        self.backend, self.communicator, self.instance = backend, communicator, instance
        self.walks, self.seed = walks, seed
        self.lists, self.segment = min(lists, n - 1), min(segment, (n - 2) // 2)
        self.order = city_order(instance)
        self.start_length = instance.tour_length(self.order)
        self.cities = backend.load(self._cities())
        self.first, self.end = equal_part(walks, communicator.rank, communicator.size)
        lanes = 1 if backend.capabilities.max_team_size == 1 else min(32, backend.capabilities.max_team_size)
        self.team_size = team_size or lanes
        self.rows: Any = None
        if self.here:
            self.rows = backend.rows(TourWalk(n=n, words=-(-n // 32), logged=2 * MOST_LOGGED), self.here)

    @property
    def here(self) -> int:
        """Number of this rank's walks."""
        return self.end - self.first

    @property
    def parameters(self) -> dict[str, Any]:
        """The settings that decide the trajectory, besides the seed."""
        return {"walks": self.walks, "lists": self.lists, "segment": self.segment}

    def _cities(self) -> CityLists:
        """Return the instance in the order of its cities."""
        n, order = self.instance.n, self.order
        place = np.argsort(order)
        lists = neighbour_lists(self.instance, min(max(self.lists, NEAREST), n - 1))
        by_table = self.instance.edge_weight_type != "EUC_2D" or n**2 * 2 <= LARGEST_TABLE
        x = y = np.zeros(1)
        table = np.zeros(1, np.uint16)
        if by_table:
            table = np.ascontiguousarray(self.instance.distances[np.ix_(order, order)])
            longest = int(table.max())
        else:
            assert self.instance.coordinates is not None
            x, y = (np.ascontiguousarray(axis) for axis in self.instance.coordinates[order].T)
            longest = int(distance_bound(self.instance.coordinates, self.instance.edge_weight_type))
        if n * longest >= 2**31:
            raise UserError(
                f"{self.instance.name}: tours of {n} cities at distances up to {longest} do not fit 31 bits"
            )
        near = list_distances(self.instance, lists)
        ranked = np.argsort(near, axis=1, kind="stable")
        near, lists = (np.take_along_axis(rows, ranked, axis=1) for rows in (near, lists))
        chosen = alpha_nearest(lists, near, self.lists)
        near, lists = (np.take_along_axis(rows, chosen, axis=1)[order] for rows in (near, lists))
        return CityLists(
            by_table, table, x, y, place[lists].astype(np.int32).reshape(-1), near.reshape(-1), self.lists, n
        )

    def warm_up(self) -> None:
        """Compile everything; the time counts as compilation."""
        with self.backend.warming_up():
            if self.here:
                self._start()
                self._launch(improve_tours, self.cities, 1, self._kicks(Stop()))
                self._launch(keep_best)
                self.backend.synchronize()

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Any = None,
        checkpointer: Checkpointer | None = None,
    ) -> Outcome:
        """Search from the start tours, or from a checkpoint; an iteration is one perturbation of every walk.

        Parameters
        ----------
        stop
            Iterations of a walk, the time, or a target, which is looked at every `TARGET_BATCH` iterations; patience is
            refused.
        history, callback, ranks, checkpointer
            See `core.search.protocol.Search.run`.

        """
        stop = checked_stop(
            stop, "iterated local search of tours", "iterations", "seconds", "target", callback=callback
        )
        self.communicator = ranks or self.communicator
        run = SynchronousRun(
            self.communicator, stop, callback, total=stop.limit, checkpointer=checkpointer, history=history
        )
        return execute(self, run)

    # --- the search, as the run loop calls it ---

    def begin(self, run: SynchronousRun, checkpoint: Checkpoint | None) -> None:
        """See `core.search.run.Steps`: descend from the start tours, or take the tours of a checkpoint."""
        rows = self.rows
        earlier = None
        if checkpoint is not None:
            run.done = int(checkpoint["iterations"])
            earlier = checkpoint.get("history")
            if self.here:
                here = slice(self.first, self.end)
                self._number()
                for name, dtype in (
                    ("tour", np.int32),
                    ("best", np.int32),
                    ("control", np.int32),
                    ("totals", np.uint64),
                ):
                    self.backend.write(getattr(rows, name), checkpoint[name][here].astype(dtype).reshape(-1))
                self._launch(resume_tours)
        elif self.here:
            self._start()
            self._launch(improve_tours, self.cities, 0, self._kicks(run.stop))
        run.begin_samples(
            self._best()[0] if self.here and checkpoint is None else None, earlier, (run.done * self.walks, run.done)
        )

    def step(self, run: SynchronousRun) -> Step:
        """See `core.search.run.Steps`: perturb every walk ``count`` times."""
        has_target = run.stop.target != Stop().target
        count = run.budget().steps
        if has_target:
            count = min(TARGET_BATCH - run.done % TARGET_BATCH, count)
        if self.here == 0:
            return Step(count)
        self._launch(improve_tours, self.cities, count, self._kicks(run.stop))
        length = self._best()[0]
        done = run.done + count
        if run.samples is not None:
            run.samples.see(length, done * self.here, done)
        if run.is_report_due:
            run.report(done, length, done * self.walks)
        return Step(count, is_ended=has_target and length <= run.stop.target)

    def checkpoint(self, run: SynchronousRun) -> Checkpoint | None:
        """See `core.search.run.Steps`: tours, lengths and digests of all walks."""
        found = {}
        if self.here:
            self._launch(keep_best)
            for name, width in (
                ("tour", self.instance.n),
                ("best", self.instance.n),
                ("control", CONTROL),
                ("totals", TOTALS),
            ):
                found[name] = self.backend.download(getattr(self.rows, name)).reshape(self.here, width)
        every = run.ranks.gather(found)
        history = run.history_rows(numbered=False)
        if every is None:
            return None
        state = {
            name: np.concatenate([one[name] for one in every if one]) for name in ("tour", "best", "control", "totals")
        }
        more = {} if history is None else {"history": history}
        return {"iterations": np.array(run.done, np.int64), **state, **more}

    def layout(self, run: SynchronousRun, state: Checkpoint) -> Iterator[CheckpointArray]:
        """See `core.search.run.Steps`."""
        n, walks = self.instance.n, self.walks
        yield CheckpointArray("iterations", np.int64, (), [(0, run.stop.iterations)])
        done = int(state["iterations"])
        for name in ("tour", "best"):
            yield CheckpointArray(name, np.int32, (walks, n), [(0, n - 1)], permutation_fault)
        words = {LENGTH: (0, MOST), BEST_LENGTH: (0, MOST), KICKS: (0, done), BEST_AT: (0, done), AT_BEST: (0, 1)}
        yield CheckpointArray("control", np.int32, (walks, CONTROL), [words[k] for k in range(CONTROL)])
        yield CheckpointArray("totals", np.uint64, (walks, TOTALS), [(0, ANY_WORD)])
        if run.has_history:
            best = int(state["control"][:, BEST_LENGTH].min())
            yield history_array("history", done, done * walks, run.before_s, best)

    def result(self, run: SynchronousRun) -> Outcome:
        """See `core.search.run.Steps`: the shortest tour of all walks, of the smallest number."""
        ranks, n = run.ranks, self.instance.n
        mine = self._best() if self.here else (MOST, self.walks)
        length, walk = ranks.minloc(*mine)
        tour = np.zeros(n + 3, np.uint64)
        if self.here:
            self._launch(keep_best)
            control = self._control()
            totals = self.backend.download(self.rows.totals).reshape(-1, TOTALS)
            numbers = np.arange(self.first, self.end, dtype=np.uint64)
            tour[n] = control[:, KICKS].sum()
            tour[n + 1] = mix_digests(totals[:, DIGEST], numbers)
            if self.first <= walk < self.end:
                tour[n + 2] = control[walk - self.first, BEST_AT]
                tour[:n] = self.order[self.backend.read(self.rows.best, (walk - self.first) * n, n)]
        ranks.reduce(tour, "sum")
        kicks, digest, found_at = (int(word) for word in tour[n:])
        run.end(run.done, length, kicks)
        found = Outcome(length, walk, found_at, kicks, kicks, digest, tour[:n].astype(np.int64))
        is_finished = run.done == run.stop.iterations or not run.is_interrupted
        return replace(found, history=run.history(numbered=False), finished=is_finished, by_time=run.by_time)

    # --- launches ---

    def _start(self) -> None:
        """Set every walk of this rank to its start tour."""
        control = np.zeros((self.here, CONTROL), np.int32)
        control[:, [LENGTH, BEST_LENGTH]], control[:, AT_BEST] = self.start_length, 1
        self.backend.write(self.rows.control, control.reshape(-1))
        self.backend.write(self.rows.totals, np.zeros(self.here * TOTALS, np.uint64))
        self._number()
        self._launch(begin_tours, self.seed)

    def _number(self) -> None:
        self.backend.write(self.rows.number, np.arange(self.first, self.end, dtype=np.uint64))

    def _kicks(self, stop: Stop) -> Kicks:
        """Return the rule of all walks."""
        n = self.instance.n
        edge = DESCENT_PART * self.start_length / n
        slack = min(MOST_SLACK, max(1, round(SLACK_EDGES * edge)))
        reach = round(REACH_EDGES * edge)
        return Kicks(self.segment, n // PATIENCE_CITIES, slack, reach, PERIOD_ROUNDS * n, stop.target, self.seed)

    def _launch(self, kernel: Any, *arguments: Any) -> None:
        """Launch a kernel on all walks of this rank, each by one team."""
        teams = min(self.here, 64 * self.backend.capabilities.compute_units)
        self.backend.launch(kernel, teams, self.team_size, self.rows, *arguments)

    def _control(self) -> np.ndarray:
        """Return the control words of this rank's walks: shape (walks, `CONTROL`)."""
        words: np.ndarray = self.backend.download(self.rows.control).reshape(-1, CONTROL)
        return words

    def _best(self) -> tuple[int, int]:
        """Return the shortest length of this rank's walks, and the number of the first walk that has it."""
        lengths = self._control()[:, BEST_LENGTH]
        return int(lengths.min()), self.first + int(lengths.argmin())
