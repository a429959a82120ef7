"""An instance of the quadratic assignment problem, QAPLIB's best published values and the plain NumPy scorer.

Source: R. E. Burkard, S. E. Karisch, F. Rendl, "QAPLIB: a quadratic assignment problem library", 1997. The cost is
z(p) = sum over i, j of a[i, j] * b[p[i], p[j]], with A the first matrix of a file. Some of QAPLIB's solution files hold
the inverse of p, which is p with the matrices exchanged.
"""

import functools
import hashlib
import itertools
import os
from typing import NamedTuple

import numpy as np

from core.arguments import Matrix, frozen
from core.instances.errors import InstanceError
from core.instances.limits import LARGEST_COST, check_range, square_integers
from core.permutations import check_permutation

MOST_FACILITIES = 4096
MOST_MOVED = 3
"""Facilities that a move of local search exchanges."""


class QaplibEntry(NamedTuple):
    """A row of qaplib.tsv: an instance of QAPLIB and the cost of the best permutation known for it."""

    name: str
    n: int
    best_known: int
    sha256: str


class QapInstance:
    """A quadratic assignment problem with integer matrices and costs of at most 31 bits.

    Parameters
    ----------
    flows : array_like, shape (n, n), integers
        The matrix A: a[i, j] flows from facility i to j. Need not be symmetric; entries may be negative, and
        diagonal entries count.
    distances : array_like, shape (n, n), integers
        The matrix B, which is permuted: b[k, l] from location k to l.
    best_known
        Cost of the best permutation known; by default QAPLIB's for the same content, or None.
    source
        Origin of the instance.

    Attributes
    ----------
    n : int
        Number of facilities, and of locations.
    flows, distances : ndarray, shape (n, n), int32, C-contiguous
    cost_range : tuple of int
        The least and the largest cost of a solution of a search.
    largest_difference : int
        A bound on the difference of cost by an exchange of up to `MOST_MOVED` facilities, and on every partial sum of
        its terms.
    sha256 : str
        Digest of the content: equal for files that differ in white space or name only.

    Raises
    ------
    InstanceError
        Matrices that are not square, of unequal sizes, too large or not of integers; differences of costs beyond 31
        bits.
    """

    def __init__(
        self,
        name: str,
        flows: Matrix,
        distances: Matrix,
        *,
        best_known: int | None = None,
        source: str = "given by the caller",
    ) -> None:
        self.name = name
        self.source = source
        self.flows = _checked_matrix(name, "flows", flows)
        self.distances = _checked_matrix(name, "distances", distances)
        self.n = len(self.flows)
        if len(self.distances) != self.n:
            raise InstanceError(name, None, f"{self.n} facilities, {len(self.distances)} locations", "as many of both")
        self.cost_range, self.largest_difference = self._bounded_costs()
        self.sha256 = self._digest()
        if best_known is None and self.sha256 in published():
            best_known = published()[self.sha256].best_known
        self.best_known = best_known

    def __repr__(self) -> str:
        return f"QapInstance({self.name!r}, n={self.n})"

    def _bounded_costs(self) -> tuple[tuple[int, int], int]:
        """Return `cost_range` and `largest_difference`; raises `InstanceError` if they need more than 31 bits.

        A difference by an exchange is a sum of terms of one cost minus terms of another one. So its partial sums, in
        any order, lie between the bounds on all positive and all negative terms. If a cost may pass 31 bits, but
        no difference and no usual cost, a search refuses such start solutions and watches its costs.
        """
        costs, largest = {1: 0, -1: 0}, 0
        for sign, other in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            flows, distances = np.maximum(sign * self.flows, 0), np.maximum(other * self.distances, 0)
            if flows.any() and distances.any():
                cost, difference = bounds(flows, distances)
                costs[sign * other] += cost
                largest += difference
        least, most = -costs[-1], costs[1]
        if most - least <= LARGEST_COST:
            return (least, most), largest
        least = max(least, -LARGEST_COST // 2)
        most = min(most, least + LARGEST_COST - 1)
        usual = int(self.flows.sum(dtype=float) * self.distances.sum(dtype=float)) // self.n**2
        if largest < LARGEST_COST and least <= usual <= most:
            return (least, most), largest
        found = f"costs of about {usual} and cost differences of up to {largest}"
        raise InstanceError(self.name, None, found, f"at most {LARGEST_COST}, since costs have 32 bits")

    def _digest(self) -> str:
        content = hashlib.sha256(f"QAP {self.n}\n".encode())
        content.update(self.flows.astype("<i4").tobytes())
        content.update(self.distances.astype("<i4").tobytes())
        return content.hexdigest()


def cost(instance: QapInstance, permutation: np.ndarray) -> int:
    """Return the sum over i, j of flows[i, j] * distances[permutation[i], permutation[j]].

    ``permutation``, shape (n,), has the location, from 0, of each facility. Raises `ValueError` if it is no
    permutation.
    """
    location = check_permutation(permutation, instance.n)
    return int(np.multiply(instance.flows, instance.distances[np.ix_(location, location)], dtype=np.int64).sum())


def bounds(flows: np.ndarray, distances: np.ndarray) -> tuple[int, int]:
    """Return bounds on every cost, and on those of its terms in which `MOST_MOVED` facilities have a part.

    Entries are from 0 to 2**31 - 1. No pairing of numbers has a larger sum of products than both in sorted order (the
    rearrangement inequality). This bounds the sum over all entries. It also bounds the terms of a facility at a
    location, in its row and column (P. C. Gilmore, 1962; E. L. Lawler, 1963); half of their sum is the cost. Of up to
    seven facilities all permutations are tried. Floats are exact here: sums from 2**53 on exceed every limit.
    """
    a, b = flows.astype(np.float64), distances.astype(np.float64)
    most = np.sort(a, axis=None) @ np.sort(b, axis=None)
    if most <= LARGEST_COST:
        return int(most), int(most)
    if len(a) < 8:
        orders = np.array([*itertools.permutations(range(len(a)))])
        most = (a * b[orders[:, :, None], orders[:, None, :]]).sum(axis=(1, 2)).max()
    a, b = (b, a) if (b == b.T).all() else (a, b)
    shared = _row_products(a, b + b.T) if (a == a.T).all() else _row_products(a, b) + _row_products(a.T, b.T)
    by_row, by_column = (np.sort(shared.max(axis=axis)) for axis in (1, 0))
    most = min(most, by_row.sum() / 2, by_column.sum() / 2)
    return int(most), int(min(most, by_row[-MOST_MOVED:].sum(), by_column[-MOST_MOVED:].sum()))


def _row_products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the largest sum of products of each row of ``a`` with each of ``b``; diagonal entries meet each other."""
    apart = ~np.eye(len(a), dtype=bool)
    first, second = (np.sort(matrix[apart].reshape(len(a), -1), axis=1) for matrix in (a, b))
    return np.asarray(first @ second.T + np.outer(a.diagonal(), b.diagonal()))


@functools.cache
def published() -> dict[str, QaplibEntry]:
    """Return QAPLIB's instances by the digest of their content; sources are named in qaplib.tsv."""
    rows = {}
    with open(os.path.join(os.path.dirname(__file__), "qaplib.tsv"), encoding="ascii") as file:
        for line in file:
            if not line.startswith("#"):
                name, n, best_known, sha256 = line.split()
                rows[sha256] = QaplibEntry(name, int(n), int(best_known), sha256)
    return rows


def _checked_matrix(name: str, entries: str, values: Matrix) -> np.ndarray:
    matrix = square_integers(name, entries, values, 1, MOST_FACILITIES)
    # differences of entries have 31 bits too
    check_range(name, f"{entries} of", matrix, min(0, max(0, int(matrix.max())) - LARGEST_COST), LARGEST_COST)
    return frozen(matrix, np.int32)
