"""The operations of `CudaPython`, for a GPU; `simulator_operations` has them for numba's simulator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from llvmlite import ir
from numba import cuda
from numba.cuda import types
from numba.cuda.extending import _intrinsic, intrinsic

from backends.emit.llvm_operations import LlvmOperations, definition

if TYPE_CHECKING:
    from backends.emit.llvm_operations import BaseContext, Definition, IRBuilder, Type, Value, Values

GLOBAL, SHARED = 1, 3
BARRIERS = {"barrier": ("barrier.sync", 0), "warp_barrier": ("bar.warp.sync", -1)}
"""NVVM's intrinsics, and their argument: a number of a barrier, or a mask of lanes.

Lanes of a warp may reach these barriers one after the other. CUDA's ``bar.sync`` needs all of them at once: where lanes
had left a loop one by one, ptxas did not always join them before the barrier, and the kernel never ended.
"""
SREG = {"lane": "tid.x", "team_rank": "ctaid.x", "team_count": "nctaid.x"}


class CudaOperations(LlvmOperations):
    """Float arithmetic is rounded operation by operation (``.rn``), which forbids contraction."""

    atomic_ordering = "monotonic"

    def make(self, name: str) -> object:
        """Make an operation, also those without arguments."""
        if name in SREG:
            return self.intrinsic(self.register(name))
        if name in BARRIERS:
            return self.intrinsic(self.barrier(*BARRIERS[name]))
        return super().make(name)

    def register(self, name: str) -> Definition:
        """Return the operation for a lane's index in its team or league."""

        def build(context: BaseContext, builder: IRBuilder, kinds: Sequence[Type]) -> Value:
            kind = ir.FunctionType(ir.IntType(32), [])
            symbol = f"llvm.nvvm.read.ptx.sreg.{SREG[name]}"
            return builder.call(builder.module.globals.get(symbol) or ir.Function(builder.module, kind, symbol), [])

        return definition(lambda: self.numba["i32"](), build)

    def barrier(self, function: str, argument: int) -> Definition:
        def build(context: BaseContext, builder: IRBuilder, kinds: Sequence[Type]) -> None:
            self.call(builder, f"llvm.nvvm.{function}", [ir.Constant(ir.IntType(32), argument)], ir.VoidType())

        return definition(lambda: self.types.void(), build)

    def word_pointer(self) -> Definition:
        """``pointer(array)``: the address behind a kernel's array argument."""
        return definition(
            lambda array: self.types.CPointer(array.dtype)(array),
            lambda context, builder, kinds, array: context.make_array(kinds[0])(context, builder, array).data,
        )

    def word_load_readonly(self) -> Definition:
        """``load_readonly(array, index)``: through the read-only path (ld.global.nc); no lane stores to the array."""

        def build(context: BaseContext, builder: IRBuilder, kinds: Sequence[Type], *values: Value) -> Value:
            place = self.element_pointer(builder, kinds, *values)
            loaded = builder.load(builder.addrspacecast(place, place.type.pointee.as_pointer(GLOBAL)))
            loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
            return loaded

        return definition(lambda array, index: array.dtype(array, index), build)

    def kind_shared(self, scalar: Type) -> Definition:
        """``shared_u16(offset, count)``: a part of the team's dynamic shared memory."""

        def build(
            context: BaseContext, builder: IRBuilder, kinds: Sequence[Type], offset: Value, count: Value
        ) -> Value:
            block = builder.module.globals.get("team_memory")
            if block is None:
                block = ir.GlobalVariable(builder.module, ir.ArrayType(ir.IntType(8), 0), "team_memory", SHARED)
                block.linkage, block.align = "external", 16
            place = builder.gep(block, [ir.Constant(ir.IntType(64), 0), offset], inbounds=True)
            element = context.get_data_type(scalar)
            return builder.addrspacecast(builder.bitcast(place, element.as_pointer(SHARED)), element.as_pointer())

        return definition(lambda offset, count: self.types.CPointer(scalar)(offset, count), build)

    def float_arithmetic(self, builder: IRBuilder, operation: str, kind: str, values: Values) -> Value:
        """NVVM's intrinsics with a rounding mode are never fused; there is none for subtraction."""
        if operation == "sub":
            operation, values = "add", (values[0], builder.fsub(ir.Constant(values[1].type, -0.0), values[1]))
        return self.call(builder, f"llvm.nvvm.{operation}.rn.{'f' if kind == 'f32' else 'd'}", values)

    def mathematics(self, builder: IRBuilder, operation: str, kind: str, values: Values) -> Value:
        return self.call(builder, f"__nv_{operation}{'f' if kind == 'f32' else ''}", values)


def team_kernel(team_size: int) -> Callable[..., object]:
    return cuda.jit(cache=True, launch_bounds=team_size)


def team_function() -> Callable[..., object]:
    return cuda.jit(device=True, forceinline=True)


_words = CudaOperations(intrinsic, _intrinsic(prefer_literal=True, target="cuda"), types)


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    return _words[name]
