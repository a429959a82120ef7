"""Front end, first part: bundles while a function is translated. They vanish here: a field is an array or a number.

A bundle that a function takes stands for as many parameters as it uses fields of it; the names of those contain a dot,
which no identifier does, so that a field's name can meet no other name.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple, NoReturn

from core.lang import tree
from core.lang.bundles import BundleForm, RowArray, RowsOf, fields_of, is_bundle
from core.lang.front.table_staging import array_type
from core.lang.intrinsics import WORDS
from core.lang.source import Source
from core.lang.types import Array, Const, Generic, boolean, i32, promoted


class ArrayRef(NamedTuple):
    """An array from its element ``offset`` on, a typed expression; None: the whole array."""

    name: str
    type: tree.ArrayType
    offset: Any = None


class Bundle(NamedTuple):
    """A bundle as an expression: typed expressions, `ArrayRef`s and `Bundle`s by the fields' names.

    Attributes
    ----------
    row, count
        Which row of `Rows` it is, and of rows how many there are: typed expressions, or None.
    is_new
        It was made here: a name of it may stand for another one later.

    """

    type: tree.BundleType
    members: dict[str, Any]
    row: Any = None
    count: Any = None
    is_new: bool = False


def bundle_type(
    path: str, form: BundleForm, types: dict[str, Any], constants: dict[str, Any], rows: bool = False
) -> tree.BundleType:
    """The type of a kernel's bundle.

    Parameters
    ----------
    path
        The bundle's name, with ``[]`` if it is rows.
    form
        As the launch gives it.
    types
        The scalar type of every `Generic`, by its name.
    constants
        The value of every ``Const``, by its path.
    rows
        Whether it is rows.

    """
    fields = []
    for name, kind in form.kinds:
        size = kind.size if isinstance(kind, RowArray) and rows else None
        inner = f"{path}.{name}"
        if isinstance(kind, BundleForm):
            found: Any = bundle_type(inner, kind, types, constants, rows)._replace(rows=False)
        elif isinstance(kind, Const):
            found = tree.Literal(kind.scalar, constants[inner])
        else:
            element = kind.element if isinstance(kind, Array) else kind
            element = types[element.name] if isinstance(element, Generic) else element
            found = array_type(kind, element) if isinstance(kind, Array) else element
        fields.append(tree.Field(name, found, size))
    return tree.BundleType(form.bundle, tuple(fields), rows)


def projected(given: tree.BundleType, declared: type, rows: bool) -> tree.BundleType:
    """The type of a function's parameter: of the fields that are given those that its class has."""
    types = {field.name: field for field in given.fields}
    fields = []
    for name, kind in fields_of(declared).items():
        field = types[name]
        inner = projected(field.type, kind, rows)._replace(rows=False) if is_bundle(kind) else field.type
        fields.append(tree.Field(name, inner, field.size if rows else None))
    return tree.BundleType(declared, tuple(fields), rows)


def scalars_of(declared: type, given: tree.BundleType) -> list[tuple[Any, Any]]:
    """Every `Generic` among the fields of a class, and the scalar type that stands for it in ``given``."""
    types = {field.name: field.type for field in given.fields}
    found = []
    for name, kind in fields_of(declared).items():
        if is_bundle(kind):
            found += scalars_of(kind, types[name])
        element = kind.element if isinstance(kind, Array) else kind
        if isinstance(element, Generic):
            found.append((element, types[name].holds if isinstance(kind, Array) else types[name]))
    return found


def candidate_parameters(path: str, given: tree.BundleType) -> dict[str, Any]:
    """The parameters that a bundled parameter may stand for, in the order of the fields."""
    found: dict[str, Any] = {}
    if given.rows:
        found[f"{path}.count"] = i32
        path += "[]"
    for field in given.fields:
        inner = f"{path}.{field.name}"
        if isinstance(field.type, tree.BundleType):
            found |= candidate_parameters(inner, field.type)
        elif not isinstance(field.type, tree.Literal):
            found[inner] = field.type
    return found


