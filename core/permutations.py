"""Checks of permutations: a tour of cities, locations of facilities.

Light on purpose, like `core.tours.instance`.
"""

import numpy as np


def check_permutation(values: np.ndarray, n: int, name: str = "permutation", element: str = "location") -> np.ndarray:
    """Return a permutation of 0 to ``n - 1`` as int64, shape (n,).

    ``name`` and ``element`` describe it in messages. Raises `ValueError` with the missing, repeated or invalid element.
    """
    order = np.asarray(values)
    if order.shape != (n,):
        raise ValueError(f"found a {name} of shape {order.shape}, expected ({n},)")
    if not np.issubdtype(order.dtype, np.integer):
        raise ValueError(f"found a {name} of {order.dtype}, expected integers")
    outside = (order < 0) | (order >= n)
    if outside.any():
        raise ValueError(f"found {element} {order[outside.argmax()]}, expected 0 to {n - 1}")
    uses = np.bincount(order.astype(np.int64), minlength=n)
    if (uses != 1).any():
        raise ValueError(f"found {element} {uses.argmax()} repeated and {uses.argmin()} missing, expected each once")
    return order.astype(np.int64)


def check_tour(tour: np.ndarray, n: int) -> np.ndarray:
    return check_permutation(tour, n, "tour", "city")
