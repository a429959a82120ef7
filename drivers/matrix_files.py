"""Distances from a file that is no TSPLIB instance: a NumPy array (.npy), or a text with a row of the matrix a line."""

from __future__ import annotations

import os
from typing import NoReturn

import numpy as np

from core.problems import distances as metric
from core.problems import known
from core.problems.errors import InstanceError
from core.problems.tsp import Instance


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
    try:
        values = np.load(path, allow_pickle=False)
    except OSError as error:
        raise InstanceError(path, None, error.strerror or str(error), "an array saved by numpy.save") from None
    except (ValueError, EOFError) as error:
        raise InstanceError(path, None, f"no array of numbers ({error})", "an array saved by numpy.save") from None
    if not np.issubdtype(values.dtype, np.integer) and not np.issubdtype(values.dtype, np.floating):
        raise InstanceError(path, None, f"elements of {values.dtype}", "integers")
    if values.ndim != 2 or values.shape[0] != values.shape[1] or not values.size:
        raise InstanceError(path, None, f"an array of shape {values.shape}", "a square matrix")
    return values.astype(np.float64), []


def _text(path: str) -> tuple[np.ndarray, list[int]]:
    """The float64 matrix of a text, and the line of each of its rows."""
    try:
        with open(path, encoding="utf-8") as file:
            content = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        found = error.strerror if isinstance(error, OSError) else "bytes that are no UTF-8"
        raise InstanceError(path, None, found or str(error), "a text file with a matrix") from None
    rows: list[list[float]] = []
    lines: list[int] = []
    for number, line in enumerate(content, 1):
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
        return float(word)
    except ValueError:
        raise InstanceError(path, line, repr(word), "an integer") from None
