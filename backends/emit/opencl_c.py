"""Prints a typed program as OpenCL C."""

from __future__ import annotations

from typing import ClassVar

from backends.emit.printer import ProgramPrinter
from core.lang import tree
from core.lang.types import Scalar, boolean

TYPES = {
    "i8": "char", "i16": "short", "i32": "int", "i64": "long",
    "u8": "uchar", "u16": "ushort", "u32": "uint", "u64": "ulong",
    "f32": "float", "f64": "double", "boolean": "bool",
}  # fmt: skip
SPACES = {"global": "__global", "readonly": "__global", "shared": "__local", "local": "__private"}
IMAGE_READS = {"i": "read_imagei", "u": "read_imageui", "f": "read_imagef"}
INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^", "shl": "<<", "shr": ">>",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
PREFIX = {"neg": "-", "invert": "~", "not": "!"}
PLACES = {"lane": "get_local_id(0)", "team_rank": "get_group_id(0)", "team_count": "get_num_groups(0)"}
WORDS = {"mulhi": "mul_hi"}
ATOMICS = {"atomic_add": "add", "atomic_min": "min", "atomic_max": "max", "atomic_cas": "cmpxchg"}
FLOORED = """\
inline {t} floordiv_{n}({t} a, {t} b) {{ {t} q = a / b, r = a % b; return q - (r != 0 && (r ^ b) < 0); }}
inline {t} mod_{n}({t} a, {t} b) {{ {t} r = a % b; return r + (r != 0 && (r ^ b) < 0 ? b : 0); }}
"""
# OpenCL's `min` and `max` are not used: Intel's compiler vectorises no loop that calls one (2.9 against 0.16 ns an
# element of the scan of `climb_columns`). Python's also define the result for unordered operands.
EXTREMES = """\
inline {t} min_{n}({t} a, {t} b) {{ return b < a ? b : a; }}
inline {t} max_{n}({t} a, {t} b) {{ return b > a ? b : a; }}
"""
# CPUs stop a process that divides the lowest number by -1; constant divisors need no such check.
CHECKED = """\
inline {t} floordiv_by_{n}({t} a, {t} b) {{
    {t} q = floordiv_{n}(a, b == -1 ? 1 : b); return b == -1 ? ({t})(0 - (u{t})a) : q;
}}
inline {t} mod_by_{n}({t} a, {t} b) {{ return mod_{n}(a, b == -1 ? 1 : b); }}
"""
EXTENSIONS = {"cl_khr_fp64": "double", "cl_khr_int64_base_atomics": "atom_", "cl_khr_int64_extended_atomics": "atom_"}


