"""The permuted perceptron problem: instances with a known secret, a text format and the plain NumPy scorer.

Source: D. Pointcheval, "A new identification scheme based on the perceptrons problem", 1995; Luong et al. 2013,
section 6.2. The cost and its weights: L. R. Knudsen, W. Meier, "Cryptanalysis of an identification scheme based
on the permuted perceptron problem", 1999.
"""

import hashlib
import os
import re
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from core.arguments import frozen
from core.instances.errors import InstanceError
from core.instances.files import describe_non_file, instance_name
from core.instances.limits import LARGEST_COST, LARGEST_SEED, integer_array
from core.instances.readers import InstanceFormat, InstanceReader
from core.instances.tokens import quoted, rows_of

NEGATIVE_WEIGHT, HISTOGRAM_WEIGHT = 30, 1
"""w1 and w2 of the cost. With them, 31 bits for the costs allow 35,791,394 entries of the matrix."""

VECTOR_BLOCK = 64
"""Vectors with products computed together."""
FEW_VECTORS = 4
"""Fewer vectors are multiplied as integers: a BLAS, with other ranks, takes up to 60 ms for one of 1,317 elements."""

_SPEC = re.compile(r"([0-9]{1,9})-([0-9]{1,9})(?::seed=([0-9]{1,19}))?")
_INTEGER = re.compile(r"[+-]?[0-9]{1,9}")
_SIGNS = {"1": 1, "+1": 1, "-1": -1}


@dataclass(frozen=True, eq=False)
class PerceptronInstance:
    """A matrix of signs and the target multiset of its rows' products with a vector of signs V.

    Parameters
    ----------
    matrix : array_like, shape (m, n), entries +1 and -1
        A; kept as int8, C-contiguous.
    targets : array_like, shape (m,), integers from 0 to n, odd if n is, even if n is
        S, in any order; kept as int32, sorted.
    secret : array_like, shape (n,), entries +1 and -1, optional
        A vector that has these products; kept as int8.
    source : str
        Origin of the instance.

    Attributes
    ----------
    optimum : int or None
        0, the cost of the secret, if known.
    sha256 : str
        Digest of the content (matrix, targets, weights, but not the secret): equal for instances of any name that
        have the same costs.

    Raises
    ------
    InstanceError
        Wrong shapes or entries, costs that could pass 31 bits, or a wrong secret.
    """

    name: str
    matrix: np.ndarray
    targets: np.ndarray
    secret: np.ndarray | None = None
    source: str = "given by the caller"
    optimum: int | None = field(init=False)
    sha256: str = field(init=False)

    def __post_init__(self) -> None:
        matrix = integer_array(self.name, "entries", self.matrix)
        if matrix.ndim != 2:
            self._refuse(f"a matrix of shape {matrix.shape}", "(m, n)")
        m, n = matrix.shape
        check_size(self.name, m, n)
        object.__setattr__(self, "matrix", self._signs(matrix, "matrix"))
        object.__setattr__(self, "targets", self._sorted_targets(integer_array(self.name, "targets", self.targets)))
        if self.secret is not None:
            object.__setattr__(self, "secret", self._checked_secret(integer_array(self.name, "entries", self.secret)))
        object.__setattr__(self, "optimum", None if self.secret is None else 0)
        object.__setattr__(self, "sha256", self._digest())

    def __repr__(self) -> str:
        return f"PerceptronInstance({self.name!r}, m={self.m}, n={self.n})"

    @property
    def m(self) -> int:
        """Number of rows and products."""
        return len(self.matrix)

    @property
    def n(self) -> int:
        """Number of columns and bits of a solution."""
        return self.matrix.shape[1]

    @property
    def target_histogram(self) -> np.ndarray:
        """H, the number of targets equal to each integer v from -n to n: (2 n + 1,) int32, that of v at v + n."""
        return histogram(self.targets, self.n)

    def _refuse(self, found: str, expected: str) -> NoReturn:
        raise InstanceError(self.name, None, found, expected)

    def _signs(self, values: np.ndarray, noun: str) -> np.ndarray:
        wrong = (values != 1) & (values != -1)
        if wrong.any():
            self._refuse(f"{values[np.unravel_index(wrong.argmax(), values.shape)]} in the {noun}", "+1 or -1")
        return frozen(values, np.int8)

    def _sorted_targets(self, values: np.ndarray) -> np.ndarray:
        if values.shape != (self.m,):
            self._refuse(f"targets of shape {values.shape}", f"({self.m},)")
        wrong = (values < 0) | (values > self.n) | (values % 2 != self.n % 2)
        if wrong.any():
            self._refuse(f"target {values[wrong.argmax()]}", expected_target(self.n))
        return frozen(np.sort(values), np.int32)

    def _checked_secret(self, values: np.ndarray) -> np.ndarray:
        if values.shape != (self.n,):
            self._refuse(f"a secret of shape {values.shape}", f"({self.n},)")
        secret = self._signs(values, "secret")
        if not np.array_equal(np.sort(_products(self.matrix, secret)), self.targets):
            self._refuse("a secret with other products than the targets", "the same multiset")
        return secret

    def _digest(self) -> str:
        content = hashlib.sha256(f"PPP {self.m} {self.n} {NEGATIVE_WEIGHT} {HISTOGRAM_WEIGHT}\n".encode())
        content.update(self.matrix.tobytes())
        content.update(self.targets.astype("<i4").tobytes())
        return content.hexdigest()


