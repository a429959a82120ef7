"""Weighted graphs to be cut into k parts (max-k-cut): the problem for vectors over an alphabet of k values.

The encoding is Luong et al. 2013, section 4.4. The text format is that of G. Rinaldi's generator rudy, used for
Helmberg and Rendl's Gset (2000).
"""

import hashlib
import os
import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NoReturn

import numpy as np

from core.arguments import frozen
from core.problems.instances.errors import InstanceError, errors_at, require_integer
from core.problems.instances.files import describe_non_file, instance_name
from core.problems.instances.limits import LARGEST_COST, check_range, check_symmetric, square_integers
from core.problems.instances.random_words import random_words
from core.problems.instances.readers import InstanceFormat, InstanceReader
from core.problems.instances.specifications import SEED, Interval, Quantity, parse_specification
from core.problems.instances.tokens import quoted, rows_of

MOST_VERTICES = 20_000
"""The largest graph of Gset; its weights take 1.5 GiB."""

MOST_PARTS = 100_000
"""Keeps the number of neighbours, (k - 1) n, within 31 bits for every graph."""

SUFFIXES = (".txt", ".rud", ".rudy", ".mc", ".txt.gz", ".rud.gz", ".rudy.gz", ".mc.gz")
_SIZES = (Quantity("size", 1, MOST_VERTICES), Quantity("number of parts", 2, MOST_PARTS))
_OPTIONS = (Quantity("density", 0, 1, "0.5", decimals=9), Interval("weights", "1..10"))
_FORM = "maxcut:N:K[:seed=INTEGER][:density=DECIMAL][:weights=LOW..HIGH]"
_INTEGER = re.compile(r"[+-]?[0-9]{1,10}")


@dataclass(frozen=True, eq=False)
class GraphInstance:
    """An undirected graph with integer weights, and the number of parts to cut it into.

    Parameters
    ----------
    weights : array_like, shape (n, n), integers, symmetric, 0 on the diagonal
        0 for no edge; may be negative. Kept as int32, C-contiguous.
    k : int, 2 to 100,000
        Number of parts.
    optimum : int, optional
        The least cost, if known.
    source : str
        Origin of the instance.

    Attributes
    ----------
    cost_range : tuple of int
        The sums of all negative and of all positive weights: every cost lies between them.
    sha256 : str
        Digest of the content, k included: equal for files that differ in white space, order or name only.

    Raises
    ------
    InstanceError
        Wrong shape or size, weights that are no integers, not symmetric, or sum up beyond 31 bits, loops.
    """

    name: str
    weights: np.ndarray
    k: int
    optimum: int | None = None
    source: str = "given by the caller"
    cost_range: tuple[int, int] = field(init=False)
    sha256: str = field(init=False)

    def __post_init__(self) -> None:
        _check_parts(self.name, self.k)
        object.__setattr__(self, "weights", self._checked_weights(self.weights))
        content = hashlib.sha256(f"max-k-cut {self.n} {self.k}\n".encode())
        content.update(self.weights.astype("<i4", copy=False).data)
        object.__setattr__(self, "sha256", content.hexdigest())

    def __repr__(self) -> str:
        return f"GraphInstance({self.name!r}, n={self.n}, k={self.k})"

    @property
    def n(self) -> int:
        return len(self.weights)

    def _refuse(self, found: str, expected: str) -> NoReturn:
        raise InstanceError(self.name, None, found, expected)

    def _checked_weights(self, weights: np.ndarray) -> np.ndarray:
        weights = square_integers(self.name, "weights", weights, 1, MOST_VERTICES, "vertices")
        check_range(self.name, "weight", weights, -LARGEST_COST, LARGEST_COST)
        if weights.diagonal().any():
            vertex = weights.diagonal().astype(bool).argmax()
            self._refuse(f"a loop of weight {weights[vertex, vertex]} at vertex {vertex}", "0 on the diagonal")
        check_symmetric(self.name, "weight", "vertex", weights)
        object.__setattr__(self, "cost_range", self._checked_sums(weights))
        return frozen(weights, np.int32)

    def _checked_sums(self, weights: np.ndarray) -> tuple[int, int]:
        """Bound every cost, every difference of two costs and every partial sum of either."""
        negative = positive = 0
        # by rows, because the matrix in 64 bits would take twice its memory
        for row in weights:
            wide = row.astype(np.int64)
            negative += int(wide[wide < 0].sum())
            positive += int(wide[wide > 0].sum())
        total = (positive - negative) // 2
        if total > LARGEST_COST:
            self._refuse(f"absolute weights that sum up to {total}", f"at most {LARGEST_COST}, as costs have 32 bits")
        return negative // 2, positive // 2


