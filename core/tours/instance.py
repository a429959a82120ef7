"""An instance of the travelling salesman problem and its plain NumPy scorer.

Light on purpose: ranks unpickle an `TspInstance` loaded by rank 0, and import nothing but NumPy for it.
"""

import functools
import hashlib

import numpy as np

from core.arguments import frozen
from core.instances.errors import InstanceError
from core.instances.limits import check_range, check_symmetric, square_integers
from core.permutations import check_tour
from core.tours import distances as metric

FEWEST_CITIES = 3
MOST_CITIES = 100_000
LARGEST_MATRIX = 4 * 2**30
"""Most bytes of distances; larger instances are computed from the coordinates."""


class TspInstance:
    """A travelling salesman problem with integer distances, given by `coordinates` or `distances`.

    Parameters
    ----------
    coordinates : ndarray, shape (n, 2) or (n, 3), float64, optional
    edge_weight_type
        Distance function of coordinates: a key of `core.tours.distances.FORMULAS`.
    distances : ndarray, shape (n, n), integers from 0 to 2**31 - 1, optional
        The diagonal is taken as 0.
    symmetric
        True if the distances must be symmetric.
    display : ndarray, shape (n, 2), float64, optional
        Positions of cities in plots, for an instance given by distances.
    optimum
        Length of a shortest tour, if known.
    source
        Origin of the instance.

    Attributes
    ----------
    n : int
        Number of cities.
    sha256 : str
        Digest of the content: equal for files that differ in white space, notation or name only.
    skipped : str
        Note about parts of the file that do not concern the tour; empty if there are none.

    Raises
    ------
    InstanceError
        Wrong shapes, too few or too many cities, infinite coordinates, or distances that are negative, asymmetric,
        not integers or beyond 31 bits.
    """

    skipped = ""

    def __init__(
        self,
        name: str,
        *,
        coordinates: np.ndarray | None = None,
        edge_weight_type: str = "EUC_2D",
        distances: np.ndarray | None = None,
        symmetric: bool = True,
        display: np.ndarray | None = None,
        optimum: int | None = None,
        source: str = "given by the caller",
    ) -> None:
        if (coordinates is None) == (distances is None):
            raise InstanceError(name, None, "both or neither", "coordinates or distances")
        self.name = name
        self.optimum = optimum
        self.source = source
        self.coordinates: np.ndarray | None = None
        self._distances: np.ndarray | None = None
        if distances is not None:
            self.edge_weight_type = "EXPLICIT"
            self._distances = _checked_distances(name, distances, symmetric)
            self.n = len(self._distances)
        elif coordinates is not None:
            self.edge_weight_type = edge_weight_type
            self.coordinates = _checked_coordinates(name, coordinates, edge_weight_type)
            self.n = len(self.coordinates)
        self._display = display
        self.sha256 = self._digest()

    def __repr__(self) -> str:
        return f"Instance({self.name!r}, n={self.n}, {self.edge_weight_type})"

    def __getstate__(self) -> dict:
        """Leave out a matrix that the receiver computes faster than it reads it."""
        state = self.__dict__.copy()
        if self.coordinates is not None:
            state["_distances"] = None
        return state

    @property
    def distances(self) -> np.ndarray:
        """All distances: (n, n), C-contiguous, uint16 if they fit, else uint32; computed once.

        Raises `InstanceError` if the matrix would exceed 4 GiB.
        """
        if self._distances is None:
            assert self.coordinates is not None
            largest = metric.distance_bound(self.coordinates, self.edge_weight_type)
            size = self.n**2 * (2 if largest < 2**16 else 4)
            if size > LARGEST_MATRIX:
                raise InstanceError(
                    self.name,
                    None,
                    f"{self.n} cities with distances of {size / 2**30:.1f} GiB",
                    f"at most {LARGEST_MATRIX / 2**30:.0f} GiB (drivers.tsp computes them from coordinates)",
                )
            self._distances = metric.matrix(self.coordinates, self.edge_weight_type)
            self._distances.flags.writeable = False
        return self._distances

    @property
    def display(self) -> np.ndarray | None:
        """Coordinates of the cities in a picture, x to the right and y upwards: (n, 2) float64, or None."""
        if self._display is not None or self.coordinates is None:
            return self._display
        if self.edge_weight_type == "GEO":
            # latitude comes first
            return self.coordinates[:, ::-1]
        return self.coordinates[:, :2]

    @functools.cached_property
    def notes(self) -> list[str]:
        """Notes on the scale of the distances, and on skipped parts of the file."""
        scale = [] if self.coordinates is None else metric.describe_scale(self.coordinates, self.edge_weight_type)
        return [f"{self.name}: {note}" for note in (self.skipped, *scale) if note]

    def tour_length(self, tour: np.ndarray) -> int:
        """`tour_length` of a tour, shape (n,), without the matrix; raises `ValueError` if it is no permutation."""
        if self.coordinates is None:
            return tour_length(self.distances, tour)
        return int(metric.edge_lengths(self.coordinates, self.edge_weight_type, check_tour(tour, self.n)).sum())

    def tour_lengths(self, tours: np.ndarray) -> np.ndarray:
        """Return the lengths of many closed tours, unchecked: (tours, n) -> (tours,) int64."""
        if self.coordinates is None:
            return self.distances[tours, np.roll(tours, -1, axis=1)].sum(axis=1, dtype=np.int64)
        return metric.edge_lengths(self.coordinates, self.edge_weight_type, tours).sum(axis=1)

    def _digest(self) -> str:
        content = hashlib.sha256()
        content.update(f"{self.edge_weight_type} {self.n} ()\n".encode())
        if self.coordinates is not None:
            # adding 0.0 turns -0.0 into 0.0
            content.update((self.coordinates + 0.0).astype("<f8").tobytes())
        elif self._distances is not None:
            content.update(self._distances.astype("<u4").tobytes())
        return content.hexdigest()


