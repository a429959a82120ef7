"""Bundles: arrays and numbers that travel together, through kernels as one parameter and to a launch as one object."""

from __future__ import annotations

import copy
import inspect
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import FrameType
from typing import Any, TypeVar

from core.errors import LaunchRefused, UserError, shown
from core.lang.bundle_forms import (
    FORM_SUFFIX,
    BundleForm,
    Declaration,
    RowArray,
    RowsOf,
    TablePlacement,
    all_kinds_of,
    fields_of,
    form_of,
    is_bundle,
    is_bundled,
    kind_text,
    plain_form,
)
from core.lang.named_arrays import as_array, size_of
from core.lang.types import SCALARS, Array, Const, Generic, Table, boolean, described

T = TypeVar("T")


class Row:
    """``a: Array[i32] = Row(9)``, ``a: Array[i32] = Row("n")``: every row of `Rows` has a separate array.

    Parameters
    ----------
    size
        Elements of a row: a number, or the name of the bundle's number that holds it; none for a named array.
    """

    def __init__(self, size: int | str = "") -> None:
        if not isinstance(size, (int, str)) or (isinstance(size, int) and size < 0):
            raise ValueError(f"a Row of {shown(size)} elements; expected a number of 0 or more, or a field's name")
        self.size = size
        self.name = f"Row({size!r})" if size != "" else "Row()"


def bundle(cls: type) -> type:
    """Decorator: make a class a bundle with its annotations as fields; a subclass has those of its bases first.

    A field is a scalar type, ``Const[...]`` of one, ``Array[...]`` or a `core.lang.named_arrays.NamedArray`, perhaps
    with a `Row`, or another bundle.
    ``Cut(weights, n)`` makes one, in kernels too; on the host also ``Cut(weights=weights, n=n)``, where rows may be
    left out, so that the backend allocates them. Fields are read by ``cut.n`` and never assigned.

    Raises
    ------
    UserError
        A field that is none of these, has a default value, or has another kind than in a base class; a row with a
        size that is no integer of the bundle; or a bundle within itself.
    """
    if not isinstance(cls, type):
        raise UserError(f"@bundle of {shown(cls)}: expected a class with annotated fields")
    frame = sys._getframe(1)
    fields: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        fields.update(vars(base).get("__fields__", {}))
    for name, annotation in inspect.get_annotations(cls).items():
        subject = f"{cls.__qualname__}.{name}"
        kind = _kind(cls, subject, annotation, frame)
        value = vars(cls).get(name)
        if isinstance(value, Row):
            if type(kind) is not Array:
                raise UserError(f"{subject}: {kind_text(kind)} with a Row; expected Array[...] = Row(...)")
            if (value.size == "") != (kind.naming is not None):
                raise UserError(f"{subject}: {value.name}; expected Row() of named arrays, else Row(size)")
            kind = RowArray(kind.element, size_of(kind.naming) if kind.naming else value.size, kind.naming)
            delattr(cls, name)
        elif name in vars(cls):
            raise UserError(f"{subject} has a value already; give it when a bundle is made")
        if name in fields and kind_text(fields[name]) != kind_text(kind):
            raise UserError(f"{subject}: {kind_text(kind)}; in its base class it is {kind_text(fields[name])}")
        if name.startswith("__"):
            raise UserError(f"{subject}: a name of Python's own; begin it with a letter")
        fields[name] = kind
    for name, kind in fields.items():
        if isinstance(kind, RowArray) and isinstance(kind.size, str) and _scalar_kind(fields.get(kind.size)) != "i":
            numbers = ", ".join(n for n, k in fields.items() if _scalar_kind(k) == "i") or "none"
            raise UserError(f"{cls.__qualname__}.{name}: rows of {kind.size!r} elements; integers here: {numbers}")
    if not fields:
        raise UserError(f"{cls.__qualname__}: a bundle without fields; write name: i32 or name: Array[i32]")
    cls.__fields__ = fields  # type: ignore[attr-defined]
    cls.__placed__ = None  # type: ignore[attr-defined]
    cls.__init__ = _init  # type: ignore[misc]
    cls.__repr__ = _text  # type: ignore[assignment,method-assign]
    return cls


