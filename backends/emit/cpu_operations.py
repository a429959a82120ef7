"""The operations of `CpuPython`: arrays are bare pointers, arguments arrive in 64-bit slots."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from llvmlite import ir
from numba import njit
from numba.core import types
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys
from numba.core.typed_passes import (
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.typing.templates import _IntrinsicTemplate, infer_global, make_intrinsic_template
from numba.core.untyped_passes import FixupArgs, IRProcessing, ReconstructSSA, TranslateByteCode
from numba.cpython import builtins, numbers  # noqa: F401 (casts and truth values)
from numba.extending import _Intrinsic

from backends.emit.llvm_operations import LlvmOperations


class CpuOperations(LlvmOperations):
    """Operations that read a launch's arguments; a team has one lane."""

    def kind_pointer(self, kind: str) -> Any:
        """``pointer_u16(slots, 3)``: the array at the address in a slot."""
        scalar = self.numba[kind]

        def pointer(typing: Any, slots: Any, k: Any) -> Any:
            def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
                address = builder.load(builder.gep(values[0], [values[1]]))
                return builder.inttoptr(address, context.get_data_type(scalar).as_pointer())

            return types.CPointer(scalar)(slots, k), codegen

        return pointer

    def kind_slot(self, kind: str) -> Any:
        """``slot_i32(slots, 3)``: the scalar in the low bytes of a slot."""
        scalar = self.numba[kind]

        def slot(typing: Any, slots: Any, k: Any) -> Any:
            def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
                place = builder.gep(values[0], [values[1]])
                return builder.load(builder.bitcast(place, context.get_value_type(scalar).as_pointer()))

            return scalar(slots, k), codegen

        return slot

    def word_call_entry(self) -> Any:
        """``call_entry(address, begin, end, team_count, slots)``: run another kernel's machine code."""
        i32, u64 = self.numba["i32"], self.numba["u64"]

        def call_entry(typing: Any, address: Any, begin: Any, end: Any, team_count: Any, slots: Any) -> Any:
            def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
                kind = ir.FunctionType(ir.VoidType(), [ir.IntType(32)] * 3 + [ir.IntType(64)])
                builder.call(builder.inttoptr(values[0], kind.as_pointer()), values[1:])
                return context.get_dummy_value()

            return self.types.void(u64, i32, i32, i32, u64), codegen

        return call_entry

    def word_never_inlined(self) -> Any:
        """``never_inlined()``: LLVM compiles the function that begins with it once, and calls it."""

        def never_inlined(typing: Any) -> Any:
            def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
                builder.function.attributes.add("noinline")
                return context.get_dummy_value()

            return self.types.void(), codegen

        return never_inlined

    def word_yield_core(self) -> Any:
        """``yield_core()``: let another thread run."""

        def yield_core(typing: Any) -> Any:
            def codegen(context: Any, builder: Any, sig: Any, values: Any) -> Any:
                kind = ir.FunctionType(ir.IntType(32), [])
                name = "sched_yield"
                return builder.call(builder.module.globals.get(name) or ir.Function(builder.module, kind, name), [])

            return self.numba["i32"](), codegen

        return yield_core


class EmittedCompiler(CompilerBase):
    """numba's compiler with only the passes that an emitted module needs, which take four fifths of the time.

    Emitted modules have no closures, containers, `with` blocks or exceptions. A name has one type in a function, so
    types are found without SSA too, but then one scan of PPP ran 4 % slower.
    """

    def define_pipelines(self) -> list[PassManager]:
        passes = PassManager("emitted")
        passes.add_pass(TranslateByteCode, "bytecode to numba's own code")
        passes.add_pass(FixupArgs, "arguments")
        passes.add_pass(IRProcessing, "control flow")
        passes.add_pass(ReconstructSSA, "a variable for each assignment")
        passes.add_pass(NopythonTypeInference, "types")
        passes.add_pass(PreLowerStripPhis, "assignments where branches meet")
        passes.add_pass(IRLegalization, "lifetimes of variables")
        passes.add_pass(NativeLowering, "LLVM's code")
        passes.add_pass(NoPythonBackend, "result")
        passes.finalize()
        return [passes]


class InlineLibrary(CPUCodeLibrary):
    """LLVM's code of a function that only other modules contain, without machine code for it."""

    def _finalize_final_module(self) -> None:
        self._finalized = True


class KernelLibrary(InlineLibrary):
    """LLVM's code of a kernel, which LLVM optimises only in the module of ``entry``, its single caller."""

    def _optimize_final_module(self) -> None:
        pass


class InlineCompiler(EmittedCompiler):
    """Compiles a function to LLVM's code only. The module of ``entry`` contains it, inlined or as a function."""

    library_type = InlineLibrary

    def __init__(
        self, typing: Any, target: Any, library: Any, args: Any, result: Any, flags: Any, locals_: Any
    ) -> None:
        flags = flags.copy()
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        library = self.library_type(target.codegen(), "emitted function")
        super().__init__(typing, target, library, args, result, flags, locals_)

    def _compile_core(self) -> Any:
        """Give the function a separate entry point, by which numba identifies it; it is never called."""
        unique_builtin: Any = [].append
        done = super()._compile_core()
        done.target_context.insert_user_function(unique_builtin, done.fndesc, [done.library])
        return done._replace(entry_point=unique_builtin)


class KernelCompiler(InlineCompiler):
    """Compiles a kernel to LLVM's code only."""

    library_type = KernelLibrary


@contextmanager
def few_registries() -> Iterator[None]:
    """Keep numba from loading its registries for arrays, containers and mathematics, which emitted modules never use.

    A later compilation of other functions by numba loads them.
    """
    contexts: list[Any] = [cpu_target.target_context, cpu_target.typing_context]
    with global_compiler_lock:
        rtsys.initialize(contexts[0])
        for context in contexts:
            context.load_additional_registries = lambda: None
        try:
            yield
        finally:
            for context in contexts:
                del context.load_additional_registries


def team_function() -> Any:
    return njit(forceinline=True, pipeline_class=InlineCompiler)


def kernel_function() -> Any:
    return njit(forceinline=True, pipeline_class=KernelCompiler)


def separate_function() -> Any:
    """Return the decorator of emitted functions that begin with `never_inlined`."""
    return njit(forceinline=False, pipeline_class=InlineCompiler)


class OperationTemplate(_IntrinsicTemplate):
    """Types of an operation's calls. numba's own class searches all its registries again at every call."""

    def generic(self, args: Any, kws: Any) -> Any:
        known = self._impl_cache.get((self.context, args, tuple(kws.items())))
        return known or super().generic(args, kws)


class Operation(_Intrinsic):
    """An intrinsic of numba with an `OperationTemplate`."""

    def _register(self) -> None:
        made = make_intrinsic_template(self, self._defn, self._name, prefer_literal=self._prefer_literal)
        infer_global(self, types.Function(type(made.__name__, (OperationTemplate, made), {})))


def operation(definition: Any, prefer_literal: bool = False) -> Operation:
    """Return the operation of a definition as numba's `intrinsic` takes it."""
    made = Operation(definition.__name__, definition, prefer_literal)
    made._register()
    return made


_words = CpuOperations(operation, partial(operation, prefer_literal=True), types)


def __getattr__(name: str) -> Any:
    return _words[name]
