"""Limits of costs and seeds, and checks of the square integer matrices that a caller gives."""

import numpy as np

from core.problems.instances.errors import InstanceError

LARGEST_COST = 2**31 - 1
"""A cost fits a signed 32-bit integer, so that kernels need no wider one."""
LARGEST_SEED = 2**63 - 1
"""A seed of a generator fits a signed 64-bit integer."""


def check_square(name: str, what: str, given: np.ndarray, least: int, most: int, rows: str = "rows") -> None:
    """Check that a matrix is square, has an allowed number of rows, and holds integers.

    Raises `InstanceError` for another shape, too few or too many rows, or another dtype.

    Parameters
    ----------
    name
        Of the instance, for the message.
    what
        Meaning of the entries, in the plural.
    given : ndarray
    least, most
        Number of rows.
    rows
        Meaning of the rows, in the plural.
    """
    if given.ndim != 2 or given.shape[0] != given.shape[1]:
        raise InstanceError(name, None, f"{what} of shape {given.shape}", "a square matrix")
    if not least <= len(given) <= most:
        raise InstanceError(name, None, f"{len(given)} {rows}", f"{least} to {most} {rows}")
    if not np.issubdtype(given.dtype, np.integer):
        raise InstanceError(name, None, f"{what} of {given.dtype}", "integers")


def check_range(name: str, entry: str, given: np.ndarray, least: int, most: int) -> None:
    """Make sure that all entries are between `least` and `most`."""
    worst = max(int(given.max()), int(given.min()), key=lambda value: (not least <= value <= most, abs(value)))
    if not least <= worst <= most:
        raise InstanceError(name, None, f"{entry} {worst}", f"{least} to {most}")


def check_symmetric(name: str, entry: str, row: str, given: np.ndarray) -> None:
    """Make sure that a square matrix equals its transpose."""
    unequal = given != given.T
    if unequal.any():
        i, j = np.unravel_index(unequal.argmax(), given.shape)
        found = f"{entry} {given[i, j]} from {row} {i} to {j} and {given[j, i]} back"
        raise InstanceError(name, None, found, "a symmetric matrix")
