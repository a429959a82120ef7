"""Seeded instances that need no file: `uniform:100:seed=1`, `clustered:200`, `grid:100`.

All arithmetic is in integers, so an instance is equal number for number on every machine and with every NumPy. Uniform
and clustered follow the 8th DIMACS challenge (Johnson and McGeoch), in a smaller square.
"""

import re
from collections.abc import Callable

import numpy as np

from core.instances.errors import InstanceError
from core.instances.random_words import random_words
from core.instances.specifications import SEED, Quantity, parse_specification
from core.tours.instance import FEWEST_CITIES, MOST_CITIES, TspInstance


def _below(words: np.ndarray, bound: int) -> np.ndarray:
    """Return integers from 0 to `bound - 1` as int64; the bias of the multiplication is < bound / 2**32."""
    return ((words >> np.uint64(32)) * np.uint64(bound) >> np.uint64(32)).astype(np.int64)


def uniform(n: int, seed: int, side: int) -> np.ndarray:
    """Return `n` points of a square lattice of `side` by `side`, drawn independently: (n, 2) int64."""
    return _below(random_words(seed, 0, 2 * n), side).reshape(n, 2)


def clustered(n: int, seed: int, side: int, clusters: int, spread: int) -> np.ndarray:
    """Return points around uniform centres: (n, 2) int64.

    A point belongs to a random centre; each of its two offsets is a sum of twelve uniform words, which is near to
    normal, with standard deviation `spread`. Points may leave the square.
    """
    centres = uniform(clusters, seed, side)
    words = random_words(seed, 2 * clusters, 25 * n).reshape(n, 25)
    chosen = centres[_below(words[:, 0], clusters)]
    sums = _below(words[:, 1:], 2**16).reshape(n, 2, 12).sum(axis=2)
    return chosen + ((sums - 6 * 2**16) * spread >> 16)


def grid(n: int, seed: int, step: int) -> np.ndarray:
    """Return the first `n` points of a lattice `step` apart, filled row by row, shuffled: (n, 2) int64."""
    columns = _columns(n)
    order = np.argsort(random_words(seed, 0, n), kind="stable")
    return np.stack(np.divmod(order, columns)[::-1], axis=1) * step


def _columns(n: int) -> int:
    return int(np.ceil(np.sqrt(n)))


_SIZE = Quantity("size", FEWEST_CITIES, MOST_CITIES)
# The defaults keep distances of uniform and small grid instances within 16 bits.
_SIDE = Quantity("side", 1, 10**9, "10000")
FAMILIES: dict[str, tuple[Callable[..., np.ndarray], tuple[Quantity, ...]]] = {
    "uniform": (uniform, (SEED, _SIDE)),
    "clustered": (
        clustered,
        (SEED, _SIDE, Quantity("clusters", 1, MOST_CITIES, "10"), Quantity("spread", 1, 10**8, "300")),
    ),
    "grid": (grid, (SEED, Quantity("step", 1, 10**6, "100"))),
}
"""By name: a function that returns the cities, given their number and the options, and these options."""
SPECIFICATION = re.compile(rf"({'|'.join(FAMILIES)})(:.*)?")
"""Specifications of generated instances, well-formed or not."""


def generate(spec: str) -> TspInstance:
    """Return the instance of a specification FAMILY:N[:OPTION=INTEGER]... with EUC_2D distances.

    Families are uniform (seed, side), clustered (seed, side, clusters, spread) and grid (seed, step), as in
    "clustered:500:seed=7:clusters=5". The name lists all options, so that equal names mean equal instances. Raises
    `InstanceError` for an unknown family or option, or a value out of range.
    """
    if SPECIFICATION.fullmatch(spec) is None:
        raise InstanceError(spec, None, "no such generator", f"one of {', '.join(FAMILIES)}")
    draw, options = FAMILIES[spec.partition(":")[0]]
    name, (n, *values) = parse_specification(spec, [_SIZE], options)
    instance = TspInstance(name, coordinates=draw(n, *values).astype(np.float64), source="generated from its name")
    if draw is grid and n % _columns(n) == 0 and n % 2 == 0:
        instance.optimum = n * values[-1]  # of a full lattice with an even number of points
    return instance
