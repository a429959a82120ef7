"""A problem as local search sees it: its data, what a move costs, and a plain scorer. One file makes one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from core.errors import UserError
from core.kernels.local_search import Hooks
from core.lang import Array, Function, Pack, Parts, Table, f32, i32
from core.lang.types import BY_DTYPE, PLACES
from core.search.local_search.neighbourhoods import Encoding


class Kept(NamedTuple):
    """State that a walk carries along, on the device: ``size`` elements of ``dtype``.

    ``size`` is the name of one of the problem's numbers where kernels should serve instances of every size.
    """

    dtype: str
    size: int | str


class Evaluation(NamedTuple):
    """One way to know what every neighbour costs; all ways give the same numbers, at different speeds.

    The functions are those of `core.kernels.local_search.Hooks`.

    Attributes
    ----------
    delta, quick, begin, update, move, refresh, partial : Function or None
    kept : mapping of str to Kept
        State of a walk, by the name that the functions give it.
    quick_for : tuple of str
        Neighbourhoods that `quick` knows; the others are evaluated by `delta`.
    work : int
        About how many steps one neighbour takes; devices share out what is worth it.

    """

    delta: Function
    quick: Function | None = None
    begin: Function | None = None
    update: Function | None = None
    move: Function | None = None
    refresh: Function | None = None
    partial: Function | None = None
    kept: Mapping[str, Kept] = {}
    quick_for: tuple[str, ...] = ()
    work: int = 16


class Problem:
    """Base class of problems.

    Parameters
    ----------
    name
        Of the instance.
    encoding
        `Bits(n)`, `Values(n, k)`, `Permutation(n)` or `Reals(n)`.
    data
        Arrays (read by index, flat) and numbers, by the names under which the kernel functions ask for them.

    """

    neighbourhoods: tuple[str, ...] = ()
    """Names of those that `delta` knows; empty: all of the encoding but 2opt."""
    points = 0
    """Neighbours, where they are drawn at random."""
    optimum: int | None = None
    sha256 = "0" * 64

    def __init__(self, name: str, encoding: Encoding, data: Mapping[str, Any]) -> None:
        self.name = name
        self.encoding = encoding
        self.data = {key: np.ascontiguousarray(v) if isinstance(v, np.ndarray) else v for key, v in data.items()}

    def cost(self, solution: np.ndarray) -> int:
        """Score a solution from scratch, in plain NumPy: what every search is held to."""
        raise NotImplementedError

    def evaluations(self, neighbourhood: str) -> dict[str, Evaluation]:
        """The ways to evaluate a neighbourhood, the preferred one first; by default one, from ``self.delta``."""
        return {"plain": Evaluation(self.delta)}  # type: ignore[attr-defined]

    def data_for(self, evaluation: str) -> Mapping[str, Any]:
        """The data that an evaluation reads, by its name; by default all."""
        return self.data

    def hooks(self, evaluation: Evaluation, data: Mapping[str, Any], name: str, tables: str = "global") -> Hooks:
        """What the kernels need, with `quick` only for neighbourhoods that it knows.

        ``tables``, a name of `core.lang.types.PLACES`, says where the arrays of ``data`` live; kept state is global.
        """
        kinds: dict[str, Any] = {}
        for key, value in data.items():
            kinds[key] = array_kind(value, tables) if isinstance(value, np.ndarray) else number_type(value)
        for key, kept in evaluation.kept.items():
            if key in kinds:
                raise UserError(f"{self.name}: {key} is the name of data and of kept state; choose another one")
            kinds[key] = Parts(BY_DTYPE[np.dtype(kept.dtype)], kept.size)
        is_quick = name in evaluation.quick_for
        return Hooks(
            Pack(kinds),
            evaluation.delta,
            evaluation.quick if is_quick else None,
            evaluation.begin,
            evaluation.update,
            evaluation.move,
            evaluation.refresh if is_quick else None,
            evaluation.partial,
        )

    @staticmethod
    def kept_sizes(evaluation: Evaluation, data: Mapping[str, Any]) -> dict[str, tuple[int, str]]:
        """Elements of a walk's state, and their type, by name."""
        return {
            key: (int(data[kept.size]) if isinstance(kept.size, str) else kept.size, kept.dtype)
            for key, kept in evaluation.kept.items()
        }


def checked_place(tables: str) -> str:
    """Where tables live, if there is such a place."""
    if tables not in PLACES:
        raise UserError(f"tables in {tables!r} memory: expected {', '.join(PLACES)}")
    return tables


def array_kind(value: np.ndarray, place: str) -> Array:
    """The language's kind of an array among the data."""
    element = BY_DTYPE[value.dtype]
    return Array(element) if place == "global" else Table(element, place, value.size)


def number_type(value: Any) -> Any:
    """The language's type of a number among the data."""
    return f32 if isinstance(value, float) else i32
