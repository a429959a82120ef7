"""Distances from a file that is no TSPLIB instance: a NumPy array (.npy), or a text with a row of the matrix a line."""

from __future__ import annotations

import io
import os
import warnings
from typing import NoReturn

import numpy as np

from core.problems import distances as metric
from core.problems import known
from core.problems.errors import InstanceError
from core.problems.files import read_bytes, read_text
from core.problems.layout import quoted
from core.problems.tsp import Instance

LARGEST_ARRAY = 2**30
"""Bytes of a .npy file."""
SAVED = "an array saved by numpy.save"


class MatrixInstance(Instance):
    """An instance that is its distances alone, of any number of cities from 1 on.

    Parameters
    ----------
    name : str
    distances : ndarray, shape (n, n), integers from 0 to 2**31 - 1, zeros on the diagonal
    source : str
        Where they came from, in words.
    """

    def __init__(self, name: str, distances: np.ndarray, source: str) -> None:
        # Not the base class's: it demands three cities, which moves of local search need.
        self.name = name
        self.source = source
        self.edge_weight_type = "EXPLICIT"
        self.coordinates = None
        self.fixed_edges = ()
        self.n = len(distances)
        self._display = None
        self._distances = metric.compact(distances)
        self.sha256 = self._digest()
        self.optimum = known.optimum(self.sha256)


def load_matrix(path: str, symmetric: bool = True) -> MatrixInstance:
    """Read a matrix of integer distances; its diagonal counts as 0, whatever it holds.

    Parameters
    ----------
    path : str
        An array saved by `numpy.save` where the name ends in .npy, else a text: numbers apart by white space or commas,
        a row a line; empty lines, and what follows a #, are left out.
    symmetric : bool
        Whether the way back must have the same length.

    Raises
    ------
    InstanceError
        Names the file and, in a text, the line; what was found and what was expected.
    """
    values, lines = _array(path) if path.endswith(".npy") else _text(path)

    def refuse(row: int, found: str, expected: str) -> NoReturn:
        raise InstanceError(path, lines[row] if lines else None, found, expected)

    n = len(values)
    for wrong, expected in (
        (~np.isfinite(values) | (values != np.floor(values)), "an integer"),
        ((values < 0) | (values > metric.LARGEST_DISTANCE), f"0 to {metric.LARGEST_DISTANCE}"),
    ):
        wrong[np.diag_indices(n)] = False
        if wrong.any():
            i, j = _first(wrong)
            refuse(i, f"distance {values[i, j]:.15g} from city {i} to {j}", expected)
    np.fill_diagonal(values, 0)
    if symmetric and (values != values.T).any():
        j, i = _first(np.tril(values != values.T))
        found = f"distance {values[j, i]:.15g} from city {j} to {i} and {values[i, j]:.15g} back"
        refuse(j, found, "a symmetric matrix")
    name = os.path.splitext(os.path.basename(path))[0]
    return MatrixInstance(name, values.astype(np.int64), f"file {path}")


def _first(wrong: np.ndarray) -> tuple[int, int]:
    """Row and column of the first True."""
    row, column = divmod(int(wrong.argmax()), len(wrong))
    return row, column


def _array(path: str) -> tuple[np.ndarray, list[int]]:
    """The float64 matrix of a .npy file, where no element has a line; exact, since distances have 31 bits."""
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
    # the widest floats may be beyond 64 bits: infinite then, and refused as such
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(np.float64, order="C"), []


def _header(path: str, content: bytes) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    """Shape, whether columns come first, dtype, and where the elements begin, of an array saved by `numpy.save`."""
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        if version == (3, 0):
            # only for names of fields, which a matrix of numbers does not have
            raise ValueError("elements with named fields")
        with warnings.catch_warnings():
            # of a file that Python 2 wrote, which is read all the same
            warnings.simplefilter("ignore", UserWarning)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            return *read(file), file.tell()
    except Exception as error:
        # the header is a Python literal, and what NumPy raises for a damaged one is as varied
        reason = str(error).partition("\n")[0]
        raise InstanceError(path, None, f"no array of numbers ({reason})", SAVED) from None


def _text(path: str) -> tuple[np.ndarray, list[int]]:
    """The float64 matrix of a text, and the line of each of its rows."""
    content = read_text(path, "a text file with a matrix").replace("\r\n", "\n").replace("\r", "\n")
    rows: list[list[float]] = []
    lines: list[int] = []
    for number, line in enumerate(content.split("\n"), 1):
        words = line.partition("#")[0].replace(",", " ").split()
        if words:
            rows.append([_number(word, path, number) for word in words])
            lines.append(number)
    if not rows:
        raise InstanceError(path, None, "no numbers", "a square matrix of distances")
    n = len(rows[0])
    for row, number in zip(rows, lines, strict=True):
        if len(row) != n:
            raise InstanceError(path, number, f"{len(row)} numbers", f"{n}, as in the first row")
    if len(rows) != n:
        raise InstanceError(path, lines[-1], f"{len(rows)} rows of {n} numbers", "a square matrix")
    return np.array(rows, dtype=np.float64), lines


def _number(word: str, path: str, line: int) -> float:
    try:
        # not all that Python takes for a number: no 1_000, no digits of other scripts
        return float(word if word.isascii() and "_" not in word else "")
    except ValueError:
        raise InstanceError(path, line, quoted(word), "an integer") from None