def _kind(cls: type, subject: str, annotation: object, frame: FrameType) -> object:
    text = annotation if isinstance(annotation, str) else described(annotation)
    if isinstance(annotation, str):
        names = {**frame.f_globals, **frame.f_locals}
        if annotation.strip("'\"") == cls.__name__:
            raise UserError(f"{subject}: a bundle within itself; pass the other one as a parameter")
        try:
            annotation = eval(annotation, names)
        except (NameError, TypeError, AttributeError, SyntaxError, ValueError) as error:
            raise UserError(f"{subject}: {text} is no type of a field ({error})") from error
    annotation = as_array(annotation)
    element = annotation.element if isinstance(annotation, Array) else annotation
    valid = element in SCALARS or element is boolean or isinstance(element, Generic) or is_bundle(annotation)
    if isinstance(annotation, Const):
        valid = annotation.scalar in SCALARS or annotation.scalar is boolean
    if not valid or isinstance(annotation, Table):
        raise UserError(
            f"{subject}: {text} is no type of a field; expected a scalar type, Const[...], Array[...], "
            "Array[...] = Row(...) or a bundle"
        )
    return annotation


def _scalar_kind(kind: object) -> str:
    kind = kind.scalar if isinstance(kind, Const) else kind
    return "" if isinstance(kind, Array) or kind not in SCALARS else kind.kind.replace("u", "i")


def _init(self: object, /, *values: object, **named: object) -> None:
    cls: type = type(self)
    fields = fields_of(cls)
    if len(values) > len(fields):
        raise UserError(f"{cls.__qualname__} has {len(fields)} fields, not {len(values)}")
    if len(values) == len(fields) and not named and plain_form(cls) is not None:
        vars(self).update(zip(fields, values, strict=True))
        return
    values_by_name = dict(zip(fields, values, strict=False))
    for name in values_by_name.keys() & named.keys():
        raise UserError(f"{type(self).__qualname__}: two values for its field {name}")
    values_by_name |= named
    for name in values_by_name.keys() - fields.keys():
        raise UserError(f"{type(self).__qualname__} has no field {name}; it has {', '.join(fields)}")
    for name, kind in fields.items():
        if name not in values_by_name and not isinstance(kind, RowArray):
            raise UserError(f"{type(self).__qualname__}: no value for its field {name}: {kind_text(kind)}")
        if is_bundle(kind) and not isinstance(values_by_name[name], kind):
            raise UserError(f"{cls.__qualname__}.{name} is a {kind.__name__}, not {shown(values_by_name[name])}")
        setattr(self, name, values_by_name.get(name))


def _text(self: object) -> str:
    def short(value: object) -> str:
        return f"{value.dtype}[{value.size}]" if hasattr(value, "dtype") and hasattr(value, "size") else repr(value)

    return f"{type(self).__qualname__}({', '.join(f'{n}={short(getattr(self, n))}' for n in fields_of(type(self)))})"


class Rows:
    """Rows of a bundle: one buffer per `Row` field, one value for each other field.

    Made by `backends.device.Device.rows`; kernels take it as ``Rows[Walk]``, read ``walks.count`` and take a row by
    ``walks[w]``. ``bundle`` has buffers that hold all ``count`` rows.
    """

    def __init__(self, bundle: Any, count: int) -> None:
        self.bundle = bundle
        self.count = count

    def __class_getitem__(cls, bundle: type | Generic) -> RowsOf:
        return RowsOf(bundle)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "bundle" not in vars(self):
            raise AttributeError(name)
        return getattr(self.bundle, name)

    def __repr__(self) -> str:
        return f"{self.count} rows of {self.bundle!r}"


def placed(instance: T, place: str) -> T:
    """Return the bundle with its plain arrays as read-only tables in ``place``, one of `core.lang.types.PLACES`."""
    kinds = {}
    for name, kind in form_of(instance).kinds:
        value = getattr(instance, name)
        if place != "global" and isinstance(kind, Array) and not isinstance(kind, RowArray):
            kinds[name] = table = Table(kind.element, place, value.size if place == "shared" else None)
            table.naming = kind.naming
    copied = copy.copy(instance)
    vars(copied)["__placed__"] = TablePlacement(kinds)
    return copied


def _values(instance: object, form: BundleForm) -> list[Any]:
    """Return the values of `kinds_by_name`'s parameters, in the same order."""
    values: list[Any] = []
    if isinstance(instance, Rows):
        values.append(instance.count)
        instance = instance.bundle
    if not form.nested:
        return values + [getattr(instance, field) for field, _ in form.kinds]
    for field, inner in form.kinds:
        value = getattr(instance, field)
        if isinstance(inner, BundleForm):
            values += _values(value, inner)
        else:
            values.append(value)
    return values