def largest_cost(m: int, n: int) -> int:
    """Return a bound on costs, on their two parts and on the difference of two costs.

    Products lie between -n and n, so a cost is at most w1 * 2 n m + w2 * 2 m.
    """
    return 2 * m * (NEGATIVE_WEIGHT * n + HISTOGRAM_WEIGHT)


def check_size(name: str | os.PathLike, m: int, n: int, line: int | None = None) -> None:
    """Check that there are rows and columns, and that no cost passes 31 bits; raises `InstanceError`."""
    if m < 1 or n < 1:
        raise InstanceError(name, line, f"{m} rows and {n} columns", "at least one of each")
    largest = largest_cost(m, n)
    if largest > LARGEST_COST:
        raise InstanceError(
            name,
            line,
            f"{m} rows, {n} columns and weights {NEGATIVE_WEIGHT} and {HISTOGRAM_WEIGHT}, so costs up to {largest}",
            f"costs of at most {LARGEST_COST}, since they have 32 bits",
        )


def expected_target(n: int) -> str:
    """Describe the integers that are non-negative products of two vectors of `n` signs."""
    return f"an {'odd' if n % 2 else 'even'} integer from 0 to {n}, as n is {n}"


def load(spec: str, data_folder: str | os.PathLike | None = None, seed: int = 0) -> PerceptronInstance:
    """Return an instance by path or by its size m-n.

    ``spec`` is a file as `parse` reads it, perhaps packed with gzip, here or in ``data_folder``; or a size such as
    "73-73" or "73-73:seed=5" for `generate`, otherwise with ``seed``, 0 to 2**63 - 1.

    Raises `InstanceError` if there is no such file, for a malformed name, a size, seed or weight out of range, or an
    invalid file.
    """
    return READER.load(spec, data_folder, seed=seed)


def generate(m: int, n: int, seed: int) -> PerceptronInstance:
    """Return a random instance with a known secret, so its optimum is 0.

    Bits come from the raw words of NumPy's Philox4x64-10 with key ``seed``, the lowest bit of each first; 1 means +1.
    They fill the matrix row by row, then the secret. Rows with a negative product are negated. Raises `InstanceError`
    for a size or seed out of range.
    """
    name = f"{m}-{n}:seed={seed}"
    check_size(name, m, n)
    if not 0 <= seed <= LARGEST_SEED:
        raise InstanceError(name, None, f"seed {seed}", f"an integer from 0 to {LARGEST_SEED}")
    words = np.random.Philox(key=seed).random_raw(-(-(m + 1) * n // 64))
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), count=(m + 1) * n, bitorder="little")
    signs = bits.astype(np.int8) * 2 - 1
    matrix, secret = signs[: m * n].reshape(m, n), signs[m * n :]
    matrix[_products(matrix, secret) < 0] *= -1
    return PerceptronInstance(name, matrix, _products(matrix, secret), secret, source="generated from its name")


def parse(text: str, path: str | os.PathLike = "text") -> PerceptronInstance:
    """Return the instance of a text: a line "m n", m lines of n entries 1, +1 or -1, then m targets.

    Targets may be spread over lines; empty lines are ignored. ``path`` names the text in errors, and the instance.
    Raises `InstanceError` with path, line, the value found and the value expected.
    """
    rows = rows_of(text)
    if not rows:
        raise InstanceError(path, 1, "an empty file", "a line 'm n'")
    first, size = rows[0]
    if len(size) != 2 or not all(_INTEGER.fullmatch(token) for token in size):
        raise InstanceError(path, first, quoted(" ".join(size)), "two integers 'm n'")
    m, n = map(int, size)
    check_size(path, m, n, line=first)
    if len(rows) <= m:
        raise InstanceError(path, rows[-1][0], f"the end after {len(rows) - 1} rows", f"{m} rows of {n} entries")
    matrix = np.array([_parse_row(path, *row, n) for row in rows[1 : m + 1]], dtype=np.int8)
    name, targets = instance_name(path, r"\.(ppp|txt)"), _parse_targets(path, rows[m:], m, n)
    return PerceptronInstance(name, matrix, targets, source=f"file {os.fspath(path)}")


def _parse_row(path: str | os.PathLike, line: int, tokens: list[str], n: int) -> list[int]:
    for token in tokens:
        if token not in _SIGNS:
            raise InstanceError(path, line, quoted(token), "+1 or -1")
    if len(tokens) != n:
        raise InstanceError(path, line, f"{len(tokens)} entries", f"{n}")
    return [_SIGNS[token] for token in tokens]


