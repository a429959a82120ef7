"""Sets of one size in colexicographic order, on the host: what `core.kernels.dp.held_karp` computes, and how much."""

from __future__ import annotations

from math import comb

import numpy as np


def subset_of_rank(rank: int, size: int) -> list[int]:
    """The elements, ascending, of the set with this rank among the sets of ``size`` elements."""
    found = []
    for u in range(size, 0, -1):
        element = u - 1
        while comb(element + 1, u) <= rank:
            element += 1
        rank -= comb(element, u)
        found.append(element)
    return found[::-1]


def rank_of(elements: list[int]) -> int:
    """The rank of a set, given by its elements in ascending order, among the sets of its size."""
    return sum(comb(element, u) for u, element in enumerate(elements, 1))


def layer_cells(elements: int, size: int) -> int:
    return comb(elements, size) * size


def layer_transitions(elements: int, size: int) -> int:
    return layer_cells(elements, size) * (size - 1)


def binomials(elements: int, columns: int) -> np.ndarray:
    return np.array([comb(e, t) for e in range(elements) for t in range(columns)], np.int64)