def boolean_of_parameter(name: str) -> tree.Compare:
    """A truth value that a kernel takes as a number: no device has truth values as arguments of launches."""
    return tree.Compare(boolean, "ne", tree.Local(i32, name), tree.Literal(i32, i32(0)))


def bundle_parameter(path: str, given: tree.BundleType, in_kernel: bool = False) -> Bundle:
    """A bundled parameter as an expression."""
    members: dict[str, Any] = {}
    inside = path + "[]" * given.rows
    for field in given.fields:
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
    return Bundle(given, members, count=tree.Local(i32, f"{path}.count") if given.rows else None)


class BundleLowering:
    """What the front end knows of bundles in one function; `core.lang.front.expressions.Expressions` adds the rest."""

    source: Source
    out: tree.TypedFunction
    defined: set[str] | None
    bundles: dict[str, Bundle]

    def refuse(self, node: Any, what: str) -> NoReturn:
        """Raise a located `KernelError`."""
        self.source.refuse(node, what)

    def bundle(self, node: Any) -> Bundle | None:
        """The bundle that an expression is, or None if it is none."""
        if isinstance(node, ast.Name):
            found = self.bundles.get(node.id)
            if found is not None and self.defined is not None and node.id not in self.defined:
                self.refuse(node, f"{node.id} may be unassigned here; give it a value on every path")
            return found
        if isinstance(node, ast.Attribute):
            outer = self.bundle(node.value)
            inner = None if outer is None else self.member(outer, node)
            return inner if isinstance(inner, Bundle) else None
        if isinstance(node, ast.Subscript):
            rows = self.bundle(node.value)
            return None if rows is None else self.row(rows, node)
        cls = self.made_of(node)
        return None if cls is None else self.constructed(node, cls, "")[1]

    def made_of(self, node: Any) -> Any:
        """The class of the bundle that a call makes, or None if it makes none."""
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and self.is_free(node.func.id)
        cls = self.source.lookup(node.func.id) if named else None
        return cls if is_bundle(cls) else None

    def row(self, rows: Bundle, node: ast.Subscript) -> Bundle:
        """``walks[w]``."""
        name = ast.unparse(node.value)
        if not rows.type.rows:
            self.refuse(node, f"a subscript of the bundle {name}; read a field of it, or take Rows[...] of it")
        index = self.index(node.slice)  # type: ignore[attr-defined]
        if index.type is not i32:
            self.refuse(node, f"row {ast.unparse(node.slice)} of {name} is {index.type.__name__}; cast it to i32")
        return Bundle(rows.type._replace(rows=False), rows.members, row=index)

    def member(self, outer: Bundle, node: ast.Attribute) -> Any:
        """``one.field``: a typed expression, an `ArrayRef` or a `Bundle`."""
        name, cls = node.attr, outer.type.bundle
        if outer.type.rows:
            if name != "count":
                self.refuse(node, f"{name} of rows; take a row first: {ast.unparse(node.value)}[k].{name}, or .count")
            return self.touched(outer.count)
        if name not in outer.members:
            self.refuse(node, f"{cls.__name__} has no field {name}; it has {', '.join(outer.members)}")
        return self.field(outer, name)

    def field(self, outer: Bundle, name: str) -> Any:
        """A field, of a row the row's own part."""
        value = outer.members[name]
        if isinstance(value, Bundle):
            return value if outer.row is None else value._replace(row=outer.row)
        size = next(field.size for field in outer.type.fields if field.name == name)
        if isinstance(value, ArrayRef) and outer.row is not None and size is not None:
            value = value._replace(offset=self.begin_of_row(outer, size))
        return self.touched(value)

    def begin_of_row(self, outer: Bundle, size: int | str) -> Any:
        """The element at which a row begins; None for the first one of a constant number."""
        if isinstance(outer.row, tree.Literal) and outer.row.value == 0:
            return None
        elements = self.field(outer._replace(row=None), size) if isinstance(size, str) else tree.Literal(i32, i32(size))
        return tree.Binary(i32, "mul", outer.row, self.cast(elements, i32))  # type: ignore[attr-defined]

    def touched(self, value: Any) -> Any:
        """The value, which the function now takes as a parameter if it is one that it is offered."""
        name = getattr(value, "name", None)
        if name in self.out.offered:
            self.out.parameters.setdefault(name, self.out.offered[name])
        return value

    def constructed(self, node: ast.Call, cls: Any, path: str) -> tuple[list[Any], Bundle]:
        """``Move(i, j)``: the statements for its new arrays, and the bundle, which will be named ``path``."""
        kinds = fields_of(cls)
        if node.keywords or len(node.args) != len(kinds):
            self.refuse(node, f"{cls.__name__} takes its fields by position: {', '.join(kinds)}")
        statements: list[Any] = []
        members: dict[str, Any] = {}
        bound: dict[str, Any] = {}
        for (name, kind), given in zip(kinds.items(), node.args, strict=True):
            what = f"field {name} of {cls.__name__}"
            if is_bundle(kind):
                value: Any = self.bundle(given)
                if value is None or value.type.rows or not issubclass(value.type.bundle, kind):
                    self.refuse(given, f"{what} is a {kind.__name__}, not {ast.unparse(given)}")
            elif isinstance(kind, Array):
                value = self.array_field(given, f"{path}.{name}" if path else "", statements)
                wanted = self.bind(bound, kind.element, value.type.holds)  # type: ignore[attr-defined]
                if wanted is not value.type.holds:
                    self.refuse(given, f"{what} is Array[{wanted.__name__}], not Array[{value.type.holds.__name__}]")
                if isinstance(kind, RowArray) and value.type.space == "local":
                    self.refuse(given, f"{what} is a row, not a local array; declare the field as Array[...]")
            elif isinstance(kind, Const):
                value = tree.Literal(kind.scalar, self.known(given, kind.scalar, what))  # type: ignore[attr-defined]
            else:
                value = self.number_field(given, kind, bound, what)
            members[name] = value
        fields = tuple(
            tree.Field(name, value if isinstance(kinds[name], Const) else value.type) for name, value in members.items()
        )
        return statements, Bundle(tree.BundleType(cls, fields), members, is_new=True)

    def array_field(self, given: Any, path: str, statements: list[Any]) -> ArrayRef:
        """An array for a field of a new bundle, which may be a new array too."""
        word = given.func.id if isinstance(given, ast.Call) and isinstance(given.func, ast.Name) else ""
        if word in ("shared_array", "local_array"):
            if not path:
                self.refuse(given, f"{word} in a bundle without a name; assign the bundle to one first")
            self.check_word(given.func, self.source.lookup(word))  # type: ignore[attr-defined]
            statements += self.new_array(given, path, word)  # type: ignore[attr-defined]
            return ArrayRef(path, self.out.arrays[path].array)
        found: ArrayRef = self.array(given)
        return found

    def number_field(self, given: Any, kind: Any, bound: dict[str, Any], what: str) -> Any:
        """A number for a field of a new bundle."""
        value = self.expression(given)  # type: ignore[attr-defined]
        if isinstance(kind, Generic) and kind.name not in bound:
            value = self.settled(value, given)  # type: ignore[attr-defined]
        wanted = self.bind(bound, kind, None if value.type is None else promoted(value.type))  # type: ignore[attr-defined]
        return self.stored(value, wanted, given, what, given)  # type: ignore[attr-defined]

    def array(self, node: Any) -> ArrayRef:
        """The array that a name or a field stands for."""
        raise NotImplementedError

    def is_free(self, name: str) -> bool:
        """Whether a name is none of the function's own, so that its module or closure says what it means."""
        raise NotImplementedError

    # --- names of bundles ---

    def named(self, node: Any, name: str, value: Bundle) -> list[Any]:
        """Give a bundle a name: the statements that keep its numbers, which the name then stands for."""
        taken = self.out.locals.get(name) or self.out.parameters.get(name) or self.out.arrays.get(name)
        if taken is not None or name in self.constants or name in WORDS:  # type: ignore[attr-defined]
            self.refuse(node, f"{name} is a number, an array or a word; give the bundle another name")
        if name in self.source.signature:
            self.refuse(node, f"assignment to the parameter {name}, a bundle; give the new one another name")
        statements, kept = self.keep(name, value)
        if name in self.bundles:  # the new numbers may be made of the old ones: all values first, then the stores
            held = [self.hold(one.value) for one in statements]  # type: ignore[attr-defined]
            stores = [one._replace(value=local) for one, (_, local) in zip(statements, held, strict=True)]
            statements = [first for first, _ in held] + stores
        if self.bundles.setdefault(name, kept) != kept:
            self.refuse(
                node,
                f"{name} is already a bundle of other arrays or another class; give this one another name",
            )
        if self.defined is not None:
            self.defined.add(name)
        return statements

    def keep(self, path: str, value: Bundle) -> tuple[list[Any], Bundle]:
        """Copy into locals what may change later: numbers of bundles made here, and the numbers of rows."""
        statements: list[Any] = []
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

    def is_given(self, value: Any) -> bool:
        """Whether an expression is a field of a parameter, which nothing changes."""
        if not isinstance(value, tree.Local) or value.name.isidentifier():
            return False
        return value.name in self.out.offered or value.name in self.out.parameters

    def copied(self, name: str, value: Any, statements: list[Any]) -> Any:
        """A local of this name, with the value."""
        self.out.locals[name] = value.type
        statements.append(tree.Assign(name, value))
        return tree.Local(value.type, name)

    # --- bundles handed on ---

    def passed_bundle(self, node: Any, kind: Any, bound: dict[str, Any], what: str) -> tuple[Bundle, tree.BundleType]:
        """A bundle as an argument for a parameter of this annotation, and the parameter's type."""
        rows = isinstance(kind, RowsOf)
        declared = kind.bundle if rows else kind
        value = self.bundle(node)
        wanted = f"Rows[{declared.__name__ if is_bundle(declared) else declared.name}]" if rows else ""
        if value is None:
            self.refuse(node, f"{what} is {wanted or 'a ' + declared.__name__}, not {ast.unparse(node)}")
        if value.type.rows != rows:
            advice = "pass all rows" if rows else f"take a row: {ast.unparse(node)}[k]"
            self.refuse(node, f"{what} is {wanted or 'one ' + value.type.bundle.__name__}; {advice}")
        scalars = []
        if isinstance(declared, Generic):
            declared = self.bind(bound, declared, value.type.bundle)  # type: ignore[attr-defined]
        elif issubclass(value.type.bundle, declared):  # types of a class that it names are the function's own
            scalars = scalars_of(declared, value.type)
        if not is_bundle(declared) or not issubclass(value.type.bundle, declared):
            name = getattr(declared, "__name__", declared)
            self.refuse(node, f"{what} is a {name}, not a {value.type.bundle.__name__}")
        for generic, scalar in scalars:
            if self.bind(bound, generic, scalar) is not scalar:  # type: ignore[attr-defined]
                self.refuse(
                    node, f"{what}: its {generic.name} is {scalar.__name__}, not {bound[generic.name].__name__}"
                )
        return value, projected(self.type_of_team(value), declared, rows)

    def type_of_team(self, value: Bundle) -> tree.BundleType:
        """The bundle's type with the team's copies of shared tables, which a function gets in their place."""
        fields = []
        for field in value.type.fields:
            member = value.members[field.name]
            if isinstance(member, Bundle):
                field = field._replace(type=self.type_of_team(member))
            elif isinstance(member, ArrayRef) and member.name in self.out.copies:
                field = field._replace(type=self.out.arrays[self.out.copies[member.name]].array)
            fields.append(field)
        return value.type._replace(fields=tuple(fields))

    def operand(self, value: Bundle, path: str) -> Any:
        """What a bundle has for a parameter of the called function: ``path`` is its name without the bundle's own."""
        if value.type.rows and path == ".count":
            return self.touched(value.count)
        first, _, rest = path.removeprefix("[]").removeprefix(".").partition(".")
        if value.type.rows:
            value = value._replace(type=value.type._replace(rows=False))
        found = self.field(value, first)
        return self.operand(found, "." + rest) if isinstance(found, Bundle) else found
