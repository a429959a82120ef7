"""Quadratic forms as texts: J. E. Beasley's files of the OR-Library, and a generator of similar forms.

Source: J. E. Beasley, "Heuristic algorithms for the unconstrained binary quadratic programming problem", 1998. He
maximises x' Q x, so the form here is minus that.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import numpy as np

from core.problems.instances.errors import InstanceError, errors_at
from core.problems.instances.files import instance_name
from core.problems.instances.limits import LARGEST_COST
from core.problems.instances.random_words import random_words
from core.problems.instances.readers import InstanceFormat, InstanceReader
from core.problems.instances.specifications import SEED, Quantity, parse_specification
from core.problems.instances.tokens import quoted, rows_of
from core.problems.more.max_cut import quadratic_forms
from core.problems.more.max_cut.quadratic_forms import MOST_BITS, QuadraticForm

MOST_PROBLEMS = 1000
"""Most problems in one file."""
_SIZE = Quantity("bits", 1, MOST_BITS)
_OPTIONS = (Quantity("density", 0, 1, "0.1", decimals=6), Quantity("largest", 1, 10**6, "100"), SEED)
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")


def load(spec: str, data: str | os.PathLike | None = None) -> QuadraticForm:
    """Return a form by path, name or generator specification.

    ``spec`` is a file of the OR-Library, or a name such as "bqp50", looked up in ``data``, in the folders of
    $TSPLIB_DIR and in the user's cache, and in their subfolder orlib; of a file's problems the first, or that of a
    number after a colon, "bqp50:3". Or it is a specification for `generate`. Raises `InstanceError` if nothing has that
    name, or for an invalid file.
    """
    file, _, number = spec.rpartition(":")
    is_whole = os.path.isfile(spec) or spec.startswith("random:") or not re.fullmatch("[0-9]{1,9}", number)
    return READER.load(spec, data) if is_whole else READER.load(file, data, number=int(number))


def generate(spec: str) -> QuadraticForm:
    """Return the random form of a specification random:BITS[:density=DECIMAL][:largest=INTEGER][:seed=INTEGER].

    With probability ``density`` (0.1) an entry of Q on or above the diagonal is uniform from -``largest`` (100) to
    ``largest``; one word each, row by row, in integers, so that a specification always gives the same form. Raises
    `InstanceError` if it is malformed or out of range.
    """
    name, (n, density, largest, seed) = parse_specification(spec, [_SIZE], _OPTIONS)
    half = np.uint64(32)
    rows, columns = np.triu_indices(n)
    words = random_words(seed, 0, len(rows))
    drawn = ((words & np.uint64(2**32 - 1)) * np.uint64(2 * largest + 1) >> half).astype(np.int64) - largest
    matrix = np.zeros((n, n), np.int64)
    matrix[rows, columns] = np.where(words >> half < np.uint64(int(density * 2**32)), drawn, 0)
    return of_maximum(name, matrix, "generated from its name")


def of_maximum(name: str, upper: np.ndarray, source: str) -> QuadraticForm:
    """Return minus x' Q x for a symmetric Q with the entries of ``upper``, which is 0 below the diagonal."""
    return quadratic_forms.of_matrix(name, -(upper + np.triu(upper, 1).T), source)


def parse(text: str, number: int = 1, path: str | os.PathLike = "text") -> QuadraticForm:
    """Return a problem of a text: the number of problems, then for each "n m" and m times "i j q", bits from 1.

    The layout is free. An entry is q[i, j] and q[j, i]. ``number`` is that of the problem, from 1; text after it is
    ignored. ``path`` names the text in errors, and the instance. Raises `InstanceError` with path, line, the value
    found and the value expected.
    """
    numbers = _numbers(text, path)
    problems = next(numbers)("number of problems", 1, MOST_PROBLEMS)
    if not 1 <= number <= problems:
        raise InstanceError(path, None, f"{problems} problems and no number {number}", f"1 to {problems}")
    for current in range(1, number + 1):
        n = next(numbers)("number of bits", 1, MOST_BITS)
        m = next(numbers)("number of entries", 0, n * n)
        upper = np.zeros((n, n) if current == number else (1, 1), np.int64)
        for _ in range(m):
            i, j = sorted((next(numbers)("bit", 1, n), next(numbers)("bit", 1, n)))
            token = next(numbers)
            entry = token("entry", -LARGEST_COST, LARGEST_COST)
            if current == number:
                if upper[i - 1, j - 1]:
                    raise InstanceError(path, token.line, f"entry {i} {j} again", "it once")
                upper[i - 1, j - 1] = entry
    after = next(numbers)
    if number == problems and after.token:
        raise InstanceError(path, after.line, f"{quoted(after.token)} after them", f"{problems} problems")
    name = instance_name(path, r"\.txt")
    with errors_at(path):
        return of_maximum(f"{name}:{number}", upper, f"file {os.fspath(path)}")


class _Number:
    """A token of a text, which must be an integer of a range."""

    def __init__(self, path: str | os.PathLike, line: int, token: str) -> None:
        self.path, self.line, self.token = path, line, token

    def __call__(self, noun: str, least: int, most: int) -> int:
        if not _INTEGER.fullmatch(self.token) or not least <= int(self.token) <= most:
            fault = f"{noun} {quoted(self.token)}" if self.token else f"the end instead of a {noun}"
            raise InstanceError(self.path, self.line, fault, f"an integer from {least} to {most}")
        return int(self.token)


def _numbers(text: str, path: str | os.PathLike) -> Iterator[_Number]:
    """Yield all tokens of a text, then empty ones for ever."""
    last = 1
    for line, tokens in rows_of(text):
        for token in tokens:
            last = line
            yield _Number(path, line, token)
    while True:
        yield _Number(path, last, "")


READER = InstanceReader(
    InstanceFormat("a file of the OR-Library", (".txt", ".txt.gz"), parse),
    expected="a file, the name of an instance, or a generator such as random:50:density=0.1",
    subfolders=("", "orlib"),
    specification=re.compile("random:.*", re.DOTALL),
    generate=generate,
)
