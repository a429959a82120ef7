"""Reference interpreter: runs a kernel as plain Python and defines the results of all devices.

The kernel's code runs with these changes: literals and widened values have their types of the language, ``unroll`` is
unrolled, a ``barrier()`` switches to the next lane, and calls use functions specialised for their argument types. Lanes
run one after the other from barrier to barrier, in a chosen order, so two orders with different results show a race.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from core.lang import intrinsics, tree
from core.lang.bundle_forms import fields_of
from core.lang.bundles import unchecked_bundle
from core.lang.front.bundle_types import Bundle
from core.lang.intrinsics import Memory, current_lane, poisoned
from core.lang.kernel_errors import LOCATED_ERRORS, KernelError
from core.lang.named_arrays import as_named
from core.lang.source import Source, located_error
from core.lang.types import Generic, Integer, Scalar, i32, promoted, type_of


class _Typed(ast.NodeTransformer):
    """Rewrites one function's syntax tree for its plain-Python run."""

    def __init__(self, function: tree.TypedFunction) -> None:
        self.function = function
        self.names: dict[str, Any] = {}
        self.steps: tuple[int, ...] = ()

    def key(self, node: ast.AST) -> tuple[int, ...]:
        return (getattr(node, "number", 0), *self.steps)

    def named(self, value: object, node: ast.AST) -> ast.Name:
        name = f"__{len(self.names)}"
        self.names[name] = value
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def visit(self, node: ast.AST) -> Any:
        if not isinstance(node, ast.expr):
            return super().visit(node)
        key = self.key(node)
        if key in self.function.literals:
            return self.named(self.function.literals[key], node)
        visited = super().visit(node)
        is_value = isinstance(getattr(node, "ctx", None), (ast.Load, type(None)))
        return self.widened(key, visited) if is_value else visited

    def widened(self, key: tuple[int, ...], value: ast.expr) -> ast.expr:
        """Return a stored value, cast to the type that the language gives it."""
        scalar = self.function.widened.get(key)
        if scalar is None or scalar.kind not in "iu":
            return value
        return ast.copy_location(ast.Call(self.named(scalar, value), [value], []), value)

    def body(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrite statements; an ``unroll`` becomes several."""
        rewritten = (self.visit(copy.deepcopy(s)) for s in statements)
        return [s for statement in rewritten for s in (statement if isinstance(statement, list) else [statement])]

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:  # noqa: N802
        target = node.targets[0]
        self.generic_visit(node)
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = zip(target.elts, node.value.elts, strict=False)
            node.value.elts = [self.widened(self.key(t), v) for t, v in pairs]
        else:
            node.value = self.widened(self.key(target), node.value)
        return node

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:  # noqa: N802
        steps = self.function.unrolled.get(self.key(node))
        if steps is None or not isinstance(node.target, ast.Name):
            return self.generic_visit(node)
        statements: list[ast.stmt] = []
        outer = self.steps
        for value in steps:
            self.steps = (*outer, value)
            constant = ast.Assign([copy.deepcopy(node.target)], self.named(i32(value), node.target))
            statements.append(ast.copy_location(constant, node))
            statements.extend(self.body(node.body))
        self.steps = outer
        return statements or ast.copy_location(ast.Pass(), node)

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:  # noqa: N802
        """Return a branch: versions of Python differ in the line of a failed ``assert``, here that of its test."""
        failed = ast.Raise(ast.Call(self.named(AssertionError, node.test), [ast.Constant(assertion_text(node))], []))
        branch = ast.If(ast.UnaryOp(ast.Not(), self.visit(node.test)), [ast.copy_location(failed, node.test)], [])
        return ast.copy_location(branch if __debug__ else ast.Pass(), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:  # noqa: N802
        callee = self.function.calls.get(self.key(node))
        word = node.func.id if isinstance(node.func, ast.Name) else ""
        self.generic_visit(node)
        if word == "barrier":
            return ast.copy_location(ast.Yield(None) if self.function.has_barrier else ast.Constant(None), node)
        if word == "range" and self.key(node) in self.function.rising:
            node.func = self.named(rising_range, node.func)
        if callee is None:
            return node
        node.func = self.named(plain_function(callee), node.func)
        return ast.copy_location(ast.YieldFrom(node), node) if callee.has_barrier else node


def assertion_text(node: ast.Assert) -> str:
    """Return the message of a failed assertion: its test as written, and its text."""
    text = f": {node.msg.value!s}" if isinstance(node.msg, ast.Constant) else ""
    return f"assertion failed: {ast.unparse(node.test)}{text}"


def print_line(*values: object) -> None:
    """Print a line as Python does, numbers of the language as plain ones."""
    print(*(int(value) if isinstance(value, Integer) else value for value in values))


def plain_function(function: tree.TypedFunction) -> Callable[..., Any]:
    """Return the function as plain Python; a generator if it, or a function that it calls, has a barrier."""
    if getattr(function, "python", None) is None:
        definition = copy.deepcopy(function.source.node)
        rewrite = _Typed(function)
        definition.body = rewrite.body(definition.body)
        for name, value in reversed(function.constants.items()):
            bound = ast.Assign([ast.Name(name, ast.Store())], rewrite.named(value, definition.body[0]))
            definition.body.insert(0, ast.copy_location(bound, definition.body[0]))
        definition.decorator_list, definition.returns = [], None
        for argument in definition.args.args:
            argument.annotation = None
        module = ast.fix_missing_locations(ast.Module([definition], []))
        words = {
            "range": typed_range,
            "print": print_line,
            "team_size": intrinsics.team_size,
            **intrinsics.PYTHON_WORDS,
        }
        generics = {n: g for n, g in function.source.python.__globals__.items() if isinstance(g, Generic)}
        types = {n: function.types[g.name] for n, g in generics.items() if g.name in function.types}
        free = {n: function.source.lookup(n) for n in function.source.python.__code__.co_freevars}
        scope = {**function.source.python.__globals__, **types, **free, **words, **rewrite.names}
        scope[SOURCE] = function.source
        exec(compile(module, function.source.path, "exec"), scope)
        function.python = scope[definition.name]  # type: ignore[attr-defined]
    return function.python  # type: ignore[attr-defined]


def typed_range(*bounds: int) -> Iterator[Integer]:
    """Return a ``range`` with steps of the type of its bounds."""
    scalar = max((promoted(type_of(b)) for b in bounds), key=lambda s: s.bits)
    steps = range(*(int(b) for b in bounds))
    if not scalar.low <= steps.stop + steps.step <= scalar.high:
        raise OverflowError(f"range: stop {steps.stop} plus step {steps.step} does not fit {scalar.__name__}")
    return map(scalar, steps)


def rising_range(start: int, stop: int, step: int) -> Iterator[Integer]:
    """`typed_range` with a variable step, which must be positive, so that devices know the direction."""
    if step <= 0:
        raise ValueError(f"range: a step that is not a constant must be positive, not {int(step)}")
    return typed_range(start, stop, step)


class BarrierError(KernelError, RuntimeError):
    """Some lanes of a team wait at a barrier that others never reach."""


SOURCE = "source of this function"
"""A global of every function that `plain_function` makes; no identifier has spaces."""


def located(error: Exception) -> KernelError:
    """Return the error with file, line and function of the innermost kernel code on its way, and all callers."""
    places, trace = [], error.__traceback__
    while trace is not None:
        if SOURCE in trace.tb_frame.f_globals:
            places.append((trace.tb_frame.f_globals[SOURCE], trace.tb_lineno))
        trace = trace.tb_next
    return located_error(
        next(LOCATED_ERRORS[kind] for kind in LOCATED_ERRORS if isinstance(error, kind)), places, str(error)
    )


class _Team:
    """Shared arrays of one team: each lane's k-th ``shared_array`` is the same array."""

    def __init__(self, size: int) -> None:
        self.arrays: list[Memory] = []
        self.taken = [0] * size

    def take(self, count: int, element: Scalar) -> Memory:
        k = self.taken[current_lane.lane]
        self.taken[current_lane.lane] += 1
        if k == len(self.arrays):
            self.arrays.append(Memory(poisoned(count, element), element))
        return self.arrays[k]


def run(program: tree.Program, teams: int, arguments: list[Any], reverse: bool = False) -> None:
    """Run a launch to its end.

    ``arguments`` are a NumPy array for each array parameter and a number for each scalar one, without ``Const``
    parameters. Teams run one after the other; ``reverse`` runs the lanes from last to first between barriers.

    Raises
    ------
    BarrierError
        A barrier was not reached by every lane of a team.
    KernelError
        A number does not fit its parameter.
    OverflowError, ZeroDivisionError, IndexError, TypeError, ValueError, AssertionError
        An error of the language in the kernel; each is a `KernelError` too, with file, line and function.
    """
    kernel = program.kernel
    for function in program.functions:  # callees come first, so that a long chain of calls is no deep recursion
        plain_function(function)
    remaining = iter(arguments)
    bound: list[Any] = []
    values = {n: value(n, next(remaining), kernel) for n in kernel.parameters}
    for name in kernel.source.signature:
        if name in kernel.constants:
            bound.append(kernel.constants[name])
        elif name in kernel.bundles:
            bound.append(bundled(kernel.bundles[name], values))
        elif name != "return":
            bound.append(as_named(values[name], kernel.source.signature[name]))
    lanes = range(program.team_size - 1, -1, -1) if reverse else range(program.team_size)
    current_lane.team_count, current_lane.team_size = teams, program.team_size
    try:
        with np.errstate(all="ignore"):
            for team in range(teams):
                current_lane.team_rank = team
                current_lane.shared = _Team(program.team_size).take
                _run_team(kernel, bound, lanes)
    except tuple(LOCATED_ERRORS) as error:
        raise located(error).with_traceback(error.__traceback__) from error
    finally:
        vars(current_lane).clear()  # outside a launch, one lane stands alone


def value(name: str, argument: Any, kernel: tree.TypedFunction) -> object:
    """Return an argument as a kernel reads it: a typed number, or an array as `Memory`, cut to the size of a table.

    A number must fit, because a cast would cut it; a store to a table is a ``ValueError`` of NumPy's.
    """
    typed = kernel.parameters[name]
    if not isinstance(typed, tree.ArrayType):
        if typed.kind in "iu" and not typed.low <= int(argument) <= typed.high:
            kernel.source.refuse(None, f"argument {name} is {typed.__name__}; {argument} does not fit")
        return bool(argument) if name in kernel.truths else typed(argument)
    if typed.fixed:
        argument = argument[: kernel.counts.get(name)]
        argument.flags.writeable = False
    return Memory(argument, typed.holds)


def bundled(bundle: Bundle, values: dict[str, Any]) -> object:
    """Return a bundle, or rows of one, made of the values of a kernel's parameters."""

    def given_value(member: Any) -> object:
        if isinstance(member, tree.Literal):
            return member.value
        return bool(values[member.left.name]) if isinstance(member, tree.Compare) else values[member.name]

    def members(instance: Bundle) -> dict[str, Any]:
        return {
            name: unchecked_bundle(member.type.bundle, members(member))
            if isinstance(member, Bundle)
            else as_named(given_value(member), fields_of(instance.type.bundle)[name])
            for name, member in instance.members.items()
        }

    if bundle.count is None:
        return unchecked_bundle(bundle.type.bundle, members(bundle))
    return RowsOfMemory(bundle.type, members(bundle), values[bundle.count.name])


class RowsOfMemory:
    """`core.lang.bundles.Rows` in a plain-Python run."""

    def __init__(self, kind: tree.BundleType, members: dict[str, Any], count: int) -> None:
        self.kind, self.members, self.count = kind, members, count

    def __getitem__(self, row: int) -> object:
        if not 0 <= int(row) < int(self.count):
            raise IndexError(f"row {int(row)} of {int(self.count)} rows of {self.kind.bundle.__name__}")
        return self.part(self.kind, self.members, int(row))

    def part(self, kind: tree.BundleType, members: dict[str, Any], row: int) -> object:
        """Return one row: of every `core.lang.bundles.Row` only the row's part."""
        parts = dict(members)
        for name, type_, size in kind.fields:
            if isinstance(type_, tree.BundleType):
                parts[name] = self.part(type_, vars(members[name]), row)
            elif size is not None:
                elements = int(members[size] if isinstance(size, str) else size)
                part = Memory(members[name].data[row * elements : (row + 1) * elements], type_.holds)
                parts[name] = as_named(part, fields_of(kind.bundle)[name])
        return unchecked_bundle(kind.bundle, parts)


def _waiting_functions(steps: Any) -> Iterator[tuple[Source, int]]:
    """Yield the functions of a waiting lane and their lines, from the kernel to the function with the barrier."""
    while steps is not None:
        yield steps.gi_frame.f_globals[SOURCE], steps.gi_frame.f_lineno
        steps = steps.gi_yieldfrom


def _run_team(kernel: tree.TypedFunction, arguments: list[Any], lanes: range) -> None:
    function = plain_function(kernel)
    if not kernel.has_barrier:
        for current_lane.lane in lanes:
            function(*arguments)
        return
    alive = {n: function(*arguments) for n in lanes}
    while alive:
        waiting = {}
        for current_lane.lane, steps in alive.items():
            if next(steps, current_lane) is None:
                waiting[current_lane.lane] = steps
        if waiting and len(waiting) < len(alive):
            missing = sorted(set(alive) - set(waiting))
            where = list(_waiting_functions(next(iter(waiting.values()))))
            raise located_error(BarrierError, where, f"lanes {missing[:4]} ended while others wait at this barrier")
        alive = waiting
