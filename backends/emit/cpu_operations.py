"""The operations of `CpuPython`: arrays are bare pointers, arguments arrive in 64-bit slots."""

from __future__ import annotations

import platform
from functools import partial
from typing import TYPE_CHECKING

from llvmlite import ir
from numba.core import types

from backends.emit.llvm_operations import LlvmOperations
from backends.emit.numba_compiler import EmittedFunction, EmittedOperation, FunctionLibrary, SingleLibrary

if TYPE_CHECKING:
    from backends.emit.llvm_operations import BaseContext, Coded, Definition, IRBuilder, Signature, Type, Value, Values


class CpuOperations(LlvmOperations):
    """Operations that read a launch's arguments; a team has one lane."""

    def kind_pointer(self, kind: str) -> Definition:
        """``pointer_u16(slots, 3)``: the array at the address in a slot."""
        scalar = self.numba[kind]

        def pointer(typing: object, slots: Type, k: Type) -> Coded:
            def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
                address = builder.load(builder.gep(values[0], [values[1]]))
                return builder.inttoptr(address, context.get_data_type(scalar).as_pointer())

            return types.CPointer(scalar)(slots, k), codegen

        return pointer

    def kind_slot(self, kind: str) -> Definition:
        """``slot_i32(slots, 3)``: the scalar in the low bytes of a slot."""
        scalar = self.numba[kind]

        def slot(typing: object, slots: Type, k: Type) -> Coded:
            def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
                place = builder.gep(values[0], [values[1]])
                return builder.load(builder.bitcast(place, context.get_value_type(scalar).as_pointer()))

            return scalar(slots, k), codegen

        return slot

    def word_call_entry(self) -> Definition:
        """``call_entry(address, begin, end, team_count, slots)``: run another kernel's machine code."""
        i32, u64 = self.numba["i32"], self.numba["u64"]

        def call_entry(typing: object, address: Type, begin: Type, end: Type, team_count: Type, slots: Type) -> Coded:
            def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
                kind = ir.FunctionType(ir.VoidType(), [ir.IntType(32)] * 3 + [ir.IntType(64)])
                builder.call(builder.inttoptr(values[0], kind.as_pointer()), values[1:])
                return context.get_dummy_value()

            return self.types.void(u64, i32, i32, i32, u64), codegen

        return call_entry

    def word_never_inlined(self) -> Definition:
        """``never_inlined()``: LLVM compiles the function that begins with it once, and calls it."""

        def never_inlined(typing: object) -> Coded:
            def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
                builder.function.attributes.add("noinline")
                return context.get_dummy_value()

            return self.types.void(), codegen

        return never_inlined

    def word_watch(self) -> Definition:
        """``watch(array, index)``: a 64-bit number that other threads change."""

        def watch(typing: object, array: Type, index: Type) -> Coded:
            def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
                place = self.element_pointer(builder, values[0], values[1], sig.args[1])
                return builder.load_atomic(place, self.atomic_ordering, 8)

            return array.dtype(array, index), codegen

        return watch

    def word_pause(self) -> Definition:
        """``pause()``: tell the core that this thread waits; nothing on cores without such an instruction."""

        def pause(typing: object) -> Coded:
            def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
                if platform.machine() in ("x86_64", "AMD64"):
                    kind = ir.FunctionType(ir.VoidType(), [])
                    builder.call(declared(builder.module, "llvm.x86.sse2.pause", kind), [])
                return context.get_dummy_value()

            return self.types.void(), codegen

        return pause

    def word_yield_core(self) -> Definition:
        """``yield_core()``: let another thread run."""

        def yield_core(typing: object) -> Coded:
            def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
                return builder.call(declared(builder.module, "sched_yield", ir.FunctionType(ir.IntType(32), [])), [])

            return self.numba["i32"](), codegen

        return yield_core


def declared(module: ir.Module, name: str, kind: ir.FunctionType) -> ir.Function:
    return module.globals.get(name) or ir.Function(module, kind, name)


def team_function() -> partial[EmittedFunction]:
    return partial(EmittedFunction, library=FunctionLibrary, inline=True)


def single_function() -> partial[EmittedFunction]:
    return partial(EmittedFunction, library=SingleLibrary, inline=True)


def separate_function() -> partial[EmittedFunction]:
    """Return the decorator of emitted functions that begin with `never_inlined`."""
    return partial(EmittedFunction, library=SingleLibrary, inline=False)


_words = CpuOperations(EmittedOperation, partial(EmittedOperation, takes_literals=True), types)


def __getattr__(name: str) -> object:
    return _words[name]
