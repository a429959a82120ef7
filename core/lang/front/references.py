"""Resolution of arrays and bundles by names, fields, rows and constructors of bundles."""

from __future__ import annotations

import ast
from typing import Any, TypeVar

from core.lang import tree
from core.lang.bundle_forms import RowArray, fields_of, is_bundle
from core.lang.front.bundle_types import ArrayRef, Bundle
from core.lang.front.context import called_name
from core.lang.front.numbers import Numbers
from core.lang.named_arrays import columns_of, size_of
from core.lang.types import BY_NAME, Array, Const, Generic, Scalar, boolean, i32, promoted

LENGTH_ADVICE = "arrays do not know their length: pass it as a number, such as a field n: i32 of the bundle"
TYPES = {**BY_NAME, "boolean": boolean}
SPACES = {"shared_array": "shared", "local_array": "local"}
Node = TypeVar("Node", bound=ast.expr)


class References(Numbers):
    """Finds the arrays and bundles of one function."""

    def bundle(self, node: ast.expr) -> Bundle | None:
        """Return the bundle of an expression, or None."""
        if isinstance(node, ast.Name):
            bundle = self.bundles.get(node.id)
            if bundle is not None and self.defined is not None and node.id not in self.defined:
                self.refuse(node, f"{node.id} may be unassigned here; give it a value on every path")
            return bundle
        if isinstance(node, ast.Attribute):
            outer = self.bundle(node.value)
            inner = None if outer is None else self.member(outer, node)
            return inner if isinstance(inner, Bundle) else None
        if isinstance(node, ast.Subscript):
            rows = self.bundle(node.value)
            return None if rows is None else self.row(rows, node)
        made = self.constructed(node, "")
        return None if made is None else made[1]

    def member(self, outer: Bundle, node: ast.Attribute) -> tree.Expression | ArrayRef | Bundle:
        """Return ``walk.field``: a typed expression, an `ArrayRef` or a `Bundle`."""
        name, cls = node.attr, outer.type.bundle
        if outer.type.rows:
            if name != "count":
                self.refuse(node, f"{name} of rows; take a row first: {ast.unparse(node.value)}[k].{name}, or .count")
            return self.touched(outer.count)
        if name not in outer.members:
            self.refuse(node, f"{cls.__name__} has no field {name}; it has {', '.join(outer.members)}")
        return self.field(outer, name)

    def field(self, outer: Bundle, name: str) -> Any:
        """Return a field; of a row, the row's part."""
        value = outer.members[name]
        if isinstance(value, Bundle):
            return value if outer.row is None else value._replace(row=outer.row)
        size = next(field.size for field in outer.type.fields if field.name == name)
        if isinstance(value, ArrayRef) and outer.row is not None and size is not None:
            length = getattr(outer.members[size], "value", None) if isinstance(size, str) else size
            value = value._replace(offset=self.begin_of_row(outer, size), length=length)
        return self.touched(value)

    def row(self, rows: Bundle, node: ast.Subscript) -> Bundle:
        """Return the row ``walks[w]``."""
        name = ast.unparse(node.value)
        if not rows.type.rows:
            self.refuse(node, f"a subscript of the bundle {name}; read a field of it, or take Rows[...] of it")
        index = self.index(node.slice)
        if index.type is not i32:
            self.refuse(node, f"row {ast.unparse(node.slice)} of {name} is {index.type.__name__}; cast it to i32")
        return Bundle(rows.type._replace(rows=False), rows.members, row=index)

    def begin_of_row(self, outer: Bundle, size: int | str) -> tree.Binary | None:
        """Return the element at which a row begins; None for the constant row 0, and if there are no rows."""
        if outer.row is None or (isinstance(outer.row, tree.Literal) and outer.row.value == 0):
            return None
        elements = self.field(outer._replace(row=None), size) if isinstance(size, str) else tree.Literal(i32, i32(size))
        return tree.Binary(i32, "mul", outer.row, self.cast(elements, i32))

    def array(self, node: ast.expr) -> ArrayRef:
        """Return the array of a name or a bundle's field."""
        if isinstance(node, ast.Attribute) and (outer := self.bundle(node.value)) is not None:
            value = self.member(outer, node)
            if not isinstance(value, ArrayRef):
                described = "a bundle" if isinstance(value, Bundle) else "a number"
                self.refuse(node, f"{ast.unparse(node)} is {described}, not an array")
            return self.counted(self.of_team(value), node)
        if not isinstance(node, ast.Name):
            advice = "name the array itself"
            if isinstance(node, ast.Attribute) and self.is_array(node.value):
                advice = LENGTH_ADVICE
            self.refuse(node, f"{ast.unparse(node)} is not the name of an array; {advice}")
        name = node.id
        kind = self.out.arrays[name].array if name in self.out.arrays else self.out.parameters.get(name)
        if name in self.bundles:
            self.refuse(node, f"the bundle {name} instead of an array; name a field of it")
        if not isinstance(kind, tree.ArrayType):
            self.refuse(node, f"{name} is not an array; declare it as Array[...], shared_array or local_array")
        return self.counted(self.of_team(ArrayRef(name, kind)), node)

    def counted(self, array: ArrayRef, node: ast.expr) -> ArrayRef:
        """Return an array with its number of elements, if that is known."""
        naming, made = self.naming_of(node), self.out.arrays.get(array.name)
        known = size_of(naming) if naming else made.count if made else self.out.counts.get(array.name)
        return array if known is None else array._replace(length=known)

    def is_array(self, node: ast.expr) -> bool:
        """Return True if an expression names an array."""
        if isinstance(node, ast.Attribute) and (outer := self.bundle(node.value)) is not None:
            return isinstance(self.member(outer, node), ArrayRef)
        if not isinstance(node, ast.Name):
            return False
        return node.id in self.out.arrays or isinstance(self.out.parameters.get(node.id), tree.ArrayType)

    def naming_of(self, node: ast.expr) -> type | None:
        """Return the named array of an expression, or None."""
        kind = self.source.signature.get(node.id) if isinstance(node, ast.Name) else None
        if isinstance(node, ast.Attribute) and (outer := self.bundle(node.value)) is not None and not outer.type.rows:
            kind = fields_of(outer.type.bundle).get(node.attr)
        return getattr(kind, "naming", None)

    def element(self, node: Node) -> Node | ast.Subscript:
        """Return ``status.cost`` of a named array as the subscript of its array; any other node as it is."""
        if not isinstance(node, ast.Attribute) or (naming := self.naming_of(node.value)) is None:
            return node
        index = ast.copy_location(ast.Constant(self.column(naming, node)), node)
        return ast.copy_location(ast.Subscript(node.value, index, node.ctx), node)

    def column(self, naming: type, node: ast.Attribute) -> int:
        """Return the index of a named array's element."""
        columns = columns_of(naming)
        if node.attr not in columns:
            self.refuse(node, f"{naming.__name__} has no column {node.attr}; it has {', '.join(columns)}")
        return columns.index(node.attr)

    def check_naming(self, node: ast.expr, kind: Array, subject: str) -> None:
        """Refuse an array, or another named array, where one is declared."""
        if kind.naming is not None and self.naming_of(node) is not kind.naming:
            self.refuse(node, f"{subject} is a {kind.naming.__name__}, not {ast.unparse(node)}; pass such an array")

    def of_team(self, array: ArrayRef) -> ArrayRef:
        """Return the array itself, or the team's copy of a shared table."""
        if array.name not in self.out.copies:
            return array
        name = self.out.copies[array.name]
        self.out.staged.add(name)
        return array._replace(name=name, type=self.out.arrays[name].array)

    def index_in(self, array: ArrayRef, node: ast.expr, beyond: int = 0) -> tree.Expression:
        """Return an index of an array, which may begin at a row; a constant is at most ``beyond`` the last element."""
        index = self.index(node)
        if array.length is not None and isinstance(index, tree.Literal) and index.value >= array.length + beyond:
            self.refuse(node, f"index {int(index.value)} outside an array of {int(array.length)} elements")
        if array.offset is None:
            return index
        return tree.Binary(index.type, "add", self.cast(array.offset, index.type), index)

    def check_writable(self, node: ast.expr, array_node: ast.expr, array: tree.ArrayType) -> None:
        """Refuse a store into a table."""
        if array.fixed:
            name = ast.unparse(array_node)
            self.refuse(
                node, f"a store into the table {name}, which is only read; declare it as Array[...] to write it"
            )

    def constructed(self, node: ast.expr, path: str) -> tuple[list[tree.Statement], Bundle] | None:
        """Translate ``Move(i, j)``: the statements for its new arrays, and the bundle, which will be named ``path``.

        Return None for any other expression.
        """
        name = called_name(node)
        cls = self.source.lookup(name) if name and self.is_free(name) else None
        if not isinstance(node, ast.Call) or not is_bundle(cls):
            return None
        kinds = fields_of(cls)
        if node.keywords or len(node.args) != len(kinds):
            self.refuse(node, f"{cls.__name__} takes its fields by position: {', '.join(kinds)}")
        statements: list[tree.Statement] = []
        members: dict[str, Any] = {}
        bound: dict[str, Any] = {}
        for (name, kind), argument in zip(kinds.items(), node.args, strict=True):
            subject = f"field {name} of {cls.__name__}"
            if is_bundle(kind):
                inner = members[name] = self.bundle(argument)
                if inner is None or inner.type.rows or not issubclass(inner.type.bundle, kind):
                    self.refuse(argument, f"{subject} is a {kind.__name__}, not {ast.unparse(argument)}")
            elif isinstance(kind, Array):
                self.check_naming(argument, kind, subject)
                array = members[name] = self.array_field(argument, f"{path}.{name}" if path else "", statements)
                self.bind_array(argument, kind, bound, array, subject)
                if isinstance(kind, RowArray) and array.type.space == "local":
                    self.refuse(argument, f"{subject} is a row, not a local array; declare the field as Array[...]")
            elif isinstance(kind, Const):
                members[name] = tree.Literal(kind.scalar, self.known(argument, kind.scalar, subject))
            else:
                members[name] = self.bound_number(argument, kind, bound, subject)
        fields = tuple(
            tree.Field(name, value if isinstance(kinds[name], Const) else value.type) for name, value in members.items()
        )
        return statements, Bundle(tree.BundleType(cls, fields), members, is_new=True)

    def array_field(self, node: ast.expr, path: str, statements: list[tree.Statement]) -> ArrayRef:
        """Return an array for a field of a new bundle; it may be a new array too."""
        word = called_name(node)
        if isinstance(node, ast.Call) and word in SPACES:
            if not path:
                self.refuse(node, f"{word} in a bundle without a name; assign the bundle to one first")
            self.check_word(node.func, self.source.lookup(word))
            statements += self.new_array(node, path, word)
            return ArrayRef(path, self.out.arrays[path].array)
        return self.array(node)._replace(length=None)  # the length of the field is that of its class

    def bind_array(self, node: ast.expr, kind: Array, bound: dict[str, Any], array: ArrayRef, subject: str) -> None:
        """Bind the type of an array's elements; refuse an array of another type."""
        expected, holds = self.bind(bound, kind.element, array.type.holds), array.type.holds
        if holds is not expected:
            self.refuse(node, f"{subject} is Array[{expected.__name__}], not Array[{holds.__name__}]")

    def bound_number(self, node: ast.expr, kind: object, bound: dict[str, Any], subject: str) -> tree.Expression:
        """Return a number for a field of a new bundle or a parameter of a called function."""
        value = self.expression(node)
        if isinstance(kind, Generic) and kind.name not in bound:
            value = self.settled(value, node)
        expected = self.bind(bound, kind, None if value.type is None else promoted(value.type))
        if is_bundle(expected):
            self.refuse(node, f"{subject} is a {expected.__name__}, not a number")
        return self.stored(value, expected, node, subject, node)

    def new_array(self, call: ast.Call, name: str, word: str) -> list[tree.Statement]:
        """Translate ``name = shared_array(count, element)``; the name may be that of a bundle's field."""
        self.count(call, 2)
        if name in self.out.arrays or name in self.out.parameters or name in self.bundles:
            self.refuse(call, "a new array needs a new name")
        space = SPACES[word]
        if space == "shared" and (self.depth > 1 or not self.source.is_kernel):
            self.refuse(
                call, "shared_array inside a branch, loop or function; make it in the kernel's own body, and pass it on"
            )
        if self.depth > 1:
            self.refuse(call, "local_array inside a branch or loop; make it at the top of the function")
        element = self.element_type(call.args[1])
        count = self.constant(call.args[0], "the size of an array")
        if count < 1:
            self.refuse(call, f"an array of {count} elements; it needs at least one")
        array = tree.NewArray(name, tree.ArrayType(element, space), count)
        if space == "local":
            self.occupy(call, tree.padded(array))
        self.out.arrays[name] = array
        return [array]

    def element_type(self, node: ast.expr) -> Scalar:
        """Return the scalar type of a name."""
        if isinstance(node, ast.Name) and (element := TYPES.get(node.id) or self.bound_type(node.id)):
            self.check_word(node, self.source.lookup(node.id))
            return element
        return self.refuse(node, "the element type of an array must be a type such as u32")

    @staticmethod
    def bind(bound: dict[str, Any], kind: object, offered: object) -> Any:
        """Return the scalar type of an annotation in this call."""
        return bound.setdefault(kind.name, offered) if isinstance(kind, Generic) else kind
