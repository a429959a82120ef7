"""Front end, fifth part: statements, functions and whole programs; what is not in the language is refused."""

from __future__ import annotations

import ast
import copy
from typing import Any

from core.lang import tree
from core.lang.bundles import FORM_SUFFIX, RowsOf, is_bundle, kinds_by_name
from core.lang.device_messages import MESSAGES, MessageSettings
from core.lang.front.bundle_lowering import Bundle, bundle_parameter, bundle_type, candidate_parameters
from core.lang.front.calls import Calls
from core.lang.front.expressions import Untyped
from core.lang.front.table_staging import array_type, drop_unread_copies, stage_tables
from core.lang.intrinsics import WORDS
from core.lang.source import Function, Source, called_at
from core.lang.types import BY_NAME, Array, Const, Generic, Table, boolean, i32, promoted

STATEMENT_ADVICE = {
    ast.FunctionDef: "a nested function; define a @function at module level",
    ast.AsyncFunctionDef: "an async function; kernels are not asynchronous",
    ast.ClassDef: "a class; use arrays",
    ast.Try: "try; kernels have no exceptions",
    ast.Raise: "raise; assert, or write a code into an array and raise on the host",
    ast.With: "with; kernels have no context managers",
    ast.Import: "import; import at module level",
    ast.ImportFrom: "import; import at module level",
    ast.Global: "global; pass an array",
    ast.Nonlocal: "nonlocal; pass an array",
    ast.Delete: "del; leave the variable alone",
    ast.AnnAssign: "an annotated assignment; write x = i32(...)",
    ast.Match: "match; write if and elif",
    ast.AsyncFor: "async; kernels are not asynchronous",
    ast.AsyncWith: "async; kernels are not asynchronous",
}


MOST_UNROLLED = 4096
LOOPS = {"range": "ranged", "unroll": "unrolled", "set_bits": "over_bits"}
TYPES = {**BY_NAME, "boolean": boolean}
SPACES = {"shared_array": "shared", "local_array": "local"}


