"""Names of bundles, and bundles as arguments of calls."""

from __future__ import annotations

import ast
from typing import Any

from core.lang import tree
from core.lang.bundle_forms import RowsOf, is_bundle
from core.lang.front.bundle_types import ArrayRef, Bundle, projected, scalars_of
from core.lang.front.references import References
from core.lang.intrinsics import WORDS
from core.lang.types import Generic


class Bundles(References):
    """Names and passes the bundles of one function."""

    def named(self, node: ast.expr, name: str, value: Bundle) -> list[tree.Assign]:
        """Name a bundle, and return the statements that store its numbers."""
        existing = self.out.locals.get(name) or self.out.parameters.get(name) or self.out.arrays.get(name)
        if existing is not None or name in self.constants or name in WORDS:
            self.refuse(node, f"{name} is a number, an array or a word; give the bundle another name")
        if name in self.source.signature:
            self.refuse(node, f"assignment to the parameter {name}, a bundle; give the new one another name")
        statements, copied = self.keep(name, value)
        if name in self.bundles:
            # the new numbers may be made of the old ones: all values first, then the stores
            held = [self.hold(statement.value) for statement in statements]
            stores = [store._replace(value=local) for store, (_, local) in zip(statements, held, strict=True)]
            statements = [first for first, _ in held] + stores
        if self.bundles.setdefault(name, copied) != copied:
            self.refuse(
                node, f"{name} is already a bundle of other arrays or another class; give this one another name"
            )
        if self.defined is not None:
            self.defined.add(name)
        return statements

    def keep(self, path: str, value: Bundle) -> tuple[list[tree.Assign], Bundle]:
        """Copy mutable values into locals: numbers of bundles made here, and the numbers of rows."""
        statements: list[tree.Assign] = []
        members = dict(value.members)
        constants = {field.name for field in value.type.fields if isinstance(field.type, tree.Literal)}
        row = value.row
        if row is not None:
            row = self.copied(f"{path}[]", row, statements)
        for name, member in value.members.items():
            if isinstance(member, Bundle):
                inner, members[name] = self.keep(f"{path}.{name}", member)
                statements += inner
                continue
            stays = isinstance(member, ArrayRef) or name in constants or (self.is_given(member) and not value.is_new)
            if not stays:
                members[name] = self.copied(f"{path}.{name}", member, statements)
        return statements, value._replace(members=members, row=row)

    def is_given(self, value: object) -> bool:
        """Return True if an expression is a field of a parameter, which never changes."""
        if not isinstance(value, tree.Local) or value.name.isidentifier():
            return False
        return value.name in self.out.offered or value.name in self.out.parameters

    def copied(self, name: str, value: tree.Expression, statements: list[tree.Assign]) -> tree.Local:
        self.out.locals[name] = value.type
        statements.append(tree.Assign(name, value))
        return tree.Local(value.type, name)

    def passed_bundle(
        self, node: ast.expr, kind: Any, bound: dict[str, Any], subject: str
    ) -> tuple[Bundle, tree.BundleType]:
        """Return a bundle as an argument for a parameter of this annotation, and the parameter's type."""
        rows = isinstance(kind, RowsOf)
        declared = kind.bundle if rows else kind
        value = self.bundle(node)
        expected = f"Rows[{declared.__name__ if is_bundle(declared) else declared.name}]" if rows else ""
        if value is None:
            self.refuse(node, f"{subject} is {expected or 'a ' + declared.__name__}, not {ast.unparse(node)}")
        if value.type.rows != rows:
            advice = "pass all rows" if rows else f"take a row: {ast.unparse(node)}[k]"
            self.refuse(node, f"{subject} is {expected or 'one ' + value.type.bundle.__name__}; {advice}")
        scalars = []
        if isinstance(declared, Generic):
            declared = self.bind(bound, declared, value.type.bundle)
        elif issubclass(value.type.bundle, declared):  # types of a class that it names are the function's own
            scalars = scalars_of(declared, value.type)
        if not is_bundle(declared) or not issubclass(value.type.bundle, declared):
            name = getattr(declared, "__name__", declared)
            self.refuse(node, f"{subject} is a {name}, not a {value.type.bundle.__name__}")
        for generic, scalar in scalars:
            if self.bind(bound, generic, scalar) is not scalar:
                self.refuse(
                    node, f"{subject}: its {generic.name} is {scalar.__name__}, not {bound[generic.name].__name__}"
                )
        return value, projected(self.type_of_team(value), declared, rows)

    def type_of_team(self, value: Bundle) -> tree.BundleType:
        """Return the bundle's type with the team's copies instead of shared tables, as functions get it."""
        fields = []
        for field in value.type.fields:
            member = value.members[field.name]
            if isinstance(member, Bundle):
                field = field._replace(type=self.type_of_team(member))
            elif isinstance(member, ArrayRef) and member.name in self.out.copies:
                field = field._replace(type=self.out.arrays[self.out.copies[member.name]].array)
            fields.append(field)
        return value.type._replace(fields=tuple(fields))

    def operand(self, value: Bundle, path: str) -> tree.Expression | ArrayRef:
        """Return the field for a parameter of the called function; ``path`` is its name without the bundle's."""
        if value.type.rows and path == ".count":
            return self.touched(value.count)
        first, _, rest = path.removeprefix("[]").removeprefix(".").partition(".")
        if value.type.rows:
            value = value._replace(type=value.type._replace(rows=False))
        field = self.field(value, first)
        return self.operand(field, "." + rest) if isinstance(field, Bundle) else field
