"""The operations of `CpuPython`: arrays are bare pointers, arguments arrive in 64-bit slots."""

from __future__ import annotations

import platform
from functools import partial
from typing import TYPE_CHECKING

from llvmlite import ir
from numba.core import types

from backends.emit.llvm_operations import LlvmOperations, definition
from backends.emit.numba_compiler import EmittedFunction, EmittedOperation, FunctionLibrary, SingleLibrary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.emit.llvm_operations import BaseContext, Definition, IRBuilder, Type, Value


class CpuOperations(LlvmOperations):
    """Operations that read a launch's arguments; a team has one lane."""

    def kind_pointer(self, scalar: Type) -> Definition:
        """``pointer_u16(slots, 3)``: the array at the address in a slot."""

        def build(context: BaseContext, builder: IRBuilder, kinds: Sequence[Type], slots: Value, k: Value) -> Value:
            address = builder.load(builder.gep(slots, [k]))
            return builder.inttoptr(address, context.get_data_type(scalar).as_pointer())

        return definition(lambda slots, k: types.CPointer(scalar)(slots, k), build)

    def kind_slot(self, scalar: Type) -> Definition:
        """``slot_i32(slots, 3)``: the scalar in the low bytes of a slot."""

        def build(context: BaseContext, builder: IRBuilder, kinds: Sequence[Type], slots: Value, k: Value) -> Value:
            place = builder.gep(slots, [k])
            return builder.load(builder.bitcast(place, context.get_value_type(scalar).as_pointer()))

        return definition(lambda slots, k: scalar(slots, k), build)

    def word_call_entry(self) -> Definition:
        """``call_entry(address, begin, end, team_count, slots)``: run another kernel's machine code."""
        i32, u64 = self.numba["i32"], self.numba["u64"]

        def build(context: BaseContext, builder: IRBuilder, kinds: Sequence[Type], *values: Value) -> None:
            kind = ir.FunctionType(ir.VoidType(), [ir.IntType(32)] * 3 + [ir.IntType(64)])
            builder.call(builder.inttoptr(values[0], kind.as_pointer()), values[1:])

        signature = self.types.void(u64, i32, i32, i32, u64)
        return definition(lambda address, begin, end, team_count, slots: signature, build)

    def word_never_inlined(self) -> Definition:
        """``never_inlined()``: LLVM compiles the function that begins with it once, and calls it."""
        return definition(
            lambda: self.types.void(), lambda context, builder, kinds: builder.function.attributes.add("noinline")
        )

    def word_watch(self) -> Definition:
        """``watch(array, index)``: a 64-bit number that other threads change."""

        def build(context: BaseContext, builder: IRBuilder, kinds: Sequence[Type], *place: Value) -> Value:
            return builder.load_atomic(self.element_pointer(builder, kinds, *place), self.atomic_ordering, 8)

        return definition(lambda array, index: array.dtype(array, index), build)

    def word_pause(self) -> Definition:
        """``pause()``: tell the core that this thread waits; nothing on cores without such an instruction."""

        def build(context: BaseContext, builder: IRBuilder, kinds: Sequence[Type]) -> None:
            if platform.machine() in ("x86_64", "AMD64"):
                kind = ir.FunctionType(ir.VoidType(), [])
                builder.call(declared(builder.module, "llvm.x86.sse2.pause", kind), [])

        return definition(lambda: self.types.void(), build)

    def word_yield_core(self) -> Definition:
        """``yield_core()``: let another thread run."""
        kind = ir.FunctionType(ir.IntType(32), [])
        return definition(
            lambda: self.numba["i32"](),
            lambda context, builder, kinds: builder.call(declared(builder.module, "sched_yield", kind), []),
        )


def declared(module: ir.Module, name: str, kind: ir.FunctionType) -> ir.Function:
    return module.globals.get(name) or ir.Function(module, kind, name)


# Decorators, made by a call; that of functions that begin with `never_inlined` is `separate_function`.
team_function = partial(partial, EmittedFunction, library=FunctionLibrary, inline=True)
single_function = partial(partial, EmittedFunction, library=SingleLibrary, inline=True)
separate_function = partial(partial, EmittedFunction, library=SingleLibrary, inline=False)


_words = CpuOperations(EmittedOperation, partial(EmittedOperation, takes_literals=True), types)


def __getattr__(name: str) -> object:
    return _words[name]
