"""Distances from a file without TSPLIB format: a NumPy array (.npy), or a text with a row of the matrix a line."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

import numpy as np

from core.instances import matrix_text, optima
from core.instances.errors import InstanceError, escape_unprintable
from core.instances.files import read_bytes, read_text
from core.tours import TspInstance
from core.tours import distances as metric
from core.tours.distance_matrices import checked_distances

if TYPE_CHECKING:
    from drivers.options.values import ArrayValue

LARGEST_ARRAY = 2**30
"""Bytes of a .npy file."""
SAVED = "an array saved by numpy.save"


class MatrixInstance(TspInstance):
    """An instance of distances alone, with any number of cities from 1.

    Parameters
    ----------
    name : str
    distances : ndarray, shape (n, n), integers from 0 to 2**31 - 1, zeros on the diagonal
    source : str
        Origin of the distances.
    """

    def __init__(self, name: str, distances: np.ndarray, source: str) -> None:
        # The base class demands three cities, for moves of local search.
        self.name = name
        self.source = source
        self.edge_weight_type = "EXPLICIT"
        self.coordinates = None
        self.n = len(distances)
        self._display = None
        self._distances = metric.compact(distances)
        self.sha256 = self._digest()
        self.optimum = optima.optimum(self.sha256)


def load_matrix(path: str | ArrayValue, symmetric: bool = True) -> MatrixInstance:
    """Read a matrix of integer distances; its diagonal is taken as 0.

    Parameters
    ----------
    path : str or drivers.options.values.ArrayValue
        The matrix, or its file: an array of `numpy.save` if the name ends in .npy, else a text: numbers separated by
        white space or commas, a row a line; empty lines and comments after # are ignored.
    symmetric : bool
        True if the matrix must be symmetric.

    Raises
    ------
    InstanceError
        With the file, the line in a text, the value found and the value expected.
    """
    if not isinstance(path, str):
        return MatrixInstance("matrix", checked_distances(path.values, int, symmetric=symmetric), "given by the caller")
    values, lines = (
        _array(path)
        if path.endswith(".npy")
        else matrix_text.parse_rows(read_text(path, "a text file with a matrix"), path)
    )
    distances = matrix_text.check_matrix(path, values, lines, symmetric=symmetric)
    name = escape_unprintable(os.path.splitext(os.path.basename(path))[0])
    return MatrixInstance(name, distances, f"file {path}")


def _array(path: str) -> tuple[np.ndarray, list[int]]:
    """Return the float64 matrix of a .npy file, without line numbers; exact, since distances have 31 bits."""
    content = read_bytes(path, SAVED, LARGEST_ARRAY)
    if content.startswith(b"PK"):
        raise InstanceError(path, None, "an archive of arrays (.npz)", SAVED)
    # NumPy would take the memory for a header of any length.
    length = int.from_bytes(content[8 : 10 if content[6:7] == b"\1" else 12], "little")
    if length > len(content):
        raise InstanceError(path, None, f"no array of numbers (a header of {length} bytes)", SAVED)
    try:
        with warnings.catch_warnings(action="ignore"):  # about files by Python 2, which are read too
            values = np.load(path, mmap_mode="r")  # no memory for elements that a damaged header promises
    except Exception as error:
        # NumPy raises various errors for a damaged file.
        reason = str(error).partition("\n")[0]
        raise InstanceError(path, None, f"no array of numbers ({reason})", SAVED) from None
    if values.dtype.kind not in "iuf":
        raise InstanceError(path, None, f"elements of {values.dtype}", "integers")
    if values.ndim != 2 or values.shape[0] != values.shape[1] or not values.size:
        raise InstanceError(path, None, f"an array of shape {values.shape}", "a square matrix")
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        narrow = values.astype(np.float64, order="C")
        # Floats beyond 64 bits may become infinite, and are refused; none may become another integer.
        narrow[np.isfinite(narrow) & (narrow != values)] = np.nan
    return narrow, []