def row_sizes(instance: object) -> dict[str, int]:
    """Return the elements of a row for every `Row` field of a bundle, without its inner bundles.

    Raises `UserError` if the field with the size is no number, or negative.
    """
    cls: type = type(instance)
    sizes = {}
    for name, declared in sizes_of_rows(cls).items():
        size = getattr(instance, declared) if isinstance(declared, str) else declared
        if not hasattr(size, "__index__") or size < 0:
            raise UserError(f"{cls.__name__}.{name}: rows of {shown(size)} elements; expected 0 or more")
        sizes[name] = int(size)
    return sizes


@lru_cache(maxsize=1024)
def sizes_of_rows(cls: type) -> dict[str, int | str]:
    """Return the declared size of every `Row` field: a number, or the name of the field that holds it."""
    return {name: kind.size for name, kind in fields_of(cls).items() if isinstance(kind, RowArray)}


@lru_cache(maxsize=1024)
def has_rows(cls: type) -> bool:
    return bool(sizes_of_rows(cls)) or any(is_bundle(kind) and has_rows(kind) for kind in fields_of(cls).values())


def rows_within(path: str, instance: object) -> Iterator[tuple[str, Any, int]]:
    """Yield the path, value and elements of a row of every `Row` field of a bundle and of its inner bundles."""
    for name, size in row_sizes(instance).items():
        yield f"{path}.{name}", getattr(instance, name), size
    for name, kind in fields_of(type(instance)).items():
        if is_bundle(kind):
            yield from rows_within(f"{path}.{name}", getattr(instance, name))


def unchecked_bundle(cls: type, values: dict[str, Any]) -> object:
    """Return a bundle of these fields, unchecked."""
    instance: object = object.__new__(cls)
    vars(instance).update(values)
    return instance


def unbundled(kernel: Declaration, arguments: tuple[Any, ...]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return a launch's parameters with the fields of its bundles, their arguments, and the bundles' forms, by name.

    Raises `LaunchRefused` for a wrong number of arguments, a bundle of another class, a bundle in place of rows or the
    other way round, or rows of unequal counts.
    """
    kinds = dict(kernel.signature)
    del kinds["return"]
    if len(kinds) != len(arguments):
        raise LaunchRefused(f"{kernel.name} takes {len(kinds)} arguments, not {len(arguments)}")
    values: list[Any] = []
    forms: dict[str, Any] = {}
    for (name, kind), value in zip(kinds.items(), arguments, strict=True):
        is_rows = isinstance(value, Rows)
        instance = value.bundle if is_rows else value
        cls: type = type(instance)
        if not (is_bundle(cls) or is_bundled(kind)):
            values.append(value)
            continue
        declared = kind.bundle if isinstance(kind, RowsOf) else kind
        fits = isinstance(declared, Generic) or (is_bundle(declared) and isinstance(instance, declared))
        if not is_bundle(cls) or isinstance(kind, RowsOf) != is_rows or not fits:
            expected = f"Rows[{described(declared)}]" if isinstance(kind, RowsOf) else described(kind)
            name_of_type = f"Rows[{cls.__name__}]" if is_rows else cls.__name__
            raise LaunchRefused(f"{kernel.name}: argument {name} is {expected}, not {name_of_type}")
        form = form_of(instance, owner=name) if isinstance(declared, Generic) else form_of(instance, declared)
        rows = value.count if is_rows else 1
        for path, buffer, size in rows_within(name, instance) if has_rows(cls) else ():
            subject = f"{kernel.name}: argument {path}"
            if rows * size >= 2**31:  # elements are numbered by 32 bits
                raise LaunchRefused(f"{subject}: {rows} rows of {size} elements: expected less than 2^31 in all")
            if hasattr(buffer, "size") and buffer.size != max(1, rows * size):
                raise LaunchRefused(f"{subject} has {buffer.size} elements; expected {rows} rows of {size}")
        forms[name + FORM_SUFFIX] = form
        values += _values(value, form)
    all_kinds = all_kinds_of(kernel, tuple(forms.items())) if forms else kinds
    return all_kinds, dict(zip(all_kinds, values, strict=True)), forms
