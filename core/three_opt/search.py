"""Iterated local search of tours by local moves (`kernels`): many walks side by side, the best tour wins.

A walk depends only on the seed and its number, so walks are distributed over teams and ranks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.arguments import Matrix, Numbers
from core.errors import UserError
from core.local_search.initial import start_solutions
from core.local_search.outcome import Outcome
from core.run.checkpoint import Checkpointer
from core.run.devices import ComputeDevice, Ranks
from core.run.protocol import Callback
from core.run.stop import Stop
from core.three_opt.independent_walks import IndependentWalks, check_range
from core.three_opt.kernels.or_opt import Kicks, begin_tours, improve_tours, keep_best, resume_tours
from core.three_opt.kernels.three_opt import MOST_LISTS
from core.three_opt.kernels.tour_array import MOST_LOGGED, CityLists, TourWalk
from core.tours import TspInstance
from core.tours.alpha_nearness import alpha_nearest
from core.tours.distances import distance_bound
from core.tours.neighbour_lists import city_order, list_distances, neighbour_lists
from core.tours.problem import TspTour

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


class IteratedThreeOpt(IndependentWalks):
    """Iterated local search of tours on one instance and one device, ready to be repeated.

    Parameters
    ----------
    instance
        Cities with coordinates or a matrix.
    lists
        Largest number of neighbours to which moves may join a city; see `core.tours.alpha_nearness`.
    segment
        Largest number of cities in a segment of a perturbation.
    backend, communicator, walks, seed, team_size
        See `core.three_opt.independent_walks.IndependentWalks`.

    Raises
    ------
    UserError
        Too few cities, lengths that do not fit 31 bits, or a setting out of range.
    """

    title = "iterated local search of tours"
    solution_row = "tour"
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
        self.instance = instance
        walk = TourWalk(n=n, words=-(-n // 32), logged=2 * MOST_LOGGED)
        super().__init__(backend, communicator, walk, n, walks=walks, seed=seed, team_size=team_size)
        self.lists, self.segment = min(lists, n - 1), min(segment, (n - 2) // 2)
        self.order = city_order(instance)
        self.start_length = instance.tour_length(self.order)
        self.cities = backend.load(self._cities())

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
        by_table = self.by_table
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
            by_table, table, x, y, place[lists].astype(np.int32).reshape(-1), near.reshape(-1), self.lists, n, False
        )

    @property
    def description(self) -> str:
        return f"iterated 3-opt by {self.lists} neighbours"

    def run(
        self,
        stop: Stop | None = None,
        *,
        history: bool = False,
        callback: Callback | None = None,
        ranks: Ranks | None = None,
        checkpointer: Checkpointer | None = None,
        initial: Matrix | Numbers | None = None,
    ) -> Outcome:
        """Search from ``initial``, one tour or one for each walk, or else from the cities in their order.

        For other arguments see `IndependentWalks.run`.
        """
        tours = start_solutions(TspTour(self.instance), self.walks, initial)
        self.initial = None if tours is None else np.argsort(self.order)[tours].astype(np.int32)
        return super().run(stop, history=history, callback=callback, ranks=ranks, checkpointer=checkpointer)

    # --- the walks: see `IndependentWalks` ---

    def start(self) -> None:
        """Start every walk of this rank with its start tour, or the cities in their order."""
        self.write_control(self.start_length, 1)
        self.number()
        self.launch(begin_tours, self.seed)
        if self.initial is not None:
            tours = self.initial[self.first : self.end]
            self.write_control(self.instance.tour_lengths(self.order[tours]), 1)
            self.backend.write(self.rows.tour, tours.reshape(-1))
            self.backend.write(self.rows.place, np.argsort(tours, axis=1).astype(np.int32).reshape(-1))

    def improve(self, count: int, stop: Stop) -> None:
        self.launch(improve_tours, self.cities, count, self._kicks(stop))

    def resume(self) -> None:
        """Find the places of the cities."""
        self.launch(resume_tours)

    def keep_best(self) -> None:
        self.launch(keep_best)

    def numbered_by_problem(self, solution: np.ndarray) -> np.ndarray:
        cities: np.ndarray = self.order[solution]
        return cities

    def _kicks(self, stop: Stop) -> Kicks:
        """Return the rule of all walks."""
        n = self.instance.n
        edge = DESCENT_PART * self.start_length / n
        slack = min(MOST_SLACK, max(1, round(SLACK_EDGES * edge)))
        reach = round(REACH_EDGES * edge)
        return Kicks(self.segment, n // PATIENCE_CITIES, slack, reach, PERIOD_ROUNDS * n, stop.target, self.seed)
