"""Forms of bundles: the class of a bundle and the kinds of its fields at a launch, by which executables are chosen."""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, TypeGuard

from core.lang.types import Array, Generic, described, i32

FORM_SUFFIX = " is"
"""Suffix of a parameter's name, under which its `BundleForm` is listed among the types of a launch."""


class RowArray(Array):
    """Kind of a field ``Array[...] = Row(size)``; its element may be a `core.lang.types.Generic`."""

    def __init__(self, element: Any, size: int | str, naming: type | None = None) -> None:
        super().__init__(element, naming)
        self.size = size


class Declaration(Protocol):
    """A kernel's name and annotations."""

    name: str

    @property
    def signature(self) -> dict[str, Any]: ...
    def __hash__(self) -> int: ...


class RowsOf(NamedTuple):
    """The annotation ``Rows[Walk]``; ``bundle`` may be a `core.lang.types.Generic`, which the launch binds."""

    bundle: type | Generic


def is_bundle(kind: object) -> TypeGuard[type]:
    return isinstance(kind, type) and hasattr(kind, "__fields__")


def fields_of(cls: type) -> dict[str, Any]:
    return cls.__fields__  # type: ignore[attr-defined]


def is_bundled(kind: object) -> bool:
    """Return True for the annotation of a bundle or its rows; for a `Generic` only the argument can tell."""
    return isinstance(kind, RowsOf) or is_bundle(kind)


class BundleForm:
    """Class of a bundle and kinds of its fields at a launch.

    ``kinds`` are pairs of a field's name and its kind. ``text`` has both, and is the key of executables. ``nested`` is
    true if a field is a bundle.
    """

    __slots__ = ("bundle", "kinds", "nested", "text")

    def __init__(self, bundle: type, kinds: tuple[tuple[str, Any], ...]) -> None:
        self.bundle, self.kinds = bundle, kinds
        self.nested = any(isinstance(kind, BundleForm) for _, kind in kinds)
        fields = ", ".join(f"{name}: {kind_text(kind)}" for name, kind in kinds)
        self.text = f"{bundle.__module__}.{bundle.__qualname__}({fields})"

    def __repr__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, BundleForm) and self.text == other.text)

    def __hash__(self) -> int:
        return hash(self.text)


def kind_text(kind: Any) -> str:
    """Return a field's kind as source text; of a bundle, all its fields, of a named array, all its columns."""
    columns = f", {', '.join(kind.naming.__columns__)}" if getattr(kind, "naming", None) else ""
    if isinstance(kind, RowArray):
        return f"Row({described(kind.element)}, {kind.size!r}{columns})"
    if is_bundle(kind):
        return f"{kind.__qualname__}({', '.join(f'{n}: {kind_text(k)}' for n, k in fields_of(kind).items())})"
    return repr(kind) if isinstance(kind, BundleForm) else described(kind) + columns


class TablePlacement:
    """Table fields of a bundle, and its forms with them; copies of the bundle share one object."""

    def __init__(self, kinds: dict[str, Any]) -> None:
        self.kinds = kinds
        self.forms: dict[tuple[type, str], BundleForm] = {}


def form_of(instance: Any, declared: type | None = None, owner: str = "") -> BundleForm:
    """Return the form of a bundle, limited to the fields of ``declared`` if given.

    A parameter of any class is the ``owner`` of the class's `Generic` types, so that they never clash with others.
    """
    placement: TablePlacement | None = instance.__placed__
    cls: type = declared or type(instance)
    form = placement.forms.get((cls, owner)) if placement else plain_form(cls, owner)
    if form is None:
        kinds: list[tuple[str, Any]] = []
        for name, kind in fields_of(cls).items():
            if is_bundle(kind):
                kinds.append((name, form_of(getattr(instance, name), kind, owner)))
            else:
                kinds.append((name, _owned(placement.kinds.get(name, kind) if placement else kind, owner)))
        form = form_with(cls, tuple(kinds))
        if placement:
            placement.forms[cls, owner] = form
    return form


@lru_cache(maxsize=1024)
def plain_form(cls: type, owner: str = "") -> BundleForm | None:
    """Return the form of all bundles of a class without placed tables; None if the class has inner bundles."""
    kinds = fields_of(cls).items()
    inner = any(is_bundle(kind) for _, kind in kinds)
    return None if inner else form_with(cls, tuple((name, _owned(kind, owner)) for name, kind in kinds))


@lru_cache(maxsize=1024)
def form_with(bundle: type, kinds: tuple[tuple[str, Any], ...]) -> BundleForm:
    return BundleForm(bundle, kinds)


@lru_cache(maxsize=1024)
def _owned(kind: object, owner: str) -> object:
    """Return a field's kind, its `Generic` renamed after the owner if there is one."""
    if owner and isinstance(kind, Generic):
        return Generic(f"{kind.name} of {owner}")
    if owner and isinstance(kind, Array) and isinstance(kind.element, Generic):
        kind = copy.copy(kind)
        kind.element = _owned(kind.element, owner)
    return kind


@lru_cache(maxsize=1024)
def kinds_by_name(name: str, is_rows: bool, form: BundleForm) -> dict[str, Any]:
    """Return the parameters of a bundle: ``walk.cost``, and for rows ``walks.count`` and ``walks[].cost``."""
    kinds: dict[str, Any] = {}
    if is_rows:
        kinds[f"{name}.count"] = i32
        name += "[]"
    for field, inner in form.kinds:
        if isinstance(inner, BundleForm):
            kinds |= kinds_by_name(f"{name}.{field}", False, inner)
        else:
            kinds[f"{name}.{field}"] = inner
    return kinds


@lru_cache(maxsize=256)
def all_kinds_of(kernel: Declaration, forms: tuple[tuple[str, BundleForm], ...]) -> dict[str, Any]:
    """Return a kernel's parameters with the fields of its bundles of these forms."""
    kinds: dict[str, Any] = {}
    forms_by_name = dict(forms)
    for name, kind in kernel.signature.items():
        if name + FORM_SUFFIX in forms_by_name:
            kinds |= kinds_by_name(name, isinstance(kind, RowsOf), forms_by_name[name + FORM_SUFFIX])
        elif name != "return":
            kinds[name] = kind
    return kinds
