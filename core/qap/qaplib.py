"""Instances of the quadratic assignment problem by name, QAPLIB file or generator specification.

Instances and costs of permutations are in `core.qap.instance`, below the generators.
"""

import os

import numpy as np

from core.errors import did_you_mean
from core.instances import folders
from core.instances.errors import InstanceError, errors_at
from core.instances.files import instance_name
from core.instances.limits import LARGEST_COST
from core.instances.readers import InstanceFormat, InstanceReader
from core.instances.tokens import parse_integer, quoted, rows_of
from core.qap import taillard
from core.qap.instance import MOST_FACILITIES, QapInstance, cost, published

__all__ = ["QapInstance", "cost", "load", "parse", "published", "read"]


def parse(text: str, path: str | os.PathLike = "text", name: str | None = None) -> QapInstance:
    """Return the instance of a QAPLIB text: n, then the n * n entries of A, then those of B, in free layout."""
    numbers = np.array(_numbers(text, path), dtype=np.int64)
    n = int(numbers[0])
    flows, distances = numbers[1:].reshape(2, n, n)
    if all(np.tril(matrix, -1).any() != np.triu(matrix, 1).any() for matrix in (flows, distances)):
        found = "zeros alone on one side of the diagonal in both matrices"
        raise InstanceError(path, None, found, "whole matrices, as of m + m.T in NumPy, or one of them")
    with errors_at(path):
        return QapInstance(name or instance_name(path, r"\.dat"), flows, distances, source=f"file {os.fspath(path)}")


def _numbers(text: str, path: str | os.PathLike) -> list[int]:
    numbers: list[int] = []
    total = 1
    last = 1
    for line, tokens in rows_of(text):
        for token in tokens:
            last = line
            if not numbers:
                numbers.append(parse_integer(path, line, token, "n", 1, MOST_FACILITIES))
                total += 2 * numbers[0] ** 2
            elif len(numbers) == total:
                raise InstanceError(path, line, f"{quoted(token)} after them", _all_numbers(numbers[0]))
            else:
                numbers.append(parse_integer(path, line, token, "entry", -LARGEST_COST, LARGEST_COST))
    if not numbers:
        raise InstanceError(path, last, "an empty file", "n, then two matrices of n * n integers")
    if len(numbers) < total:
        raise InstanceError(path, last, f"the end after {len(numbers) - 1} entries", _all_numbers(numbers[0]))
    return numbers


def _all_numbers(n: int) -> str:
    return f"{2 * n * n} entries, two matrices of {n} by {n}"


def _missing(spec: str, data: str | os.PathLike | None) -> InstanceError:
    names = {row.name for row in published().values()}
    advice = did_you_mean(spec.lower(), names)
    if spec in names:
        advice = f" (`onekernel fetch qaplib {spec}` gets it)"
    fault = f"no such instance in {folders.describe_search_path(data)}{advice}"
    return READER.path_error(spec) or InstanceError(spec, None, fault, READER.expected)


READER = InstanceReader(
    InstanceFormat("a QAPLIB file", (".dat", ".dat.gz"), parse),
    expected="a file, the name of an instance, or a generator such as tai30a or taillard:40:seeds=1,2",
    subfolders=("", "qaplib"),
    specification=taillard.SPECIFICATION,
    published=taillard.SEEDS,
    generate=taillard.generate,
    missing=_missing,
)
"""Files such as nug30; "tai30a" and the like without a file, too; "taillard:40:seeds=1,2"."""
load, read = READER.load, READER.read