class Body(Calls):
    """Translates the body of one function.

    ``defined`` is the set of locals that certainly have a value here; None where no path leads.
    """

    def __init__(
        self, translator: Any, source: Source, out: tree.TypedFunction, team_size: int, bundles: dict[str, Bundle]
    ) -> None:
        super().__init__(translator, source, out, team_size)
        self.assigned = _assigned_names(source.node)
        self.defined = {n for n, t in out.parameters.items() if not isinstance(t, tree.ArrayType)} | bundles.keys()
        self.bundles = dict(bundles)
        self.loops: list[list[set[str] | None] | None] = []
        self.temporaries = 0
        self.depth = 0
        self.copies = 1

    def translate(self) -> None:
        """Fill ``out.body``."""
        body = self.source.node.body
        self.out.body = self.block(body)
        if self.out.result is not None and self.defined is not None:
            self.refuse(body[-1], "the end of the function is reached without a return; return a value on every path")

    def block(self, statements: list[Any]) -> list[Any]:
        """Translate statements in order."""
        found: list[Any] = []
        self.depth += 1
        for statement in statements:
            self.descend(statement, 1)
            method = getattr(self, "stmt_" + type(statement).__name__, None)
            if method is None:
                kind = type(statement)
                self.refuse(
                    statement, STATEMENT_ADVICE.get(kind, f"{kind.__name__} is not part of the kernel language")
                )
            found.extend(method(statement))
            self.translator.levels -= 1
        self.depth -= 1
        return found

    def branch(self, statements: list[Any], start: set[str] | None) -> tuple[list[Any], set[str] | None]:
        """Translate one way through the code, beginning with the locals ``start``."""
        self.defined = None if start is None else set(start)
        return self.block(statements), self.defined

    # --- assignment ---

    def declare(self, node: Any, name: str, value: Any) -> Any:
        """The value as it is stored in a local, whose type is that of its first assignment."""
        if name in self.out.parameters and isinstance(self.out.parameters[name], tree.ArrayType):
            self.refuse(node, f"assignment to the array {name}; assign to its elements")
        if name in self.out.arrays or name in self.bundles or name in self.constants or name in WORDS:
            what = "a bundle" if name in self.bundles else "an array, a constant or a word"
            self.refuse(node, f"assignment to {name}, which is {what}; choose another name")
        if name in self.out.truths:
            return self.cast(self.fitted(value, boolean, node, name), i32)
        declared = self.out.parameters.get(name) or self.out.locals.get(name)
        if declared is None:
            value = self.settled(value, node)
            declared = self.out.locals[name] = promoted(value.type)
        return self.stored(value, declared, node, name, node)

    def assign(self, target: Any, value: Any) -> list[Any]:
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

    def hold(self, value: Any) -> tuple[Any, Any]:
        """Keep a value in a temporary: the assignment, and the local that reads it."""
        self.temporaries += 1
        name = f"held.{self.temporaries}"  # no identifier, so that it hides no name of the module
        self.out.locals[name] = value.type
        return tree.Assign(name, value), tree.Local(value.type, name)

    def right_side(self, node: Any) -> Any:
        """The value of an assignment, which may be one call with effects."""
        if not isinstance(node, ast.Call):
            return self.expression(node)
        value = self.call(node)
        if isinstance(value, tree.Call) and value.type is None:
            self.refuse(node, f"{ast.unparse(node.func)} returns nothing; call it as a statement")
        return value

    def stmt_Assign(self, node: ast.Assign) -> list[Any]:  # noqa: N802
        if len(node.targets) > 1:
            self.refuse(node, "several targets in one assignment; write one assignment for each")
        target = node.targets[0]
        if isinstance(target, ast.Tuple):
            return self.assign_tuple(node, target)
        word = node.value.func.id if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) else ""
        if word in SPACES:
            self.check_word(node.value.func, self.source.lookup(word))  # type: ignore[attr-defined]
            if not isinstance(target, ast.Name):
                self.refuse(node, "a new array needs a new name")
            return self.new_array(node.value, target.id, word)  # type: ignore[arg-type]
        bundled = self.assign_bundle(target, node.value)
        if bundled is not None:
            return bundled
        value = self.right_side(node.value)
        if isinstance(target, ast.Subscript) and isinstance(value, (tree.Atomic, tree.Call)):
            keep, value = self.hold(value)
            return [keep, *self.assign(target, value)]
        return self.assign(target, value)

    def assign_bundle(self, target: Any, given: Any) -> list[Any] | None:
        """``one = walks[w]``, ``move = Move(i, j)``; None if the value is no bundle."""
        statements: list[Any] = []
        cls = self.made_of(given)
        if cls is not None and isinstance(target, ast.Name):
            statements, value = self.constructed(given, cls, target.id)
        else:
            found = self.bundle(given)
            if found is None:
                return None
            value = found
        if not isinstance(target, ast.Name):
            self.refuse(target, f"a bundle assigned to {ast.unparse(target)}; give it a name")
        return statements + self.named(target, target.id, value)

    def assign_tuple(self, node: ast.Assign, target: ast.Tuple) -> list[Any]:
        """``a, b = b, a``: all values first, then the stores from left to right."""
        if not isinstance(node.value, ast.Tuple) or len(node.value.elts) != len(target.elts):
            self.refuse(node, "unpacking; write as many values on the right as targets on the left")
        kept: list[Any] = []
        stores: list[Any] = []
        names = {one.id for one in target.elts if isinstance(one, ast.Name)}
        read = [node.value, *(one for one in target.elts if not isinstance(one, ast.Name))]
        for one, given in zip(target.elts, node.value.elts, strict=True):
            bundled = self.assign_bundle(one, given)
            if bundled is not None:
                if any(isinstance(n, ast.Name) and n.id in names for part in read for n in ast.walk(part)):
                    self.refuse(node, "a bundle that the same statement reads; write one assignment for each")
                kept += bundled
                continue
            value = self.expression(given)
            if isinstance(value, Untyped) and isinstance(one, ast.Subscript):
                value = self.adopt(value, self.array(one.value).type.holds, given)
            elif isinstance(value, Untyped) and isinstance(one, ast.Name):
                declared = self.out.parameters.get(one.id) or self.out.locals.get(one.id)
                value = self.adopt(value, declared, given) if declared else self.settled(value, given)
            if isinstance(value, tree.Literal):
                stores.append((one, value))
                continue
            keep, value = self.hold(value)
            kept.append(keep)
            stores.append((one, value))
        return kept + [s for one, value in stores for s in self.assign(one, value)]

    def new_array(self, call: ast.Call, name: str, word: str) -> list[Any]:
        """``name = shared_array(count, element)``; the name may be that of a bundle's field."""
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

    def element_type(self, node: Any) -> Any:
        """The scalar type that a name stands for."""
        found = TYPES.get(node.id) or self.bound_type(node.id) if isinstance(node, ast.Name) else None
        if found is not None:
            self.check_word(node, self.source.lookup(node.id))
        return found or self.refuse(node, "the element type of an array must be a type such as u32")

    def stmt_AugAssign(self, node: ast.AugAssign) -> list[Any]:  # noqa: N802
        load = copy.copy(node.target)
        load.ctx = ast.Load()
        both = ast.copy_location(ast.BinOp(load, node.op, node.value), node)
        return self.assign(node.target, self.expression(both))

    # --- control ---

    def stmt_If(self, node: ast.If) -> list[Any]:  # noqa: N802
        test = self.truth(node.test)
        if isinstance(test, tree.Literal):
            self.depth -= 1
            found = self.block(node.body if test.value else node.orelse)
            self.depth += 1
            return found
        start = self.defined
        yes, after_yes = self.branch(node.body, start)
        no, after_no = self.branch(node.orelse, start)
        self.defined = _certainly_assigned([after_yes, after_no])
        return [tree.If(test, yes, no)]

    def stmt_While(self, node: ast.While) -> list[Any]:  # noqa: N802
        if node.orelse:
            self.refuse(node, "else of a loop; set a flag before break")
        test = self.truth(node.test)
        endless = isinstance(test, tree.Literal)
        if endless and not test.value:
            return []
        start = self.defined
        leaving: list[set[str] | None] = []
        self.loops.append(leaving)
        body, _ = self.branch(node.body, start)
        self.loops.pop()
        self.defined = _certainly_assigned(leaving) if endless else start
        return [tree.While(test, body)]

    def bounds(self, node: ast.For) -> list[Any]:
        """The start, stop and step of a ``range``, in that order."""
        given = node.iter.args  # type: ignore[attr-defined]
        if not 1 <= len(given) <= 3:
            self.refuse(node, f"{ast.unparse(node.iter)}; range takes 1 to 3 arguments")
        zero, one = (ast.copy_location(ast.Constant(v), node.iter) for v in (0, 1))
        return {1: [zero, *given, one], 2: [*given, one], 3: given}[len(given)]

    def stmt_For(self, node: ast.For) -> list[Any]:  # noqa: N802
        if node.orelse:
            self.refuse(node, "else of a loop; set a flag before break")
        word = node.iter.func.id if isinstance(node.iter, ast.Call) and isinstance(node.iter.func, ast.Name) else ""
        if word not in LOOPS:
            self.refuse(node, f"for over {ast.unparse(node.iter)}; loop over range(...), unroll(...) or set_bits(...)")
        self.check_word(node.iter.func, self.source.lookup(word))  # type: ignore[attr-defined]
        if node.iter.keywords:  # type: ignore[attr-defined]
            self.refuse(node, "keyword arguments; pass arguments by position")
        if not isinstance(node.target, ast.Name):
            self.refuse(node, "several loop variables; use one")
        found: list[Any] = getattr(self, LOOPS[word])(node)
        return found

    def ranged(self, node: ast.For) -> list[Any]:
        """``for i in range(...)``."""
        nodes = self.bounds(node)
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
        name = node.target.id  # type: ignore[attr-defined]
        declared = self.out.parameters.get(name) or self.out.locals.get(name)
        if declared not in (None, scalar) and not isinstance(declared, tree.ArrayType):
            self.refuse(node, f"{name} is {declared.__name__}, not {scalar.__name__}; give the loop its own variable")
        self.declare(node, name, tree.Local(scalar, name))
        if not isinstance(step, tree.Literal):
            self.out.rising.add(self.key(node.iter))
        return [tree.For(name, scalar, start, stop, step, down, self.loop_body(node, name))]

    def over_bits(self, node: ast.For) -> list[Any]:
        """``for k in set_bits(word)``: the lowest bit is taken off the word before the body runs."""
        call: Any = node.iter
        self.count(call, 1)
        word = self.typed(call.args[0])
        if word.type.kind != "u":
            self.refuse(node, f"set_bits of {word.type.__name__}; cast it to u32 or u64")
        keep, left = self.hold(self.cast(word, promoted(word.type)))
        scalar, name = left.type, node.target.id  # type: ignore[attr-defined]
        zero, one = (tree.Literal(scalar, scalar(n)) for n in (0, 1))
        lowest = tree.Binary(scalar, "and", left, tree.Binary(scalar, "sub", zero, left))
        number = tree.Binary(i32, "sub", tree.Literal(i32, i32(scalar.bits - 1)), tree.Intrinsic(i32, "clz", (lowest,)))
        declared = self.out.parameters.get(name) or self.out.locals.get(name)
        if declared not in (None, i32) and not isinstance(declared, tree.ArrayType):
            self.refuse(node, f"{name} is {declared.__name__}, not i32; give the loop its own variable")
        first = tree.Assign(name, self.declare(node, name, number))
        rest = tree.Assign(left.name, tree.Binary(scalar, "and", left, tree.Binary(scalar, "sub", left, one)))
        body = self.loop_body(node, name)
        return [keep, tree.While(tree.Compare(boolean, "ne", left, zero), [first, rest, *body])]

    def loop_body(self, node: ast.For, name: str) -> list[Any]:
        """The body of a loop that may run no times, in which ``name`` has a value."""
        before = self.defined
        self.loops.append([])
        body, _ = self.branch(node.body, None if before is None else before | {name})
        self.loops.pop()
        self.defined = before
        return body

    def unrolled(self, node: ast.For) -> list[Any]:
        """``for k in unroll(...)``: the body once for each value of the constant ``k``."""
        name = node.target.id  # type: ignore[attr-defined]
        nodes = self.bounds(node)
        bounds = [int(self.folded(n, i32.exact, self.constant(n, "a bound of unroll"))) for n in nodes]
        used = (self.out.locals, self.out.parameters, self.out.arrays, self.bundles, self.constants)
        if any(name in some for some in used):
            self.refuse(node, f"the name {name} is in use; give the constant of unroll its own")
        if bounds[2] == 0:
            self.refuse(node, "unroll with step 0")
        steps = self.out.unrolled[self.key(node)] = range(*bounds)
        outer_copies, self.copies = self.copies, self.copies * max(1, len(steps))
        if self.copies > MOST_UNROLLED:
            inside = f", {self.copies} with those around it" if outer_copies > 1 else ""
            self.refuse(node, f"unroll of {len(steps)} steps{inside}; at most {MOST_UNROLLED}, use range")
        found: list[Any] = []
        self.loops.append(None)
        self.depth -= 1
        outer = self.steps
        for value in steps:
            self.steps = (*outer, value)
            self.constants[name] = self.folded(node, i32.exact, value)
            found.extend(self.block(node.body))
        self.steps, self.copies = outer, outer_copies
        self.depth += 1
        self.loops.pop()
        self.constants.pop(name, None)
        return found

    def leave(self, node: Any, word: str) -> list[set[str] | None]:
        """The innermost loop's list of what is defined where it is left."""
        loop = self.loops[-1]
        if loop is None:
            self.refuse(node, f"{word} inside unroll; write a condition, or use range")
        return loop

    def stmt_Break(self, node: ast.Break) -> list[Any]:  # noqa: N802
        self.leave(node, "break").append(self.defined)
        self.defined = None
        return [tree.Break()]

    def stmt_Continue(self, node: ast.Continue) -> list[Any]:  # noqa: N802
        self.leave(node, "continue")
        self.defined = None
        return [tree.Continue()]

    def stmt_Return(self, node: ast.Return) -> list[Any]:  # noqa: N802
        wanted = self.out.result
        if node.value is None or wanted is None:
            if node.value is not None:
                self.refuse(node, "a value returned, but the function declares none; annotate it with -> type")
            if wanted is not None:
                self.refuse(node, f"return without a value; return {wanted.__name__}")
            self.defined = None
            return [tree.Return(None)]
        value = self.stored(self.right_side(node.value), wanted, node, "the result", node.value)
        self.defined = None
        return [tree.Return(value)]

    def stmt_Pass(self, _: ast.Pass) -> list[Any]:  # noqa: N802
        return []

    def stmt_Expr(self, node: ast.Expr) -> list[Any]:  # noqa: N802
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return []
        if not isinstance(node.value, ast.Call):
            if type(node.value) is not ast.Constant:
                self.expression(node.value)
            self.refuse(node, f"{ast.unparse(node.value)} has no effect; assign it or remove it")
        if isinstance(node.value.func, ast.Name) and node.value.func.id == "barrier":
            self.count(node.value, 0)
            self.check_word(node.value.func, self.source.lookup("barrier"))
            self.out.has_barrier = True
            self.out.pure = False
            return [tree.Barrier()]
        if isinstance(node.value.func, ast.Name) and node.value.func.id == "print":
            return self.printed(node.value)
        value = self.call(node.value)
        if isinstance(value, tree.Atomic) or (isinstance(value, tree.Call) and not value.function.pure):
            return [tree.Evaluate(value)]
        called = self.out.calls.get(self.key(node.value))
        if called is None or not called.talks:
            self.refuse(node, f"{ast.unparse(node.value)} has no effect; assign it or remove it")
        return [tree.Evaluate(value)] if self.is_heard(called) else []


