"""Prints a typed program as C; `opencl_c` and `cuda_c` have the dialects."""

from __future__ import annotations

from typing import ClassVar

from backends.emit.printer import ProgramPrinter
from core.lang import tree
from core.lang.types import Scalar, boolean

INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
PREFIX = {"neg": "-", "invert": "~", "not": "!"}
FLOORED = """\
{f} {t} floordiv_{n}({t} a, {t} b) {{ {t} q = a / b, r = a % b; return q - (r != 0 && (r ^ b) < 0); }}
{f} {t} mod_{n}({t} a, {t} b) {{ {t} r = a % b; return r + (r != 0 && (r ^ b) < 0 ? b : 0); }}
"""
# The dialects' `min` and `max` are not used: Intel's compiler vectorises no loop that calls one (2.9 against 0.16 ns
# an element of the scan of `climb_columns`). Python's also define the result for unordered operands.
EXTREMES = """\
{f} {t} min_{n}({t} a, {t} b) {{ return b < a ? b : a; }}
{f} {t} max_{n}({t} a, {t} b) {{ return b > a ? b : a; }}
"""
# CPUs stop a process that divides the lowest number by -1; constant divisors need no such check.
CHECKED = """\
{f} {t} floordiv_by_{n}({t} a, {t} b) {{
    {t} q = floordiv_{n}(a, b == -1 ? 1 : b); return b == -1 ? ({t})(0 - ({u})a) : q;
}}
{f} {t} mod_by_{n}({t} a, {t} b) {{ return mod_{n}(a, b == -1 ? 1 : b); }}
"""


