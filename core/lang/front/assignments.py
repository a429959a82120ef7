"""Assignments to locals, elements of arrays and names of bundles."""

from __future__ import annotations

import ast
import copy

from core.lang import tree
from core.lang.front.calls import Calls
from core.lang.front.context import Untyped, Value, called_name
from core.lang.front.references import SPACES
from core.lang.intrinsics import WORDS
from core.lang.types import boolean, i32, promoted


class Assignments(Calls):
    """Translates the assignments of one function."""

    def assignment(self, node: ast.Assign) -> list[tree.Statement]:
        """Translate an assignment to one target, or to as many as there are values."""
        if len(node.targets) > 1:
            self.refuse(node, "several targets in one assignment; write one assignment for each")
        target = self.element(node.targets[0])
        if isinstance(target, ast.Tuple):
            return self.assign_tuple(node, target)
        word, value = called_name(node.value), node.value
        if word in SPACES and isinstance(value, ast.Call):
            self.check_word(value.func, self.source.lookup(word))
            if not isinstance(target, ast.Name):
                self.refuse(node, "a new array needs a new name")
            return self.new_array(value, target.id, word)
        bundled = self.assign_bundle(target, node.value)
        if bundled is not None:
            return bundled
        typed = self.right_side(value)
        if isinstance(target, ast.Subscript) and isinstance(typed, (tree.Atomic, tree.Call)):
            keep, typed = self.hold(typed)
            return [keep, *self.assign(target, typed)]
        return self.assign(target, typed)

    def augmented(self, node: ast.AugAssign) -> list[tree.Statement]:
        """Translate ``x += y`` as ``x = x + y``."""
        target = self.element(node.target)
        load = copy.copy(target)
        load.ctx = ast.Load()
        both = ast.copy_location(ast.BinOp(load, node.op, node.value), node)
        return self.assign(target, self.expression(both))

    def assign(self, target: ast.expr, value: Value) -> list[tree.Statement]:
        """Store a typed value in a local or an array element."""
        if isinstance(target, ast.Name):
            value = self.declare(target, target.id, value)
            if self.defined is not None:
                self.defined.add(target.id)
            return [tree.Assign(target.id, value)]
        if isinstance(target, ast.Subscript):
            array = self.array(target.value)
            self.check_writable(target, target.value, array.type)
            if array.name in self.out.parameters or array.type.space == "shared":
                self.out.pure = False
            value = self.fitted(value, array.type.holds, target, f"an element of {ast.unparse(target.value)}")
            value = self.cast(value, array.type.element)
            return [tree.Store(array.name, self.index_in(array, target.slice), value)]
        if isinstance(target, ast.Attribute) and self.bundle(target.value) is not None:
            self.refuse(
                target, f"a store to the field {ast.unparse(target)}; numbers of bundles do not change, use an array"
            )
        return self.refuse(target, f"assignment to {ast.unparse(target)}; assign to a local or an array element")

    def declare(self, node: ast.AST, name: str, value: Value) -> tree.Expression:
        """Return the value as stored in a local, with the type of the local's first assignment."""
        if name in self.out.parameters and isinstance(self.out.parameters[name], tree.ArrayType):
            self.refuse(node, f"assignment to the array {name}; assign to its elements")
        if name in self.out.arrays or name in self.bundles or name in self.constants or name in WORDS:
            described = "a bundle" if name in self.bundles else "an array, a constant or a word"
            self.refuse(node, f"assignment to {name}, which is {described}; choose another name")
        if name in self.out.truths:
            return self.cast(self.fitted(value, boolean, node, name), i32)
        declared = self.out.declared(name)
        if declared is None:
            value = self.settled(value, node)
            declared = self.out.locals[name] = promoted(value.type)
        return self.stored(value, declared, node, name, node)

    def right_side(self, node: ast.expr) -> Value:
        """Return the value of an assignment, which may be one call with effects."""
        if not isinstance(node, ast.Call):
            return self.expression(node)
        value = self.call(node)
        if isinstance(value, tree.Call) and value.type is None:
            self.refuse(node, f"{ast.unparse(node.func)} returns nothing; call it as a statement")
        return value

    def assign_bundle(self, target: ast.expr, node: ast.expr) -> list[tree.Statement] | None:
        """Translate ``walk = walks[w]`` or ``move = Move(i, j)``; None if the value is no bundle."""
        made = self.constructed(node, target.id) if isinstance(target, ast.Name) else None
        statements, value = made or ([], self.bundle(node))
        if value is None:
            return None
        if not isinstance(target, ast.Name):
            self.refuse(target, f"a bundle assigned to {ast.unparse(target)}; give it a name")
        return statements + self.named(target, target.id, value)

    def assign_tuple(self, node: ast.Assign, target: ast.Tuple) -> list[tree.Statement]:
        """Translate ``a, b = b, a``: all values first, then the stores from left to right."""
        if not isinstance(node.value, ast.Tuple) or len(node.value.elts) != len(target.elts):
            self.refuse(node, "unpacking; write as many values on the right as targets on the left")
        statements: list[tree.Statement] = []
        stores: list[tuple[ast.expr, tree.Expression]] = []
        targets = [self.element(element) for element in target.elts]
        names = {element.id for element in targets if isinstance(element, ast.Name)}
        read = [node.value, *(element for element in targets if not isinstance(element, ast.Name))]
        for name, element in zip(targets, node.value.elts, strict=True):
            bundled = self.assign_bundle(name, element)
            if bundled is not None:
                if any(isinstance(n, ast.Name) and n.id in names for part in read for n in ast.walk(part)):
                    self.refuse(node, "a bundle that the same statement reads; write one assignment for each")
                statements += bundled
                continue
            value = self.expression(element)
            if isinstance(value, Untyped):
                scalar = self.out.declared(name.id) if isinstance(name, ast.Name) else None
                if isinstance(name, ast.Subscript):
                    scalar = self.array(name.value).type.holds
                value = self.adopt(value, scalar, element) if scalar else self.settled(value, element)
            if isinstance(value, tree.Literal):
                stores.append((name, value))
                continue
            keep, value = self.hold(value)
            statements.append(keep)
            stores.append((name, value))
        return statements + [s for place, value in stores for s in self.assign(place, value)]

    statements = {ast.Assign: assignment, ast.AugAssign: augmented}
