"""The words of the kernel language: their meaning in plain Python, and their types.

In a plain-Python run the words about teams and lanes read `current_lane`, which the interpreter sets before it resumes
a lane.
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from core.lang.types import BY_DTYPE, BY_NAME, Integer, boolean, f32, f64, i32, joined, promoted, type_of, widens


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


def shared_array(count: int, element: Any) -> Any:
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


def set_bits(word: Any) -> Iterator[int]:
    """Yield the numbers (`i32`) of the set bits of an unsigned integer, rising, in ``for k in set_bits(word)``."""
    bits = int(word)
    while bits:
        yield i32((bits & -bits).bit_length() - 1)
        bits &= bits - 1


def _update(array: Any, index: int, new: Callable[[Any], Any]) -> Any:
    old = array[index]
    array[index] = new(old)
    return old


def atomic_add(array: Any, index: int, value: Any) -> Any:
    """Add to an element and return its old value, in one step; wraps around."""
    return _update(array, index, lambda old: type(old)(int(old) + int(value)))


def atomic_min(array: Any, index: int, value: Any) -> Any:
    """Store the smaller of element and value and return the element's old value."""
    return _update(array, index, lambda old: type(old)(builtins.min(int(old), int(value))))


def atomic_max(array: Any, index: int, value: Any) -> Any:
    """Store the larger of element and value and return the element's old value."""
    return _update(array, index, lambda old: type(old)(builtins.max(int(old), int(value))))


def atomic_cas(array: Any, index: int, expected: Any, desired: Any) -> Any:
    """Store ``desired`` if the element equals ``expected``; return its old value."""
    return _update(array, index, lambda old: type(old)(int(desired)) if int(old) == int(expected) else old)


def _joined_operands(a: object, b: object) -> type[Any]:
    if type(a) is int or type(b) is int:
        return promoted(type_of(b if type(a) is int else a))
    kind = joined(type_of(a), type_of(b))
    if kind is None:
        raise TypeError(f"{a!r} and {b!r} do not mix without a cast")
    return kind


def min(a: Any, b: Any) -> Any:  # noqa: A001
    """Return the smaller of two; the first if they are unordered."""
    scalar = _joined_operands(a, b)
    return scalar(b if b < a else a)


def max(a: Any, b: Any) -> Any:  # noqa: A001
    """Return the larger of two; the first if they are unordered."""
    scalar = _joined_operands(a, b)
    return scalar(b if b > a else a)


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


def popcount(a: Any) -> int:
    scalar = promoted(type_of(a))
    return i32((int(a) & ((1 << scalar.bits) - 1)).bit_count())


def clz(a: Any) -> int:
    """Return the number of leading zero bits of an integer; the type's width for 0."""
    scalar = promoted(type_of(a))
    return i32(scalar.bits - (int(a) & ((1 << scalar.bits) - 1)).bit_length())


def mulhi(a: Any, b: Any) -> Any:
    """Return the upper half of the full product of two integers."""
    scalar = _joined_operands(a, b)
    return scalar((int(a) * int(b)) >> scalar.bits)


class Memory:
    """A NumPy array seen through the language: typed elements, no negative or missing index, exact stores."""

    def __init__(self, data: np.ndarray, element: type[Any] | None = None) -> None:
        self.data = data
        self.element = element or BY_DTYPE[data.dtype]

    def _position(self, index: int) -> int:
        if not 0 <= int(index) < self.data.size:
            raise IndexError(f"index {int(index)} outside an array of {self.data.size} elements")
        return int(index)

    def __getitem__(self, index: int) -> Any:
        value = self.data[self._position(index)]
        if self.element is boolean:
            return bool(value)
        return self.element(int(value)) if issubclass(self.element, Integer) else value

    def __setitem__(self, index: int, value: int | float) -> None:
        if type(value) is not int and not widens(type_of(value), self.element):
            raise TypeError(f"{value!r} stored in an array of {self.element.__name__} without a cast")
        self.data[self._position(index)] = value if self.element.kind == "f" else int(value)


def poisoned(count: int, element: type[Any]) -> np.ndarray:
    """Return memory with a pattern that reveals reads of unwritten elements."""
    return np.full(int(count) * element.dtype.itemsize, 0xA5, dtype=np.uint8).view(element.dtype)


def _same_integers(arguments: list[Any]) -> type[Any] | None:
    kinds = [promoted(a.type) for a in arguments]
    return kinds[0] if kinds[0].kind in "iu" and all(k is kinds[0] for k in kinds) else None


def _floats(arguments: list[Any]) -> type[Any] | None:
    return arguments[0].type if all(a.type.kind == "f" and a.type is arguments[0].type for a in arguments) else None


def _numbers(arguments: list[Any]) -> type[Any] | None:
    return None if arguments[0].type.kind == "b" else joined(arguments[0].type, arguments[-1].type)


def _signed(arguments: list[Any]) -> type[Any] | None:
    return promoted(arguments[0].type) if arguments[0].type.kind in "if" else None


# word -> (number of arguments, rule that gives the operands' common type or None, result type or None for that type,
#          its condition as text)
PURE: dict[str, tuple[int, Any, Any, str]] = {
    "team_rank": (0, None, i32, ""),
    "team_count": (0, None, i32, ""),
    "lane": (0, None, i32, ""),
    "min": (2, _numbers, None, "two numbers of one kind"),
    "max": (2, _numbers, None, "two numbers of one kind"),
    "abs": (1, _signed, None, "a signed integer or a float"),
    "sqrt": (1, _floats, None, "f32 or f64"),
    "sin": (1, _floats, None, "f32 or f64"),
    "cos": (1, _floats, None, "f32 or f64"),
    "exp": (1, _floats, None, "f32 or f64"),
    "log": (1, _floats, None, "f32 or f64"),
    "pow": (2, _floats, None, "two floats of one type"),
    "popcount": (1, _same_integers, i32, "an integer"),
    "clz": (1, _same_integers, i32, "an integer"),
    "mulhi": (2, _same_integers, None, "two integers of one type"),
}
ATOMICS = {"atomic_add": 1, "atomic_min": 1, "atomic_max": 1, "atomic_cas": 2}

OTHER_WORDS = ("team_size", "barrier", "unroll", "set_bits", "shared_array", "local_array", "view", "range", "print")

# All words and the names of types, with what each must mean where a kernel stands; Python's own words stand as None.
PYTHON_NAMES = ("min", "max", "abs", "pow", "range", "print")
WORDS: dict[str, Any] = {**BY_NAME, **{name: globals().get(name) for name in (*PURE, *ATOMICS, *OTHER_WORDS)}}

# Meaning of a bare name inside a kernel in the reference interpreter, where Python's word would lose the type.
PYTHON_WORDS: dict[str, Any] = {"min": min, "max": max, "pow": pow}
