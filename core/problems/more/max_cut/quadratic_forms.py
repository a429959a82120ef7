"""Quadratic forms over bits, minimised by the unconstrained binary quadratic problem (QUBO), and max-cut as a form.

Max-cut as a form: E. Boros, P. L. Hammer, "The max-cut problem and quadratic 0-1 optimization", 1991.
"""

from __future__ import annotations

import hashlib
from functools import cached_property

import numpy as np

from core.arguments import frozen
from core.problems.instances.errors import InstanceError
from core.problems.instances.limits import LARGEST_COST, square_integers
from core.problems.more.max_cut.graphs import GraphInstance

MOST_BITS = 20_000
"""The largest graph of Gset; the coefficients take 1.5 GiB."""
ROW_BLOCK = 1024
"""Rows of coefficients multiplied at a time: in 64 bits all would take twice their memory."""


SPARSE = 8
"""Least number of coefficients for each one that is not 0 in a sparse form."""


def is_sparse(matrix: np.ndarray, ratio: int = SPARSE) -> bool:
    """Return True if the elements are at least ``ratio`` times as many as those that are not 0."""
    return bool(ratio * np.count_nonzero(matrix) <= matrix.size)


def sparse_rows(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return columns, elements and begins of the rows of a square matrix, see `QuadraticForm.rows`."""
    columns, entries = [], []
    for p, row in enumerate(matrix):
        others = np.flatnonzero(row)
        columns.append(np.concatenate([[p], others[others != p]]))
        entries.append(row[columns[-1]])
    starts = np.cumsum([0, *map(len, columns)])
    return (
        frozen(np.concatenate(columns), np.int32),
        frozen(np.concatenate(entries), np.int32),
        frozen(starts, np.int32),
    )


class QuadraticForm:
    """The sum of c[i, i] x[i] and, over all pairs i < j, of c[i, j] x[i] x[j], for bits x.

    Parameters
    ----------
    coefficients : array_like, shape (n, n), integers, symmetric
        c; kept as int32, C-contiguous.
    source : str
        Origin of the instance.

    Attributes
    ----------
    n : int
        Number of bits.
    cost_range : tuple of int
        The sums of all negative and of all positive coefficients: every value lies between them.
    sha256 : str
        Digest of the content.

    Raises
    ------
    InstanceError
        Wrong shape or size, coefficients that are no integers, not symmetric, or sum up beyond 31 bits.
    """

    def __init__(self, name: str, coefficients: np.ndarray, source: str = "given by the caller") -> None:
        self.name, self.source = name, source
        matrix = square_integers(name, "coefficients", coefficients, 1, MOST_BITS)
        if not np.array_equal(matrix, matrix.T):
            raise InstanceError(name, None, "coefficients that are not symmetric", "c[i, j] = c[j, i], see `of_matrix`")
        self.n = len(matrix)
        negative = positive = 0
        for i, row in enumerate(matrix):
            wide = row[i:].astype(object if matrix.dtype.itemsize > 4 else np.int64)
            negative, positive = negative + int(wide[wide < 0].sum()), positive + int(wide[wide > 0].sum())
        if positive - negative > LARGEST_COST:
            fault = f"absolute coefficients that sum up to {positive - negative}"
            raise InstanceError(name, None, fault, f"at most {LARGEST_COST}, as costs have 32 bits")
        self.cost_range = negative, positive
        self.coefficients = frozen(matrix, np.int32)
        content = hashlib.sha256(f"quadratic form {self.n}\n".encode())
        content.update(self.coefficients.astype("<i4", copy=False).data)
        self.sha256 = content.hexdigest()

    def __repr__(self) -> str:
        return f"QuadraticForm({self.name!r}, n={self.n})"

    @cached_property
    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Columns and entries that are not 0, row after row, and the begin of each row, then the last one's end; int32.

        The diagonal element is the first of each row, even if it is 0.
        """
        return sparse_rows(self.coefficients)

    @cached_property
    def is_sparse(self) -> bool:
        return is_sparse(self.coefficients)

    def values(self, solutions: np.ndarray) -> np.ndarray:
        """Return the values at many vectors of bits: (number of vectors, n) -> (number of vectors,) int64."""
        bits = solutions.astype(np.float64)  # its sums are exact up to 2^53
        twice = bits @ self.coefficients.diagonal()
        for first in range(0, self.n, ROW_BLOCK):
            rows = self.coefficients[first : first + ROW_BLOCK].astype(np.float64)
            twice += (bits[:, first : first + ROW_BLOCK] * (bits @ rows.T)).sum(axis=1)
        return twice.astype(np.int64) // 2


def of_matrix(name: str, matrix: np.ndarray, source: str = "given by the caller") -> QuadraticForm:
    """Return the form x' Q x of any square matrix of integers; its elements [i, j] and [j, i] are added up."""
    array = np.asarray(matrix)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise InstanceError(name, None, f"a matrix of shape {array.shape}", "a square one")
    both = array + array.T
    np.fill_diagonal(both, array.diagonal())
    return QuadraticForm(name, both, source)


def of_graph(graph: GraphInstance) -> QuadraticForm:
    """Return the form with minus the weight of the edges between vertices of unequal bits as value.

    An edge is cut by x[i] + x[j] - 2 x[i] x[j]: the coefficient of a vertex is minus the weight of its edges, that of
    an edge twice its weight.
    """
    ends = graph.weights.sum(axis=1, dtype=np.int64)
    heaviest = max(int(np.abs(ends).max()), 2 * max(int(graph.weights.max()), -int(graph.weights.min())))
    if heaviest > LARGEST_COST:
        fault = f"weights up to {heaviest} of an edge's two ends or of a vertex's edges"
        raise InstanceError(graph.name, None, fault, f"at most {LARGEST_COST}, as costs have 32 bits")
    coefficients = 2 * graph.weights
    np.fill_diagonal(coefficients, -ends)
    return QuadraticForm(graph.name, coefficients, graph.source)
