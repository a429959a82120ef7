"""The words of the kernel language: their meaning in plain Python, and their types.

In a plain-Python run the words about teams and lanes read `current_lane`, which the interpreter sets before it resumes
a lane.
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from core.lang.types import (
    BY_DTYPE,
    BY_NAME,
    Integer,
    Scalar,
    boolean,
    common_type,
    f32,
    f64,
    i32,
    joined,
    promoted,
    type_of,
    widens,
)

__all__ = [
    "atomic_add",
    "atomic_cas",
    "atomic_max",
    "atomic_min",
    "barrier",
    "clz",
    "cos",
    "exp",
    "lane",
    "local_array",
    "log",
    "max",
    "min",
    "mulhi",
    "popcount",
    "pow",
    "set_bits",
    "shared_array",
    "sin",
    "sqrt",
    "team_count",
    "team_rank",
    "team_size",
    "unroll",
    "view",
]

Number = TypeVar("Number", bound=float)
Whole = TypeVar("Whole", bound=int)


class Elements(Protocol[Number]):
    """An array of a kernel, in plain Python a `Memory`."""

    def __getitem__(self, index: int, /) -> Number: ...
    def __setitem__(self, index: int, value: Number, /) -> None: ...


class LanePosition(threading.local):
    """Position of the lane that a thread runs, and the shared arrays of its team."""

    team_rank = 0
    team_count = 1
    lane = 0
    team_size = 1
    shared: Any = None


current_lane = LanePosition()


def team_rank() -> int:
    """Return the number of this team, from 0."""
    return i32(current_lane.team_rank)


def team_count() -> int:
    """Return the number of teams of the launch."""
    return i32(current_lane.team_count)


def lane() -> int:
    """Return the number of this lane in its team, from 0."""
    return i32(current_lane.lane)


def team_size() -> int:
    """Return the number of lanes of a team; a constant when the kernel is compiled."""
    return i32(current_lane.team_size)


def barrier() -> None:
    """Wait until all lanes of the team have arrived; their earlier writes are visible to all afterwards."""


def shared_array(count: int, element: object) -> Any:
    """Return an array that the lanes of a team share, not initialised; ``count`` is a constant."""
    return current_lane.shared(count, element)


def local_array(count: int, element: Any) -> Any:
    """Return an array of one lane, not initialised; ``count`` is a constant."""
    return Memory(poisoned(count, element), element)


def view(array: Any, offset: int) -> Any:
    """Return the part of an array from an element on, as an argument of a function."""
    if not 0 <= int(offset) <= array.data.size:
        raise IndexError(f"a view from element {int(offset)} of an array of {array.data.size} elements")
    return Memory(array.data[int(offset) :], array.element)


def unroll(*bounds: int) -> list[int]:
    """Return a ``range`` of constants; its steps are unrolled when the kernel is compiled."""
    return [i32(k) for k in range(*(int(b) for b in bounds))]


def set_bits(word: int) -> Iterator[int]:
    """Yield the numbers (`i32`) of the set bits of an unsigned integer, rising, in ``for k in set_bits(word)``."""
    bits = int(word)
    while bits:
        yield i32((bits & -bits).bit_length() - 1)
        bits &= bits - 1


def _update(array: Elements[Whole], index: int, new: Callable[[Whole], Whole]) -> Whole:
    old = array[index]
    array[index] = new(old)
    return old


def atomic_add(array: Elements[Whole], index: int, value: Whole) -> Whole:
    """Add to an element and return its old value, in one step; wraps around."""
    return _update(array, index, lambda old: type(old)(int(old) + int(value)))


def atomic_min(array: Elements[Whole], index: int, value: Whole) -> Whole:
    """Store the smaller of element and value and return the element's old value."""
    return _update(array, index, lambda old: type(old)(builtins.min(int(old), int(value))))


def atomic_max(array: Elements[Whole], index: int, value: Whole) -> Whole:
    """Store the larger of element and value and return the element's old value."""
    return _update(array, index, lambda old: type(old)(builtins.max(int(old), int(value))))


def atomic_cas(array: Elements[Whole], index: int, expected: Whole, desired: Whole) -> Whole:
    """Store ``desired`` if the element equals ``expected``; return its old value."""
    return _update(array, index, lambda old: type(old)(int(desired)) if int(old) == int(expected) else old)


def min(a: Number, b: Number) -> Number:  # noqa: A001
    """Return the smaller of two; the first if they are unordered."""
    return common_type(a, b)(b if b < a else a)


def max(a: Number, b: Number) -> Number:  # noqa: A001
    """Return the larger of two; the first if they are unordered."""
    return common_type(a, b)(b if b > a else a)


