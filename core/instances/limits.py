"""Limits of costs and seeds, and checks of arrays of integers, square matrices above all."""

import numpy as np

from core.instances.errors import InstanceError

LARGEST_COST = 2**31 - 1
"""A cost fits a signed 32-bit integer, so that kernels need no wider one."""
LARGEST_SEED = 2**63 - 1
"""A seed of a generator fits a signed 64-bit integer."""


def integer_array(name: str, entries: str, values: object) -> np.ndarray:
    """Return an array of integers; floats without fractions become int64.

    ``entries`` describe them in messages, in the plural. Raises `InstanceError` for other values, or rows of unequal
    lengths.
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise InstanceError(name, None, f"{entries} in rows of unequal lengths", "an array of integers") from None
    if array.dtype.kind == "f":
        wrong = ~(np.abs(array) < 2.0**63) | (array != np.floor(array))
        if wrong.any():
            raise InstanceError(name, None, f"{entries} such as {array[wrong][0]}", "integers")
        array = array.astype(np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise InstanceError(name, None, f"{entries} of {array.dtype}", "integers")
    return array


def square_integers(name: str, entries: str, values: object, least: int, most: int, rows: str = "rows") -> np.ndarray:
    """Return a square matrix with an allowed number of rows as `integer_array` does.

    ``rows`` describes them in messages. Raises `InstanceError` for another shape, or too few or too many rows.
    """
    matrix = integer_array(name, entries, values)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InstanceError(name, None, f"{entries} of shape {matrix.shape}", "a square matrix")
    if not least <= len(matrix) <= most:
        raise InstanceError(name, None, f"{len(matrix)} {rows}", f"{least} to {most} {rows}")
    return matrix


def check_range(name: str, entry: str, matrix: np.ndarray, least: int, most: int) -> None:
    worst = max(int(matrix.max()), int(matrix.min()), key=lambda value: (not least <= value <= most, abs(value)))
    if not least <= worst <= most:
        place = np.argwhere(matrix == worst)[0].tolist()
        raise InstanceError(name, None, f"{entry} {worst} at {place}", f"{least} to {most}")


def check_symmetric(name: str, entry: str, row: str, matrix: np.ndarray) -> None:
    unequal = matrix != matrix.T
    if unequal.any():
        i, j = np.unravel_index(unequal.argmax(), matrix.shape)
        unequal_pair = f"{entry} {matrix[i, j]} from {row} {i} to {j} and {matrix[j, i]} back"
        raise InstanceError(name, None, unequal_pair, "a symmetric matrix")
