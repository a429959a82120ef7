"""Bundles in the front end: a field is an array or a number, and a bundle is only their names.

A bundle parameter becomes one parameter for each field that the function uses. Their names contain a dot, as no
identifier does, so they never clash with other names.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from core.lang import tree
from core.lang.bundle_forms import BundleForm, RowArray, fields_of, is_bundle
from core.lang.front.table_staging import array_type
from core.lang.types import Array, Const, Generic, boolean, i32


class ArrayRef(NamedTuple):
    """An array from its element ``offset`` on, a typed expression; None for the whole array.

    ``length`` is the number of elements from there on, None if only a launch knows it.
    """

    name: str
    type: tree.ArrayType
    offset: tree.Expression | None = None
    length: int | None = None


class Bundle(NamedTuple):
    """A bundle as an expression: typed expressions, `ArrayRef`s and `Bundle`s by the fields' names.

    ``row`` is the index of a row in `Rows`, ``count`` the number of rows: typed expressions, or None. ``is_new`` if the
    function made the bundle, so that its name may be assigned again.
    """

    type: tree.BundleType
    members: dict[str, Any]
    row: tree.Expression | None = None
    count: Any = None
    is_new: bool = False


def bundle_type(
    path: str, form: BundleForm, types: dict[str, Any], constants: dict[str, Any], rows: bool = False
) -> tree.BundleType:
    """Return the type of a kernel's bundle from its form at the launch.

    ``path`` is the bundle's name, with ``[]`` for rows. ``types`` has the scalar type of every `Generic` by its name,
    ``constants`` the value of every ``Const`` by its path.
    """
    fields = []
    for name, kind in form.kinds:
        size = kind.size if isinstance(kind, RowArray) and rows else None
        inner = f"{path}.{name}"
        if isinstance(kind, BundleForm):
            kind_of_field: object = bundle_type(inner, kind, types, constants, rows)._replace(rows=False)
        elif isinstance(kind, Const):
            kind_of_field = tree.Literal(kind.scalar, constants[inner])
        else:
            element = kind.element if isinstance(kind, Array) else kind
            element = types[element.name] if isinstance(element, Generic) else element
            kind_of_field = array_type(kind, element) if isinstance(kind, Array) else element
        fields.append(tree.Field(name, kind_of_field, size))
    return tree.BundleType(form.bundle, tuple(fields), rows)


def projected(bundle: tree.BundleType, declared: type, rows: bool) -> tree.BundleType:
    """Return the type of a function's parameter: the fields of its class, with the types of the passed bundle."""
    types = {field.name: field for field in bundle.fields}
    fields = []
    for name, kind in fields_of(declared).items():
        field = types[name]
        inner = projected(field.type, kind, rows)._replace(rows=False) if is_bundle(kind) else field.type
        fields.append(tree.Field(name, inner, field.size if rows else None))
    return tree.BundleType(declared, tuple(fields), rows)


def scalars_of(declared: type, bundle: tree.BundleType) -> list[tuple[Any, Any]]:
    """Return every `Generic` among the fields of a class, with its scalar type in ``bundle``."""
    types = {field.name: field.type for field in bundle.fields}
    scalars = []
    for name, kind in fields_of(declared).items():
        if is_bundle(kind):
            scalars += scalars_of(kind, types[name])
        element = kind.element if isinstance(kind, Array) else kind
        if isinstance(element, Generic):
            scalars.append((element, types[name].holds if isinstance(kind, Array) else types[name]))
    return scalars


def candidate_parameters(path: str, bundle: tree.BundleType) -> dict[str, Any]:
    """Return the parameters that a bundled parameter may become, in the order of the fields."""
    parameters: dict[str, Any] = {}
    if bundle.rows:
        parameters[f"{path}.count"] = i32
        path += "[]"
    for field in bundle.fields:
        inner = f"{path}.{field.name}"
        if isinstance(field.type, tree.BundleType):
            parameters |= candidate_parameters(inner, field.type)
        elif not isinstance(field.type, tree.Literal):
            parameters[inner] = field.type
    return parameters


def boolean_of_parameter(name: str) -> tree.Compare:
    """Return a truth value passed as a number: launches of devices take no truth values."""
    return tree.Compare(boolean, "ne", tree.Local(i32, name), tree.Literal(i32, i32(0)))


def bundle_parameter(path: str, bundle: tree.BundleType, in_kernel: bool = False) -> Bundle:
    """Return a bundled parameter as an expression."""
    members: dict[str, Any] = {}
    inside = path + "[]" * bundle.rows
    for field in bundle.fields:
        inner = f"{inside}.{field.name}"
        if isinstance(field.type, tree.BundleType):
            members[field.name] = bundle_parameter(inner, field.type, in_kernel)
        elif isinstance(field.type, tree.ArrayType):
            members[field.name] = ArrayRef(inner, field.type)
        elif isinstance(field.type, tree.Literal):
            members[field.name] = field.type
        elif field.type is boolean and in_kernel:
            members[field.name] = boolean_of_parameter(inner)
        else:
            members[field.name] = tree.Local(field.type, inner)
    return Bundle(bundle, members, count=tree.Local(i32, f"{path}.count") if bundle.rows else None)
