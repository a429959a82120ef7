"""The instance on a rank's device, shared by all colonies of the rank."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.ant_colony.kernels.neighbour_queue import NEAR
from core.ant_colony.kernels.roulette import COLUMNS
from core.ant_colony.settings import FixedPoint, Settings, fixed_point, heuristic
from core.hill_climbing.scans import Scan, scan_for
from core.run.devices import ComputeDevice, DeviceArray
from core.three_opt.kernels.tour_array import CityLists
from core.three_opt.search import LISTS, NEAREST
from core.tours.alpha_nearness import alpha_nearest
from core.tours.neighbour_lists import nearest_by_rows
from core.tours.start_tours import nearest_neighbour_tour

Renumbering = Callable[[np.ndarray], np.ndarray]


class ColonyInstance:
    """The instance on the device, shared by all colonies of a rank, with renumbered cities.

    ``numbered`` makes the new order of cities from a nearest-neighbour tour (`Colony.numbered`). ``order``, shape (n,),
    int64, has the original number of each city.
    """

    def __init__(
        self, backend: ComputeDevice, distances: np.ndarray, settings: Settings, numbered: Renumbering
    ) -> None:
        self.backend = backend
        self.n = len(distances)
        tour = nearest_neighbour_tour(distances)
        length = int(distances[tour, np.roll(tour, -1)].sum(dtype=np.int64))
        self.order = numbered(tour)
        ordered = np.ascontiguousarray(distances[np.ix_(self.order, self.order)])
        self.numbers: FixedPoint = fixed_point(settings, ordered, length)
        self.distances = backend.upload(ordered)
        self.heuristic = backend.upload(heuristic(ordered, settings.beta))
        self.near_cities = self._lists(ordered, settings.candidates, COLUMNS)
        climbs = settings.local_search
        self.scan: Scan | None = scan_for("pruned", backend, ordered) if climbs == "2opt" else None
        self.joined = self._lists(ordered, NEAR, NEAR) if climbs == "2opt-near" else None
        self.cities = self._city_lists(ordered) if climbs == "3opt" else None

    def _lists(self, distances: np.ndarray, wanted: int, width: int) -> DeviceArray:
        """Return the nearest other cities of each city on the device, ties by number: (n * width,), uint16.

        The city itself fills a list that is too short. Without ``wanted`` cities there are no lists.
        """
        if not wanted:
            return self.backend.upload(np.zeros(1, np.uint16))
        count = min(wanted, self.n - 1)
        lists = np.repeat(np.arange(self.n, dtype=np.uint16)[:, None], width, axis=1)
        lists[:, :count] = nearest_by_rows(distances, count)
        return self.backend.upload(lists.reshape(-1))

    def _city_lists(self, distances: np.ndarray) -> CityLists:
        """Return the instance for moves of three edges, with the lists of `core.three_opt`."""
        n, upload = self.n, self.backend.upload
        count, nearest = min(LISTS, n - 1), min(NEAREST, n - 1)
        nearest_ones = nearest_by_rows(distances, nearest).astype(np.int64)
        lengths = np.take_along_axis(distances, nearest_ones, axis=1).astype(np.int32)
        chosen = alpha_nearest(nearest_ones, lengths, count)
        near = np.take_along_axis(nearest_ones, chosen, axis=1).astype(np.int32).reshape(-1)
        near_distances = np.take_along_axis(lengths, chosen, axis=1).reshape(-1)
        x, y = upload(np.zeros(1)), upload(np.zeros(1))
        return CityLists(True, self.distances, x, y, upload(near), upload(near_distances), count, n, False)