def load(spec: str, data_folder: str | os.PathLike | None = None, seed: int = 0, k: int = 2) -> GraphInstance:
    """Return an instance by path or generator specification.

    ``spec`` is a rudy file, perhaps packed with gzip, here or in ``data_folder``; a specification "maxcut:100:3" for
    `generate`, or "random:100" for ``k`` parts; or a name such as "G1", looked up in ``data_folder``, in the folders of
    $TSPLIB_DIR and in the user's cache, and in their subfolder gset. ``seed``, 0 to 2**63 - 1, is that of a generated
    graph, unless ``spec`` has one; ``k``, 2 to 100,000, the number of parts for the graph of a file.

    Raises `InstanceError` if there is no such file, for a malformed specification or one out of range, or an invalid
    file.
    """
    return READER.load(spec, data_folder, seed=seed, k=k)


def generate(spec: str, seed: int = 0) -> GraphInstance:
    """Return the graph of a specification maxcut:N:K[:seed=INTEGER][:density=DECIMAL][:weights=LOW..HIGH].

    Each pair i < j of vertices, row by row, has one word of `core.problems.instances.random_words.random_words`: its
    upper half gives an edge with probability ``density``, by default 0.5, its lower half draws the weight, by default
    1..10. All in integers, so that a specification always gives the same graph. The name lists all options. ``seed``, 0
    to 2**63 - 1, is used unless ``spec`` has one. Raises `InstanceError` for a malformed specification or one out of
    range.
    """
    name, (n, k, *drawn) = parse_specification(spec, _SIZES, (SEED._replace(usual=str(seed)), *_OPTIONS))
    return GraphInstance(name, _random_weights(n, *drawn), k, source="generated from its name")


def _random_weights(n: int, seed: int, density: Fraction, span: tuple[int, int]) -> np.ndarray:
    below = np.uint64(int(density * 2**32))
    low, high = span
    weights = np.zeros((n, n), dtype=np.int32)
    start, half = 0, np.uint64(32)
    for i in range(n - 1):
        words = random_words(seed, start, n - 1 - i)
        drawn = low + ((words & np.uint64(2**32 - 1)) * np.uint64(high - low + 1) >> half).astype(np.int64)
        weights[i, i + 1 :] = np.where(words >> half < below, drawn, 0)
        weights[i + 1 :, i] = weights[i, i + 1 :]
        start += n - 1 - i
    return weights


def parse(text: str, k: int = 2, path: str | os.PathLike = "text") -> GraphInstance:
    """Return the graph of a rudy text: a line "n m", then m lines "i j w", vertices from 1, by default w = 1.

    ``path`` names the text in errors, and the instance. Raises `InstanceError` with path, line, the value found and the
    value expected.
    """
    # before a large matrix is filled
    _check_parts(str(path), k)
    rows = rows_of(text)
    if not rows:
        raise InstanceError(path, 1, "an empty file", "a line 'n m': numbers of vertices and edges")
    n, m = _parse_size(path, *rows[0])
    line_of_edge: dict[tuple[int, int], int] = {}
    weights = np.zeros((n, n), dtype=np.int32)
    for line, tokens in rows[1:]:
        if len(line_of_edge) == m:
            raise InstanceError(path, line, f"{quoted(' '.join(tokens))} after them", f"{m} edges")
        i, j, weight = _parse_edge(path, line, tokens, n)
        first = line_of_edge.setdefault((min(i, j), max(i, j)), line)
        if first != line:
            raise InstanceError(path, line, f"edge {i} {j} again, as on line {first}", "it once")
        weights[i - 1, j - 1] = weights[j - 1, i - 1] = weight
    if len(line_of_edge) < m:
        raise InstanceError(path, rows[-1][0], f"the end after {len(line_of_edge)} edges", f"{m} edges")
    name = instance_name(path, r"\.(rud|rudy|txt|mc)")
    with errors_at(path):
        return GraphInstance(name, weights, k, source=f"file {os.fspath(path)}")


