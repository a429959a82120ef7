"""An instance of the quadratic assignment problem, QAPLIB's best published values and the plain NumPy scorer.

Source: R. E. Burkard, S. E. Karisch, F. Rendl, "QAPLIB: a quadratic assignment problem library", 1997. The cost is
z(p) = sum over i, j of a[i, j] * b[p[i], p[j]], with A the first matrix of a file. Some of QAPLIB's solution files hold
the inverse of p, which is p with the matrices exchanged.
"""

import functools
import hashlib
import os
from typing import NamedTuple

import numpy as np

from core.arguments import frozen
from core.problems.instances.errors import InstanceError
from core.problems.instances.limits import LARGEST_COST, check_range, check_square
from core.problems.permutations import check_permutation

MOST_FACILITIES = 4096


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
    largest_difference : int
        A bound on costs and on differences of two costs.
    sha256 : str
        Digest of the content: equal for files that differ in white space or name only.

    Raises
    ------
    InstanceError
        Matrices that are not square, of unequal sizes, too large or not of integers; costs beyond 31 bits.
    """

    def __init__(
        self,
        name: str,
        flows: np.ndarray,
        distances: np.ndarray,
        *,
        best_known: int | None = None,
        source: str = "given by the caller",
    ) -> None:
        self.name = name
        self.source = source
        self.flows = _checked_matrix(name, "flows", np.asarray(flows))
        self.distances = _checked_matrix(name, "distances", np.asarray(distances))
        self.n = len(self.flows)
        if len(self.distances) != self.n:
            raise InstanceError(name, None, f"{self.n} facilities, {len(self.distances)} locations", "as many of both")
        largest = largest_difference(self.flows, self.distances)
        if largest > LARGEST_COST:
            found = f"cost differences of up to {largest}"
            raise InstanceError(name, None, found, f"at most {LARGEST_COST}, since costs have 32 bits")
        self.largest_difference = largest
        self.sha256 = self._digest()
        if best_known is None and self.sha256 in published():
            best_known = published()[self.sha256].best_known
        self.best_known = best_known

    def __repr__(self) -> str:
        return f"QapInstance({self.name!r}, n={self.n})"

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
    between = instance.distances[np.ix_(location, location)]
    return int(np.multiply(instance.flows, between, dtype=np.int64).sum())


def largest_difference(flows: np.ndarray, distances: np.ndarray) -> int:
    """Return a bound on costs, on differences of two costs, and on every partial sum of their terms.

    No pairing of the entries of two matrices has a larger sum of products than both in sorted order (the rearrangement
    inequality). With negative entries, two costs may have different signs. Entries are from -(2**31 - 1) to 2**31 - 1.
    """
    first, second = (np.sort(np.abs(matrix.astype(np.int64)), axis=None) for matrix in (flows, distances))
    products = first * second
    # the sum of the halves is exact where that of the products could pass 63 bits
    bound = (int((products >> 32).sum()) << 32) + int((products & (2**32 - 1)).sum())
    return bound * (2 if min(flows.min(), distances.min()) < 0 else 1)


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


def _checked_matrix(name: str, entries: str, matrix: np.ndarray) -> np.ndarray:
    check_square(name, entries, matrix, 1, MOST_FACILITIES)
    check_range(name, f"{entries} of", matrix, -LARGEST_COST, LARGEST_COST)
    return frozen(matrix, np.int32)
