"""Text with one row of a distance matrix per line, such as J. Burkardt's p01_d.txt and files of `--matrix`."""

import os
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from core.instances import optima
from core.instances.errors import InstanceError, errors_at, escape_unprintable
from core.instances.readers import InstanceFormat
from core.instances.tokens import lines_of, quoted
from core.instances.tsplib import refuse_drop
from core.tours import distances as metric
from core.tours.instance import TspInstance

SUFFIX = "_d.txt"
"""Suffix of Burkardt's files: p01_d.txt has the distances of p01."""


def parse_file(text: str, path: str | os.PathLike, drop: Sequence[str] = (), symmetric: bool = True) -> TspInstance:
    """Return the instance of a file's text, p01 of p01_d.txt; it has no parts to ``drop``."""
    refuse_drop(path, drop)
    name = escape_unprintable(os.path.basename(path).removesuffix(SUFFIX))
    return parse(text, path=path, name=name, source=f"file {os.fspath(path)}", symmetric=symmetric)


FORMAT = InstanceFormat("a text file with a matrix", (SUFFIX,), parse_file)


def parse(
    text: str,
    *,
    path: str | os.PathLike = "text",
    name: str = "unnamed",
    source: str = "text given by the caller",
    symmetric: bool = True,
) -> TspInstance:
    """Return the instance with the distances of a text.

    The text has numbers separated by white space or commas; empty lines and comments after # are ignored.
    """
    distances = check_matrix(path, *parse_rows(text, path), symmetric=symmetric)
    with errors_at(path):
        instance = TspInstance(name, distances=distances, symmetric=symmetric, source=source)
    instance.optimum = optima.optimum(instance.sha256)
    return instance


def parse_rows(text: str, path: str | os.PathLike) -> tuple[np.ndarray, list[int]]:
    """Return the square float64 matrix of a text, and the line of each row.

    Raises `InstanceError` without numbers, for anything else, or for rows that make no square.
    """
    matrix: list[list[float]] = []
    lines: list[int] = []
    for number, line in enumerate(lines_of(text), 1):
        words = line.partition("#")[0].replace(",", " ").split()
        if words:
            matrix.append([_number(word, path, number) for word in words])
            lines.append(number)
    if not matrix:
        raise InstanceError(path, None, "no numbers", "a square matrix of distances")
    n = len(matrix[0])
    for row, number in zip(matrix, lines, strict=True):
        if len(row) != n:
            expected = f"{n}, as in the first row: whole rows, not a half of the matrix"
            raise InstanceError(path, number, f"{len(row)} numbers", expected)
    if len(matrix) != n:
        raise InstanceError(path, lines[-1], f"{len(matrix)} rows of {n} numbers", "a square matrix")
    return np.array(matrix, dtype=np.float64), lines


def _number(word: str, path: str | os.PathLike, line: int) -> float:
    try:
        # not all that Python takes for a number: no 1_000, no digits of other scripts
        return float(word if word.isascii() and "_" not in word else "")
    except ValueError:
        raise InstanceError(path, line, quoted(word), "an integer") from None


def check_matrix(path: str | os.PathLike, values: np.ndarray, lines: list[int], *, symmetric: bool) -> np.ndarray:
    """Return a square matrix as int64, with the diagonal set to 0.

    ``values``, shape (n, n), float64, change in place: their diagonal. ``lines`` has the line of each row; empty if the
    file has no lines. Raises `InstanceError` if a distance is no integer from 0 to 2**31 - 1, if one side of the
    diagonal has zeros alone, or if the matrix must be ``symmetric`` and is not.
    """

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
    if np.tril(values).any() != np.triu(values).any():
        refuse(0, "zeros alone on one side of the diagonal", "the whole matrix, as of m + m.T in NumPy")
    if symmetric and (values != values.T).any():
        j, i = _first(np.tril(values != values.T))
        found = f"distance {values[j, i]:.15g} from city {j} to {i} and {values[i, j]:.15g} back"
        refuse(j, found, "a symmetric matrix")
    return values.astype(np.int64)


def _first(wrong: np.ndarray) -> tuple[int, int]:
    row, column = divmod(int(wrong.argmax()), len(wrong))
    return row, column
