"""The operations of `CudaPython`, for a GPU; `simulator_operations` has them for numba's simulator."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from llvmlite import ir
from numba import cuda
from numba.cuda import types
from numba.cuda.extending import _intrinsic, intrinsic

from backends.emit.llvm_operations import LlvmOperations

if TYPE_CHECKING:
    from backends.emit.llvm_operations import BaseContext, Coded, Definition, IRBuilder, Signature, Type, Value, Values

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

        def place(typing: object) -> Coded:
            def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
                kind = ir.FunctionType(ir.IntType(32), [])
                symbol = f"llvm.nvvm.read.ptx.sreg.{SREG[name]}"
                function = builder.module.globals.get(symbol) or ir.Function(builder.module, kind, symbol)
                return builder.call(function, [])

            return self.numba["i32"](), codegen

        return place

    def barrier(self, function: str, argument: int) -> Definition:
        def wait(typing: object) -> Coded:
            def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
                number = ir.Constant(ir.IntType(32), argument)
                self.call(builder, f"llvm.nvvm.{function}", [number], ir.VoidType())
                return context.get_dummy_value()

            return self.types.void(), codegen

        return wait

    def word_pointer(self) -> Definition:
        """``pointer(array)``: the address behind a kernel's array argument."""

        def pointer(typing: object, array: Type) -> Coded:
            def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
                return context.make_array(sig.args[0])(context, builder, values[0]).data

            return self.types.CPointer(array.dtype)(array), codegen

        return pointer

    def word_load_readonly(self) -> Definition:
        """``load_readonly(array, index)``: through the read-only path (ld.global.nc); no lane stores to the array."""

        def load_readonly(typing: object, array: Type, index: Type) -> Coded:
            def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
                place = self.element_pointer(builder, values[0], values[1], sig.args[1])
                loaded = builder.load(builder.addrspacecast(place, place.type.pointee.as_pointer(GLOBAL)))
                loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
                return loaded

            return array.dtype(array, index), codegen

        return load_readonly

    def kind_shared(self, kind: str) -> Definition:
        """``shared_u16(offset, count)``: a part of the team's dynamic shared memory."""
        scalar = self.numba[kind]

        def shared(typing: object, offset: Type, count: Type) -> Coded:
            def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
                block = builder.module.globals.get("team_memory")
                if block is None:
                    block = ir.GlobalVariable(builder.module, ir.ArrayType(ir.IntType(8), 0), "team_memory", SHARED)
                    block.linkage, block.align = "external", 16
                zero = ir.Constant(ir.IntType(64), 0)
                place = builder.gep(block, [zero, values[0]], inbounds=True)
                element = context.get_data_type(scalar)
                return builder.addrspacecast(builder.bitcast(place, element.as_pointer(SHARED)), element.as_pointer())

            return self.types.CPointer(scalar)(offset, count), codegen

        return shared

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
