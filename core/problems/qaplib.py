"""The quadratic assignment problem: QAPLIB's files, published best values and the plain NumPy scorer.

Source: R. E. Burkard, S. E. Karisch, F. Rendl, "QAPLIB: a quadratic assignment problem library", 1997. The cost
is z(p) = sum over i, j of a[i, j] * b[p[i], p[j]], with A the first matrix of a file. Some of QAPLIB's
solution files hold the inverse of p, which is p with the matrices exchanged.
"""

import functools
import hashlib
import os
import re
from typing import NamedTuple

import numpy as np

from core.problems.errors import InstanceError
from core.problems.layout import LONGEST_NUMBER, quoted, read_text

LARGEST_COST = 2**31 - 1
MOST_FACILITIES = 4096
SUFFIXES = (".dat", ".dat.gz")
SUBFOLDERS = ("", "qaplib")

_INTEGER = re.compile(rf"[+-]?[0-9]{{1,{LONGEST_NUMBER}}}")


class Published(NamedTuple):
    """A row of qaplib.tsv: an instance of QAPLIB and the cost of the best permutation known for it."""

    name: str
    n: int
    best_known: int
    sha256: str


class QapInstance:
    """A quadratic assignment problem with integer matrices whose costs fit in 31 bits.

    Parameters
    ----------
    name : str
    flows : array_like, shape (n, n), integers
        The matrix A, which is read in place: a[i, j] flows from facility i to j. Need not be symmetric; entries
        may be negative, and those of the diagonal count.
    distances : array_like, shape (n, n), integers
        The matrix B, which is permuted: b[k, l] from location k to l.
    best_known : int, optional
        Cost of the best permutation known. Without it, QAPLIB's for the same content, or None.
    source : str
        Where the instance came from, in words.

    Attributes
    ----------
    n : int
        Number of facilities, and of locations.
    flows, distances : ndarray, shape (n, n), int32, C-contiguous
    largest_difference : int
        A bound on costs and on differences of two costs.
    sha256 : str
        Digest of the content: equal for files that differ in white space or name only.

    Raises
    ------
    InstanceError
        Matrices that are not square, of unequal sizes, too large or not of integers; costs beyond 31 bits.
    """

    def __init__(
        self,
        name: str,
        flows: np.ndarray,
        distances: np.ndarray,
        *,
        best_known: int | None = None,
        source: str = "given by the caller",
    ) -> None:
        self.name = name
        self.source = source
        self.flows = _checked_matrix(name, "flows", np.asarray(flows))
        self.distances = _checked_matrix(name, "distances", np.asarray(distances))
        self.n = len(self.flows)
        if len(self.distances) != self.n:
            raise InstanceError(name, None, f"{self.n} facilities, {len(self.distances)} locations", "as many of both")
        largest = largest_difference(self.flows, self.distances)
        if largest > LARGEST_COST:
            found = f"matrices whose costs could differ by {largest}"
            raise InstanceError(name, None, found, f"at most {LARGEST_COST}, since costs have 32 bits")
        self.largest_difference = largest
        self.sha256 = self._digest()
        if best_known is None and self.sha256 in published():
            best_known = published()[self.sha256].best_known
        self.best_known = best_known

    def __repr__(self) -> str:
        """Return name and size."""
        return f"QapInstance({self.name!r}, n={self.n})"

    def _digest(self) -> str:
        content = hashlib.sha256(f"QAP {self.n}\n".encode())
        content.update(self.flows.astype("<i4").tobytes())
        content.update(self.distances.astype("<i4").tobytes())
        return content.hexdigest()


