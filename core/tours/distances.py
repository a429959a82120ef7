"""Integer distances by TSPLIB's definitions: formulas for coordinates, layouts for explicit weights.

Source: G. Reinelt, "TSPLIB 95", section 2 (the distance functions) and TSPLIB's FAQ (GEO truncates
degrees, and its pi is 3.141592).
"""

from collections.abc import Callable

import numpy as np

from core.errors import UserError

LARGEST_DISTANCE = 2**31 - 1
"""A distance fits a signed 32-bit integer, so that kernels need no wider one."""

LARGEST_DEGREES = 360.0
"""A latitude or longitude beyond a turn is no place, and the radians of a huge one are no number."""

LARGEST_ROUNDING_ERROR = 0.1
"""Mean relative error without a note; TSPLIB's instances have at most 0.06 (eil30)."""

MOST_DECIMAL = 0.05
"""Share of coordinates without a note that are not DDD.MM; ali535 has 3 of 1,070."""

SAMPLED_DISTANCES = 2**20

_GEO_PI = 3.141592
_GEO_RADIUS_KM = 6378.388

# Rows are computed a few at a time so that the temporaries stay in the processor's cache.
_BLOCK_ENTRIES = 2**17

# Axes of a and b broadcast against each other; results are float64 that truncate to the distance.
Axes = list[np.ndarray]


def _euclidean(a: Axes, b: Axes) -> np.ndarray:
    return np.sqrt(_sum_of_squares(a, b)) + 0.5


def _pseudo_euclidean(a: Axes, b: Axes) -> np.ndarray:
    length = np.sqrt(_sum_of_squares(a, b) / 10.0)
    nearest = np.floor(length + 0.5)
    return nearest + (nearest < length)


def _manhattan(a: Axes, b: Axes) -> np.ndarray:
    return _combined(np.add, np.abs, a, b) + 0.5


def _maximum(a: Axes, b: Axes) -> np.ndarray:
    # rounding is monotone, so the largest rounded difference is the rounded largest one
    return _combined(np.maximum, np.abs, a, b) + 0.5


def _geographical(a: Axes, b: Axes) -> np.ndarray:
    q1 = np.cos(a[1] - b[1])
    q2 = np.cos(a[0] - b[0])
    q3 = np.cos(a[0] + b[0])
    cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)
    # coincident cities can pass 1 by a rounding error
    return _GEO_RADIUS_KM * np.arccos(np.clip(cosine, -1.0, 1.0)) + 1.0


def _sum_of_squares(a: Axes, b: Axes) -> np.ndarray:
    return _combined(np.add, np.square, a, b)


def _combined(combine: np.ufunc, of_axis: np.ufunc, a: Axes, b: Axes) -> np.ndarray:
    """Combine a function of the difference along each axis, axis by axis."""
    total = of_axis(a[0] - b[0])
    for p, q in zip(a[1:], b[1:], strict=True):
        total = combine(total, of_axis(p - q))
    return total


def _radians(degrees_minutes: np.ndarray) -> np.ndarray:
    """Return radians of DDD.MM coordinates: degrees, then minutes after the point."""
    degrees = np.trunc(degrees_minutes)
    minutes = degrees_minutes - degrees
    return _GEO_PI * (degrees + 5.0 * minutes / 3.0) / 180.0


FORMULAS: dict[str, tuple[int, Callable[[Axes, Axes], np.ndarray]]] = {
    "EUC_2D": (2, _euclidean),
    "CEIL_2D": (2, lambda a, b: np.ceil(np.sqrt(_sum_of_squares(a, b)))),
    "ATT": (2, _pseudo_euclidean),
    "GEO": (2, _geographical),
    "MAN_2D": (2, _manhattan),
    "MAX_2D": (2, _maximum),
    "EUC_3D": (3, _euclidean),
    "MAN_3D": (3, _manhattan),
    "MAX_3D": (3, _maximum),
}
"""Axes and formula of each EDGE_WEIGHT_TYPE computed from coordinates."""


