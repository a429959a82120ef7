"""Rows of Held and Karp's recursion for a number of cities, and their partition over ranks.

Paths through half of the other cities and paths home through the rest make all tours (`kernels.layers`), so
the layers of less than half of them are stored. The sets B have one element more than those of the last layer, and so
have the sets A if the number of elements is even: then their rows are computed in the memory of the layer before the
last, as many at a time as fit.

With symmetric distances, only one direction of a tour counts: that with element 0 in A. If element 0 is between both
halves, because it is the city after A and B has at most as many others as A, the smaller half is A.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple, NoReturn

import numpy as np

from core.errors import NoRoom


def subset_of_rank(rank: int, size: int) -> list[int]:
    """Return the elements, ascending, of the set with this rank among the sets of ``size`` elements."""
    elements = []
    for u in range(size, 0, -1):
        element = u - 1
        while comb(element + 1, u) <= rank:
            element += 1
        rank -= comb(element, u)
        elements.append(element)
    return elements[::-1]


def rank_of(elements: list[int]) -> int:
    return sum(comb(element, u) for u, element in enumerate(elements, 1))


def layer_cells(elements: int, size: int) -> int:
    return comb(elements, size) * size


def layer_transitions(elements: int, size: int) -> int:
    return layer_cells(elements, size) * (size - 1)


def binomials(elements: int, columns: int) -> np.ndarray:
    return np.array([comb(e, t) for e in range(elements) for t in range(columns)], np.int64)


ROOM = 1 << 18
"""Fewest cells for rows of the sets A; in most cases the layer before the last has left more."""


class Numbering(NamedTuple):
    """Choice of the numbered sets of a size; see `core.tables.held_karp.kernels.layers.SubsetShare`."""

    least: int
    held: int


ALL, WITH_0, WITHOUT_0 = Numbering(0, 0), Numbering(1, 1), Numbering(1, 0)


class SubsetRows(NamedTuple):
    """Rows of the sets ``first`` to ``end`` - 1 of those with ``size`` of the elements; city 0 is none."""

    elements: int
    size: int
    numbering: Numbering
    first: int
    end: int

    @property
    def cells(self) -> int:
        return (self.end - self.first) * self.size

    def bounds(self, ranks: int, at_elements: bool = False) -> list[int]:
        """Return the starts of the ranks' shares, and the end of the last one.

        Shares are equal, or with ``at_elements`` begin at sets that differ in their highest elements, if possible.
        """
        least, held = self.numbering
        if at_elements and (self.first, self.end) == (0, comb(self.elements - least, self.size - held)):
            return [0, *part_boundaries(self.elements - least, self.size - held, ranks), self.end]
        return [self.first + (self.end - self.first) * rank // ranks for rank in range(ranks + 1)]


def part_boundaries(elements: int, size: int, parts: int) -> list[int]:
    """Return the first sets of all parts but the first: without and with the highest element, and so on in each."""
    total = comb(elements, size)
    if parts % 2 or not 0 < size < elements:
        return [total * part // parts for part in range(1, parts)]
    without = comb(elements - 1, size)
    half = parts // 2
    upper = [without + border for border in part_boundaries(elements - 1, size - 1, half)]
    return [*part_boundaries(elements - 1, size, half), without, *upper]


def every_set(elements: int, size: int) -> SubsetRows:
    return SubsetRows(elements, size, ALL, 0, comb(elements, size))


class MeetingSets(NamedTuple):
    """Sets B that meet their complements, the sets A.

    The ``middles`` smallest elements of B are tried as the city after A. ``out`` are rows of the sets A to compute
    first; empty if the last layer has them.
    """

    rows: SubsetRows
    middles: int
    out: SubsetRows


class HeldKarpPlan:
    """Plan of the rows for a number of elements: cities but city 0, at least 3.

    The last stored layer has sets of ``size`` elements, the sets A ``half``; ``last`` is the number of the last set A.
    ``halves`` are all sets A with rows computed for the meeting, empty if their layer is stored. ``is_apart`` is True
    if the rows of the sets A are not among those of the sets that meet them.
    """

    def __init__(self, elements: int, directed: bool) -> None:
        self.elements, self.directed = elements, directed
        self.size = (elements - 1) // 2
        self.half = elements - self.size - 1
        self.directions = 2 if directed else 1
        self.is_even = elements % 2 == 0
        self.is_apart = directed or self.is_even
        self.halves = SubsetRows(elements, self.half, ALL, 0, 0)
        if self.is_even:
            self.halves = self.layer(self.half)
            if not directed:
                self.halves = SubsetRows(elements, self.half, WITH_0, 0, comb(elements - 1, self.half - 1))
        self.last = (self.halves.end or comb(elements, self.size)) - 1

    def layer(self, size: int) -> SubsetRows:
        return every_set(self.elements, size)

    def slices(self) -> list[SubsetRows]:
        """Return `halves` in parts that fit the memory where they are computed."""
        rows = self.halves
        room = max([min(rows.cells, ROOM), *(layer.cells for layer in self._layers(self.half % 2))])
        most_sets = max(1, room // self.half)
        return [rows._replace(first=k, end=min(k + most_sets, rows.end)) for k in range(0, rows.end, most_sets)]

    def arrays(self, direction: int, separate: bool = False) -> list[list[SubsetRows]]:
        """Return the rows of each array of a direction: layers of even sizes and of odd ones, or each ``separate``.

        The rows of `slices` are with the layer before the last.
        """
        arrays = [layers for layers in (self._layers(0), self._layers(1)) if layers]
        if separate:
            arrays = [[rows] for layers in arrays for rows in layers]
        if direction == 0 and self.is_even:
            before = [layers for layers in arrays if layers[-1].size == self.half - 2]
            arrays = [layers for layers in arrays if layers not in before]
            arrays.append(sum(before, []) + self.slices())
        return arrays

    def _layers(self, parity: int) -> list[SubsetRows]:
        return [self.layer(size) for size in range(2, self.size + 1) if size % 2 == parity]

    def meetings(self) -> list[MeetingSets]:
        """Return all sets B, in parts: one for each of `slices`, or, if the last layer has the sets A, one or two."""
        elements, size, no_rows = self.elements, self.size + 1, self.halves
        if self.is_even:
            numbering, end = ALL if self.directed else WITHOUT_0, self.last + 1
            return [
                MeetingSets(SubsetRows(elements, size, numbering, end - rows.end, end - rows.first), size, rows)
                for rows in self.slices()
            ]
        if self.directed:
            return [MeetingSets(self.layer(size), size, no_rows)]
        without_0 = SubsetRows(elements, size, WITHOUT_0, 0, comb(elements - 1, size))
        with_0 = SubsetRows(elements, size, WITH_0, comb(elements - 2, size - 1), comb(elements - 1, size - 1))
        return [MeetingSets(without_0, size, no_rows), MeetingSets(with_0, 1, no_rows)]

    def first_half(self, number: int) -> list[int]:
        if self.is_even and not self.directed:
            return [0, *(element + 1 for element in subset_of_rank(number, self.half - 1))]
        return subset_of_rank(number, self.half)

    @property
    def transitions(self) -> int:
        count = self.directions * sum(layer_transitions(self.elements, size) for size in range(2, self.size + 1))
        count += self.halves.cells * (self.half - 1)
        for rows, middles, _ in self.meetings():
            count += (rows.end - rows.first) * middles * (self.size + self.half)
        return count


def largest_cells(rows: list[SubsetRows]) -> int:
    return max(one.cells for one in rows)


def bytes_needed(n: int, itemsize: int, directed: bool) -> int:
    plan = HeldKarpPlan(n - 1, directed)
    return itemsize * sum(
        largest_cells(rows) for direction in range(plan.directions) for rows in plan.arrays(direction)
    )


def refuse_layers(n: int, needed: int, room: int, where: str, advice: str = "") -> NoReturn:
    raise NoRoom(f"{n} cities: the two largest layers need {needed} bytes of {where}, and {room} are there{advice}")
