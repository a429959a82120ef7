"""Checks of square matrices of distances that callers pass to a search, symmetric or not."""

from collections.abc import Callable

import numpy as np

from core.errors import UserError
from core.problems.tsp.distances import LARGEST_DISTANCE


def square_matrix(distances: np.ndarray, check_cities: Callable[[int], None]) -> np.ndarray:
    """Return the distances as an array, shape (n, n), with at least one city.

    Raises `UserError` for another shape. ``check_cities`` is called with n and raises it if the search does not take n
    cities.
    """
    array = np.asarray(distances)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not len(array):
        raise UserError(f"distances of shape {array.shape}: expected a square matrix")
    check_cities(len(array))
    return array


def checked_distances(
    distances: np.ndarray, check_cities: Callable[[int], None], *, symmetric: bool = False
) -> np.ndarray:
    """Return a copy of the distances, int64, shape (n, n), with zeros on the diagonal.

    Raises `UserError` as `square_matrix`, and for fractions, asymmetric distances if they must be ``symmetric``, or one
    outside 0 to `LARGEST_DISTANCE`.
    """
    array = square_matrix(distances, check_cities)
    whole = array.astype(np.int64)
    if not np.array_equal(whole, array):
        raise UserError("distances that are not integers: multiply and round them first")
    np.fill_diagonal(whole, 0)
    if symmetric and not np.array_equal(whole, whole.T):
        i, j = np.argwhere(whole != whole.T)[0]
        raise UserError(f"asymmetric distances: {whole[i, j]} from {i} to {j}, {whole[j, i]} back; expected the same")
    if whole.min(initial=0) < 0 or whole.max(initial=0) > LARGEST_DISTANCE:
        i, j = np.argwhere((whole < 0) | (whole > LARGEST_DISTANCE))[0]
        raise UserError(f"distance {whole[i, j]} from {i} to {j}: expected 0 to {LARGEST_DISTANCE}")
    return whole
