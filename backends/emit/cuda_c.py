"""CUDA C++ for NVRTC, as a dialect of `CPrinter`."""

from __future__ import annotations

from typing import ClassVar

from backends.emit.c_printer import CPrinter
from core.lang import tree

WARP = 32
"""Lanes of a warp."""


class CudaC(CPrinter):
    """A team is a block. All shared arrays lie in the block's dynamic shared memory, one after the other.

    The compiler's options forbid contraction of float arithmetic. Only read-only tables are read through the read-only
    path: with ``__restrict__`` NVRTC would also read other arrays so.
    """

    types: ClassVar = {
        "i8": "signed char", "i16": "short", "i32": "int", "i64": "long long",
        "u8": "unsigned char", "u16": "unsigned short", "u32": "unsigned int", "u64": "unsigned long long",
        "f32": "float", "f64": "double", "boolean": "bool",
    }  # fmt: skip
    spaces: ClassVar = dict.fromkeys(("global", "readonly", "shared", "local"), "")
    places: ClassVar = {"lane": "threadIdx.x", "team_rank": "blockIdx.x", "team_count": "gridDim.x"}
    words: ClassVar = {
        **{f"{word}_f32": f"{word}f" for word in ("sqrt", "sin", "cos", "exp", "log", "pow")},
        "abs_i64": "llabs", "abs_f32": "fabsf", "abs_f64": "fabs",
        "popcount_i32": "__popc", "popcount_u32": "__popc", "popcount_i64": "__popcll", "popcount_u64": "__popcll",
        "clz_i32": "__clz", "clz_u32": "__clz", "clz_i64": "__clzll", "clz_u64": "__clzll",
        "mulhi_i32": "__mulhi", "mulhi_u32": "__umulhi", "mulhi_i64": "__mul64hi", "mulhi_u64": "__umul64hi",
    }  # fmt: skip
    atomics: ClassVar = {
        "atomic_add": "atomicAdd", "atomic_min": "atomicMin", "atomic_max": "atomicMax", "atomic_cas": "atomicCAS",
    }  # fmt: skip
    kernel = 'extern "C" __global__ void __launch_bounds__({})'
    function_words = "static __device__ __forceinline__"
    long = "LL"
    nan, infinity = "__int_as_float(0x7fc00000)", "__int_as_float(0x7f800000)"

    def __init__(self, program: tree.Program) -> None:
        super().__init__(program)
        self.offset = 0

    def head(self, body: str) -> list[str]:
        return ["extern __shared__ __align__(16) unsigned char team_memory[];"] if self.offset else []

    def own_array(self, element: str, name: str, array: tree.NewArray) -> str:
        if array.array.space == "local":
            return super().own_array(element, name, array)
        begin, self.offset = self.offset, self.offset + tree.padded(array)
        return f"{element}* {name} = ({element}*)(team_memory + {begin});"

    def barrier(self) -> str:
        """Return a barrier that lanes of a warp may reach one after the other.

        CUDA's ``bar.sync`` (``__syncthreads``) needs all of them at once (`backends.emit.cuda_operations`).
        """
        lanes = self.program.team_size
        return f"__syncwarp({(1 << lanes) - 1:#x}u);" if lanes <= WARP else "__barrier_sync(0);"

    def text_Load(self, node: tree.Load) -> str:  # noqa: N802
        """Read tables through the read-only path."""
        text = super().text_Load(node)
        return f"__ldg(&{text})" if self.array_type(node.array).space == "readonly" else text

    def atomic(self, node: tree.Atomic, place: str, values: str) -> str:
        """Return the call; CUDA adds and exchanges 64 bits only as unsigned numbers."""
        kind = self.types[node.type.__name__]
        if kind == "long long" and node.name in ("atomic_add", "atomic_cas"):
            place = f"(unsigned {kind}*){place}"
        return f"(({kind}){self.atomics[node.name]}({place}{values}))"