def tour_length(distances: np.ndarray, tour: np.ndarray) -> int:
    """Return the length of a closed tour, shape (n,), for distances of shape (n, n).

    Raises `ValueError` if the tour is not a permutation of 0 to n - 1.
    """
    order = check_tour(tour, len(distances))
    return int(distances[order, np.roll(order, -1)].astype(np.int64).sum())


def canonical_tour(tour: np.ndarray) -> np.ndarray:
    """Return the same cycle from city 0, in the direction in which the second city is smaller than the last."""
    turned = np.roll(np.asarray(tour, np.int64), -int(np.argmin(tour)))
    if len(turned) > 2 and turned[1] > turned[-1]:
        turned[1:] = turned[1:][::-1].copy()
    return turned


def _checked_coordinates(name: str, values: np.ndarray, edge_weight_type: str) -> np.ndarray:
    if edge_weight_type not in metric.FORMULAS:
        raise InstanceError(name, None, f"edge weight type {edge_weight_type}", f"one of {', '.join(metric.FORMULAS)}")
    axes = metric.FORMULAS[edge_weight_type][0]
    try:
        coordinates = frozen(values, np.float64)
    except (TypeError, ValueError):
        raise InstanceError(name, None, "coordinates that are no numbers in equal rows", f"(n, {axes})") from None
    if coordinates.ndim != 2 or coordinates.shape[1] != axes:
        raise InstanceError(name, None, f"coordinates of shape {coordinates.shape}", f"(n, {axes})")
    if not FEWEST_CITIES <= len(coordinates) <= MOST_CITIES:
        raise InstanceError(name, None, f"{len(coordinates)} cities", f"{FEWEST_CITIES} to {MOST_CITIES} cities")
    if not np.isfinite(coordinates).all():
        raise InstanceError(name, None, "NaN or infinite coordinates", "finite ones")
    objection = metric.describe_invalid_coordinates(coordinates, edge_weight_type)
    if objection:
        raise InstanceError(name, None, *objection)
    return coordinates


def _checked_distances(name: str, matrix: np.ndarray, symmetric: bool) -> np.ndarray:
    matrix = square_integers(name, "distances", matrix, FEWEST_CITIES, MOST_CITIES, "cities")
    check_range(name, "distance", matrix, 0, metric.LARGEST_DISTANCE)
    if symmetric:
        check_symmetric(name, "distance", "city", matrix)
    distances = matrix.copy()
    np.fill_diagonal(distances, 0)
    return frozen(compacted := metric.compact(distances), compacted.dtype)