def _certainly_assigned(ways: list[set[str] | None]) -> set[str] | None:
    """What is certainly assigned where several ways meet."""
    alive = [w for w in ways if w is not None]
    return set.intersection(*alive) if alive else None


def _assigned_names(node: ast.FunctionDef) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


class Translator:
    """Specialises a kernel and, on demand, the functions that it calls.

    ``said`` is what machine code does of ``assert`` and ``print``, by the parameters ``hidden``
    (`core.lang.device_messages`).
    """

    def __init__(self, team_size: int, talk: MessageSettings | None = None) -> None:
        self.team_size = team_size
        self.said = talk.kinds if talk else ()
        self.hidden = talk.hidden() if talk else {}
        self.statements: dict[Any, int] = {}
        self.levels = 0
        self.done: dict[Any, tree.TypedFunction] = {}
        self.order: list[tree.TypedFunction] = []
        self.named = 0
        self.open: list[Source] = []

    def function(
        self, source: Function, types: tuple[Any, ...], bound: Any, node: Any, caller: Any
    ) -> tree.TypedFunction:
        """The function for these argument types; constants stand in ``types`` by their value."""
        key = (source, types)
        if key not in self.done:
            if source in self.open:
                caller.refuse(node, f"{source.name} calls itself; write a loop")
            names = [n for n in source.signature if n != "return"]
            kinds = source.signature
            self.named += 1
            out = tree.TypedFunction(f"{source.name}_{self.named}", source)
            bundles: dict[str, Bundle] = {}
            for name, kind in zip(names, types, strict=True):
                if isinstance(kinds[name], Const):
                    out.constants[name] = kind
                elif isinstance(kind, tree.BundleType):
                    bundles[name] = bundle_parameter(name, kind)
                    out.offered |= candidate_parameters(name, kind)
                else:
                    out.parameters[name] = kind
            out.offered |= self.hidden
            result = kinds["return"]
            if isinstance(result, Generic) and result.name not in bound:
                caller.refuse(node, f"the result type {result.name} of {source.name} is not bound by its arguments")
            out.result = bound[result.name] if isinstance(result, Generic) else result
            if is_bundle(out.result):
                caller.refuse(node, f"the result of {source.name} is a bundle, {out.result.__name__}; return a number")
            with called_at(caller.source, node):
                self.done[key] = self.build(source, out, bound, bundles)
            out.parameters |= {n: out.parameters.pop(n) for n in out.offered if n in out.parameters}
        return self.done[key]

    def build(
        self, source: Source, out: tree.TypedFunction, bound: dict[str, Any], bundles: dict[str, Bundle]
    ) -> tree.TypedFunction:
        """Translate a body whose signature is settled."""
        self.open.append(source)
        out.types = bound
        body = Body(self, source, out, self.team_size, bundles)
        body.descend(source.node, 2)
        body.translate()
        self.levels -= 2
        self.open.pop()
        self.order.append(out)
        return out


