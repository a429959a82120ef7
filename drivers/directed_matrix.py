"""Distances from a file, as `drivers.matrix_files` reads them, where the way back may have another length."""

from __future__ import annotations

import os

import numpy as np

from core.problems.distances import LARGEST_DISTANCE
from core.problems.errors import InstanceError
from drivers import matrix_files


def load_matrix(path: str) -> matrix_files.MatrixInstance:
    """Read a matrix of integer distances; its diagonal counts as 0, whatever it holds.

    Parameters
    ----------
    path : str
        As `drivers.matrix_files.load_matrix` takes it.

    Raises
    ------
    InstanceError
        Names the file and, in a text, the line; what was found and what was expected.

    """
    values, lines = (matrix_files._array if path.endswith(".npy") else matrix_files._text)(path)
    np.fill_diagonal(values, 0)
    wrong = ~((values >= 0) & (values <= LARGEST_DISTANCE) & (values == np.floor(values)))
    if wrong.any():
        i, j = (int(index) for index in np.argwhere(wrong)[0])
        found = f"distance {values[i, j]:.15g} from city {i} to {j}"
        raise InstanceError(path, lines[i] if lines else None, found, f"an integer from 0 to {LARGEST_DISTANCE}")
    name = os.path.splitext(os.path.basename(path))[0]
    return matrix_files.MatrixInstance(name, values.astype(np.int64), f"file {path}")
