"""Seeded instances that need no file: `uniform:100:seed=1`, `clustered:200`, `grid:100`.

All arithmetic is in integers, so an instance is equal number for number on every machine and with every
NumPy. Uniform and clustered follow the 8th DIMACS challenge (Johnson and McGeoch), in a smaller square.
"""

import re
from collections.abc import Callable

import numpy as np

from core.problems.instances.errors import InstanceError
from core.problems.instances.limits import LARGEST_SEED
from core.problems.instances.random_words import random_words
from core.problems.instances.specifications import integer_options, specified_integer
from core.problems.tsp.instance import FEWEST_CITIES, MOST_CITIES, TspInstance


def _below(words: np.ndarray, bound: int) -> np.ndarray:
    """Return integers from 0 to `bound - 1` as int64; the bias of the multiplication is < bound / 2**32."""
    return ((words >> np.uint64(32)) * np.uint64(bound) >> np.uint64(32)).astype(np.int64)


def uniform(n: int, seed: int, side: int) -> np.ndarray:
    """Return `n` points of a square lattice of `side` by `side`, each drawn by itself: (n, 2) int64."""
    return _below(random_words(seed, 0, 2 * n), side).reshape(n, 2)


def clustered(n: int, seed: int, side: int, clusters: int, spread: int) -> np.ndarray:
    """Return points around uniform centres: (n, 2) int64.

    A point belongs to a random centre; each of its two offsets is a sum of twelve uniform words, which is
    near to normal, with standard deviation `spread`. Points may leave the square.
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


def _grid_optimum(n: int, step: int) -> int | None:
    """Return the length of a shortest tour of a full lattice with an even number of points, else None."""
    return n * step if n % _columns(n) == 0 and n % 2 == 0 else None


def _uniform_instance(spec: str, options: dict[str, int], n: int) -> TspInstance:
    return _instance(spec, uniform(n, options["seed"], options["side"]))


def _clustered_instance(spec: str, options: dict[str, int], n: int) -> TspInstance:
    names = ("seed", "side", "clusters", "spread")
    return _instance(spec, clustered(n, *(options[name] for name in names)))


def _grid_instance(spec: str, options: dict[str, int], n: int) -> TspInstance:
    instance = _instance(spec, grid(n, options["seed"], options["step"]))
    instance.optimum = _grid_optimum(n, options["step"])
    return instance


def _instance(spec: str, points: np.ndarray) -> TspInstance:
    return TspInstance(spec, coordinates=points.astype(np.float64), source="generated from its name")


# Per family: options with default and largest value, then the maker. The defaults keep distances of
# uniform and small grid instances within 16 bits.
_SEED = {"seed": (1, LARGEST_SEED)}
_SIDE = {"side": (10_000, 10**9)}
FAMILIES: dict[str, tuple[dict[str, tuple[int, int]], Callable[..., TspInstance]]] = {
    "uniform": (_SEED | _SIDE, _uniform_instance),
    "clustered": (
        _SEED | _SIDE | {"clusters": (10, MOST_CITIES), "spread": (300, 10**8)},
        _clustered_instance,
    ),
    "grid": (_SEED | {"step": (100, 10**6)}, _grid_instance),
}
SPECIFICATION = re.compile(rf"({'|'.join(FAMILIES)})(:.*)?")
"""Texts that ask for a generated instance, well-formed or not."""


def generate(spec: str) -> TspInstance:
    """Return the instance of a specification FAMILY:N[:OPTION=INTEGER]...

    Parameters
    ----------
    spec : str
        uniform (seed, side), clustered (seed, side, clusters, spread) or grid (seed, step), as in
        "clustered:500:seed=7:clusters=5". EUC_2D distances. The name lists all options, so that equal
        names mean equal instances.

    Raises
    ------
    InstanceError
        Unknown family or option, or a value out of range.
    """
    if SPECIFICATION.fullmatch(spec) is None:
        raise InstanceError(spec, None, "no such generator", f"one of {', '.join(FAMILIES)}")
    family, *parts = spec.split(":")
    known, make = FAMILIES[family]
    size = parts[0] if parts else ""
    n = specified_integer(spec, "size", size, FEWEST_CITIES, MOST_CITIES)
    limits = {name: (default, 0 if name == "seed" else 1, largest) for name, (default, largest) in known.items()}
    return make(*integer_options(spec, f"{family}:{n}", parts[1:], limits), n)
