"""Published instances by the digest of their content: size, length of a shortest tour, collection.

The table is tsplib.tsv in this folder. Optima: TSPLIB's list of solutions; the World TSP pages (national); J.
Burkardt's page (burkardt); proved by constraint programming for the tours over all nodes of small CVRPs (vrp).
"""

import functools
import os
from typing import NamedTuple

ARCHIVED = ("gr17", "pcb442", "att532", "gr666")
"""Instances of TSPLIB in the source archive of tsplib95 on the package index."""


class PublishedInstance(NamedTuple):
    """A row of the table; `optimum` is None if no tour of the instance is proved shortest."""

    name: str
    collection: str
    n: int
    optimum: int | None
    sha256: str


@functools.cache
def table() -> tuple[PublishedInstance, ...]:
    path = os.path.join(os.path.dirname(__file__), "tsplib.tsv")
    with open(path, encoding="ascii") as file:
        rows = [line.split() for line in file if not line.startswith("#")]
    return tuple(
        PublishedInstance(name, collection, int(n), None if optimum == "-" else int(optimum), sha256)
        for name, collection, n, optimum, sha256 in rows
    )


def optimum(sha256: str) -> int | None:
    """Return the length of a shortest tour for the content with this digest, or None."""
    return next((row.optimum for row in table() if row.sha256 == sha256), None)


def collection(name: str) -> dict[str, PublishedInstance]:
    """Return the instances of a collection by name; "tsplib" has TSPLIB's symmetric ones."""
    return {row.name: row for row in table() if row.collection == name}
