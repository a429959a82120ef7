"""Tables in the typed tree: arrays that kernels only read, in the memory that their `core.lang.types.Table` names."""

from __future__ import annotations

from typing import Any

from core.lang import tree
from core.lang.types import Array, Scalar, Table, i32, i64


def array_type(kind: Array, element: Scalar) -> tree.ArrayType:
    """Return the type of a kernel's array parameter."""
    if not isinstance(kind, Table):
        return tree.ArrayType(element, "global")
    return tree.ArrayType(element, "image" if kind.place == "image" else "readonly", True)


def stage_tables(
    kernel: tree.TypedFunction, kinds: dict[str, Any], used: set[str], team_size: int
) -> dict[str, list[tree.Statement]]:
    """Return the statements by which a team copies shared tables before the kernel's first one, by the copy's name.

    The copies are entered in ``kernel.arrays`` and ``kernel.copies``; the plain-Python run reads the tables themselves.
    ``kinds`` are the annotations of the parameters, ``used`` all names in the kernel's body.
    """
    statements: dict[str, list[tree.Statement]] = {}
    for name, kind in kinds.items():
        if not isinstance(kind, Table) or kind.place != "shared" or kind.count is None:
            continue
        copy, step = (fresh_name(f"{name}_{word}", used | set(kinds)) for word in ("of_team", "copied"))
        element = kernel.parameters[name].element
        array = tree.NewArray(copy, kernel.parameters[name]._replace(space="shared"), kind.count)
        scalar = i32 if kind.count < 2**30 else i64
        kernel.copies[name], kernel.arrays[copy], kernel.locals[step] = copy, array, scalar
        first: tree.Expression = tree.Intrinsic(i32, "lane", ())
        if scalar is i64:
            first = tree.Cast(i64, first)
        store = tree.Store(copy, tree.Local(scalar, step), tree.Load(element, name, tree.Local(scalar, step)))
        stop, width = (tree.Literal(scalar, scalar(n)) for n in (kind.count, team_size))
        statements[copy] = [array, tree.For(step, scalar, first, stop, width, False, [store])]
    return statements


def drop_unread_copies(kernel: tree.TypedFunction, copying: dict[str, list[Any]]) -> list[tree.Statement]:
    """Keep the statements of `stage_tables` for the tables that the kernel reads, and undo the rest."""
    for name, copy in list(kernel.copies.items()):
        if copy not in kernel.staged:
            del kernel.copies[name], kernel.arrays[copy], kernel.locals[copying.pop(copy)[1].name]
    return [*(s for statements in copying.values() for s in statements), tree.Barrier()] if copying else []


def fresh_name(name: str, used: set[str]) -> str:
    """Return the name, lengthened until it is unused."""
    while name in used:
        name += "x"
    return name
