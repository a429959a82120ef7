"""Loops: ``for`` over `range`, `unroll` and `set_bits`, ``while``, and their exits."""

from __future__ import annotations

import ast

from core.lang import tree
from core.lang.front.assignments import Assignments
from core.lang.front.context import Untyped, called_name
from core.lang.types import boolean, i32, promoted

MOST_UNROLLED = 4096


class Loops(Assignments):
    """Translates the loops of one function."""

    def for_loop(self, node: ast.For) -> list[tree.Statement]:
        """Translate ``for``, by the word that it loops over."""
        if node.orelse:
            self.refuse(node, "else of a loop; set a flag before break")
        call = node.iter
        word = called_name(call)
        if not isinstance(call, ast.Call) or word not in self.loops_over:
            self.refuse(node, f"for over {ast.unparse(call)}; loop over range(...), unroll(...) or set_bits(...)")
        self.check_word(call.func, self.source.lookup(word))
        if call.keywords:
            self.refuse(node, "keyword arguments; pass arguments by position")
        if not isinstance(node.target, ast.Name):
            self.refuse(node, "several loop variables; use one")
        return self.loops_over[word](self, node, call, node.target.id)

    def bounds(self, node: ast.For, call: ast.Call) -> list[ast.expr]:
        """Return the start, stop and step of a ``range``, in that order."""
        arguments = call.args
        if not 1 <= len(arguments) <= 3:
            self.refuse(node, f"{ast.unparse(call)}; range takes 1 to 3 arguments")
        zero, one = (ast.copy_location(ast.Constant(v), call) for v in (0, 1))
        return {1: [zero, *arguments, one], 2: [*arguments, one], 3: arguments}[len(arguments)]

    def ranged(self, node: ast.For, call: ast.Call, name: str) -> list[tree.Statement]:
        """Translate ``for i in range(...)``."""
        nodes = self.bounds(node, call)
        values = [self.expression(n) for n in nodes]
        typed = [v.type for v in values if not isinstance(v, Untyped)]
        scalar = promoted(typed[0]) if typed else i32
        for kind in typed:
            if kind.kind not in "iu":
                self.refuse(node, f"range of {kind.__name__}; cast its bounds to an integer")
            if kind.kind != scalar.kind:
                self.refuse(node, "range of signed and unsigned numbers; cast one of them")
            scalar = max(scalar, promoted(kind), key=lambda s: s.bits)
        start, stop, step = (self.fitted(v, scalar, n, "a bound of range") for v, n in zip(values, nodes, strict=True))
        down = isinstance(step, tree.Literal) and int(step.value) < 0
        if isinstance(step, tree.Literal) and int(step.value) == 0:
            self.refuse(node, "range with step 0")
        declared = self.out.declared(name)
        if declared not in (None, scalar) and not isinstance(declared, tree.ArrayType):
            self.refuse(node, f"{name} is {declared.__name__}, not {scalar.__name__}; give the loop its own variable")
        self.declare(node, name, tree.Local(scalar, name))
        if not isinstance(step, tree.Literal):
            self.out.rising.add(self.key(call))
        return [tree.For(name, scalar, start, stop, step, down, self.loop_body(node, name))]

    def over_bits(self, node: ast.For, call: ast.Call, name: str) -> list[tree.Statement]:
        """Translate ``for k in set_bits(word)``: the lowest bit is cleared before the body runs."""
        self.count(call, 1)
        word = self.typed(call.args[0])
        if word.type.kind != "u":
            self.refuse(node, f"set_bits of {word.type.__name__}; cast it to u32 or u64")
        keep, bits = self.hold(self.cast(word, promoted(word.type)))
        scalar = bits.type
        zero, unit = (tree.Literal(scalar, scalar(n)) for n in (0, 1))
        lowest = tree.Binary(scalar, "and", bits, tree.Binary(scalar, "sub", zero, bits))
        number = tree.Binary(i32, "sub", tree.Literal(i32, i32(scalar.bits - 1)), tree.Intrinsic(i32, "clz", (lowest,)))
        declared = self.out.declared(name)
        if declared not in (None, i32) and not isinstance(declared, tree.ArrayType):
            self.refuse(node, f"{name} is {declared.__name__}, not i32; give the loop its own variable")
        first = tree.Assign(name, self.declare(node, name, number))
        rest = tree.Assign(bits.name, tree.Binary(scalar, "and", bits, tree.Binary(scalar, "sub", bits, unit)))
        body = self.loop_body(node, name)
        return [keep, tree.While(tree.Compare(boolean, "ne", bits, zero), [first, rest, *body])]

    def loop_body(self, node: ast.For, name: str) -> list[tree.Statement]:
        """Translate the body of a loop that may have no rounds; ``name`` is defined in it."""
        before = self.defined
        self.open_loops.append([])
        body, _ = self.branch(node.body, None if before is None else before | {name})
        self.open_loops.pop()
        self.defined = before
        return body

    def unrolled(self, node: ast.For, call: ast.Call, name: str) -> list[tree.Statement]:
        """Translate ``for k in unroll(...)``: the body once for each value of the constant ``k``."""
        nodes = self.bounds(node, call)
        bounds = [int(self.folded(n, i32.exact, self.constant(n, "a bound of unroll"))) for n in nodes]
        used = (self.out.locals, self.out.parameters, self.out.arrays, self.bundles, self.constants)
        if any(name in names for names in used):
            self.refuse(node, f"the name {name} is in use; give the constant of unroll its own")
        if bounds[2] == 0:
            self.refuse(node, "unroll with step 0")
        steps = self.out.unrolled[self.key(node)] = range(*bounds)
        outer_copies, self.copies = self.copies, self.copies * max(1, len(steps))
        if self.copies > MOST_UNROLLED:
            inside = f", {self.copies} with those around it" if outer_copies > 1 else ""
            self.refuse(node, f"unroll of {len(steps)} steps{inside}; at most {MOST_UNROLLED}, use range")
        statements: list[tree.Statement] = []
        self.open_loops.append(None)
        self.depth -= 1
        outer = self.steps
        for value in steps:
            self.steps = (*outer, value)
            self.constants[name] = self.folded(node, i32.exact, value)
            statements.extend(self.block(node.body))
        self.steps, self.copies = outer, outer_copies
        self.depth += 1
        self.open_loops.pop()
        self.constants.pop(name, None)
        return statements

    def while_loop(self, node: ast.While) -> list[tree.Statement]:
        """Translate ``while``; only its ``break`` leads out of an endless one."""
        if node.orelse:
            self.refuse(node, "else of a loop; set a flag before break")
        test = self.truth(node.test)
        if isinstance(test, tree.Literal) and not test.value:
            return []
        start = self.defined
        leaving: list[set[str] | None] = []
        self.open_loops.append(leaving)
        body, _ = self.branch(node.body, start)
        self.open_loops.pop()
        self.defined = certainly_assigned(leaving) if isinstance(test, tree.Literal) else start
        return [tree.While(test, body)]

    def leave(self, node: ast.Break | ast.Continue) -> list[tree.Statement]:
        """Translate ``break`` and ``continue``; after a ``break`` the locals are defined that are so now."""
        loop = self.open_loops[-1]
        if loop is None:
            self.refuse(node, f"{type(node).__name__.lower()} inside unroll; write a condition, or use range")
        if isinstance(node, ast.Break):
            loop.append(self.defined)
        self.defined = None
        return [tree.Break() if isinstance(node, ast.Break) else tree.Continue()]

    loops_over = {"range": ranged, "unroll": unrolled, "set_bits": over_bits}
    statements = {
        **Assignments.statements,
        ast.For: for_loop,
        ast.While: while_loop,
        ast.Break: leave,
        ast.Continue: leave,
    }


def certainly_assigned(paths: list[set[str] | None]) -> set[str] | None:
    """Return the locals that are certainly assigned where several paths join."""
    alive = [w for w in paths if w is not None]
    return set.intersection(*alive) if alive else None
