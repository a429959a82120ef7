"""Iterated local search of tours by local moves (`kernels`): many walks side by side, the best tour wins.

A walk depends only on the seed and its number, so walks are distributed over teams and ranks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Unpack

import numpy as np

from core.arguments import Matrix, Numbers
from core.errors import UserError
from core.lang import Kernel
from core.lang.named_arrays import size_of
from core.local_search.initial import start_solutions
from core.local_search.outcome import Outcome, mix_digests
from core.run.checkpoint import ANY_WORD, Checkpoint, CheckpointArray, history_array, permutation_fault
from core.run.devices import ComputeDevice, Ranks
from core.run.loop import Step, SynchronousRun, execute
from core.run.partition import equal_part
from core.run.protocol import Search, Watching
from core.run.stop import MOST, Stop, checked_stop
from core.three_opt.kernels.or_opt import Kicks, begin_tours, improve_tours, keep_best, resume_tours
from core.three_opt.kernels.three_opt import MOST_LISTS
from core.three_opt.kernels.tour_array import MOST_LOGGED, CityLists, TourControl, TourTotals, TourWalk
from core.tours import TspInstance
from core.tours.alpha_nearness import alpha_nearest
from core.tours.distances import check_lengths, distance_bound
from core.tours.neighbour_lists import city_order, list_distances, neighbour_lists
from core.tours.problem import TspTour

TARGET_BATCH = 1000
"""Iterations between two checks of the target."""
FEWEST_CITIES = 5
LARGEST_TABLE = 4 << 20
"""Bytes of a table of distances that is faster than coordinates."""
CHAIN_LISTS, SEGMENT = 5, 200
LISTS = 6
"""Neighbours of a city for moves of three edges without chains, as ants make them."""
NEAREST = 24
"""Nearest cities among which alpha-nearness chooses the list of a city."""
DESCENT_PART = 0.8
"""Length of a good tour, as a part of the start tour's."""
SLACK_EDGES, REACH_EDGES = 0.3, 5.0
"""Most by which a longer tour is accepted, per level and in all, in mean edges (`kernels.or_opt.Kicks`)."""
PATIENCE_CITIES, PERIOD_ROUNDS = 10, 20
"""Cities for each perturbation of a walk's patience, and perturbations for each city in a period of acceptance."""
MOST_SLACK = 1 << 22


