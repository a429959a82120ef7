"""Inlines functions with one call into their callers before a program is printed for the CPU; finds those with many.

Each function costs numba's time, and LLVM optimises it again on every level of calls: hill climbing compiled in 1.3 s
with these functions and in 0.9 s without. Compilers of devices inline faster themselves. `core.lang.front.calls`
inlines functions of one expression for all backends.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from core.lang import tree

LOOPS = (tree.For, tree.While)
SHORT, MOST_COPIED = 16, 60
"""Statements of a function that is always inlined; statements that the copies of one function may add to a program."""


def inline_single_calls(program: tree.Program) -> tree.Program:
    """Return an equivalent program with fewer functions.

    The statements of a function replace its call if it is called once, in a separate statement, and returns at its end
    or not at all. A function with an inner loop of fixed length, called in a loop, stays a function: LLVM vectorises
    that loop before it inlines the function, while the indices are still computed from plain arguments. Inlined, they
    would depend on the outer loop's counter, and the additional checks took a sixth of knapsack's time.
    """
    calls = Counter(called for function in program.functions for called in _called_functions(function.body))
    copies: dict[tree.TypedFunction, tree.TypedFunction] = {}
    for function in program.functions:  # callees come first
        caller = copies[function] = copy.copy(function)
        caller.locals, caller.arrays = dict(function.locals), dict(function.arrays)
        caller.body = _Caller(caller, copies, calls).statements(function.body)
    kernel = copies[program.kernel]
    called = {kernel}
    for function in reversed(program.functions):
        if copies[function] in called:
            called.update(_called_functions(copies[function].body))
    return program._replace(kernel=kernel, functions=[copies[f] for f in program.functions if copies[f] in called])


def often_copied(program: tree.Program) -> set[tree.TypedFunction]:
    """Return longer functions with a loop, if their copies would add more than `MOST_COPIED` statements to the program.

    LLVM compiles them once. Or-opt calls the reversal of a path in 24 places; its copies took half of the time to
    compile the kernel, and a call takes little beside the loop.
    """
    copies = Counter({program.kernel: 1})
    for function in reversed(program.functions):  # callers before callees
        for called in _called_functions(function.body):
            copies[called] += copies[function]
    chosen = set()
    for function in program.functions:
        statements = list(_statements(function.body))
        has_loop = any(isinstance(statement, LOOPS) for statement in statements)
        if has_loop and len(statements) > SHORT and (copies[function] - 1) * len(statements) > MOST_COPIED:
            chosen.add(function)
    return chosen


def called_once(program: tree.Program) -> set[tree.TypedFunction]:
    """Return the kernel, and functions with one call and without a loop that `_is_vectorised`.

    LLVM optimises them only as parts of their callers: QAP compiled in 0.9, exact search in 0.8 of the time.
    """
    calls = Counter(called for function in program.functions for called in _called_functions(function.body))
    return {
        function
        for function in program.functions
        if calls[function] <= 1 and not any(map(_is_vectorised, _statements(function.body)))
    }


class _Caller:
    """Rewrites the body of one function; ``copies`` has those rewritten so far."""

    def __init__(
        self,
        function: tree.TypedFunction,
        copies: dict[tree.TypedFunction, tree.TypedFunction],
        calls: Counter[tree.TypedFunction],
    ) -> None:
        self.function, self.copies, self.calls = function, copies, calls
        self.loops = 0
        """Number of loops around the current statement."""

    def statements(self, body: list[Any]) -> list[tree.Statement]:
        """Return a block with inlined functions."""
        inlined: list[tree.Statement] = []
        for statement in body:
            value = getattr(statement, "value", None)
            if isinstance(value, tree.Call) and self.calls[value.function] == 1 and self.can_be_inlined(value):
                before, result = self.splice(value)
                inlined += before
                if result is not None and not isinstance(statement, tree.Evaluate):
                    inlined.append(statement._replace(value=result))
                elif isinstance(statement, tree.Return):
                    inlined.append(tree.Return(None))
            else:
                self.loops += isinstance(statement, LOOPS)
                inlined.append(tree.rebuilt(statement, self.rewrite))
                self.loops -= isinstance(statement, LOOPS)
        return inlined

    def rewrite(self, node: Any) -> Any:
        """Return a part of a statement with inlined functions."""
        if isinstance(node, list):
            return self.statements(node)
        if isinstance(node, tree.Call):
            return tree.Call(node.type, self.copies[node.function], self.rewrite(node.arguments))
        return tree.rebuilt(node, self.rewrite)

    def can_be_inlined(self, call: tree.Call) -> bool:
        """True if a function returns only at its end, takes whole arrays, and has no such loop inside a loop."""
        if any(isinstance(argument, tree.View) for argument in call.arguments):
            return False
        body = self.copies[call.function].body
        statements = list(_statements(body))
        if self.loops and any(map(_is_vectorised, statements)):
            return False
        returns = [statement for statement in statements if isinstance(statement, tree.Return)]
        return not returns or (len(returns) == 1 and returns[0] is body[-1])

    def splice(self, call: tree.Call) -> tuple[list[tree.Statement], tree.Expression | None]:
        """Return the statements of a function called only here, and its result."""
        callee = self.copies[call.function]
        replacements: dict[str, Any] = {}
        assignments: list[tree.Statement] = []
        for (name, kind), argument in zip(callee.parameters.items(), call.arguments, strict=True):
            if isinstance(kind, tree.ArrayType):
                replacements[name] = argument
            else:
                replacements[name] = tree.Local(kind, f"{callee.name}.{name}")
                self.function.locals[replacements[name].name] = kind
                assignments.append(tree.Assign(replacements[name].name, self.rewrite(argument)))
        for name, kind in callee.locals.items():
            replacements[name] = tree.Local(kind, f"{callee.name}.{name}")
            self.function.locals[replacements[name].name] = kind
        for name, array in callee.arrays.items():
            replacements[name] = f"{callee.name}.{name}"
            self.function.arrays[replacements[name]] = array._replace(name=replacements[name])
        body = _rename(callee.body, replacements)
        last = body[-1] if body else None
        if isinstance(last, tree.Return):
            return assignments + body[:-1], last.value
        return assignments + body, None


def _is_vectorised(node: tree.Statement) -> bool:
    """Return True for a loop of fixed length without calls and further loops."""
    return (
        isinstance(node, tree.For)
        and isinstance(node.start, tree.Literal)
        and isinstance(node.stop, tree.Literal)
        and not any(isinstance(statement, LOOPS) for statement in _statements(node.body))
        and not any(_called_functions(node.body))
    )


def _rename(body: list[tree.Statement], replacements: dict[str, Any]) -> list[tree.Statement]:
    """Return statements with other names: expressions for locals, names for arrays."""

    def replace(node: Sequence[object]) -> Any:
        if isinstance(node, tree.Local):
            return replacements[node.name]
        if isinstance(node, (tree.Assign, tree.For)):
            node = node._replace(name=replacements[node.name].name)
        elif isinstance(node, tree.NewArray):
            return node._replace(name=replacements[node.name])
        elif isinstance(node, (tree.Load, tree.Store, tree.Atomic, tree.View)):
            node = node._replace(array=replacements[node.array])
        elif isinstance(node, tree.Call):
            arguments = tuple(replacements[a] if isinstance(a, str) else replace(a) for a in node.arguments)
            return node._replace(arguments=arguments)
        return tree.rebuilt(node, replace)

    return [replace(statement) for statement in body]


def _called_functions(body: list[tree.Statement]) -> Iterator[tree.TypedFunction]:
    """Yield the function of each call in these statements."""
    return (node.function for node in tree.nodes(body) if isinstance(node, tree.Call))


def _statements(body: list[tree.Statement]) -> Iterator[tree.Statement]:
    """Yield statements, including nested ones."""
    for statement in body:
        yield statement
        for part in statement:
            if isinstance(part, list):
                yield from _statements(part)