def _check_parts(name: str, k: int) -> None:
    require_integer(name, f"{k} parts", k, 2, MOST_PARTS)


def _parse_size(path: str | os.PathLike, line: int, tokens: list[str]) -> tuple[int, int]:
    if len(tokens) != 2 or not all(_INTEGER.fullmatch(token) for token in tokens):
        raise InstanceError(path, line, quoted(" ".join(tokens)), "two integers 'n m': vertices and edges")
    n, m = map(int, tokens)
    if not 1 <= n <= MOST_VERTICES:
        raise InstanceError(path, line, f"{n} vertices", f"1 to {MOST_VERTICES}")
    if not 0 <= m <= n * (n - 1) // 2:
        raise InstanceError(path, line, f"{m} edges", f"0 to {n * (n - 1) // 2}, as there are {n} vertices")
    return n, m


def _parse_edge(path: str | os.PathLike, line: int, tokens: list[str], n: int) -> tuple[int, int, int]:
    if not 2 <= len(tokens) <= 3 or not all(_INTEGER.fullmatch(token) for token in tokens):
        raise InstanceError(path, line, quoted(" ".join(tokens)), "integers 'i j w' or 'i j'")
    i, j, weight = map(int, tokens if len(tokens) == 3 else [*tokens, "1"])
    for vertex in (i, j):
        if not 1 <= vertex <= n:
            raise InstanceError(path, line, f"vertex {vertex}", f"1 to {n}")
    if i == j:
        raise InstanceError(path, line, f"a loop at vertex {i}", "an edge of two vertices")
    if abs(weight) > LARGEST_COST:
        raise InstanceError(path, line, f"weight {weight}", f"{-LARGEST_COST} to {LARGEST_COST}")
    return i, j, weight


def cost(instance: GraphInstance, values: np.ndarray) -> int:
    """Return the sum of the weights of all edges inside parts; the least cost means the largest cut.

    ``values``, shape (n,), has the part of each vertex, from 0 to k - 1. Raises `ValueError` as `checked_values`.
    """
    parts = checked_values(values, instance.n, instance.k)
    twice = 0
    for part in np.unique(parts):
        members = np.flatnonzero(parts == part)
        twice += int(instance.weights[np.ix_(members, members)].sum(dtype=np.int64))
    return twice // 2


def checked_values(values: np.ndarray, n: int, k: int) -> np.ndarray:
    """Return a solution as int64 with ``n`` values from 0 to ``k`` - 1.

    Raises `ValueError` for another shape, no integers, or a value out of range.
    """
    parts = np.asarray(values)
    if parts.shape != (n,):
        raise ValueError(f"found values of shape {parts.shape}, expected ({n},)")
    if not np.issubdtype(parts.dtype, np.integer):
        raise ValueError(f"found values of {parts.dtype}, expected integers")
    outside = (parts < 0) | (parts >= k)
    if outside.any():
        raise ValueError(f"found value {parts[outside.argmax()]}, expected 0 to {k - 1}")
    return parts.astype(np.int64)


def _parse_file(text: str, path: str | os.PathLike, seed: int, k: int) -> GraphInstance:
    return parse(text, k, path)


def _generate(spec: str, seed: int, k: int) -> GraphInstance:
    """Return the graph of a specification: maxcut:N:K for `generate`, or random:N for `k` parts."""
    if spec.startswith("maxcut:"):
        return generate(spec, seed)
    _check_parts(spec, k)
    _, size, *options = spec.split(":")
    with errors_at(spec):
        return generate(":".join(["maxcut", size, str(k), *options]), seed)


def _missing(spec: str, data: str | os.PathLike | None) -> InstanceError:
    return InstanceError(spec, None, describe_non_file([spec, os.path.join(data or "", spec)]), READER.expected)


READER = InstanceReader(
    InstanceFormat("a rudy file", SUFFIXES, _parse_file),
    expected=f"a file, or {_FORM}",
    subfolders=("", "gset"),
    specification=re.compile("(maxcut|random):.*", re.DOTALL),
    generate=_generate,
    missing=_missing,
)
