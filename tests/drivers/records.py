"""Records and small files of runs."""

import json
from pathlib import Path

import numpy as np

SQUARE = np.array([[0, 3, 5, 3], [3, 0, 3, 5], [5, 3, 0, 3], [3, 5, 3, 0]])
"""Four corners of a square: the only shortest tour has length 12."""


def lines(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def saved(path, matrix):
    path.write_text("\n".join(" ".join(map(str, row)) for row in matrix) + "\n")
    return path


def cities_of(path):
    return [int(city) - 1 for city in Path(path).read_text().split("TOUR_SECTION")[1].split("-1")[0].split()]


def length_of(distances, tour):
    return sum(int(distances[a][b]) for a, b in zip(tour, [*tour[1:], tour[0]], strict=True))