def load(spec: str, data: str | os.PathLike | None = None) -> QapInstance:
    """Return an instance by path, name or generator specification.

    Parameters
    ----------
    spec : str
        A QAPLIB file; a name such as "nug30", looked up in `data`; or what `core.problems.taillard` makes
        without a file: "tai30a" and its like where `data` has no such file, "taillard:40:seeds=1,2".
    data : path, optional
        Folder of instances, searched together with its subfolder qaplib.

    Raises
    ------
    InstanceError
        Nothing of that name at hand, or a file that is not a valid instance.
    """
    # here, because the generator imports this module
    from core.problems import taillard

    if os.path.isfile(spec) or os.path.basename(spec) != spec or spec.endswith(SUFFIXES):
        return read(spec)
    if taillard.is_spec(spec):
        return taillard.generate(spec)
    path = _find(spec, data)
    if path is not None:
        return read(path)
    if spec in taillard.SEEDS:
        return taillard.generate(spec)
    raise _nowhere(spec, data)


def _nowhere(spec: str, data: str | os.PathLike | None) -> InstanceError:
    # here, because every rank imports this module and none needs it
    import difflib

    names = {row.name for row in published().values()}
    alike = difflib.get_close_matches(spec.lower(), names, n=1)
    advice = f" (did you mean {alike[0]}?)" if alike and alike[0] != spec else ""
    return InstanceError(
        spec,
        None,
        f"no such instance in {data or 'any folder, as none was given'}{advice}",
        "a file, the name of an instance, or a generator such as tai30a or taillard:40:seeds=1,2",
    )


def _find(name: str, data: str | os.PathLike | None) -> str | None:
    if data is None:
        return None
    if not os.path.isdir(data):
        raise InstanceError(data, None, "no such folder", "a folder of instances")
    places = (os.path.join(data, folder, name + suffix) for folder in SUBFOLDERS for suffix in SUFFIXES)
    return next(filter(os.path.isfile, places), None)


def read(path: str | os.PathLike) -> QapInstance:
    """Return the instance of a QAPLIB file (.dat), which may be packed with gzip.

    Raises
    ------
    InstanceError
        Names file, line, what was found and what was expected.
    """
    try:
        text = read_text(path)
    except InstanceError as error:
        # it speaks of TSPLIB, whose files it was written for
        raise InstanceError(path, None, error.found, error.expected.replace("TSPLIB", "QAPLIB")) from None
    name = re.sub(r"(\.dat)?(\.gz)?$", "", os.path.basename(path))
    return parse(text, path=path, name=name, source=f"file {os.fspath(path)}")


def parse(
    text: str,
    *,
    path: str | os.PathLike = "text",
    name: str = "unnamed",
    source: str = "text given by the caller",
) -> QapInstance:
    """Return the instance of a QAPLIB text: n, then the n * n entries of A, then those of B, in free layout.

    Parameters
    ----------
    text : str
    path : path
        Stands for the text in error messages.
    name : str
        Of the instance.
    source : str
        Where the text came from, in words.

    Raises
    ------
    InstanceError
        Names path, line, what was found and what was expected.
    """
    numbers = np.array(_numbers(text, path), dtype=np.int64)
    n = int(numbers[0])
    flows, distances = numbers[1:].reshape(2, n, n)
    try:
        return QapInstance(name, flows, distances, source=source)
    except InstanceError as error:
        raise InstanceError(path, None, error.found, error.expected) from None


def _numbers(text: str, path: str | os.PathLike) -> list[int]:
    """Return n and the 2 * n * n entries that must follow it."""
    numbers: list[int] = []
    total = 1
    last = 1
    for line, row in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        for token in row.split():
            last = line
            if not numbers:
                numbers.append(_integer(path, line, token, "n", 1, MOST_FACILITIES))
                total += 2 * numbers[0] ** 2
            elif len(numbers) == total:
                raise InstanceError(path, line, f"{quoted(token)} after them", _all_numbers(numbers[0]))
            else:
                numbers.append(_integer(path, line, token, "entry", -LARGEST_COST, LARGEST_COST))
    if not numbers:
        raise InstanceError(path, last, "an empty file", "n, then two matrices of n * n integers")
    if len(numbers) < total:
        raise InstanceError(path, last, f"the end after {len(numbers) - 1} entries", _all_numbers(numbers[0]))
    return numbers


def _all_numbers(n: int) -> str:
    return f"{2 * n * n} entries, two matrices of {n} by {n}"


