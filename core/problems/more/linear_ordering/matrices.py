"""Matrices for the linear ordering problem: LOLIB's files, a generator, and the plain scorer.

Source: G. Reinelt, LOLIB, 1997; R. Marti, G. Reinelt, A. Duarte, "A benchmark library and a comparison of heuristic
methods for the linear ordering problem", Computational Optimization and Applications 51, 2012.
"""

from __future__ import annotations

import hashlib
import os
import re

import numpy as np

from core.arguments import frozen
from core.problems.instances.errors import InstanceError, errors_at
from core.problems.instances.files import instance_name
from core.problems.instances.limits import LARGEST_COST, square_integers
from core.problems.instances.random_words import random_words
from core.problems.instances.readers import InstanceFormat, InstanceReader
from core.problems.instances.specifications import SEED, Quantity, parse_specification
from core.problems.instances.tokens import LONGEST_NUMBER, parse_integer, quoted, rows_of

MOST_ELEMENTS = 4096

SUFFIXES = (".mat", ".lop", ".txt", ".mat.gz", ".lop.gz", ".txt.gz")
_SIZE = Quantity("elements", 1, MOST_ELEMENTS)
_OPTIONS = (Quantity("largest", 0, 10**6, "100"), SEED)

_INTEGER = re.compile(rf"[+-]?[0-9]{{1,{LONGEST_NUMBER}}}")


class OrderingInstance:
    """A matrix; its rows and columns get one order with the largest sum above the diagonal.

    Parameters
    ----------
    weights : array_like, shape (n, n), integers
        Value of i before j; may be negative, and the diagonal does not count. Kept as int32, C-contiguous.
    source : str
        Origin of the instance.

    Attributes
    ----------
    n : int
    sha256 : str
        Digest of the content.

    Raises
    ------
    InstanceError
        Wrong shape or size, or weights that are no integers, or beyond 31 bits in sum.
    """

    def __init__(self, name: str, weights: np.ndarray, source: str = "given by the caller") -> None:
        self.name, self.source = name, source
        matrix = square_integers(name, "weights", weights, 1, MOST_ELEMENTS)
        worst = max(int(matrix.max()), -int(matrix.min()))
        total = int(np.abs(matrix.astype(np.int64)).sum()) if worst <= LARGEST_COST else worst
        if total > LARGEST_COST:
            fault = f"absolute weights that sum up to {total} or more"
            raise InstanceError(name, None, fault, f"at most {LARGEST_COST}, as costs have 32 bits")
        self.weights = frozen(matrix, np.int32)
        self.n = len(matrix)
        content = hashlib.sha256(f"linear ordering {self.n}\n".encode())
        content.update(self.weights.astype("<i4").tobytes())
        self.sha256 = content.hexdigest()

    def __repr__(self) -> str:
        return f"OrderingInstance({self.name!r}, n={self.n})"

    def worths(self, orders: np.ndarray) -> np.ndarray:
        """Return the sums above the diagonal: (number of orders, n) -> (number of orders,) int64."""
        sums = np.zeros(len(orders), np.int64)
        for p in range(self.n - 1):
            sums += self.weights[orders[:, p, None], orders[:, p + 1 :]].sum(axis=1, dtype=np.int64)
        return sums

    @property
    def bounds(self) -> tuple[int, int]:
        """Bounds of `worths`: the sums over all pairs of the smaller and of the larger of both weights."""
        wide = self.weights.astype(np.int64)
        smaller, larger = (np.triu(choose(wide, wide.T), 1).sum() for choose in (np.minimum, np.maximum))
        return int(smaller), int(larger)


def generate(spec: str) -> OrderingInstance:
    """Return the matrix of a specification random:ELEMENTS[:largest=INTEGER][:seed=INTEGER].

    All entries but the diagonal's are uniform from 0 to ``largest`` (100), like those of LOLIB's RandomAI; row by row,
    in integers, so that a specification always gives the same matrix. Raises `InstanceError` if it is malformed or out
    of range.
    """
    name, (n, largest, seed) = parse_specification(spec, [_SIZE], _OPTIONS)
    half = np.uint64(32)
    words = random_words(seed, 0, n * n) >> half
    weights = (words * np.uint64(largest + 1) >> half).astype(np.int64).reshape(n, n)
    np.fill_diagonal(weights, 0)
    return OrderingInstance(name, weights, "generated from its name")


def parse(text: str, path: str | os.PathLike = "text") -> OrderingInstance:
    """Return the instance of a text: a title or none, then n, then n * n entries row by row, in free layout.

    The first line is a title unless it has only integers. ``path`` names the text in errors, and the instance. Raises
    `InstanceError` with path, line, the value found and the value expected.
    """
    rows = rows_of(text)
    if rows and not all(map(_INTEGER.fullmatch, rows[0][1])):
        del rows[0]
    line, n = 1, 0
    entries: list[int] = []
    for line, tokens in rows:
        for token in tokens:
            if not n:
                n = parse_integer(path, line, token, "number of elements", 1, MOST_ELEMENTS)
            elif len(entries) == n * n:
                raise InstanceError(path, line, f"{quoted(token)} after them", f"{n * n} entries of a square matrix")
            else:
                entries.append(parse_integer(path, line, token, "entry", -LARGEST_COST, LARGEST_COST))
    if not n:
        raise InstanceError(path, line, "no number", "a title or none, then n, then n * n integers")
    if len(entries) < n * n:
        raise InstanceError(path, line, f"the end after {len(entries)} entries", f"{n * n} of a square matrix")
    name = instance_name(path, r"\.(mat|lop|txt)")
    with errors_at(path):
        return OrderingInstance(name, np.array(entries, np.int64).reshape(n, n), f"file {os.fspath(path)}")


READER = InstanceReader(
    InstanceFormat("a file of LOLIB", SUFFIXES, parse),
    expected="a file, the name of an instance, or a generator such as random:40:seed=1",
    subfolders=("", "lolib"),
    specification=re.compile("random:.*", re.DOTALL),
    generate=generate,
)
"""Files such as be75eec; "random:40:seed=1"."""
load = READER.load
