"""The scalar and array types of the kernel language, and their arithmetic.

The integer classes are subclasses of ``int``, so a kernel that runs as plain Python computes exactly what a device must
compute: unsigned arithmetic wraps, signed overflow is an error, and the two never mix.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from core.errors import shown

Scalar = type[Any]
"""A scalar type: one of `SCALARS`, or `boolean`."""
NUMBERS = (int, float, np.integer, np.floating, np.bool_)
"""Arguments of casts in plain Python: no text, though Python would parse it, and no None."""


Operator = Callable[["Integer", int], "Integer"]


def _arithmetic(operation: Callable[[int, int], int], symbol: str) -> tuple[Operator, Operator]:
    """Return the methods of an operator, for an integer on its left and on its right side."""

    def operate(self: Integer, other: int) -> Integer:
        return common_type(self, other).exact(operation(int(self), int(other)), symbol)

    def operate_reflected(self: Integer, other: int) -> Integer:
        return common_type(other, self).exact(operation(int(other), int(self)), symbol)

    return operate, operate_reflected


def _comparison(operation: Callable[[int, int], bool]) -> Callable[[Integer, Any], bool]:
    def compare(self: Integer, other: Any) -> bool:
        common_type(self, other)
        return operation(int(self), int(other))

    return compare


class Integer(int):
    """Common arithmetic of the eight integer types; never instantiated itself."""

    kind: str
    bits: int
    low: int
    high: int
    dtype: np.dtype

    def __new__(cls, value: object = 0) -> Integer:
        """Convert as a cast does: integers wrap modulo 2**bits, floats are cut towards zero."""
        if not isinstance(value, NUMBERS):
            raise TypeError(f"{cls.__name__}({shown(value)}): expected a number")
        if isinstance(value, (float, np.floating)):
            cut = int(value)
            if not cls.low <= cut <= cls.high:
                raise OverflowError(f"{cls.__name__}({value!r}): the value does not fit")
            return int.__new__(cls, cut)
        return int.__new__(cls, cls.wrap(int(value)))

    @classmethod
    def wrap(cls, value: int) -> int:
        """Return the value of the low ``bits`` bits in two's complement."""
        value &= (1 << cls.bits) - 1
        return value - (1 << cls.bits) if value > cls.high else value

    @classmethod
    def exact(cls, value: int, operation: str = "arithmetic") -> Integer:
        """Return the result of an operation: wraps if unsigned, must fit if signed."""
        if cls.kind == "i" and not cls.low <= value <= cls.high:
            raise OverflowError(f"signed overflow in {operation}: {value} does not fit {cls.__name__}")
        return int.__new__(cls, cls.wrap(value))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({int(self)})"

    __add__, __radd__ = _arithmetic(operator.add, "+")
    __sub__, __rsub__ = _arithmetic(operator.sub, "-")
    __mul__, __rmul__ = _arithmetic(operator.mul, "*")
    __floordiv__, __rfloordiv__ = _arithmetic(operator.floordiv, "//")
    __mod__, __rmod__ = _arithmetic(operator.mod, "%")
    __and__, __rand__ = _arithmetic(operator.and_, "&")
    __or__, __ror__ = _arithmetic(operator.or_, "|")
    __xor__, __rxor__ = _arithmetic(operator.xor, "^")

    def __lshift__(self, count: int) -> Integer:
        result = promoted(type(self))
        return result(int(self) << (int(count) & (result.bits - 1)))

    def __rshift__(self, count: int) -> Integer:
        result = promoted(type(self))
        return result(int(self) >> (int(count) & (result.bits - 1)))

    def __neg__(self) -> Integer:
        return promoted(type(self)).exact(-int(self), "-")

    def __pos__(self) -> Integer:
        return promoted(type(self))(int(self))

    def __invert__(self) -> Integer:
        return promoted(type(self))(~int(self))

    def __abs__(self) -> Integer:
        return promoted(type(self)).exact(abs(int(self)), "abs")

    __lt__ = _comparison(operator.lt)
    __le__ = _comparison(operator.le)
    __gt__ = _comparison(operator.gt)
    __ge__ = _comparison(operator.ge)
    __eq__ = _comparison(operator.eq)
    __ne__ = _comparison(operator.ne)

    def __hash__(self) -> int:
        return int.__hash__(self)

    def __truediv__(self, other: object) -> NoReturn:
        raise TypeError("integers are not divided by /; write // or cast to f32 or f64")

    __rtruediv__ = __truediv__


def _integer_class(kind: str, bits: int) -> type[Integer]:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind == "i" else (0, (1 << bits) - 1)
    text = "Signed" if kind == "i" else "Unsigned"
    body = {"kind": kind, "bits": bits, "low": low, "high": high, "dtype": np.dtype(f"{kind}{bits // 8}")}
    return type(f"{kind}{bits}", (Integer,), {**body, "__doc__": f"{text} integer of {bits} bits."})


i8, i16, i32, i64 = (_integer_class("i", bits) for bits in (8, 16, 32, 64))
u8, u16, u32, u64 = (_integer_class("u", bits) for bits in (8, 16, 32, 64))


def _float_class(bits: int) -> Scalar:
    dtype = np.dtype(f"f{bits // 8}")

    def convert(cls: type, value: object = 0.0) -> object:
        """Round once: a cast from a 64-bit integer to f32 must not go through f64."""
        if not isinstance(value, NUMBERS):
            raise TypeError(f"{dtype} of {shown(value)}: expected a number")
        if isinstance(value, Integer):
            return np.asarray(int(value), dtype=value.dtype).astype(dtype)[()]
        return dtype.type(value)

    text = f"Binary floating point of {bits} bits, rounded to nearest even; values are ``numpy.{dtype}``."
    return type(f"f{bits}", (), {"__new__": convert, "kind": "f", "bits": bits, "dtype": dtype, "__doc__": text})