def _parse_targets(path: str | os.PathLike, rows: list[tuple[int, list[str]]], m: int, n: int) -> np.ndarray:
    """Return the numbers of all rows but the first, the matrix's last, which shows the end of a truncated file."""
    targets: list[int] = []
    for line, tokens in rows[1:]:
        for token in tokens:
            if len(targets) == m:
                raise InstanceError(path, line, f"{quoted(token)} after them", f"{m} targets")
            if not _INTEGER.fullmatch(token) or not 0 <= int(token) <= n or int(token) % 2 != n % 2:
                raise InstanceError(path, line, f"target {quoted(token)}", expected_target(n))
            targets.append(int(token))
    if len(targets) < m:
        raise InstanceError(path, rows[-1][0], f"the end after {len(targets)} targets", f"{m} targets")
    return np.array(targets, dtype=np.int32)


def cost(instance: PerceptronInstance, bits: np.ndarray) -> int:
    """Return w1 * sum(|Y_i| - Y_i) + w2 * sum over v from -n to n of |H_v - H'_v|, where Y = AV.

    H and H' count the targets and the products equal to v. 0 means that the vector solves the instance. ``bits``, shape
    (n,), are 1 for V = +1 and 0 for -1; raises `ValueError` for another shape or other numbers.
    """
    y = products(instance, bits)
    negative = int((np.abs(y) - y).sum(dtype=np.int64))
    differences = np.abs(instance.target_histogram - histogram(y, instance.n))
    return NEGATIVE_WEIGHT * negative + HISTOGRAM_WEIGHT * int(differences.sum(dtype=np.int64))


def costs(instance: PerceptronInstance, bits: np.ndarray) -> np.ndarray:
    """Return the `cost` of many vectors: (number of vectors, n), 0 or 1 -> (number of vectors,) int64."""
    if len(bits) < FEW_VECTORS:
        return np.array([cost(instance, vector) for vector in bits], np.int64)
    n = instance.n
    # A matrix product of floats is fast, and sums of ones are exact in them.
    matrix = instance.matrix.astype(np.float32 if n < 2**24 else np.float64)
    values = 2 * n + 1
    all_costs = np.empty(len(bits), np.int64)
    for first in range(0, len(bits), VECTOR_BLOCK):
        signs = bits[first : first + VECTOR_BLOCK].astype(matrix.dtype) * 2 - 1
        y = (signs @ matrix.T).astype(np.int64)
        negative = (np.abs(y) - y).sum(axis=1)
        places = y + n + values * np.arange(len(y))[:, None]
        counts = np.bincount(places.reshape(-1), minlength=values * len(y)).reshape(len(y), values)
        differences = np.abs(instance.target_histogram - counts).sum(axis=1)
        all_costs[first : first + VECTOR_BLOCK] = NEGATIVE_WEIGHT * negative + HISTOGRAM_WEIGHT * differences
    return all_costs


def products(instance: PerceptronInstance, bits: np.ndarray) -> np.ndarray:
    """Return Y = AV for the vector V of ``bits``: (m,) int32.

    Raises `ValueError` for another shape, or other numbers than 0 and 1.
    """
    vector = np.asarray(bits)
    if vector.shape != (instance.n,):
        raise ValueError(f"found bits of shape {vector.shape}, expected ({instance.n},)")
    wrong = (vector != 0) & (vector != 1)
    if wrong.any():
        raise ValueError(f"found bit {vector[wrong.argmax()]}, expected 0 or 1")
    return _products(instance.matrix, vector.astype(np.int8) * 2 - 1)


def histogram(values: np.ndarray, n: int) -> np.ndarray:
    """Return the number of `values` equal to each integer v from -n to n: (2 n + 1,) int32, that of v at v + n."""
    return np.bincount(values + n, minlength=2 * n + 1).astype(np.int32)


def _products(matrix: np.ndarray, signs: np.ndarray) -> np.ndarray:
    # the sum of bytes would wrap around
    return np.matmul(matrix, signs, dtype=np.int32)


def _generate(spec: str, seed: int) -> PerceptronInstance:
    """Return the instance of a size m-n or m-n:seed=INTEGER; the text's seed takes precedence."""
    size = _SPEC.fullmatch(spec)
    assert size is not None
    chosen = seed if size[3] is None else int(size[3])
    return generate(int(size[1]), int(size[2]), chosen)


def _missing(spec: str, data: str | os.PathLike | None) -> InstanceError:
    fault = f"{describe_non_file([spec, os.path.join(data or '', spec)])} and no such size"
    return InstanceError(spec, None, fault, READER.expected)


READER = InstanceReader(
    InstanceFormat("a perceptron file", (".ppp", ".txt"), lambda text, path, seed: parse(text, path)),
    expected="a file, or m-n or m-n:seed=INTEGER",
    specification=_SPEC,
    generate=_generate,
    missing=_missing,
)
