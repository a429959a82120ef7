"""OpenCL C, and the OpenCL C for Intel's compiler, as dialects of `CPrinter`."""

from __future__ import annotations

from typing import ClassVar

from backends.emit.c_printer import CPrinter
from core.lang import tree
from core.lang.types import Scalar

IMAGE_READS = {"i": "read_imagei", "u": "read_imageui", "f": "read_imagef"}
EXTENSIONS = {"cl_khr_fp64": "double", "cl_khr_int64_base_atomics": "atom_", "cl_khr_int64_extended_atomics": "atom_"}


class OpenClC(CPrinter):
    """A team is a work-group, shared arrays are ``__local``; float arithmetic is never contracted."""

    types: ClassVar = {
        "i8": "char", "i16": "short", "i32": "int", "i64": "long",
        "u8": "uchar", "u16": "ushort", "u32": "uint", "u64": "ulong",
        "f32": "float", "f64": "double", "boolean": "bool",
    }  # fmt: skip
    spaces: ClassVar = {
        "global": "__global ", "readonly": "__global ", "shared": "__local ", "local": "__private ",
    }  # fmt: skip
    places: ClassVar = {"lane": "get_local_id(0)", "team_rank": "get_group_id(0)", "team_count": "get_num_groups(0)"}
    words: ClassVar = {"mulhi": "mul_hi", "abs_f32": "fabs", "abs_f64": "fabs"}
    atomics: ClassVar = {"atomic_add": "add", "atomic_min": "min", "atomic_max": "max", "atomic_cas": "cmpxchg"}
    kernel = "__kernel __attribute__((reqd_work_group_size({}, 1, 1))) void"
    function_words = "inline"
    long = "L"

    def head(self, body: str) -> list[str]:
        enabled = [f"#pragma OPENCL EXTENSION {e} : enable" for e, sign in EXTENSIONS.items() if sign in body]
        return ["#pragma OPENCL FP_CONTRACT OFF", *enabled]

    def parameter(self, name: str, kind: tree.ArrayType | Scalar, unwritten: bool) -> str:
        if isinstance(kind, tree.ArrayType) and kind.space == "image":
            return f"__read_only image1d_buffer_t {self.name(name)}"
        return super().parameter(name, kind, unwritten)

    def pointer(self, kind: tree.ArrayType, unwritten: bool) -> str:
        """Return a pointer with ``restrict`` only where a kernel never writes, or a team is one lane.

        Compilers take it to mean that no other lane writes either, and keep old values over a barrier. (Without it
        PoCL compiles for minutes.)
        """
        return "* restrict" if unwritten or kind.fixed or self.program.team_size == 1 else "*"

    def barrier(self) -> str:
        return "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"

    def text_Load(self, node: tree.Load) -> str:  # noqa: N802
        if self.array_type(node.array).space != "image":
            return super().text_Load(node)
        read = f"{IMAGE_READS[node.type.kind]}({self.name(node.array)}, (int)({self.text(node.index)})).x"
        return f"(({self.types[node.type.__name__]}){read})"

    def atomic(self, node: tree.Atomic, place: str, values: str) -> str:
        return f"{'atomic' if node.type.bits == 32 else 'atom'}_{self.atomics[node.name]}({place}{values})"


class IntelC(OpenClC):
    """OpenCL C for Intel's runtime for CPUs, with limits for its compiler's loop optimisations.

    The compiler adds floats in another order when it vectorises a loop (other trajectories on the Weierstrass
    function), so loops of functions with floats are not vectorised. It unrolls a lone lane's loops by two before it
    vectorises them, and then reads every second element (ants ran at 0.4 of the speed). Version 2026.2 computes
    `min(~a, b)` and `max(~a, b)` wrongly for AVX-512 (docs/design/speeds.md). So `~a` becomes `a ^ -1`, and -1 is the
    negated number of a launch's dimensions, which is always 1 and unknown to the compiler.
    """

    def text_Unary(self, node: tree.Unary) -> str:  # noqa: N802
        if node.op != "invert" or node.type.bits < 32:
            return super().text_Unary(node)
        return f"({self.text(node.operand)} ^ ({self.types[node.type.__name__]})-(int)get_work_dim())"

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