def translate(kernel: Source, constants: dict[str, Any], team_size: int, types: dict[str, Any]) -> tree.Program:
    """Translate a kernel into a typed program.

    Parameters
    ----------
    kernel
        The decorated function.
    constants
        A value for every ``Const`` parameter, and for those among the fields of bundles (``shape.lanes``).
    team_size
        Lanes of a team; ``team_size()`` is this constant in the program.
    types
        A scalar type for every `Generic` in the kernel's signature, by its name; a `core.lang.bundles.BundleForm` for
        every bundled parameter, by its name and `FORM_SUFFIX`; a `core.lang.device_messages.MessageSettings` by
        `MESSAGES`, without which machine code says nothing.

    Raises
    ------
    KernelError
        The kernel uses what the language does not have.

    """
    kinds = dict(kernel.signature)
    if kinds.pop("return") is not None:
        kernel.refuse(kernel.node, "a kernel returns nothing; store results in an array")
    all_kinds: dict[str, Any] = {}
    for name, kind in kinds.items():
        form = types.get(name + FORM_SUFFIX)
        all_kinds |= {name: kind} if form is None else kinds_by_name(name, isinstance(kind, RowsOf), form)
    scalars = {n: k.scalar for n, k in all_kinds.items() if isinstance(k, Const)}
    if scalars.keys() != constants.keys():
        kernel.refuse(kernel.node, f"constants {sorted(scalars)} expected, {sorted(constants)} given")
    constants = {n: bool(v) if scalars[n] is boolean else scalars[n](v) for n, v in constants.items()}
    out = tree.TypedFunction(kernel.name, kernel)
    bundles: dict[str, Bundle] = {}
    for name, kind in kinds.items():
        if isinstance(kind, Const):
            out.constants[name] = constants[name]
        elif name + FORM_SUFFIX in types:
            rows = isinstance(kind, RowsOf)
            given = bundle_type(name + "[]" * rows, types[name + FORM_SUFFIX], types, constants, rows)
            bundles[name] = bundle_parameter(name, given, in_kernel=True)
            out.parameters |= {n: i32 if t is boolean else t for n, t in candidate_parameters(name, given).items()}
        else:
            scalar = kind.element if isinstance(kind, Array) else kind
            if isinstance(scalar, Generic):
                if scalar.name not in types:
                    kernel.refuse(kernel.node, f"the type {scalar.name} of parameter {name} is not bound by an array")
                scalar = types[scalar.name]
            out.parameters[name] = array_type(kind, scalar) if isinstance(kind, Array) else scalar
            if scalar is boolean and not isinstance(kind, Array):
                out.parameters[name] = i32
                out.truths.add(name)
    out.bundles = bundles
    out.counts = {name: kind.count for name, kind in all_kinds.items() if isinstance(kind, Table) and kind.count}
    named = {n.id for n in ast.walk(kernel.node) if isinstance(n, ast.Name)}
    copying = stage_tables(out, all_kinds, named, team_size)
    translator = Translator(team_size, types.get(MESSAGES))
    out.parameters |= translator.hidden
    translator.build(kernel, out, types, bundles)
    out.body[:0] = drop_unread_copies(out, copying)
    return tree.Program(out, translator.order, team_size, tuple(translator.statements))