class IteratedThreeOpt(Search):
    """Iterated local search of tours on one instance and one device, ready to be repeated.

    Parameters
    ----------
    backend, communicator
        See `core.run.protocol.Search`.
    instance
        Cities with coordinates or a matrix.
    walks
        Number of walks over all ranks.
    lists
        Largest number of neighbours to which moves may join a city; see `core.tours.alpha_nearness`.
    segment
        Largest number of cities in a segment of a perturbation.
    seed
        Seed of all random numbers.
    team_size
        Lanes of a team; None: chosen for the device. The walks are the same.

    Raises
    ------
    UserError
        Too few cities, lengths that do not fit 31 bits, or a setting out of range.
    """

    title = "iterated local search of tours"
    """Name of the search in messages."""
    unit = "perturbations"
    initial: np.ndarray | None = None
    """Start tours of all walks, in this search's numbers of the cities; None: the cities in their order."""
    evaluation_definition = "local double bridges, each with its descent"

    def __init__(
        self,
        backend: ComputeDevice,
        communicator: Ranks,
        instance: TspInstance,
        *,
        walks: int = 1,
        lists: int = CHAIN_LISTS,
        segment: int = SEGMENT,
        seed: int = 0,
        team_size: int | None = None,
    ) -> None:
        n = instance.n
        if n < FEWEST_CITIES:
            raise UserError(f"{instance.name} has {n} cities: iterated 3-opt takes at least {FEWEST_CITIES}")
        check_range("lists", lists, 1, MOST_LISTS)
        check_range("segment", segment, 1)
        check_range("walks", walks, 1)
        check_range("seed", seed, 0)
        self.backend, self.communicator = backend, communicator
        self.instance, self.n, self.walks, self.seed = instance, n, walks, seed
        self.first, self.end = equal_part(walks, communicator.rank, communicator.size)
        lanes = 1 if backend.capabilities.max_team_size == 1 else min(32, backend.capabilities.max_team_size)
        self.team_size = team_size or lanes
        walk = TourWalk(n=n, words=-(-n // 32), logged=2 * MOST_LOGGED)
        if self.own_count:
            self.rows = backend.rows(walk, self.own_count)
        self.lists, self.segment = min(lists, n - 1), min(segment, (n - 2) // 2)
        self.order = city_order(instance)
        self.start_length = instance.tour_length(self.order)
        self.cities = backend.load(self._cities())

    @property
    def own_count(self) -> int:
        """Number of this rank's walks."""
        return self.end - self.first

    @property
    def parameters(self) -> dict[str, Any]:
        """Settings that decide the trajectory, besides the seed."""
        return {"walks": self.walks, "lists": self.lists, "segment": self.segment}

    @property
    def by_table(self) -> bool:
        """True if distances are from a table."""
        return self.instance.edge_weight_type != "EUC_2D" or self.instance.n**2 * 2 <= LARGEST_TABLE

    def _cities(self) -> CityLists:
        """Return the instance in the order of its cities."""
        n, order = self.instance.n, self.order
        place = np.argsort(order)
        lists = neighbour_lists(self.instance, min(max(self.lists, NEAREST), n - 1))
        x = y = np.zeros(1)
        table = np.zeros(1, np.uint16)
        if self.by_table:
            table = np.ascontiguousarray(self.instance.distances[np.ix_(order, order)])
            longest = int(table.max())
        else:
            assert self.instance.coordinates is not None
            x, y = (np.ascontiguousarray(axis) for axis in self.instance.coordinates[order].T)
            longest = int(distance_bound(self.instance.coordinates, self.instance.edge_weight_type))
        check_lengths(n, longest, self.instance.name)
        near = list_distances(self.instance, lists)
        ranked = np.argsort(near, axis=1, kind="stable")
        near, lists = (np.take_along_axis(rows, ranked, axis=1) for rows in (near, lists))
        chosen = alpha_nearest(lists, near, self.lists)
        near, lists = (np.take_along_axis(rows, chosen, axis=1)[order] for rows in (near, lists))
        listed = place[lists].astype(np.int32).reshape(-1), near.reshape(-1)
        return CityLists(self.by_table, table, x, y, *listed, self.lists, n, False)

    @property
    def description(self) -> str:
        return f"iterated 3-opt by {self.lists} neighbours"

    # --- runs ---

    def warm_up(self) -> None:
        """Compile everything; the time counts as compilation."""
        with self.backend.warming_up():
            if self.own_count:
                self.start()
                self.improve(1, Stop())
                self.launch(keep_best)
                self.backend.synchronize()

    def run(
        self,
        stop: Stop | None = None,
        *,
        ranks: Ranks | None = None,
        initial: Matrix | Numbers | None = None,
        **watching: Unpack[Watching],
    ) -> Outcome:
        """Search from ``initial``, or from a checkpoint; an iteration is one perturbation of every walk.

        ``initial`` is one tour or one for each walk, by default the cities in their order. ``stop`` has iterations of a
        walk, the time, or a target, which is checked every `TARGET_BATCH` iterations; patience is refused. For other
        arguments see `core.run.protocol.Search.run`.
        """
        tours = start_solutions(TspTour(self.instance), self.walks, initial)
        self.initial = None if tours is None else np.argsort(self.order)[tours].astype(np.int32)
        stop = checked_stop(stop, self.title, "iterations", "seconds", "target", callback=watching.get("callback"))
        self.communicator = ranks = ranks or self.communicator
        return execute(self, SynchronousRun(ranks, stop, total=stop.limit, **watching))

    # --- the search, as the run loop calls it ---

    def begin(self, run: SynchronousRun, checkpoint: Checkpoint | None) -> None:
        """Descend from the start solutions, or take those of a checkpoint."""
        if checkpoint is not None:
            run.done = int(checkpoint["iterations"])
            if self.own_count:
                self.number()
                for kept in self.kept_rows(run.done):
                    rows = checkpoint[kept.name][self.first : self.end]
                    self.backend.write(getattr(self.rows, kept.name), rows.reshape(-1))
                self.launch(resume_tours)
            run.begin_samples(None, checkpoint.get("history"), (run.done * self.walks, run.done))
        else:
            if self.own_count:
                self.start()
                self.improve(0, run.stop)
            run.begin_samples(self.best_here()[0] if self.own_count else None)

    def step(self, run: SynchronousRun) -> Step:
        """Perturb every walk once in each iteration of the budget."""
        has_target = run.stop.target != Stop().target
        count = run.budget().steps
        if has_target:
            count = min(TARGET_BATCH - run.done % TARGET_BATCH, count)
        if self.own_count == 0:
            return Step(count)
        self.improve(count, run.stop)
        cost = self.best_here()[0]
        done = run.done + count
        if run.samples is not None:
            run.samples.see(cost, done * self.own_count, done)
        if run.is_report_due:
            run.report(done, cost, self.evaluations_after(done))
        return Step(count, is_ended=has_target and cost <= run.stop.target)

    def kept_rows(self, done: int) -> list[CheckpointArray]:
        """Declare the rows of all walks in a checkpoint after ``done`` iterations."""
        tours, cities = (self.walks, self.n), [(0, self.n - 1)]
        control = [(0, MOST), (0, MOST), (0, done), (0, done), (0, 1)]
        return [
            CheckpointArray("tour", np.int32, tours, cities, permutation_fault),
            CheckpointArray("best", np.int32, tours, cities, permutation_fault),
            CheckpointArray("control", np.int32, (self.walks, size_of(TourControl)), control),
            CheckpointArray("totals", np.uint64, (self.walks, size_of(TourTotals)), [(0, ANY_WORD)]),
        ]

    def checkpoint(self, run: SynchronousRun) -> Checkpoint | None:
        """Return solutions, costs and digests of all walks."""
        rows, names = {}, [kept.name for kept in self.kept_rows(run.done)]
        if self.own_count:
            self.launch(keep_best)
            rows = {name: self.backend.download(getattr(self.rows, name)) for name in names}
        parts = run.ranks.gather(rows)
        history = run.history_rows(numbered=False)
        if parts is None:
            return None
        state = {name: np.concatenate([part[name] for part in parts if part]).reshape(self.walks, -1) for name in names}
        more = {} if history is None else {"history": history}
        return {"iterations": np.array(run.done, np.int64), **state, **more}

    def layout(self, run: SynchronousRun, state: Checkpoint) -> Iterator[CheckpointArray]:
        yield CheckpointArray("iterations", np.int64, (), [(0, run.stop.iterations)])
        done = int(state["iterations"])
        yield from self.kept_rows(done)
        if run.has_history:
            best = int(state["control"][:, TourControl.best_length].min())
            yield history_array("history", done, done * self.walks, run.before_s, best)

    def result(self, run: SynchronousRun) -> Outcome:
        """Return the best solution of all walks, of the smallest number."""
        ranks, n = run.ranks, self.n
        cost, walk = ranks.minloc(*(self.best_here() if self.own_count else (MOST, self.walks)))
        words = np.zeros(n + 4, np.uint64)
        if self.own_count:
            self.launch(keep_best)
            control = self.control()
            totals = self.backend.download(self.rows.totals).reshape(-1, size_of(TourTotals))
            numbers = np.arange(self.first, self.end, dtype=np.uint64)
            words[n] = control[:, TourControl.kicks].sum()
            words[n + 3] = self.evaluations(control, totals)
            words[n + 1] = mix_digests(totals[:, TourTotals.digest], numbers)
            if self.first <= walk < self.end:
                words[n + 2] = control[walk - self.first, TourControl.best_at]
                words[:n] = self.order[self.backend.read(self.rows.best, (walk - self.first) * n, n)]
        ranks.reduce(words, "sum")
        rounds, digest, found_at, evaluations = (int(word) for word in words[n:])
        run.end(run.done, cost, evaluations)
        counts = rounds, evaluations, digest
        solution, history = words[:n].astype(np.int64), run.history(numbered=False)
        return Outcome(cost, walk, found_at, *counts, solution, history, run.is_finished, run.by_time)

    # --- the walks ---

    def start(self) -> None:
        """Start every walk of this rank with its start tour, or the cities in their order."""
        self.write_control(self.start_length)
        self.number()
        self.launch(begin_tours, self.seed)
        if self.initial is not None:
            tours = self.initial[self.first : self.end]
            self.write_control(self.instance.tour_lengths(self.order[tours]))
            self.write_tours(tours)

    def improve(self, count: int, stop: Stop) -> None:
        self.launch(improve_tours, self.cities, count, self._kicks(stop))

    def _kicks(self, stop: Stop) -> Kicks:
        """Return the rule of all walks."""
        n = self.instance.n
        edge = DESCENT_PART * self.start_length / n
        slack = min(MOST_SLACK, max(1, round(SLACK_EDGES * edge)))
        reach = round(REACH_EDGES * edge)
        return Kicks(self.segment, n // PATIENCE_CITIES, slack, reach, PERIOD_ROUNDS * n, stop.target, self.seed)

    def evaluations_after(self, iterations: int) -> int:
        return iterations * self.walks

    def evaluations(self, control: np.ndarray, totals: np.ndarray) -> int:
        """Return the units of work of this rank's walks."""
        return int(control[:, TourControl.kicks].sum())

    def place_of_best(self, outcome: Outcome) -> str:
        """Return where the best solution was found, as text."""
        return f"perturbation {outcome.found_at} of walk {outcome.walk}"

    # --- launches ---

    def number(self) -> None:
        """Write the numbers of this rank's walks."""
        self.backend.write(self.rows.number, np.arange(self.first, self.end, dtype=np.uint64))

    def write_tours(self, tours: np.ndarray) -> None:
        """Write a tour, and the places of its cities, for each walk of this rank: shape (walks, n), int32."""
        places = np.empty_like(tours)
        np.put_along_axis(places, tours, np.arange(self.n, dtype=np.int32)[None], axis=1)
        self.backend.write(self.rows.tour, tours.reshape(-1))
        self.backend.write(self.rows.place, places.reshape(-1))

    def write_control(self, costs: np.ndarray | int) -> None:
        """Write the control words of walks that begin at solutions of these costs."""
        control = np.zeros((self.own_count, size_of(TourControl)), np.int32)
        control[:, TourControl.length] = control[:, TourControl.best_length] = costs
        control[:, TourControl.at_best] = 1
        self.backend.write(self.rows.control, control.reshape(-1))
        self.backend.write(self.rows.totals, np.zeros(self.own_count * size_of(TourTotals), np.uint64))

    def launch(self, kernel: Kernel, *arguments: object) -> None:
        """Launch a kernel on all walks of this rank, each by one team."""
        teams = min(self.own_count, 64 * self.backend.capabilities.compute_units)
        self.backend.launch(kernel, teams, self.team_size, self.rows, *arguments)

    def control(self) -> np.ndarray:
        """Return the control words of this rank's walks: shape (walks, words of `TourControl`)."""
        return self.backend.download(self.rows.control).reshape(-1, size_of(TourControl))

    def best_here(self) -> tuple[int, int]:
        """Return the least cost of this rank's walks, and the number of the first walk that has it."""
        costs = self.control()[:, TourControl.best_length]
        return int(costs.min()), self.first + int(costs.argmin())


def check_range(name: str, value: float, least: int, most: int = MOST) -> None:
    if not least <= value <= most:
        raise UserError(f"{name} {value}: expected {least} to {most}")
