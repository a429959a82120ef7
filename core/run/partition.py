"""Partition of work: contiguous shares of 0 .. total - 1, one per rank, in exact integers; other items as intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heapreplace
from math import isfinite, lcm

import numpy as np

from core.run.devices import ComputeDevice, Ranks


def have_equal_devices(backend: ComputeDevice, ranks: Ranks) -> bool:
    """Return True if all ranks have equal devices and settings, and so equal shares; all ranks call this."""
    if ranks.size == 1 or ranks.is_silent:
        return True
    devices = ranks.gather((backend.name, backend.device.name, backend.capabilities))
    return bool(ranks.bcast(devices is not None and len(set(devices)) == 1))


def equal_part(total: int, rank: int, size: int) -> tuple[int, int]:
    """Return the first item of a rank's equal share, and the first item behind it.

    Shares differ by at most one item; the first rank has a largest one. Raises `ValueError` if the total is negative,
    or there is no such rank.
    """
    if total < 0:
        raise ValueError(f"the total must not be negative, found {total}")
    if not 0 <= rank < size:
        raise ValueError(f"rank must be from 0 to {size - 1}, found {rank}")
    return -(-total * rank // size), -(-total * (rank + 1) // size)


def parts_by_speed(total: int, speeds: Sequence[float]) -> list[int]:
    """Partition the work in proportion to the ranks' measured speeds, for the earliest end of the last rank.

    Return the number of items of each rank, equal if the speeds are. Every part is its exact quota rounded down; the
    rest goes item by item to the rank that would finish first, so a very slow rank gets none. Speeds have any common
    unit. Raises `ValueError` if the total is negative, or a speed is negative, infinite, NaN or all are 0.
    """
    if total < 0:
        raise ValueError(f"the total must not be negative, found {total}")
    if not all(isfinite(speed) and speed >= 0 for speed in speeds) or not any(speeds):
        raise ValueError(f"speeds must be finite, not negative and not all 0, found {list(speeds)}")
    # A float is an exact fraction of integers: nothing is rounded but the quotas.
    ratios = [speed.as_integer_ratio() for speed in speeds]
    common = lcm(*(denominator for _, denominator in ratios))
    whole = [numerator * (common // denominator) for numerator, denominator in ratios]
    parts = [total * speed // sum(whole) for speed in whole]
    fine = max(whole) << 32  # so that the times of ranks have 32 bits and more behind the point
    queue = [((parts[rank] + 1) * fine // speed, rank) for rank, speed in enumerate(whole) if speed]
    heapify(queue)
    for _ in range(total - sum(parts)):
        _, rank = queue[0]
        parts[rank] += 1
        heapreplace(queue, ((parts[rank] + 1) * fine // whole[rank], rank))
    return parts


class Intervals:
    """Ordered items as a sequence of intervals (begin, end); empty ones are dropped, and adjacent ones joined.

    ``count`` is the number of items.
    """

    def __init__(self, pairs: Iterable[tuple[int, int]]) -> None:
        self.pairs: list[tuple[int, int]] = []
        for begin, end in sorted((int(begin), int(end)) for begin, end in pairs if begin < end):
            if self.pairs and self.pairs[-1][1] == begin:
                begin = self.pairs.pop()[0]
            self.pairs.append((begin, end))
        self.count = sum(end - begin for begin, end in self.pairs)

    def part(self, first: int, end: int) -> Intervals:
        """Return the items at positions ``first`` to ``end`` - 1."""
        pairs, place = [], 0
        for begin, behind in self.pairs:
            shift = begin - place
            pairs.append((max(begin, first + shift), min(behind, end + shift)))
            place += behind - begin
        return Intervals(pairs)

    def less(self, places: Intervals) -> Intervals:
        """Return the items that are not at these positions."""
        pairs, first = [], 0
        for begin, end in [*places.pairs, (self.count, self.count)]:
            pairs += self.part(first, begin).pairs
            first = end
        return Intervals(pairs)

    def less_taken(self, ranks: Ranks, positions_taken: Iterable[tuple[int, int]]) -> Intervals:
        """Return the rest after every rank has taken the items at some positions; all ranks call this."""
        positions = ranks.join(Intervals(positions_taken).array().reshape(-1))
        return self.less(Intervals(positions.reshape(-1, 2)))

    def array(self) -> np.ndarray:
        """Return the pairs as an array of shape (intervals, 2), int64."""
        return np.array(self.pairs, np.int64).reshape(-1, 2)
