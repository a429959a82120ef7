"""A problem as local search sees it: its data, what a move costs, and a plain scorer. One file makes one."""

from __future__ import annotations

import copy
import functools
import hashlib
from typing import Any, NamedTuple

import numpy as np

from core.errors import UserError
from core.kernels.hooks import Hooks
from core.kernels.moves import REVERSE
from core.lang import Array, Function, Generic, Row
from core.lang.bundles import fields_of, form_of, is_bundle, kind_text, values_by_name
from core.lang.digest import source_digest
from core.lang.types import BY_DTYPE, PLACES
from core.problems.encodings import NEIGHBOURHOODS, Encoding


class Evaluation(NamedTuple):
    """One way to know what every neighbour costs; all ways give the same numbers, at different speeds.

    The functions are those of `core.kernels.hooks.Hooks`. What a walk keeps for them are the rows of the bundle that
    they take: `Problem.data_for` says which bundle that is.

    Attributes
    ----------
    delta, quick, begin, update, move, refresh, partial : Function or None
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
        What the kernel functions read: a `core.lang.bundle` of NumPy arrays and numbers. Its rows, if it has some, are
        memory of every walk, and left out here. None, if the class says in `data_for` what each evaluation reads.

    Raises
    ------
    UserError
        Data that are no bundle, or an array that is not of its field's type.

    """

    neighbourhoods: tuple[str, ...] = ()
    """Names of those that `delta` knows; empty: all of the encoding but 2opt."""
    points = 0
    """Neighbours, where they are drawn at random."""
    optimum: int | None = None
    tested = False
    """Whether the suite's tests hold this class to `cost`, so that a search need not. Subclasses do not inherit it."""

    def __init__(self, name: str, encoding: Encoding, data: Any) -> None:
        self.name = name
        self.encoding = encoding
        self.data = None if data is None else checked_data(name, data)

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

    def data_for(self, evaluation: str) -> Any:
        """The bundle that an evaluation's functions read, by the evaluation's name; by default the problem's `data`."""
        return self.data

    @staticmethod
    def hooks(evaluation: Evaluation, neighbourhood: str) -> Hooks:
        """What the kernels of a neighbourhood need, with `quick` only for those that it knows."""
        is_quick = neighbourhood in evaluation.quick_for
        return Hooks(
            evaluation.delta,
            evaluation.quick if is_quick else None,
            evaluation.begin,
            evaluation.update,
            evaluation.move,
            evaluation.refresh if is_quick else None,
            evaluation.partial,
        )


def checked_data(name: str, data: Any) -> Any:
    """The bundle with flat arrays; refuses what the kernel functions could not read."""
    if not is_bundle(type(data)):
        raise UserError(f"{name}: data are {data!r}: expected a @bundle of arrays and numbers")
    flat = copy.copy(data)
    for field, kind in fields_of(type(data)).items():
        value, what = getattr(data, field), f"{name}: data {field!r}"
        if isinstance(kind, Row) and value is None:
            continue
        if isinstance(kind, Array) != isinstance(value, np.ndarray):
            raise UserError(f"{what} is {value!r}: expected {kind_text(kind)}")
        if isinstance(kind, Array):
            expected = kind.element if not isinstance(kind.element, Generic) else BY_DTYPE.get(value.dtype)
            if expected is None or value.dtype != expected.dtype:
                wanted = kind_text(kind) + (f"; write .astype(np.{expected.dtype})" if expected is not None else "")
                raise UserError(f"{what} is an array of {value.dtype}: expected {wanted}")
            setattr(flat, field, np.ascontiguousarray(value).reshape(-1))
        elif is_bundle(kind):
            setattr(flat, field, checked_data(name, value))
    return flat


def content_digest(problem: Problem) -> str:
    """SHA-256 of encoding, data and kernel functions, the same in every process and on every machine.

    Data count with their names, types, sizes and values; functions with all that they call (see
    `core.lang.digest.source_digest`).
    """
    functions: list[Function] = []
    given: dict[str, Any] = {"": problem.data} if problem.data is not None else {}
    for name in problem.known_neighbourhoods():
        for way, evaluation in problem.evaluations(name).items():
            functions += evaluation.functions
            given[way] = problem.data_for(way)
    said = f"{tuple(problem.encoding)} {problem.points} {source_digest(functions)}"
    content = hashlib.sha256(said.encode())
    for way, data in sorted(given.items()):
        if way and data is problem.data:
            continue
        for name, value in values_by_name(way, data, form_of(data)):
            if isinstance(value, np.ndarray):
                plain = np.ascontiguousarray(value, value.dtype.newbyteorder("<"))
                content.update(f"\n{name} {plain.dtype.str} {plain.size} ".encode())
                content.update(plain.tobytes())
            elif value is not None:  # rows are memory, and no data
                content.update(f"\n{name} {value.hex() if isinstance(value, float) else int(value)}".encode())
    return content.hexdigest()


def checked_place(tables: str) -> str:
    """Where tables live, if there is such a place."""
    if tables not in PLACES:
        raise UserError(f"tables in {tables!r} memory: expected {', '.join(PLACES)}")
    return tables
