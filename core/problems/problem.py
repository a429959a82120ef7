"""A problem as local search sees it: its data, what a move costs, and a plain scorer. One file makes one."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from core.errors import UserError
from core.kernels.local_search import Hooks
from core.kernels.moves import REVERSE
from core.lang import Array, Function, Pack, Parts, Table, f32, i32
from core.lang.digest import source_digest
from core.lang.types import BY_DTYPE, PLACES
from core.problems.encodings import NEIGHBOURHOODS, Encoding


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

    @property
    def functions(self) -> list[Function]:
        """Those of its functions that there are."""
        return [one for one in self if isinstance(one, Function)]


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
    tested = False
    """Whether the suite's tests hold this class to `cost`, so that a search need not. Subclasses do not inherit it."""

    def __init__(self, name: str, encoding: Encoding, data: Mapping[str, Any]) -> None:
        self.name = name
        self.encoding = encoding
        self.data = {key: np.ascontiguousarray(v) if isinstance(v, np.ndarray) else v for key, v in data.items()}

    def cost(self, solution: np.ndarray) -> int:
        """Score a solution from scratch, in plain NumPy: what every search is held to."""
        raise NotImplementedError

    def tolerance(self) -> int:
        """By how much a search's cost may differ from `cost`: not at all, unless `delta` rounds."""
        return 0

    def cost_range(self) -> tuple[int, int] | None:
        """The least and the largest cost that any solution can have, or bounds on them; None: not known.

        Costs and differences of costs have 32 bits. A search refuses a problem whose range does not fit before it
        begins; where the range is not known, it ends as soon as it meets a cost of 2^30 or more.
        """
        return None

    @functools.cached_property
    def sha256(self) -> str:
        """Digest of what is searched; by default `content_digest`. Equal for equal work, so the name does not count."""
        return content_digest(self)

    def known_neighbourhoods(self) -> list[str]:
        """Names of those that `delta` knows: what the class lists, or all of the encoding but 2opt."""
        fitting = [one for one in NEIGHBOURHOODS.values() if one.encoding == self.encoding.name]
        return list(self.neighbourhoods) or [one.name for one in fitting if one.change != REVERSE]

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


def content_digest(problem: Problem) -> str:
    """SHA-256 of encoding, data and kernel functions, the same in every process and on every machine.

    Data count with their names, types, shapes and values; functions with all that they call (see
    `core.lang.digest.source_digest`).
    """
    functions: list[Function] = []
    given: dict[str, Mapping[str, Any]] = {"": problem.data}
    for name in problem.known_neighbourhoods():
        for way, evaluation in problem.evaluations(name).items():
            functions += evaluation.functions
            given[way] = problem.data_for(way)
    said = f"{tuple(problem.encoding)} {problem.points} {source_digest(functions)}"
    content = hashlib.sha256(said.encode())
    for way, data in sorted(given.items()):
        if way and data is problem.data:
            continue
        for name, value in sorted(data.items()):
            if isinstance(value, np.ndarray):
                plain = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
                content.update(f"\n{way} {name} {plain.dtype.str} {plain.shape} ".encode())
                content.update(plain.tobytes())
            else:
                content.update(f"\n{way} {name} {value.hex() if isinstance(value, float) else int(value)}".encode())
    return content.hexdigest()


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
