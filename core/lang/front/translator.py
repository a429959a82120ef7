"""Functions and whole programs: a kernel is specialised, and on demand the functions that it calls."""

from __future__ import annotations

import ast
from typing import Any

from core.lang import tree
from core.lang.bundle_forms import FORM_SUFFIX, RowsOf, is_bundle, kinds_by_name
from core.lang.front.bundle_types import bundle_parameter, bundle_type, candidate_parameters
from core.lang.front.context import FunctionContext
from core.lang.front.statements import Statements
from core.lang.front.table_staging import array_type, drop_unread_copies, stage_tables
from core.lang.source import Function, Source, called_at
from core.lang.types import Array, Const, Generic, Table, boolean, i32


class Translator:
    """Specialises a kernel and, on demand, the functions that it calls.

    ``levels`` counts the nesting at the node that is being translated.
    """

    def __init__(self, team_size: int) -> None:
        self.team_size = team_size
        self.levels = 0
        self.done: dict[Any, tree.TypedFunction] = {}
        self.order: list[tree.TypedFunction] = []
        self.named = 0
        self.open: list[Source] = []

    def function(
        self, source: Function, types: tuple[Any, ...], bound: dict[str, Any], node: ast.expr, caller: FunctionContext
    ) -> tree.TypedFunction:
        """Return the function for these argument types; ``types`` has constants by their value."""
        key = (source, types)
        if key not in self.done:
            if source in self.open:
                caller.refuse(node, f"{source.name} calls itself; write a loop")
            names = [n for n in source.signature if n != "return"]
            kinds = source.signature
            self.named += 1
            out = tree.TypedFunction(f"{source.name}_{self.named}", source)
            out.types = bound
            for name, kind in zip(names, types, strict=True):
                if isinstance(kinds[name], Const):
                    out.constants[name] = kind
                elif isinstance(kind, tree.BundleType):
                    out.bundles[name] = bundle_parameter(name, kind)
                    out.offered |= candidate_parameters(name, kind)
                else:
                    out.parameters[name] = kind
            result = kinds["return"]
            if isinstance(result, Generic) and result.name not in bound:
                caller.refuse(node, f"the result type {result.name} of {source.name} is not bound by its arguments")
            out.result = bound[result.name] if isinstance(result, Generic) else result
            if is_bundle(out.result):
                caller.refuse(node, f"the result of {source.name} is a bundle, {out.result.__name__}; return a number")
            with called_at(caller.source, node):
                self.done[key] = self.build(out)
            out.parameters |= {n: out.parameters.pop(n) for n in out.offered if n in out.parameters}
        return self.done[key]

    def build(self, out: tree.TypedFunction) -> tree.TypedFunction:
        """Translate the body of a function with a known signature."""
        self.open.append(out.source)
        context = Statements(self, out)
        context.descend(out.source.node, 2)
        statements = out.source.node.body
        out.body = context.block(statements)
        if out.result is not None and context.defined is not None:
            advice = "return a value on every path"
            context.refuse(statements[-1], f"the end of the function is reached without a return; {advice}")
        self.levels -= 2
        self.open.pop()
        self.order.append(out)
        return out


def translate(kernel: Source, constants: dict[str, Any], team_size: int, types: dict[str, Any]) -> tree.Program:
    """Translate a kernel into a typed program.

    Raises `KernelError` if the kernel uses what the language does not have.

    Parameters
    ----------
    constants
        A value for every ``Const`` parameter, and for those among the fields of bundles (``shape.lanes``).
    team_size
        Lanes of a team; ``team_size()`` is this constant in the program.
    types
        A scalar type for every `Generic` in the kernel's signature, by its name; a `BundleForm` for every bundled
        parameter, by its name and `FORM_SUFFIX`.
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
    out.types = types
    for name, kind in kinds.items():
        if isinstance(kind, Const):
            out.constants[name] = constants[name]
        elif name + FORM_SUFFIX in types:
            rows = isinstance(kind, RowsOf)
            bundle = bundle_type(name + "[]" * rows, types[name + FORM_SUFFIX], types, constants, rows)
            out.bundles[name] = bundle_parameter(name, bundle, in_kernel=True)
            out.parameters |= {n: i32 if t is boolean else t for n, t in candidate_parameters(name, bundle).items()}
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
    out.counts = {name: kind.count for name, kind in all_kinds.items() if isinstance(kind, Table) and kind.count}
    named = {n.id for n in ast.walk(kernel.node) if isinstance(n, ast.Name)}
    copying = stage_tables(out, all_kinds, named, team_size)
    translator = Translator(team_size)
    translator.build(out)
    out.body[:0] = drop_unread_copies(out, copying)
    return tree.Program(out, translator.order, team_size)