def _integer(path: str | os.PathLike, line: int, token: str, what: str, smallest: int, largest: int) -> int:
    if not _INTEGER.fullmatch(token) or not smallest <= int(token) <= largest:
        raise InstanceError(path, line, f"{what} {quoted(token)}", f"an integer from {smallest} to {largest}")
    return int(token)


def cost(instance: QapInstance, permutation: np.ndarray) -> int:
    """Return the sum over i, j of flows[i, j] * distances[permutation[i], permutation[j]].

    Parameters
    ----------
    instance : QapInstance
    permutation : array_like, shape (n,)
        The location, from 0, of each facility.

    Raises
    ------
    ValueError
        Not a permutation.
    """
    location = check_permutation(permutation, instance.n)
    between = instance.distances[np.ix_(location, location)]
    return int(np.multiply(instance.flows, between, dtype=np.int64).sum())


def check_permutation(permutation: np.ndarray, n: int) -> np.ndarray:
    """Return a permutation as int64 after making sure that it holds each of 0 to `n - 1` once.

    Raises
    ------
    ValueError
        Not a permutation; says which location is missing, repeated or outside.
    """
    location = np.asarray(permutation)
    if location.shape != (n,):
        raise ValueError(f"found a permutation of shape {location.shape}, expected ({n},)")
    if not np.issubdtype(location.dtype, np.integer):
        raise ValueError(f"found a permutation of {location.dtype}, expected integers")
    outside = (location < 0) | (location >= n)
    if outside.any():
        raise ValueError(f"found location {location[outside.argmax()]}, expected 0 to {n - 1}")
    uses = np.bincount(location.astype(np.int64), minlength=n)
    if (uses != 1).any():
        raise ValueError(f"found location {uses.argmax()} repeated and {uses.argmin()} missing, expected each once")
    return location.astype(np.int64)


def largest_difference(flows: np.ndarray, distances: np.ndarray) -> int:
    """Return a bound on costs, on differences of two costs, and on every partial sum of their terms.

    No pairing of the entries of two matrices has a larger sum of products than both in sorted order (the
    rearrangement inequality). Where entries are negative, two costs may lie on either side of 0.

    Parameters
    ----------
    flows, distances : ndarray, shape (n, n), integers from -(2**31 - 1) to 2**31 - 1
    """
    first, second = (np.sort(np.abs(matrix.astype(np.int64)), axis=None) for matrix in (flows, distances))
    products = first * second
    # the sum of the halves is exact where that of the products could pass 63 bits
    bound = (int((products >> 32).sum()) << 32) + int((products & (2**32 - 1)).sum())
    return bound * (2 if min(flows.min(), distances.min()) < 0 else 1)


@functools.cache
def published() -> dict[str, Published]:
    """Return QAPLIB's instances by the digest of their content; sources are named in qaplib.tsv."""
    rows = {}
    with open(os.path.join(os.path.dirname(__file__), "qaplib.tsv"), encoding="ascii") as file:
        for line in file:
            if not line.startswith("#"):
                name, n, best_known, sha256 = line.split()
                rows[sha256] = Published(name, int(n), int(best_known), sha256)
    return rows


def _checked_matrix(name: str, what: str, given: np.ndarray) -> np.ndarray:
    if given.ndim != 2 or given.shape[0] != given.shape[1]:
        raise InstanceError(name, None, f"{what} of shape {given.shape}", "a square matrix")
    if not 1 <= len(given) <= MOST_FACILITIES:
        raise InstanceError(name, None, f"{what} of shape {given.shape}", f"1 to {MOST_FACILITIES} rows")
    if not np.issubdtype(given.dtype, np.integer):
        raise InstanceError(name, None, f"{what} of {given.dtype}", "integers")
    worst = max(int(given.max()), int(given.min()), key=abs)
    if abs(worst) > LARGEST_COST:
        raise InstanceError(name, None, f"{what} of {worst}", f"{-LARGEST_COST} to {LARGEST_COST}")
    return np.ascontiguousarray(given, dtype=np.int32)