class OpenClC(ProgramPrinter):
    """A team is a work-group, shared arrays are ``__local``; float arithmetic is never contracted."""

    end = ";"
    opening = "{} ({}) {{"
    otherwise, closing = "} else {", "}"
    logic: ClassVar = {"and": "&&", "or": "||"}

    def source(self) -> str:
        """Return the whole program."""
        for function in self.program.functions:
            self.function = function
            self.definition(function)
        body = "\n".join(self.lines)
        enabled = [f"#pragma OPENCL EXTENSION {e} : enable" for e, sign in EXTENSIONS.items() if sign in body]
        written = [
            text.format(t=TYPES[n], n=n)
            for text, words, types in (
                (FLOORED, ("div", "mod", "div_by", "mod_by"), ("i32", "i64")),
                (CHECKED, ("div_by", "mod_by"), ("i32", "i64")),
                (EXTREMES, ("min", "max"), TYPES),
            )
            for n in types
            if any(f"{word}_{n}(" in body for word in words)
        ]
        return "\n".join(["#pragma OPENCL FP_CONTRACT OFF", *enabled, *written, body, ""])

    def definition(self, function: tree.TypedFunction) -> None:
        """Print one function, its locals declared at the top."""
        is_kernel = function is self.program.kernel
        written = tree.written_arrays(function) if is_kernel else set(function.parameters)
        parameters = ", ".join(self.parameter(n, t, n not in written) for n, t in function.parameters.items())
        if is_kernel:
            size = f"__attribute__((reqd_work_group_size({self.program.team_size}, 1, 1)))"
            self.line(f"__kernel {size} void {self.name(function.name)}({parameters})")
        else:
            result = "void" if function.result is None else TYPES[function.result.__name__]
            self.line(f"inline {result} {self.name(function.name)}({parameters})")
        self.line("{")
        self.level += 1
        for name, scalar in function.locals.items():
            self.line(f"{TYPES[scalar.__name__]} {self.name(name)};")
        for name, array in function.arrays.items():
            space = SPACES[array.array.space]
            self.line(f"{space} {TYPES[array.array.element.__name__]} {self.name(name)}[{array.count}];")
        self.level -= 1
        self.block(function.body)
        self.line("}")

    def parameter(self, name: str, kind: tree.ArrayType | Scalar, unwritten: bool) -> str:
        """Return the declaration of one parameter.

        ``restrict`` only where a kernel never writes, or a team is one lane: compilers take it to mean that no other
        lane writes either, and keep old values over a barrier. (Without it PoCL compiles for minutes.)
        """
        if isinstance(kind, tree.ArrayType):
            if kind.space == "image":
                return f"__read_only image1d_buffer_t {self.name(name)}"
            constant = "const " if kind.fixed else ""
            star = "* restrict" if unwritten or kind.fixed or self.program.team_size == 1 else "*"
            return f"{constant}{SPACES[kind.space]} {TYPES[kind.element.__name__]}{star} {self.name(name)}"
        return f"{TYPES[kind.__name__]} {self.name(name)}"

    # --- statements ---

    def print_Store(self, node: tree.Store) -> None:  # noqa: N802
        self.line(f"{self.name(node.array)}[{self.text(node.index)}] = {self.text(node.value)};")

    def print_NewArray(self, node: tree.NewArray) -> None:  # noqa: N802
        """Print nothing: arrays are declared at the top of their function."""

    def print_Barrier(self, node: tree.Barrier) -> None:  # noqa: N802
        """Print no barrier for a lone lane: compilers keep variables in memory over a barrier."""
        if self.program.team_size > 1:
            self.line("barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);")

    def print_For(self, node: tree.For) -> None:  # noqa: N802
        kind = TYPES[node.type.__name__]
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
            return float_text(float(node.value), node.type.bits)
        value = int(node.value)
        suffix = ("u" if node.type.kind == "u" else "") + ("L" if node.type.bits == 64 else "")
        if value == node.type.low and value < 0 and node.type.bits >= 32:
            return f"({value + 1}{suffix} - 1)"
        text = f"({value}{suffix})" if value < 0 else f"{value}{suffix}"
        return text if node.type.bits >= 32 else f"(({TYPES[node.type.__name__]}){text})"

    def text_Load(self, node: tree.Load) -> str:  # noqa: N802
        if self.array_type(node.array).space == "image":
            read = f"{IMAGE_READS[node.type.kind]}({self.name(node.array)}, (int)({self.text(node.index)})).x"
            return f"(({TYPES[node.type.__name__]}){read})"
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
        return f"(({TYPES[node.type.__name__]}){self.text(node.operand)})"

    def text_Intrinsic(self, node: tree.Intrinsic) -> str:  # noqa: N802
        if not node.arguments:
            lone = node.name == "lane" and self.program.team_size == 1
            return "0" if lone else f"((int){PLACES[node.name]})"
        values = [self.text(a) for a in node.arguments]
        kind = node.arguments[0].type
        if node.name in ("min", "max"):
            return f"{node.name}_{kind.__name__}({', '.join(values)})"
        if node.name == "abs":
            return f"fabs({values[0]})" if kind.kind == "f" else f"(({TYPES[kind.__name__]})abs({values[0]}))"
        call = f"{WORDS.get(node.name, node.name)}({', '.join(values)})"
        return f"((int){call})" if node.name in ("popcount", "clz") else call

    def text_Atomic(self, node: tree.Atomic) -> str:  # noqa: N802
        prefix = "atomic_" if node.type.bits == 32 else "atom_"
        values = "".join(f", {self.text(a)}" for a in node.arguments)
        return f"{prefix}{ATOMICS[node.name]}(&{self.name(node.array)}[{self.text(node.index)}]{values})"

    def text_View(self, node: tree.View) -> str:  # noqa: N802
        return f"({self.name(node.array)} + {self.text(node.offset)})"

    def text_Call(self, node: tree.Call) -> str:  # noqa: N802
        return f"{self.name(node.function.name)}({', '.join(self.arguments(node))})"


class IntelC(OpenClC):
    """OpenCL C for Intel's runtime for CPUs, with limits for its compiler's loop optimisations.

    The compiler adds floats in another order when it vectorises a loop (other trajectories on the Weierstrass
    function), so loops of functions with floats are not vectorised. It unrolls a lone lane's loops by two before it
    vectorises them, and then reads every second element (ants ran at 0.4 of the speed).
    """

    def before_loop(self, counted: bool) -> None:
        if uses_floats(self.function):
            self.line("#pragma clang loop vectorize(disable)")
        if counted and self.program.team_size == 1:
            self.line("#pragma nounroll")


def uses_floats(function: tree.TypedFunction) -> bool:
    """True if a parameter, local, array or the result of a function is a float."""
    scalars = [*function.locals.values(), *(a.array.element for a in function.arrays.values())]
    scalars += [t.element if isinstance(t, tree.ArrayType) else t for t in function.parameters.values()]
    return any(scalar.kind == "f" for scalar in (*scalars, function.result) if scalar is not None)


def float_text(value: float, bits: int) -> str:
    """Return a literal that the compiler reads back exactly."""
    suffix = "f" if bits == 32 else ""
    if value != value:
        return "((float)NAN)" if bits == 32 else "((double)NAN)"
    if value in (float("inf"), float("-inf")):
        return f"({'-' if value < 0 else ''}({'float' if bits == 32 else 'double'})INFINITY)"
    return f"({value.hex()}{suffix})"
