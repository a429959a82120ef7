"""Tabu memory of a walk, and tenures from the literature."""

from __future__ import annotations

from typing import NamedTuple

from core.errors import UserError
from core.kernels.local_search import hooks, moves
from core.problems.encodings import Encoding, Neighbourhood
from core.search.local_search.algorithms import Algorithm


class TabuMemory(NamedTuple):
    """Tabu memory of a walk.

    Attributes
    ----------
    kind : int
        `core.kernels.local_search.moves.MOVES` or `ATTRIBUTES`.
    words : int
        Words of memory; 1 without tabu search.
    tenure, span : int
        A move stays forbidden for ``tenure`` to ``tenure + span`` iterations.

    """

    kind: int
    words: int = 1
    tenure: int = 0
    span: int = 0

    @property
    def parameters(self) -> dict[str, object]:
        """Parameters that decide the trajectory, for the record."""
        kind = "moves" if self.kind == moves.MOVES else "attributes"
        return {"tenure": self.tenure, "tenure_span": self.span, "tabu_memory": kind}


def choose_memory(algorithm: Algorithm, one: Neighbourhood, encoding: Encoding, size: int) -> TabuMemory:
    """Choose the memory and the tenure for a neighbourhood of this size."""
    remembers = algorithm.tabu_memory
    if remembers == "attributes" and not one.attributes:
        raise UserError(f"tabu search that remembers attributes of {one.name}, which has none: use moves")
    if remembers == "auto":
        remembers = "attributes" if one.attributes else "moves"
    kind = moves.MOVES if remembers == "moves" else moves.ATTRIBUTES
    if algorithm.rule != hooks.TABU:
        return TabuMemory(kind)
    tenure, span = algorithm.tenure, algorithm.tenure_span
    if tenure is None:
        tenure, span = default_tenure(kind, one.change, encoding.n, size, span)
    memory = TabuMemory(kind, one.memory(encoding, size, kind), tenure, span or 0)
    if memory.tenure + memory.span >= size > 1:
        raise UserError(
            f"a tenure of up to {memory.tenure + memory.span} iterations for {one.name}, which has {size} "
            f"neighbours: expected less than that"
        )
    return memory


def default_tenure(memory_kind: int, kind: int, n: int, size: int, span: int | None) -> tuple[int, int]:
    """Tenures from the literature.

    Attributes of permutations: 0.9 n to 1.1 n (Taillard 1991). Other attributes: n / 6 and more. Moves: a sixth of the
    neighbourhood (Luong, Melab and Talbi 2010), so that a list of them would be that long.
    """
    if memory_kind == moves.MOVES:
        tenure = size // 6
    elif kind in (moves.EXCHANGE, moves.INSERT):
        tenure = 9 * n // 10
    else:
        tenure = n // 6
    tenure = min(tenure, max(0, size - 2))
    room = max(0, size - 1 - tenure - 1)
    wanted = n // 5 if kind in (moves.EXCHANGE, moves.INSERT) else n // 10
    return tenure, min(room, wanted if span is None else span)
