"""Layers of Held and Karp's recursion on the device, and shortest tours from two halves (`core.kernels.held_karp`)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np

from core.errors import UserError
from core.kernels.held_karp import COLUMNS, ELEMENTS, ROW, Paths, Sets, Share, extend, meet
from core.search.dp.subset_ranks import binomials, layer_cells, layer_transitions, rank_of, subset

TEAM_SIZE = 256
RUN_OF_A_CORE = 64
"""Sets in a row that a core computes: the way to the first costs about as much as one set."""
TEAMS_OF_A_CORE = 4
PIECE = 1 << 26
"""Elements that ranks send at a time."""

Report = Callable[[int, str], None]
"""Called with the steps that are new since the last call, and what they were."""


class Halves:
    """Two layers at a time, up to half of the cities, and the meeting of both halves."""

    def __init__(self, backend: Any, communicator: Any, distances: np.ndarray, dtype: np.dtype, cap: int) -> None:
        self.backend, self.communicator = backend, communicator
        self.distances, self.dtype, self.cap = distances, dtype, cap
        self.elements = len(distances) - 1
        self.size = stored_size(self.elements)
        self.even = self.elements % 2 == 0
        self.half = self.size + int(self.even)
        self.directed = not np.array_equal(distances, distances.T)
        limits = backend.capabilities
        wide = limits.lanes_resident > 1
        self.team_size = min(TEAM_SIZE, limits.max_team_size) if wide else 1
        self.run = 1 if wide else RUN_OF_A_CORE
        self.most_teams = limits.compute_units * (
            max(1, limits.lanes_resident // self.team_size) if wide else TEAMS_OF_A_CORE
        )
        self.binomials = backend.upload(binomials(ELEMENTS, COLUMNS).astype(np.uint32))
        self.best = backend.allocate(1, np.uint64)
        self.unread = Paths(backend.allocate(1, dtype), backend.allocate(1, np.uint32))
        self.directions = [Layers(self, distances, self.size)]
        if self.directed:
            self.directions.append(Layers(self, distances.T, self.size))
        # Of a tour and its reverse, at least one has a first half without the last city: the sets that come first.
        self.halves = comb(self.elements if self.directed else self.elements - 1, self.half)
        self.steps = self.size + 1

    @property
    def transitions(self) -> int:
        """See `ShortestTour`."""
        size, half, rest = self.size, self.half, self.elements - self.half
        stored = sum(layer_transitions(self.elements, k) for k in range(2, size + 1)) * len(self.directions)
        longer = rest * size + (half * size if self.even else 0)
        return stored + self.halves * (longer + half * rest)

    def room_for(self, cells: int) -> Any:
        """Memory for a layer of so many paths."""
        try:
            return self.backend.allocate(cells, self.dtype)
        except MemoryError as error:
            needed = bytes_needed(len(self.distances), self.dtype.itemsize, self.directed)
            raise UserError(f"{len(self.distances)} cities need {needed} bytes of the device: {error}") from error

    def shares(self, sets: int) -> list[tuple[int, int]]:
        """The first set of every rank's part, and the one after its last."""
        bounds = [sets * rank // self.communicator.size for rank in range(self.communicator.size + 1)]
        return list(pairwise(bounds))

    def launch(self, kernel: Any, sets: int, *arguments: Any) -> None:
        """Launch a kernel whose lanes stride over so many sets."""
        teams = min(self.most_teams, -(-sets // (self.team_size * self.run)))
        self.backend.launch(kernel, max(1, teams), self.team_size, *arguments)

    def put_together(self, layer: Any, sets: int, size: int) -> None:
        """Give every rank the whole layer, of which each has computed its share."""
        ranks = self.communicator
        parts = [(begin * size, end * size) for begin, end in self.shares(sets)]
        begin, end = parts[ranks.rank]
        mine = self.backend.read(layer, begin, end - begin) if begin < end else np.zeros(0, self.dtype)
        whole = np.empty(sets * size, self.dtype)
        for first in range(0, max(end - begin for begin, end in parts), PIECE):
            pieces = ranks.join(mine[first : first + PIECE])
            at = 0
            for begin, end in parts:
                length = max(0, min(PIECE, end - begin - first))
                whole[begin + first : begin + first + length] = pieces[at : at + length]
                at += length
        self.backend.write(layer, whole)

    def warm_up(self) -> None:
        """Compile what a run launches, by launches without sets."""
        forward, backward = self.directions[0], self.directions[-1]
        here, there = (self.backend.allocate(1, self.dtype) for _ in range(2))
        forward.extend(here, there, 2, 0, 0)
        self._meet(Paths(here, forward.steps), Paths(there, backward.steps), 0, 0)

    def find(self, trace: bool, report: Report | None) -> tuple[int, np.ndarray | None]:
        """Length and cities of a shortest tour; None for the tour if it is not traced."""
        backend, ranks = self.backend, self.communicator
        backend.write(self.best, np.array([2**64 - 1], np.uint64))
        for size in range(1, self.size + 1):
            layers = [direction.compute(size) for direction in self.directions]
            self._tell(report, f"layer {size} of {self.size}")
        begin, end = self.shares(self.halves)[ranks.rank]
        if begin < end:
            out, home = (Paths(layers[k], self.directions[k].steps) for k in (0, -1))
            self._meet(out, home, begin, end)
        best = int(backend.download(self.best)[0])
        best, _ = ranks.minloc(best, ranks.rank)
        self._tell(report, "the halves met")
        length, rank = best >> 32, best & 0xFFFFFFFF
        return length, self._tour(length, rank) if trace else None

    def _tell(self, report: Report | None, what: str) -> None:
        """Report a step when it is done."""
        if report is not None:
            self.backend.synchronize()
            report(1, what)

    def _meet(self, out: Any, home: Any, begin: int, end: int) -> None:
        """Queue the meeting of the sets ``begin`` to ``end`` - 1 with the rest."""
        home = home if self.directed else self.unread
        sets, share = Sets(self.binomials, self.elements, self.cap), Share(begin, end, self.run)
        self.launch(meet, end - begin, out, home, sets, self.size, share, self.even, self.directed, self.best)

    def _tour(self, length: int, rank: int) -> np.ndarray:
        """The tour of this length whose first half has this rank: two problems of half the size, all layers kept."""
        mine = subset(rank, self.half)
        others = [element for element in range(self.elements) if element not in mine]
        sides = []
        for distances, cities in ((self.distances, mine), (self.distances.T, others)):
            chosen = [0, *(element + 1 for element in cities)]
            layers = Layers(self, distances[np.ix_(chosen, chosen)], len(cities), keep=True)
            for size in range(2, len(cities) + 1):
                layers.compute(size)
            sides.append(layers)
        there, back = (self.backend.download(side.kept[side.elements]).astype(np.int64) for side in sides)
        between = np.minimum(self.distances[1:, 1:], self.cap)[np.ix_(mine, others)]
        tours = there[:, None] + between + back
        i, m = divmod(int((tours == length).argmax()), len(others))
        if tours[i, m] != length:
            raise RuntimeError(f"half {rank} of the shortest tour has no tour of length {length}")
        out = [mine[element] + 1 for element in sides[0].path(i)]
        home = [others[element] + 1 for element in sides[1].path(m)]
        return np.array([0, *out, *home[::-1]], np.int64)


class Layers:
    """The layers of one direction of travel, computed one after the other.

    Parameters
    ----------
    halves
        Whose device, ranks and lengths they use.
    distances : ndarray, shape (n, n)
        From the first index to the second.
    last
        Sets of the last layer have so many elements.
    keep
        Keep all layers, in `kept`, instead of two; on this rank alone.

    """

    def __init__(self, halves: Halves, distances: np.ndarray, last: int, keep: bool = False) -> None:
        self.halves = halves
        self.elements = len(distances) - 1
        backend = halves.backend
        self.distances = np.minimum(distances[1:, 1:].T, halves.cap)
        self.steps = backend.upload(steps_table(self.distances))
        first = np.minimum(distances[0, 1:], halves.cap).astype(halves.dtype)
        self.kept = {1: backend.upload(first)}
        self.shared = halves.communicator.size > 1 and not keep
        self.buffers: dict[int, Any] = {}
        self.keep = keep
        if not keep and not self.shared:
            for size in range(max(2, last - 1), last + 1):
                self.buffers[size % 2] = halves.room_for(layer_cells(self.elements, size))

    def compute(self, size: int) -> Any:
        """The layer of this size, the one before being the last computed; its buffer may be longer."""
        halves, elements = self.halves, self.elements
        if size == 1:
            self.kept = {1: self.kept[1]}
            return self.kept[1]
        sets = comb(elements, size)
        before = self.kept[size - 1]
        after = self.buffers[size % 2] if self.buffers else halves.room_for(sets * size)
        begin, end = halves.shares(sets)[halves.communicator.rank] if self.shared else (0, sets)
        if begin < end:
            self.extend(before, after, size, begin, end)
        if self.shared:
            halves.put_together(after, sets, size)
        if not self.keep and size > 2:
            del self.kept[size - 1]
        self.kept[size] = after
        return after

    def extend(self, before: Any, after: Any, size: int, begin: int, end: int) -> None:
        """Queue the sets ``begin`` to ``end`` - 1 of a layer."""
        halves = self.halves
        sets = Sets(halves.binomials, self.elements, halves.cap)
        halves.launch(extend, end - begin, Paths(before, self.steps), after, sets, size, Share(begin, end, halves.run))

    def path(self, end: int) -> list[int]:
        """The elements of a shortest path through all elements to ``end``, if all layers are kept."""
        backend = self.halves.backend
        here = list(range(self.elements))
        path = [end]
        length = int(backend.download(self.kept[self.elements])[end])
        while len(here) > 1:
            to = path[-1]
            here.remove(to)
            row = rank_of(here) * len(here)
            before = backend.read(self.kept[len(here)], row, len(here)).astype(np.int64)
            place = int(np.flatnonzero(before + self.distances[to, here] == length)[0])
            length = int(before[place])
            path.append(here[place])
        return path[::-1]


def bytes_needed(n: int, itemsize: int, directed: bool) -> int:
    """Bytes of the two largest layers that are stored for n cities, in both directions if ``directed``."""
    last = stored_size(n - 1)
    cells = sum(layer_cells(n - 1, size) for size in (last - 1, last) if size > 0)
    return cells * itemsize * (2 if directed else 1)


def stored_size(elements: int) -> int:
    """The size of the sets of the last layer that is stored."""
    return (elements - 1) // 2


def steps_table(distances: np.ndarray) -> np.ndarray:
    """Distances to an element from another, as the kernels read them: from element j to i at i * 35 + j."""
    table = np.zeros((len(distances), ROW), np.uint32)
    table[:, : len(distances)] = distances
    return table.reshape(-1)
