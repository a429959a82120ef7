"""Result of a knapsack search."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np

from core.problems.tables.knapsack import Knapsack
from core.search.protocol import hex_digest


class Selection(NamedTuple):
    """Result of a search.

    Attributes
    ----------
    value : int
        The largest value that fits.
    weight : int or None
        Of the selection; None if it was not traced.
    chosen : ndarray, shape (n,), bool, or None
        One selection of that value, by item number; None if it was not traced.
    optimal : bool
        True if the value is proved to be the largest.
    cells : int
        Cells of the whole table, n * (capacity + 1), also those that are not computed; 0 without a table.
    nodes : int
        Nodes of a branch and bound; 0 with a table.
    streamed_bytes : int
        Decisions that left the device for the host.
    digest : int
        64-bit digest of the value and the selection.

    """

    value: int
    weight: int | None
    chosen: np.ndarray | None
    optimal: bool
    cells: int
    nodes: int
    streamed_bytes: int
    digest: int

    @property
    def cost(self) -> int:
        return self.value

    @property
    def solution(self) -> np.ndarray | None:
        return self.chosen

    @property
    def evaluations(self) -> int:
        return self.cells or self.nodes

    @property
    def hash(self) -> str:
        return hex_digest(self.digest)

    @property
    def history(self) -> None:
        """None: nothing is known before the end."""

    @property
    def finished(self) -> bool:
        return self.optimal


def make_selection(
    instance: Knapsack,
    value: int,
    chosen: np.ndarray | None,
    *,
    optimal: bool = True,
    cells: int = 0,
    nodes: int = 0,
    streamed_bytes: int = 0,
) -> Selection:
    weight = None if chosen is None else instance.weight_and_value(chosen)[0]
    found = hashlib.blake2b(str(value).encode(), digest_size=8)
    if chosen is not None:
        found.update(np.packbits(chosen).tobytes())
    digest = int.from_bytes(found.digest(), "big")
    return Selection(value, weight, chosen, optimal, cells, nodes, streamed_bytes, digest)
