"""Shortest tours from layers of up to half of the cities, which meet (`core.tables.held_karp.kernels.halves`).

The tour behind the best meeting is traced on the host, from all layers of two problems of half the size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.errors import NoRoom
from core.run.devices import ComputeDevice, DeviceCollectives, Ranks
from core.tables.engine.recurrences import TableAnswer
from core.tables.engine.table_search import TableRun, TableStrategy
from core.tables.held_karp.kernels.halves import NUMBER_BITS
from core.tables.held_karp.kernels.layers import ROW, Layer, Paths
from core.tables.held_karp.layers import (
    HeldKarpLauncher,
    HeldKarpLayers,
    bytes_of_rank,
    has_distributed_memory,
    step_lengths,
)
from core.tables.held_karp.plan import HeldKarpPlan, bytes_needed, every_set, layer_cells, rank_of, refuse_layers


class NoTour(RuntimeError):  # noqa: N818
    """The layers have no tour of the length found: an error of the project."""


class PathsOfHalf:
    """Shortest paths from city 0 through all sets of ``last`` cities, in two arrays: even sizes, and odd ones."""

    def __init__(self, launches: HeldKarpLauncher, last: int) -> None:
        self.launches, self.last = launches, last
        self.starts, used = [0], [0, 0]
        for size in range(1, last + 1):
            self.starts.append(used[size % 2])
            used[size % 2] += layer_cells(last, size)
        self.cells = [launches.backend.allocate(max(1, count), launches.dtype) for count in used]
        self.steps = launches.backend.allocate(last * ROW, np.uint32)

    def queue(self) -> None:
        layers = [Layer(self.cells[size % 2], start, 0) for size, start in enumerate(self.starts)]
        for size in range(2, self.last + 1):
            rows = every_set(self.last, size)
            self.launches.extend(Paths(layers[size - 1], self.steps), layers[size], rows, 0, rows.end)

    def put(self, distances: np.ndarray, cities: list[int]) -> None:
        chosen, backend = [element + 1 for element in cities], self.launches.backend
        self.between = distances[np.ix_(chosen, chosen)].T
        backend.write(self.steps, step_lengths(self.between))
        with backend.on_host(self.cells[1], 0, len(cities), read=False) as first:
            first[:] = distances[0, chosen]

    def lengths(self) -> np.ndarray:
        """Return the lengths of the paths through all cities, by the last one: (last,), i64."""
        self.layers = [self.launches.backend.download(cells) for cells in self.cells]
        return self._row(list(range(self.last)))

    def _row(self, elements: list[int]) -> np.ndarray:
        size = len(elements)
        start = self.starts[size] + rank_of(elements) * size
        return self.layers[size % 2][start : start + size].astype(np.int64)

    def path(self, end: int) -> list[int]:
        """Return the elements of a path through all cities; of equal ones, the smallest before the last wins."""
        elements = list(range(self.last))
        path, length = [end], int(self._row(elements)[end])
        while len(elements) > 1:
            to = path[-1]
            elements.remove(to)
            before = self._row(elements)
            place = int(np.flatnonzero(before + self.between[to, elements] == length)[0])
            length = int(before[place])
            path.append(elements[place])
        return path[::-1]


class HeldKarpTrace:
    """Shortest paths through both halves; of equal ones, the smallest city before the last wins, and so on."""

    def __init__(self, launches: HeldKarpLauncher, distances: np.ndarray, first: int) -> None:
        self.distances = np.minimum(distances, launches.cap)
        self.outward, self.homeward = (PathsOfHalf(launches, last) for last in (first, len(distances) - 1 - first))
        with launches.backend.record() as self.sequence:
            self.outward.queue()
            self.homeward.queue()

    def tour(self, length: int, half: list[int]) -> np.ndarray:
        others = [element for element in range(len(self.distances) - 1) if element not in half]
        self.outward.put(self.distances, half)
        self.homeward.put(self.distances.T, others)
        self.sequence.replay()
        between = self.distances[1:, 1:][np.ix_(half, others)]
        tours = self.outward.lengths()[:, None] + between + self.homeward.lengths()
        i, m = divmod(int((tours == length).argmax()), len(others))
        if tours[i, m] != length:
            raise NoTour(f"the half {half} of the shortest tour has no tour of length {length}")
        out = [half[element] + 1 for element in self.outward.path(i)]
        home = [others[element] + 1 for element in self.homeward.path(m)]
        return np.array([0, *out, *home[::-1]], np.int64)


class HeldKarpHalves(TableStrategy):
    """Layers of up to half of the cities, in ``room`` bytes, and their meeting; lengths above ``cap`` count as that."""

    def __init__(self, backend: ComputeDevice, distances: np.ndarray, dtype: np.dtype, cap: int, room: int) -> None:
        self.backend, self.room = backend, room
        self.plan = HeldKarpPlan(len(distances) - 1, not np.array_equal(distances, distances.T))
        self.work = self.plan.transitions
        self.launches = HeldKarpLauncher(backend, self.plan.elements, dtype, cap)
        short = np.minimum(distances, cap)
        self.firsts = []
        for towards in (short, short.T)[: self.plan.directions]:
            first = Layer(backend.upload(towards[0, 1:].astype(dtype)), 0, 0)
            self.firsts.append(Paths(first, backend.upload(step_lengths(towards[1:, 1:].T))))
        self.trace = HeldKarpTrace(self.launches, short, self.plan.half)
        self.layers: HeldKarpLayers | None = None

    @property
    def notes(self) -> Sequence[str]:
        return [self.layers.why_not_shared] if self.layers and self.layers.why_not_shared else []

    def settle(self, ranks: Ranks) -> None:
        """Make the layers of these ranks and record their launches, if needed; all ranks call this."""
        together = self.backend.collectives(ranks)
        if self.layers is not None:
            earlier = self.layers.together
            if earlier.ranks is ranks or (earlier.is_silent and together.is_silent):
                return
            self.layers = None
        placement = self.placement(together)
        try:
            self.layers = HeldKarpLayers(self.plan, self.launches, together, self.firsts, *placement)
        except MemoryError as error:
            n = self.plan.elements + 1
            needed = bytes_needed(n, self.launches.dtype.itemsize, self.plan.directed)
            raise NoRoom(f"{n} cities need {needed} bytes of the device: {error}") from error

    def placement(self, together: DeviceCollectives) -> tuple[bool, bool]:
        """Return if shares begin at the highest elements, and if layers are separate: GPUs do both if all have room.

        Some shares are larger then. In an array for several layers, shares of more than two ranks lie partly in the
        memory of others. Refuses on all ranks, before any allocation, layers that the device of one rank cannot hold at
        all.
        """
        least, rank, choices = 0, 0, [(False, False)]
        if has_distributed_memory(self.launches, together):
            choices = [(True, False), (False, False)]
            if together.size > 2:
                choices = [(True, True), (False, True), *choices]
        for choice in choices:
            spare = self.room - bytes_of_rank(self.plan, self.launches, together, together.rank, *choice)
            least, rank = together.ranks.minloc(spare, together.rank)
            if least >= 0:
                return choice
        needed = bytes_of_rank(self.plan, self.launches, together, rank, False)
        where = f"rank {rank}'s device" if together.size > 1 else "the device"
        refuse_layers(self.plan.elements + 1, needed, needed + least, where)

    def warm_up(self, trace: bool) -> None:
        plan, launches = self.plan, self.launches
        first_layer, second_layer = (Layer(self.backend.allocate(1, launches.dtype), 0, 0) for _ in range(2))
        out, home = self.firsts[0], self.firsts[-1]
        for rows in [plan.layer(2), plan.halves]:
            launches.extend(Paths(first_layer, out.steps), second_layer, rows, 0, 0)
        for meeting in plan.meetings()[:2]:
            launches.meet(plan, meeting, Paths(second_layer, out.steps), Paths(first_layer, home.steps), 0, 0)

    def join(self, run: TableRun) -> None:
        self.settle(run.ranks)

    def compute(self, run: TableRun) -> TableAnswer:
        self.settle(run.ranks)
        assert self.layers is not None
        best = self.layers.least_key(run.progress)
        length, number = best >> NUMBER_BITS, best & (1 << NUMBER_BITS) - 1
        return TableAnswer(length, self.trace.tour(length, self.plan.first_half(number)) if run.trace else None)
