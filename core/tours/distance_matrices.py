"""Checks of square matrices of distances that callers pass to a search, symmetric or not."""

from collections.abc import Callable

import numpy as np

from core.instances.errors import InstanceError
from core.instances.limits import check_range, check_symmetric, integer_array
from core.tours.distances import LARGEST_DISTANCE


def square_matrix(distances: np.ndarray, check_cities: Callable[[int], object]) -> np.ndarray:
    """Return the distances as an array, shape (n, n), with at least one city.

    Raises `InstanceError` for another shape. ``check_cities`` is called with n and raises an error if the search does
    not take n cities.
    """
    array = np.asarray(distances)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not len(array):
        raise InstanceError("distances", None, f"an array of shape {array.shape}", "a square matrix")
    check_cities(len(array))
    return array


def checked_distances(
    distances: np.ndarray, check_cities: Callable[[int], object], *, symmetric: bool = False
) -> np.ndarray:
    """Return a copy of the distances, int64, shape (n, n), with zeros on the diagonal.

    Raises `InstanceError` as `square_matrix`, and for fractions, asymmetric distances if they must be ``symmetric``, or
    one outside 0 to `LARGEST_DISTANCE`.
    """
    array = square_matrix(distances, check_cities)
    whole = integer_array("distances", "distances", np.where(np.eye(len(array), dtype=bool), 0, array))
    check_range("distances", "distance", whole, 0, LARGEST_DISTANCE)
    if symmetric:
        check_symmetric("distances", "distance", "city", whole)
    return whole.astype(np.int64)
