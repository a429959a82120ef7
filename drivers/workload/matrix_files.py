"""Distances from a file without TSPLIB format: a NumPy array (.npy), or a text with a row of the matrix a line."""

from __future__ import annotations

import io
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
    shape, by_columns, dtype, start = _header(path, content)
    if dtype.kind not in "iuf":
        raise InstanceError(path, None, f"elements of {dtype}", "integers")
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 1:
        raise InstanceError(path, None, f"an array of shape {shape}", "a square matrix")
    n, size = int(shape[0]), len(content) - start
    if size != n * n * dtype.itemsize:
        raise InstanceError(path, None, f"{size} bytes of elements", f"{n} by {n} elements of {dtype.itemsize} bytes")
    values = np.frombuffer(content, dtype, offset=start).reshape(n, n, order="F" if by_columns else "C")
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        narrow = values.astype(np.float64, order="C")
        # Floats beyond 64 bits may become infinite, and are refused; none may become another integer.
        narrow[np.isfinite(narrow) & (narrow != values)] = np.nan
    return narrow, []


def _header(path: str, content: bytes) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    """Return shape, order, dtype and start of the elements of an array saved by `numpy.save`."""
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        if version == (3, 0):
            # only for names of fields, which a matrix of numbers lacks
            raise ValueError("elements with named fields")
        with warnings.catch_warnings():
            # files by Python 2 are read too
            warnings.simplefilter("ignore", UserWarning)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            return *read(file), file.tell()
    except Exception as error:
        # the header is a Python literal; NumPy raises various errors for a damaged one
        reason = str(error).partition("\n")[0]
        raise InstanceError(path, None, f"no array of numbers ({reason})", SAVED) from None
