"""Functions that are called once are written into their callers before a program is printed for the CPU.

numba takes some 40 ms for every function, and links it anew on every level of calls: hill climbing compiled in 1.3 s
with these functions and in 0.9 s without. Compilers of devices inline faster than we could, and their code is measured
as it is. `core.lang.front.calls` does the same to functions of one expression, for all.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from operator import is_
from typing import Any

from core.lang import tree

LOOPS = (tree.For, tree.While)


def inline_single_calls(program: tree.Program) -> tree.Program:
    """The program with fewer functions, which computes the same.

    The statements of a function stand where it was called if it is called once, in a statement of its own, and returns
    at its end or not at all. One with a loop of a fixed number of rounds, called in a loop, stays: LLVM vectorises that
    loop before it inlines the function, while the indices are made from plain arguments. In the caller they follow from
    the outer loop's counter, and what is checked before so short a loop took a sixth of knapsack's time.
    """
    calls = Counter(called for one in program.functions for called in _called(one.body))
    copies: dict[tree.TypedFunction, tree.TypedFunction] = {}
    for function in program.functions:  # callees come first
        made = copies[function] = copy.copy(function)
        made.locals, made.arrays = dict(function.locals), dict(function.arrays)
        made.body = _Caller(made, copies, calls).statements(function.body)
    kernel = copies[program.kernel]
    called = {kernel}
    for function in reversed(program.functions):
        if copies[function] in called:
            called.update(_called(copies[function].body))
    return program._replace(kernel=kernel, functions=[copies[f] for f in program.functions if copies[f] in called])


class _Caller:
    """Rewrites the body of one function; ``copies`` are the functions that are rewritten already."""

    def __init__(
        self,
        function: tree.TypedFunction,
        copies: dict[tree.TypedFunction, tree.TypedFunction],
        calls: Counter[tree.TypedFunction],
    ) -> None:
        self.function, self.copies, self.calls = function, copies, calls
        self.loops = 0
        """How many loops stand around the statement that is being rewritten."""

    def statements(self, body: list[Any]) -> list[Any]:
        """A block, with the statements of functions in it."""
        found: list[Any] = []
        for statement in body:
            value = getattr(statement, "value", None)
            if isinstance(value, tree.Call) and self.calls[value.function] == 1 and self.can_stand_here(value):
                before, result = self.spliced(value)
                found += before
                if result is not None and not isinstance(statement, tree.Evaluate):
                    found.append(statement._replace(value=result))
                elif isinstance(statement, tree.Return):
                    found.append(tree.Return(None))
            else:
                self.loops += isinstance(statement, LOOPS)
                found.append(_rebuilt(statement, self.rewritten))
                self.loops -= isinstance(statement, LOOPS)
        return found

    def rewritten(self, node: Any) -> Any:
        """A part of a statement."""
        if isinstance(node, list):
            return self.statements(node)
        if isinstance(node, tree.Call):
            return tree.Call(node.type, self.copies[node.function], self.rewritten(node.arguments))
        return _rebuilt(node, self.rewritten)

    def can_stand_here(self, call: tree.Call) -> bool:
        """Whether a function returns at its end alone, takes its arrays whole, and is no short loop in a loop."""
        if any(isinstance(one, tree.View) for one in call.arguments):
            return False
        body = self.copies[call.function].body
        statements = list(_statements(body))
        if self.loops and any(map(_has_fixed_rounds, statements)):
            return False
        returns = [one for one in statements if isinstance(one, tree.Return)]
        return not returns or (len(returns) == 1 and returns[0] is body[-1])

    def spliced(self, call: tree.Call) -> tuple[list[Any], Any]:
        """The statements of a function that is called here alone, and what it returns."""
        callee = self.copies[call.function]
        given: dict[str, Any] = {}
        found: list[Any] = []
        for (name, kind), argument in zip(callee.parameters.items(), call.arguments, strict=True):
            if isinstance(kind, tree.ArrayType):
                given[name] = argument
            else:
                given[name] = tree.Local(kind, f"{callee.name}.{name}")
                self.function.locals[given[name].name] = kind
                found.append(tree.Assign(given[name].name, self.rewritten(argument)))
        for name, kind in callee.locals.items():
            given[name] = tree.Local(kind, f"{callee.name}.{name}")
            self.function.locals[given[name].name] = kind
        for name, array in callee.arrays.items():
            given[name] = f"{callee.name}.{name}"
            self.function.arrays[given[name]] = array._replace(name=given[name])
        body = list(_renamed(callee.body, given))
        result = body.pop().value if body and isinstance(body[-1], tree.Return) else None
        return found + body, result


def _has_fixed_rounds(node: Any) -> bool:
    """Whether this is a loop of which the number of rounds is known."""
    return isinstance(node, tree.For) and isinstance(node.start, tree.Literal) and isinstance(node.stop, tree.Literal)


def _renamed(node: Any, given: dict[str, Any]) -> Any:
    """Statements or an expression with other names: expressions for locals, names for arrays."""

    def replaced(one: Any) -> Any:
        if isinstance(one, tree.Local):
            return given[one.name]
        if isinstance(one, (tree.Assign, tree.For)):
            one = one._replace(name=given[one.name].name)
        elif isinstance(one, tree.NewArray):
            return one._replace(name=given[one.name])
        elif isinstance(one, (tree.Load, tree.Store, tree.Atomic, tree.View)):
            one = one._replace(array=given[one.array])
        elif isinstance(one, tree.Call):
            arguments = tuple(given[a] if isinstance(a, str) else replaced(a) for a in one.arguments)
            return one._replace(arguments=arguments)
        return _rebuilt(one, replaced)

    return replaced(node)


def _rebuilt(node: Any, change: Any) -> Any:
    """A statement, an expression or a sequence of them with its parts changed; itself if none of them was."""
    parts = [change(part) if isinstance(part, (tuple, list)) else part for part in node]
    if all(map(is_, parts, node)):
        return node
    if isinstance(node, list):
        return parts
    return type(node)(*parts) if hasattr(node, "_fields") else tuple(parts)


def _called(body: list[Any]) -> Iterator[tree.TypedFunction]:
    """The functions that statements call, each as often as it is called."""
    pending: list[Any] = [body]
    while pending:
        node = pending.pop()
        if isinstance(node, tree.Call):
            yield node.function
        pending += [part for part in node if isinstance(part, (tuple, list))]


def _statements(body: list[Any]) -> Iterator[Any]:
    """Statements and those inside them."""
    for statement in body:
        yield statement
        for part in statement:
            if isinstance(part, list):
                yield from _statements(part)