def _float_word(function: np.ufunc) -> Callable[..., Any]:
    def word(*arguments: object) -> np.floating:
        scalar = type_of(arguments[0])
        if scalar not in (f32, f64):
            raise TypeError(f"{function.__name__} needs f32 or f64, not {arguments[0]!r}")
        with np.errstate(all="ignore"):
            return function(*(scalar(a) for a in arguments))

    word.__name__, word.__doc__ = function.__name__, f"``{function.__name__}`` of f32 or f64."
    return word


sqrt, sin, cos, exp, log, pow = (  # noqa: A001
    _float_word(f) for f in (np.sqrt, np.sin, np.cos, np.exp, np.log, np.power)
)


def popcount(a: int) -> int:
    scalar = promoted(type_of(a))
    return i32((int(a) & ((1 << scalar.bits) - 1)).bit_count())


def clz(a: int) -> int:
    """Return the number of leading zero bits of an integer; the type's width for 0."""
    scalar = promoted(type_of(a))
    return i32(scalar.bits - (int(a) & ((1 << scalar.bits) - 1)).bit_length())


def mulhi(a: int, b: int) -> int:
    """Return the upper half of the full product of two integers."""
    scalar = common_type(a, b)
    return scalar((int(a) * int(b)) >> scalar.bits)


class Memory:
    """A NumPy array seen through the language: typed elements, no negative or missing index, exact stores."""

    def __init__(self, data: np.ndarray, element: Scalar | None = None) -> None:
        self.data = data
        self.element = element or BY_DTYPE[data.dtype]

    def _position(self, index: int) -> int:
        if not 0 <= int(index) < self.data.size:
            raise IndexError(f"index {int(index)} outside an array of {self.data.size} elements")
        return int(index)

    def __getitem__(self, index: int) -> int | float:
        value = self.data[self._position(index)]
        if self.element is boolean:
            return bool(value)
        return self.element(int(value)) if issubclass(self.element, Integer) else value

    def __setitem__(self, index: int, value: int | float) -> None:
        if type(value) is not int and not widens(type_of(value), self.element):
            raise TypeError(f"{value!r} stored in an array of {self.element.__name__} without a cast")
        self.data[self._position(index)] = value if self.element.kind == "f" else int(value)


def poisoned(count: int, element: Scalar) -> np.ndarray:
    """Return memory with a pattern that reveals reads of unwritten elements."""
    return np.full(int(count) * element.dtype.itemsize, 0xA5, dtype=np.uint8).view(element.dtype)


def _same_integers(types: Sequence[Scalar]) -> Scalar | None:
    kinds = [*map(promoted, types)]
    return kinds[0] if kinds[0].kind in "iu" and all(k is kinds[0] for k in kinds) else None


def _floats(types: Sequence[Scalar]) -> Scalar | None:
    return types[0] if all(t.kind == "f" and t is types[0] for t in types) else None


def _numbers(types: Sequence[Scalar]) -> Scalar | None:
    return None if types[0].kind == "b" else joined(types[0], types[-1])


def _signed(types: Sequence[Scalar]) -> Scalar | None:
    return promoted(types[0]) if types[0].kind in "if" else None


# word -> (number of arguments, rule that gives the operands' common type or None, result type or None for that type,
#          its condition as text)
PURE: dict[str, tuple[int, Callable[[Sequence[Scalar]], Scalar | None] | None, Scalar | None, str]] = {
    **dict.fromkeys(("team_rank", "team_count", "lane"), (0, None, i32, "")),
    **dict.fromkeys(("min", "max"), (2, _numbers, None, "two numbers of one kind")),
    "abs": (1, _signed, None, "a signed integer or a float"),
    **dict.fromkeys(("sqrt", "sin", "cos", "exp", "log"), (1, _floats, None, "f32 or f64")),
    "pow": (2, _floats, None, "two floats of one type"),
    **dict.fromkeys(("popcount", "clz"), (1, _same_integers, i32, "an integer")),
    "mulhi": (2, _same_integers, None, "two integers of one type"),
}
ATOMICS = {"atomic_add": 1, "atomic_min": 1, "atomic_max": 1, "atomic_cas": 2}

OTHER_WORDS = ("team_size", "barrier", "unroll", "set_bits", "shared_array", "local_array", "view", "range", "print")

# All words and the names of types, with what each must mean where a kernel stands; Python's own words stand as None.
PYTHON_NAMES = ("min", "max", "abs", "pow", "range", "print")
WORDS: dict[str, Any] = {**BY_NAME, **{name: globals().get(name) for name in (*PURE, *ATOMICS, *OTHER_WORDS)}}

# Meaning of a bare name inside a kernel in the reference interpreter, where Python's word would lose the type.
PYTHON_WORDS: dict[str, Any] = {"min": min, "max": max, "pow": pow}
