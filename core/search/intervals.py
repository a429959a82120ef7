"""Numbered items of which some are done: those that are left, as intervals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


class Intervals:
    """Items in order: those of one interval after those of another.

    Parameters
    ----------
    pairs
        The first item of each, and the first behind it; empty ones are left out, and what adjoins is joined.

    Attributes
    ----------
    pairs : list of tuple of int
    count : int
        How many items there are.

    """

    def __init__(self, pairs: Iterable[tuple[int, int]]) -> None:
        self.pairs: list[tuple[int, int]] = []
        for begin, end in sorted((int(begin), int(end)) for begin, end in pairs if begin < end):
            if self.pairs and self.pairs[-1][1] == begin:
                begin = self.pairs.pop()[0]
            self.pairs.append((begin, end))
        self.count = sum(end - begin for begin, end in self.pairs)

    def part(self, first: int, end: int) -> Intervals:
        """From the item with this place to the one before that place, counted from 0."""
        found, place = [], 0
        for begin, behind in self.pairs:
            shift = begin - place
            found.append((max(begin, first + shift), min(behind, end + shift)))
            place += behind - begin
        return Intervals(found)

    def less(self, places: Intervals) -> Intervals:
        """All but those with these places, counted from 0."""
        found, first = [], 0
        for begin, end in [*places.pairs, (self.count, self.count)]:
            found += self.part(first, begin).pairs
            first = end
        return Intervals(found)

    def less_taken(self, ranks: Any, taken: Iterable[tuple[int, int]]) -> Intervals:
        """What is left when every rank has taken the items with some places; all ranks call this."""
        every = ranks.join(Intervals(taken).array().reshape(-1))
        return self.less(Intervals(every.reshape(-1, 2)))

    def array(self) -> np.ndarray:
        """The pairs as an array of shape (intervals, 2), int64."""
        return np.array(self.pairs, np.int64).reshape(-1, 2)
