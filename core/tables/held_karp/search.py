"""A shortest tour by Held and Karp's recursion (`oconnell2014`, equation 6), layer by layer and met in the middle.

A tour from city 0 is a path through half of the other cities and one that comes back through the rest, so layers of
half the cities are enough (`kernels.layers`). Of equally short tours, in the directions that count (see
`plan`), the one with the smallest first half wins (in the order of bit masks), then the smallest last city of it, the
smallest first city of the other half, and the smallest city before each; so the tour is the same on every backend and
over any number of ranks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.errors import UserError
from core.exact.solution import digest_of
from core.run.devices import ComputeDevice, Ranks
from core.run.protocol import Digested, alias
from core.tables.engine.recurrences import TableAnswer
from core.tables.engine.table_search import PublishedTable, TableRun, TableSearch, TableStrategy, check_mapping
from core.tables.held_karp.halves import HeldKarpHalves, NoTour
from core.tables.held_karp.kernels.layers import ELEMENTS
from core.tables.held_karp.plan import bytes_needed, refuse_layers
from core.tours import tour_length
from core.tours.distance_matrices import checked_distances
from core.tours.instance import canonical_tour
from core.tours.start_tours import greedy_tour, nearest_neighbour_tour

MOST_CITIES = ELEMENTS + 2
"""Two GPUs hold at most the layers of 36 cities, 284 GB in 16 bits."""
RESERVE = 4 << 30
"""Bytes of a GPU that suffice for all data except layers."""
FEWEST_CITIES = 4
"""Fewer have one tour or two."""
LONGEST = (1 << 30) - 1
"""Three such lengths still fit 32 bits."""


@dataclass(frozen=True)
class ShortestTour(Digested):
    """A shortest tour, (n,), int64, from city 0; None if it was not traced.

    If distances are symmetric, its second city is smaller than the last. ``transitions`` counts steps from a shorter
    path to a longer one, and of paths to tours, over all ranks, without those of tracing. ``start_length`` is the
    length of the heuristic's tour, which decides the bits of a length. ``digest`` has 64 bits, of the length.
    ``streamed_bytes`` are cells that left the device for the host, by the paper's mapping.
    """

    length: int
    tour: np.ndarray | None
    transitions: int
    start_length: int
    digest: int
    streamed_bytes: int = 0

    cost, solution, evaluations = alias("length"), alias("tour"), alias("transitions")
    history, finished = None, True


class TinyTour(TableStrategy):
    """The tour of up to three cities, in the better direction."""

    work = 0

    def __init__(self, distances: np.ndarray) -> None:
        self.distances = distances

    def compute(self, run: TableRun) -> TableAnswer:
        cities = np.arange(len(self.distances))
        tour = min([cities, np.roll(cities[::-1], 1)], key=lambda tour: tour_length(self.distances, tour))
        return TableAnswer(tour_length(self.distances, tour), tour if run.trace else None)


class HeldKarp(TableSearch[ShortestTour]):
    """Dynamic programming over subsets on one instance and one device per rank, ready to be repeated.

    Its progress counts layers, and the meeting of both halves; its ``work`` transitions, over all ranks, without those
    of tracing.

    Raises `UserError` for an invalid matrix, too long distances, or too many cities for the device, with the bytes.

    Parameters
    ----------
    distances : ndarray, shape (n, n)
        Integers from 0 to 2**31 - 1, symmetric or not; 1 to 36 cities. The diagonal is not read.
    mapping
        ``native``: two layers, meeting in the middle. ``published``: the paper's mapping: all layers, with all cells
        copied to the host (`waves`).
    room
        Bytes of a device that layers may take; by default a GPU's memory but a sixteenth and 4 GiB at most, and 12/16
        of a host's.
    folder
        Cells are written to a file there; by default to the host's memory.
    """

    subject = "Held and Karp's table"
    unit = "transitions"
    are_parts_even = False

    def __init__(
        self,
        backend: ComputeDevice,
        communicator: Ranks,
        distances: np.ndarray,
        *,
        mapping: str = "native",
        room: int | None = None,
        folder: str | None = None,
    ) -> None:
        check_mapping(mapping)
        self.backend, self.communicator = backend, communicator
        self.distances = checked_distances(distances, check_cities)
        self.n = n = len(self.distances)
        self.directed = not np.array_equal(self.distances, self.distances.T)
        start = heuristic_tour(self.distances) if self.directed else greedy_tour(self.distances)
        self.start_length = tour_length(self.distances, start)
        if self.start_length >= LONGEST:
            raise UserError(f"tours of length {self.start_length} and more: expected below {LONGEST}, a coarser unit")
        # Saturated lengths are longer than the heuristic's tour, so they are in no shortest one.
        narrow = self.start_length < 0xFFFF
        self.dtype = np.dtype(np.uint16 if narrow else np.uint32)
        self.cap = 0xFFFF if narrow else LONGEST
        is_gpu = backend.capabilities.lanes_resident > 1  # a GPU's memory, which no other process takes
        memory = backend.device.memory_bytes
        if room is None:
            room = memory - min(memory // 16, RESERVE) if is_gpu else memory // 16 * 12
        # numba's simulator has no separate memory.
        self.room = room or 1 << 62
        self.devices = communicator.size if is_gpu else 1
        if n < FEWEST_CITIES:
            self.strategy = TinyTour(self.distances)
        elif mapping == "native":
            # Refuse layers that the devices of all ranks cannot hold, before any allocation.
            needed = bytes_needed(n, self.dtype.itemsize, self.directed)
            if needed > self.room * self.devices:
                where = "the device" if self.devices == 1 else f"{self.devices} devices"
                refuse_layers(n, needed, self.room * self.devices, where, f": at most {self.most_cities} cities")
            self.strategy = HeldKarpHalves(backend, self.distances, self.dtype, self.cap, self.room)
            if communicator.size == 1:
                self.strategy.settle(communicator)
        else:
            from core.tables.held_karp.waves import SubsetWaves

            short = np.minimum(self.distances, self.start_length + 1)  # longer edges are in no shortest tour
            problems = SubsetWaves(short), SubsetWaves(short[:2, :2])
            self.strategy = PublishedTable(backend, communicator, *problems, folder)

    @property
    def most_cities(self) -> int:
        """Most cities that fit the ranks' devices, if kernels reach all of their memory."""
        sizes = range(FEWEST_CITIES, MOST_CITIES + 1)
        room = self.room * self.devices
        fitting = [n for n in sizes if bytes_needed(n, self.dtype.itemsize, self.directed) <= room]
        return max(fitting, default=FEWEST_CITIES - 1)

    def result(self, answer: TableAnswer) -> ShortestTour:
        length, tour, streamed_bytes, _ = answer
        if length > self.start_length:
            raise NoTour(f"length {length}, but the heuristic found {self.start_length}")
        if tour is not None and not self.directed:
            tour = canonical_tour(tour)
        return ShortestTour(length, tour, self.work, self.start_length, digest_of(length, None), streamed_bytes)


def check_cities(n: int) -> None:
    if n > MOST_CITIES:
        needed = bytes_needed(min(n, 2 * MOST_CITIES), 2, False)
        prefix = "more than " if n > 2 * MOST_CITIES else ""
        raise UserError(
            f"{n} cities: Held and Karp's dynamic programming takes at most {MOST_CITIES}; the layers of {n} would "
            f"need {prefix}{needed} bytes (with --k K a tour that is optimal over a neighbourhood)"
        )


def heuristic_tour(distances: np.ndarray) -> np.ndarray:
    """Return the best nearest-neighbour tour of all start cities; distances need not be symmetric."""
    tours = [nearest_neighbour_tour(distances, first) for first in range(len(distances))]
    return min(tours, key=lambda tour: tour_length(distances, tour))