f32, f64 = _float_class(32), _float_class(64)


class boolean:  # noqa: N801
    """The type of comparisons; its values are Python's ``bool``. In arrays, bytes of 0 and 1."""

    kind, bits = "b", 1
    dtype = np.dtype(np.uint8)


INTEGERS: tuple[type[Integer], ...] = (i8, i16, i32, i64, u8, u16, u32, u64)
SCALARS: tuple[Scalar, ...] = (*INTEGERS, f32, f64)
BY_NAME: dict[str, Scalar] = {scalar.__name__: scalar for scalar in SCALARS}
BY_DTYPE: dict[np.dtype, Scalar] = {scalar.dtype: scalar for scalar in SCALARS}


def promoted(scalar: Scalar) -> Scalar:
    """Return the type of arithmetic: at least 32 bits, with the same signedness."""
    if scalar.kind in "iu" and scalar.bits < 32:
        return i32 if scalar.kind == "i" else u32
    return scalar


def joined(left: Scalar, right: Scalar) -> Scalar | None:
    """Return the type in which two operands meet, or None if they need a cast."""
    if left.kind != right.kind:
        return None
    if left.kind == "f":
        return left if left is right else None
    if left.kind == "b":
        return left
    return promoted(left if left.bits >= right.bits else right)


def widens(source: Scalar, target: Scalar) -> bool:
    """Return True if ``source`` may be stored as ``target`` without a cast: same kind, no fewer bits."""
    return bool(source is target or (source.kind == target.kind and source.kind in "iu" and source.bits <= target.bits))


def type_of(value: object) -> Scalar:
    """Return the language's type of a value in a plain-Python run."""
    if isinstance(value, Integer):
        return type(value)
    if isinstance(value, (bool, np.bool_)):
        return boolean
    if isinstance(value, np.float32):
        return f32
    if isinstance(value, (float, np.floating)):
        return f64
    if isinstance(value, int):
        return i32
    raise TypeError(f"{shown(value)} is not a value of the kernel language")


def common_type(left: object, right: object) -> Scalar:
    """Return the operands' common type; a Python ``int`` is a literal and takes the other's type."""
    if type(left) is int or type(right) is int:
        return promoted(type_of(right if type(left) is int else left))
    kind = joined(type_of(left), type_of(right))
    if kind is None:
        raise TypeError(f"{left!r} and {right!r} do not mix without a cast")
    return kind


def fits(scalar: Scalar, value: object) -> bool:
    """Return True if a number of the host, of NumPy or Python, has a value of this type."""
    if scalar is boolean:
        return isinstance(value, (bool, np.bool_, int)) and value in (0, 1)
    if issubclass(scalar, Integer):
        return isinstance(value, (int, np.integer)) and scalar.low <= int(value) <= scalar.high
    # Infinities and not-a-number are values of floats too, and of no others is the difference to itself not 0.
    if not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    most = float(np.finfo(scalar.dtype).max)
    return bool(-most <= value <= most or value - value != 0)


class Const:
    """``Const[i32]``: a parameter with a value known at compile time, compiled once for each value."""

    def __init__(self, scalar: Scalar) -> None:
        self.scalar = scalar

    def __class_getitem__(cls, scalar: Scalar) -> Const:
        return cls(scalar)


class Array:
    """``Array[u16]``: a flat, C-contiguous array, perhaps of a `core.lang.named_arrays.NamedArray`.

    Arrays given to one launch do not overlap.
    """

    def __init__(self, element: Any, naming: type | None = None) -> None:
        self.element = element
        self.naming = naming

    def __class_getitem__(cls, element: Any) -> Array:
        return cls(element)


PLACES = ("global", "readonly", "shared", "image")
"""Places of arrays that kernels only read: as other arrays, or as a `Table`."""


class Table(Array):
    """Array that kernels only read, at a place of memory; a plain ``Array`` is in global memory.

    Parameters
    ----------
    element
        A scalar type.
    place
        ``readonly`` (loads may take a separate path through the device's caches), ``shared`` (each team copies it into
        its shared memory first) or ``image`` (the texture memory of `luong2013`, section 5.2).
    count
        Elements of the table; ``shared`` needs it.

    Raises
    ------
    ValueError
        Another place, or a shared table without a positive count.
    """

    def __init__(self, element: Any, place: str, count: int | None = None) -> None:
        super().__init__(element)
        if place not in PLACES[1:]:
            raise ValueError(f"a table in {shown(place)} memory; expected {', '.join(PLACES[1:])}, or an Array")
        if place == "shared" and (count is None or count < 1):
            raise ValueError(f"a shared table of {count} elements; expected 1 or more")
        self.place = place
        self.count = count


def described(kind: object) -> str:
    """Return an annotation as source text."""
    inner = getattr(kind, "element", getattr(kind, "scalar", None))
    if inner is None:
        return str(getattr(kind, "name", None) or getattr(kind, "__name__", None) or shown(kind))
    count = ""
    if isinstance(kind, Table):  # only the size of a copy decides the code
        count = f", {kind.place}" + f", {kind.count}" * (kind.place == "shared")
    return f"{type(kind).__name__}[{described(inner)}{count}]"


class Generic:
    """A placeholder in a function's signature, bound to a scalar type by each call: ``T = Generic("T")``."""

    def __init__(self, name: str) -> None:
        self.name = name