def _axes(coordinates: np.ndarray, edge_weight_type: str) -> Axes:
    if edge_weight_type == "GEO":
        coordinates = _radians(coordinates)
    return [np.ascontiguousarray(axis) for axis in coordinates.T]


def distance_bound(coordinates: np.ndarray, edge_weight_type: str) -> float:
    """Return an upper bound of all distances, from the box around the cities.

    ``coordinates`` are float64 of shape (n, axes), and ``edge_weight_type`` is a key of FORMULAS, here and below.
    """
    if edge_weight_type == "GEO":
        return np.pi * _GEO_RADIUS_KM + 1.0
    formula = FORMULAS[edge_weight_type][1]
    with np.errstate(over="ignore"):
        corners = coordinates.min(axis=0), coordinates.max(axis=0)
        return float(formula(list(corners[0]), list(corners[1]))) + 1.0


def describe_invalid_coordinates(coordinates: np.ndarray, edge_weight_type: str) -> tuple[str, str] | None:
    """Return the fault of finite coordinates, as "found ..., expected ..."; None if they are valid."""
    if edge_weight_type == "GEO":
        worst = float(np.abs(coordinates).max())
        if worst > LARGEST_DEGREES:
            return f"a latitude or longitude of {worst:.6g} degrees", f"at most {LARGEST_DEGREES:g} either way"
    largest = distance_bound(coordinates, edge_weight_type)
    if largest > LARGEST_DISTANCE:
        return f"cities up to {largest:.4g} apart", f"distances of at most {LARGEST_DISTANCE}"
    return None


def describe_scale(coordinates: np.ndarray, edge_weight_type: str) -> list[str]:
    """Return notes on coordinates that are likely in another unit than the distance function expects."""
    notes = []
    if edge_weight_type == "GEO":
        hundredths = np.abs(coordinates) % 1 * 100
        decimal = (hundredths > 59.5) | (np.abs(hundredths - np.rint(hundredths)) > 1e-6)
        if decimal.mean() > MOST_DECIMAL or (np.abs(coordinates) > (90, 180)).any():
            notes.append(
                "TSPLIB's GEO reads latitude, then longitude, as DDD.MM, degrees and minutes; decimal degrees have "
                "other distances"
            )
    error = rounding_error(coordinates, edge_weight_type)
    if error > LARGEST_ROUNDING_ERROR:
        notes.append(
            f"TSPLIB's {edge_weight_type} rounds distances to integers, which changes those of nearest cities by "
            f"{100 * error:.0f} % on average; coordinates in a smaller unit lose less"
        )
    return notes


