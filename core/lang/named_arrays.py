"""Named arrays: arrays with a fixed number of elements of one type, each with a name."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

from core.errors import UserError
from core.lang.bundle_forms import RowArray
from core.lang.intrinsics import Memory
from core.lang.types import BY_NAME, SCALARS, Array, described

K = TypeVar("K")
M = TypeVar("M")


class ElementName:
    """Name of an element: its index in the class, its value in a plain-Python run."""

    def __init__(self, index: int) -> None:
        self.index = index

    def __get__(self, memory: Memory | None, owner: type) -> int | float:
        return self.index if memory is None else memory[self.index]

    def __set__(self, memory: Memory, value: int | float) -> None:
        memory[self.index] = value


class NamedArray(Memory):
    """Base class of named arrays: ``class Status(NamedArray)`` with annotations ``cost: i32``, all of one scalar type.

    As a type, ``Status`` is an array of this scalar type. Kernels read and write ``walk.status.cost``. ``Status.cost``
    is the index of ``cost``, on the host and in kernels.

    Raises
    ------
    UserError
        No column, columns of several types or of a type that is no scalar, a column with a value or a name of
        `core.lang.intrinsics.Memory`, or a base class besides this one.
    """

    __columns__: tuple[str, ...] = ()
    __element__: object = None

    def __init_subclass__(cls) -> None:
        columns = inspect.get_annotations(cls)
        kinds = [BY_NAME.get(kind, kind) if isinstance(kind, str) else kind for kind in columns.values()]
        is_valid = cls.__bases__ == (NamedArray,) and kinds and kinds[0] in SCALARS
        if not is_valid or any(kind is not kinds[0] for kind in kinds):
            texts = ", ".join(sorted({kind if isinstance(kind, str) else described(kind) for kind in kinds})) or "none"
            raise UserError(f"{cls.__qualname__}: columns of types {texts}; expected names of one scalar type")
        for index, name in enumerate(columns):
            if name in vars(cls) or name.startswith("_") or name in ("data", "element"):
                raise UserError(f"{cls.__qualname__}.{name}: a value or a reserved name; write another name: i32")
            setattr(cls, name, ElementName(index))
        cls.__columns__ = tuple(columns)
        cls.__element__ = kinds[0]


def columns_of(naming: type[Any]) -> tuple[str, ...]:
    """Return the names of a named array's elements, in order."""
    return naming.__columns__


def size_of(naming: type[Any]) -> int:
    return len(columns_of(naming))


def as_array(kind: K) -> K | Array:
    """Return the array type of a named array, any other annotation as it is."""
    if isinstance(kind, type) and issubclass(kind, NamedArray) and kind is not NamedArray:
        return Array(kind.__element__, kind)
    return kind


def as_named(memory: M | Memory, kind: object) -> M | Memory:
    """Return an array of a plain-Python run as its annotation names it, without further elements; all rows whole."""
    naming = getattr(kind, "naming", None)
    if naming is None or not isinstance(memory, Memory):
        return memory
    is_longer = memory.data.size > size_of(naming) and not isinstance(kind, RowArray)
    return naming(memory.data[: size_of(naming)] if is_longer else memory.data, memory.element)