class CPrinter(ProgramPrinter):
    """Common part of the C dialects: statements and expressions. A dialect is what the attributes name."""

    end = ";"
    opening = "{} ({}) {{"
    otherwise, closing = "} else {", "}"
    logic: ClassVar = {"and": "&&", "or": "||"}

    types: ClassVar[dict[str, str]]
    """Names of the scalar types."""
    spaces: ClassVar[dict[str, str]]
    """Words before the element type of an array, by its space."""
    places: ClassVar[dict[str, str]]
    """Expressions for a lane's place."""
    words: ClassVar[dict[str, str]]
    """Functions for words of the language, such as ``mulhi`` or ``mulhi_u32``, that have other names."""
    atomics: ClassVar[dict[str, str]]
    kernel: str
    """Words before the name of a kernel, with the team size."""
    function_words: str
    """Words before the result of a function."""
    long: str
    """Suffix of literals of 64 bits."""
    nan, infinity = "NAN", "INFINITY"

    def source(self) -> str:
        """Return the whole program."""
        for function in self.program.functions:
            self.function = function
            self.definition(function)
        body = "\n".join(self.lines)
        written = [
            text.format(f=self.function_words, t=self.types[n], n=n, u=self.types.get(f"u{n[1:]}"))
            for text, words, types in (
                (FLOORED, ("div", "mod", "div_by", "mod_by"), ("i32", "i64")),
                (CHECKED, ("div_by", "mod_by"), ("i32", "i64")),
                (EXTREMES, ("min", "max"), self.types),
            )
            for n in types
            if any(f"{word}_{n}(" in body for word in words)
        ]
        return "\n".join([*self.head(body), *written, body, ""])

    def head(self, body: str) -> list[str]:
        """Return the lines before the functions."""
        raise NotImplementedError

    def definition(self, function: tree.TypedFunction) -> None:
        """Print one function, its locals declared at the top."""
        is_kernel = function is self.program.kernel
        written = tree.written_arrays(function) if is_kernel else set(function.parameters)
        parameters = ", ".join(self.parameter(n, t, n not in written) for n, t in function.parameters.items())
        if is_kernel:
            words = self.kernel.format(self.program.team_size)
        else:
            result = "void" if function.result is None else self.types[function.result.__name__]
            words = f"{self.function_words} {result}"
        self.line(f"{words} {self.name(function.name)}({parameters})")
        self.line("{")
        self.level += 1
        for name, scalar in function.locals.items():
            self.line(f"{self.types[scalar.__name__]} {self.name(name)};")
        for name, array in function.arrays.items():
            self.line(self.own_array(self.types[array.array.element.__name__], self.name(name), array))
        self.level -= 1
        self.block(function.body)
        self.line("}")

    def parameter(self, name: str, kind: tree.ArrayType | Scalar, unwritten: bool) -> str:
        """Return the declaration of one parameter; ``unwritten`` is true for an array that a kernel only reads."""
        if isinstance(kind, tree.ArrayType):
            constant = "const " if kind.fixed else ""
            element = f"{self.spaces[kind.space]}{self.types[kind.element.__name__]}"
            return f"{constant}{element}{self.pointer(kind, unwritten)} {self.name(name)}"
        return f"{self.types[kind.__name__]} {self.name(name)}"

    def pointer(self, kind: tree.ArrayType, unwritten: bool) -> str:
        """Return the words between the element type and the name of an array parameter."""
        return "*"

    def own_array(self, element: str, name: str, array: tree.NewArray) -> str:
        """Return the declaration of a local or shared array."""
        return f"{self.spaces[array.array.space]}{element} {name}[{array.count}];"

    # --- statements ---

    def print_Store(self, node: tree.Store) -> None:  # noqa: N802
        self.line(f"{self.name(node.array)}[{self.text(node.index)}] = {self.text(node.value)};")

    def print_NewArray(self, node: tree.NewArray) -> None:  # noqa: N802
        """Print nothing: arrays are declared at the top of their function."""

    def print_Barrier(self, node: tree.Barrier) -> None:  # noqa: N802
        """Print no barrier for a lone lane: compilers keep variables in memory over a barrier."""
        if self.program.team_size > 1:
            self.line(self.barrier())

    def barrier(self) -> str:
        raise NotImplementedError

    def print_For(self, node: tree.For) -> None:  # noqa: N802
        kind = self.types[node.type.__name__]
        count, stop, step = (self.fresh(stem) for stem in ("count", "stop", "step"))
        bounds = ((count, node.start), (stop, node.stop), (step, node.step))
        self.before_loop(counted=True)
        start = f"{kind} " + ", ".join(f"{name} = {self.text(value)}" for name, value in bounds)
        self.line(f"for ({start}; {count} {'>' if node.down else '<'} {stop}; {count} += {step}) {{")
        self.line(f"    {self.name(node.name)} = {count};")
        self.block(node.body)
        self.line("}")

    # --- expressions ---

    def text_Literal(self, node: tree.Literal) -> str:  # noqa: N802
        if node.type is boolean:
            return "true" if node.value else "false"
        if node.type.kind == "f":
            return self.float_text(float(node.value), node.type.bits)
        value = int(node.value)
        suffix = ("u" if node.type.kind == "u" else "") + (self.long if node.type.bits == 64 else "")
        if value == node.type.low and value < 0 and node.type.bits >= 32:
            return f"({value + 1}{suffix} - 1)"
        text = f"({value}{suffix})" if value < 0 else f"{value}{suffix}"
        return text if node.type.bits >= 32 else f"(({self.types[node.type.__name__]}){text})"

    def text_Load(self, node: tree.Load) -> str:  # noqa: N802
        return f"{self.name(node.array)}[{self.text(node.index)}]"

    def text_Unary(self, node: tree.Unary) -> str:  # noqa: N802
        return f"({PREFIX[node.op]}{self.text(node.operand)})"

    def text_Binary(self, node: tree.Binary) -> str:  # noqa: N802
        left, right = self.text(node.left), self.text(node.right)
        if node.op in ("floordiv", "mod"):
            if node.type.kind == "u":
                return f"({left} {'/' if node.op == 'floordiv' else '%'} {right})"
            is_safe = isinstance(node.right, tree.Literal) and node.right.value != -1
            return f"{node.op}{'' if is_safe else '_by'}_{node.type.__name__}({left}, {right})"
        return f"({left} {INFIX[node.op]} {right})"

    def text_Compare(self, node: tree.Compare) -> str:  # noqa: N802
        return f"({self.text(node.left)} {INFIX[node.op]} {self.text(node.right)})"

    def text_Select(self, node: tree.Select) -> str:  # noqa: N802
        return f"({self.text(node.test)} ? {self.text(node.yes)} : {self.text(node.no)})"

    def text_Cast(self, node: tree.Cast) -> str:  # noqa: N802
        return f"(({self.types[node.type.__name__]}){self.text(node.operand)})"

    def text_Intrinsic(self, node: tree.Intrinsic) -> str:  # noqa: N802
        if not node.arguments:
            lone = node.name == "lane" and self.program.team_size == 1
            return "0" if lone else f"((int){self.places[node.name]})"
        values = ", ".join(self.text(a) for a in node.arguments)
        kind = node.arguments[0].type
        if node.name in ("min", "max"):
            return f"{node.name}_{kind.__name__}({values})"
        word = self.words.get(f"{node.name}_{kind.__name__}") or self.words.get(node.name, node.name)
        # The results of C's functions have other types.
        cast = node.name in ("popcount", "clz", "abs") and kind.kind != "f"
        return f"(({self.types[node.type.__name__]}){word}({values}))" if cast else f"{word}({values})"

    def text_Atomic(self, node: tree.Atomic) -> str:  # noqa: N802
        values = "".join(f", {self.text(a)}" for a in node.arguments)
        return self.atomic(node, f"&{self.name(node.array)}[{self.text(node.index)}]", values)

    def atomic(self, node: tree.Atomic, place: str, values: str) -> str:
        """Return the call of an atomic operation on the element with the address ``place``."""
        raise NotImplementedError

    def text_View(self, node: tree.View) -> str:  # noqa: N802
        return f"({self.name(node.array)} + {self.text(node.offset)})"

    def text_Call(self, node: tree.Call) -> str:  # noqa: N802
        return f"{self.name(node.function.name)}({', '.join(self.arguments(node))})"

    def float_text(self, value: float, bits: int) -> str:
        """Return a literal that the compiler reads back exactly."""
        kind = self.types[f"f{bits}"]
        if value != value:
            return f"(({kind}){self.nan})"
        if value in (float("inf"), float("-inf")):
            return f"({'-' if value < 0 else ''}({kind}){self.infinity})"
        return f"({value.hex()}{'f' if bits == 32 else ''})"
