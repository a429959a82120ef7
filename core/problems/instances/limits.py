"""Limits of costs and seeds, and checks of square integer matrices."""

import numpy as np

from core.problems.instances.errors import InstanceError

LARGEST_COST = 2**31 - 1
"""A cost fits a signed 32-bit integer, so that kernels need no wider one."""
LARGEST_SEED = 2**63 - 1
"""A seed of a generator fits a signed 64-bit integer."""


def check_square(name: str, entries: str, matrix: np.ndarray, least: int, most: int, rows: str = "rows") -> None:
    """Check that a matrix is square, has an allowed number of rows, and holds integers.

    ``entries`` and ``rows`` describe it in messages, in the plural. Raises `InstanceError` for another shape, too few
    or too many rows, or another dtype.
    """
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InstanceError(name, None, f"{entries} of shape {matrix.shape}", "a square matrix")
    if not least <= len(matrix) <= most:
        raise InstanceError(name, None, f"{len(matrix)} {rows}", f"{least} to {most} {rows}")
    if not np.issubdtype(matrix.dtype, np.integer):
        raise InstanceError(name, None, f"{entries} of {matrix.dtype}", "integers")


def check_range(name: str, entry: str, matrix: np.ndarray, least: int, most: int) -> None:
    worst = max(int(matrix.max()), int(matrix.min()), key=lambda value: (not least <= value <= most, abs(value)))
    if not least <= worst <= most:
        raise InstanceError(name, None, f"{entry} {worst}", f"{least} to {most}")


def check_symmetric(name: str, entry: str, row: str, matrix: np.ndarray) -> None:
    unequal = matrix != matrix.T
    if unequal.any():
        i, j = np.unravel_index(unequal.argmax(), matrix.shape)
        unequal_pair = f"{entry} {matrix[i, j]} from {row} {i} to {j} and {matrix[j, i]} back"
        raise InstanceError(name, None, unequal_pair, "a symmetric matrix")