def rounding_error(coordinates: np.ndarray, edge_weight_type: str) -> float:
    """Return the mean relative error of rounding the distance from a city to the nearest city elsewhere.

    Of many cities some are taken, evenly in the order of their numbers.
    """
    axes = _axes(coordinates, edge_weight_type)
    formula = FORMULAS[edge_weight_type][1]
    n = len(coordinates)
    some = np.linspace(0, n - 1, min(n, max(8, SAMPLED_DISTANCES // n))).astype(int)
    extent = np.ptp(coordinates, axis=0).max()
    if extent == 0:
        return 0.0

    def lengths(factor: float) -> np.ndarray:
        return formula([factor * axis[some, None] for axis in axes], [factor * axis for axis in axes])

    rounded, factor = np.trunc(lengths(1.0)), 2.0**30 / extent
    # rounding hardly changes distances of multiplied coordinates; angles cannot be multiplied
    exact = lengths(1.0) - 1.0 if edge_weight_type == "GEO" else np.trunc(lengths(factor)) / factor
    exact[exact == 0] = np.inf
    nearest = exact.argmin(axis=1)[:, None]
    exact, rounded = (np.take_along_axis(table, nearest, 1) for table in (exact, rounded))
    return float((np.abs(rounded - exact) / exact).mean())


def outlying_city(coordinates: np.ndarray, edge_weight_type: str) -> int:
    """Return the city with the likely error: the one farthest from the middle of all, or from 0."""
    with np.errstate(over="ignore"):
        middle = 0.0 if edge_weight_type == "GEO" else np.median(coordinates, axis=0)
        return int(np.abs(coordinates - middle).max(axis=1).argmax())


def matrix(coordinates: np.ndarray, edge_weight_type: str) -> np.ndarray:
    """Return all distances of a set of cities, shape (n, n), C-contiguous; the diagonal is 0.

    Coordinates are in units of the instance; latitude and longitude as DDD.MM for GEO. The dtype is uint16 if the
    largest distance is at most 65535, else uint32.
    """
    n = len(coordinates)
    axes = _axes(coordinates, edge_weight_type)
    formula = FORMULAS[edge_weight_type][1]
    fits = distance_bound(coordinates, edge_weight_type) < 2**16
    distances = np.empty((n, n), dtype=np.uint16 if fits else np.uint32)
    rows = max(1, _BLOCK_ENTRIES // n)
    for start in range(0, n, rows):
        block = slice(start, start + rows)
        lengths = formula([axis[block, None] for axis in axes], axes)
        # through int32, which processors convert to directly
        distances[block] = lengths.astype(np.int32)
    np.fill_diagonal(distances, 0)
    return distances if fits else compact(distances)


def edge_lengths(coordinates: np.ndarray, edge_weight_type: str, tour: np.ndarray) -> np.ndarray:
    """Return the distance from each city of a closed tour to the next as int64, without the matrix.

    ``tour`` has shape (n,), or (tours, n) for several, with integers from 0 to n - 1.
    """
    axes = _axes(coordinates, edge_weight_type)
    following = np.roll(tour, -1, axis=-1)
    formula = FORMULAS[edge_weight_type][1]
    return formula([axis[tour] for axis in axes], [axis[following] for axis in axes]).astype(np.int64)


def compact(distances: np.ndarray) -> np.ndarray:
    """Return distances as C-contiguous uint16 if the largest allows it, else as uint32."""
    return np.ascontiguousarray(distances, dtype=np.uint16 if distances.max() < 2**16 else np.uint32)


LAYOUTS: dict[str, Callable[[int], tuple[np.ndarray, np.ndarray]]] = {
    "FULL_MATRIX": lambda n: np.divmod(np.arange(n * n), n),
    "UPPER_ROW": lambda n: np.triu_indices(n, 1),
    "LOWER_ROW": lambda n: np.tril_indices(n, -1),
    "UPPER_DIAG_ROW": lambda n: np.triu_indices(n),
    "LOWER_DIAG_ROW": lambda n: np.tril_indices(n),
    # a triangle column by column is the other triangle row by row
    "UPPER_COL": lambda n: np.tril_indices(n, -1)[::-1],
    "LOWER_COL": lambda n: np.triu_indices(n, 1)[::-1],
    "UPPER_DIAG_COL": lambda n: np.tril_indices(n)[::-1],
    "LOWER_DIAG_COL": lambda n: np.triu_indices(n)[::-1],
}
"""Row and column of each weight, in the order of the file, for each EDGE_WEIGHT_FORMAT."""


def weight_count(layout: str, n: int) -> int:
    """Return the number of weights in a section of ``n`` cities, for a layout of LAYOUTS."""
    if layout == "FULL_MATRIX":
        return n * n
    return n * (n + 1) // 2 if "_DIAG_" in layout else n * (n - 1) // 2


def is_symmetric(distances: np.ndarray) -> bool:
    return bool((distances == distances.T).all())


def check_lengths(n: int, longest: int, name: str) -> None:
    """Raise `UserError` unless every tour of ``n`` cities at distances up to ``longest`` has a length of 31 bits."""
    if n * longest >= 2**31:
        raise UserError(f"{name}: tours of {n} cities at distances up to {longest} do not fit 31 bits")
