"""The quadratic assignment problem as the rest of the suite sees it: an instance by name, QAPLIB file or generator.

Instances and costs of permutations are in `core.problems.qap.instance`, below the generators.
"""

import os
from pathlib import Path

import numpy as np

from core.problems.instances import folders
from core.problems.instances.errors import InstanceError
from core.problems.instances.files import instance_name, read_text
from core.problems.instances.limits import LARGEST_COST
from core.problems.instances.tokens import parse_integer, quoted
from core.problems.qap import taillard
from core.problems.qap.instance import (
    MOST_FACILITIES,
    QapInstance,
    check_permutation,
    cost,
    largest_difference,
    published,
)

__all__ = ["QapInstance", "check_permutation", "cost", "largest_difference", "load", "parse", "published", "read"]

SUFFIXES = (".dat", ".dat.gz")
SUBFOLDERS = ("", "qaplib")


def load(spec: str, data: str | os.PathLike | None = None) -> QapInstance:
    """Return an instance by path, name or generator specification.

    Parameters
    ----------
    spec : str
        A QAPLIB file; a name such as "nug30", looked up in `data`, in the folders of $TSPLIB_DIR, and in the user's
        cache; or what `core.problems.qap.taillard` makes without a file: "tai30a" and its like where none of them has
        such a file, "taillard:40:seeds=1,2".
    data : path, optional
        Folder of instances, searched first, together with its subfolder qaplib.

    Raises
    ------
    InstanceError
        Nothing of that name at hand, or a file that is not a valid instance.
    """
    if os.path.isfile(spec) or os.path.basename(spec) != spec or spec.endswith(SUFFIXES):
        return read(spec)
    if taillard.is_spec(spec):
        return taillard.generate(spec)
    path = find(spec, data)
    if path is not None:
        return read(path)
    if spec in taillard.SEEDS:
        return taillard.generate(spec)
    if os.path.exists(spec):
        return read(spec)
    raise _not_found_error(spec, data)


def _not_found_error(spec: str, data: str | os.PathLike | None) -> InstanceError:
    # here, because every rank imports this module and none needs it
    import difflib

    names = {row.name for row in published().values()}
    alike = difflib.get_close_matches(spec.lower(), names, n=1)
    advice = f" (did you mean {alike[0]}?)" if alike else ""
    if spec in names:
        advice = f" (`python -m core.problems fetch qaplib {spec}` gets it)"
    return InstanceError(
        spec,
        None,
        f"no such instance in {folders.describe_search_path(data)}{advice}",
        "a file, the name of an instance, or a generator such as tai30a or taillard:40:seeds=1,2",
    )


def find(name: str, data: str | os.PathLike | None = None) -> Path | None:
    """Return the file of a named instance that is on this machine, or None.

    Raises
    ------
    InstanceError
        `data` is not a folder.
    """
    return folders.find(name, data, SUBFOLDERS, SUFFIXES)


def read(path: str | os.PathLike) -> QapInstance:
    """Return the instance of a QAPLIB file (.dat), which may be packed with gzip.

    Raises
    ------
    InstanceError
        Names file, line, what was found and what was expected.
    """
    text = read_text(path, "a QAPLIB file")
    name = instance_name(path, r"\.dat")
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
