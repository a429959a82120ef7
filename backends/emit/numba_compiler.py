"""numba's compiler with only the steps that an emitted module needs.

numba reads the bytecode of a function, keeps variables, and optimises and compiles LLVM's code. Its inference of types,
lifetimes of variables, exceptions and wrappers are left out: a name has one type in a function, and kernels raise
nothing. A context of its own keeps numba's registries for arrays, containers and mathematics from being loaded; other
functions that numba compiles in the same process have theirs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from llvmlite import ir as llvm_ir
from numba.core import ir, types
from numba.core.callconv import BaseCallConv
from numba.core.cgutils import alloca_once
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler import Flags, run_frontend
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUContext
from numba.core.funcdesc import PythonFunctionDescriptor
from numba.core.lowering import Lower
from numba.core.targetconfig import ConfigStack

ENTRY_TYPES = (types.int32, types.int32, types.int32, types.CPointer(types.int64))
"""Arguments of ``entry(begin, end, team_count, slots)``."""


class Operation:
    """An operation of emitted modules; ``definition`` returns its signature and its code, as for numba's `intrinsic`.

    With ``takes_literals`` the definition gets constant arguments as types of their values.
    """

    def __init__(self, definition: Callable[..., tuple[Any, Any]], takes_literals: bool = False) -> None:
        self.definition, self.takes_literals = definition, takes_literals
        self.calls: dict[tuple[Any, ...], Call] = {}

    def call(self, kinds: tuple[Any, ...]) -> Call:
        """Return the call with arguments of these types."""
        kinds = kinds if self.takes_literals else tuple(map(types.unliteral, kinds))
        if kinds not in self.calls:
            signature, codegen = self.definition(None, *kinds)
            build = functools.partial(_build_operation, signature, codegen)
            self.calls[kinds] = Call(signature.args, signature.return_type, build)
        return self.calls[kinds]


class Call(NamedTuple):
    """A call: types of its arguments and its result; ``build(lower, values)`` writes its code."""

    arguments: tuple[Any, ...]
    result: Any
    build: Callable[[EmittedLower, list[Any]], Any]


def _build_operation(signature: Any, codegen: Any, lower: EmittedLower, values: list[Any]) -> Any:
    return codegen(lower.context, lower.builder, signature, values)


class EmittedFunction:
    """A function of an emitted module, compiled to LLVM's code when the first caller is compiled."""

    def __init__(self, function: Any, library: type[CPUCodeLibrary], inline: bool) -> None:
        self.function, self.library, self.inline = function, library, inline
        self.compiled: Call | None = None

    def call(self, kinds: tuple[Any, ...]) -> Call:
        """Return the call of this function; all calls have arguments of the same types."""
        if self.compiled is None:
            library = self.library(context().codegen(), self.function.__name__)
            kinds = tuple(map(types.unliteral, kinds))
            descriptor = translate(self.function, kinds, library, self.inline)
            build = functools.partial(_build_call, descriptor, library, self.inline)
            self.compiled = Call(kinds, descriptor.restype, build)
        return self.compiled


def _build_call(
    descriptor: Any, library: CPUCodeLibrary, inline: bool, lower: EmittedLower, values: list[Any]
) -> Any:
    (lower.library if inline else context().program).add_linking_library(library)
    callee = lower.context.declare_function(lower.module, descriptor)
    return lower.call_conv.call_function(lower.builder, callee, descriptor.restype, descriptor.argtypes, values)


def compile_entry(entry: Any) -> tuple[str, list[str], bytes]:
    """Compile ``entry`` of an emitted module; returns its symbol, the symbols that it needs, and an object file."""
    with global_compiler_lock:
        library = context().program = EntryLibrary(context().codegen(), "entry")
        descriptor = translate(entry, ENTRY_TYPES, library, inline=False)
        library.finalize()
        functions = library._final_module.functions
        declared = [f.name for f in functions if f.is_declaration and not f.name.startswith("llvm.")]
        return descriptor.llvm_func_name, declared, library.object_code


def translate(function: Any, kinds: tuple[Any, ...], library: CPUCodeLibrary, inline: bool) -> Any:
    """Add LLVM's code of a function to a library; returns numba's description of the function."""
    code = run_frontend(function)
    typed = FunctionTypes(code, kinds)
    flags = Flags()
    descriptor = PythonFunctionDescriptor.from_specialized_function(
        code, typed.types, typed.result, typed.calls, None, inline, False, ()
    )
    with ConfigStack().enter(flags), context().push_code_library(library):
        EmittedLower(context(), library, descriptor, code).lower()
    return descriptor


class FunctionTypes:
    """Types of a function's variables, found in the order of its statements.

    ``types`` has them by name, ``calls`` has a `Call` and the names of its arguments for each call, and ``result`` is the type of the result.
    """

    def __init__(self, code: Any, kinds: tuple[Any, ...]) -> None:
        self.types: dict[str, Any] = {f"arg.{name}": kind for name, kind in zip(code.arg_names, kinds, strict=True)}
        self.calls: dict[Any, tuple[Call, list[str]]] = {}
        self.result: Any = types.none
        self.called: dict[str, Any] = {}
        """Functions and operations by the variables that hold them, which have no type."""
        self.tuples: dict[str, list[Any]] = {}
        """Tuples of variables, by which Python passes more than 30 arguments."""
        for _, block in sorted(code.blocks.items()):
            for statement in block.body:
                if isinstance(statement, ir.Assign):
                    self.assign(statement.target.name, statement.value)
                elif isinstance(statement, ir.Return):
                    self.result = self.types[statement.value.name]

    def assign(self, name: str, value: Any) -> None:
        if isinstance(value, ir.Global):
            self.called[name] = value.value
        elif isinstance(value, ir.Var) and value.name in self.called:
            self.called[name] = self.called[value.name]
        elif isinstance(value, ir.Expr) and value.op == "build_tuple":
            self.tuples[name] = value.items
        else:
            kind = self.kind(value)
            self.types[name] = kind if isinstance(value, ir.Const) else types.unliteral(kind)

    def kind(self, value: Any) -> Any:
        """Return the type of a value; raises `KeyError` for a variable without a type."""
        if isinstance(value, ir.Const):
            return CONSTANTS.get(type(value.value)) or types.literal(value.value)
        if isinstance(value, ir.Arg):
            return self.types[f"arg.{value.name}"]
        if isinstance(value, ir.Var):
            return self.types[value.name]
        if value.op == "unary":
            return types.boolean
        if value.op == "cast":
            return self.types[value.value.name]
        arguments = self.tuples[value.vararg.name] if value.vararg else value.args
        kinds = tuple(self.types[argument.name] for argument in arguments)
        called = self.called[value.func.name]
        call = TRUTH if called is bool else called.call(kinds)
        self.calls[value] = call, [argument.name for argument in arguments]
        return call.result


CONSTANTS = {type(None): types.none, bool: types.boolean, float: types.float64}
TRUTH = Call((types.boolean,), types.boolean, lambda lower, values: values[0])
"""``bool(x)``, which numba's code has for each condition."""


class EmittedLower(Lower):
    """Writes LLVM's code of a function from the types of its variables."""

    def emit_environment_object(self) -> None:
        """Emit nothing, since functions use no objects of Python."""

    def lower(self) -> None:
        self.lower_normal_function(self.fndesc)
        self.library.add_ir_module(self.module)

    def lower_block(self, block: Any) -> None:
        for statement in block.body:
            self.lower_inst(statement)

    def lower_inst(self, inst: Any) -> None:
        if isinstance(inst, ir.Assign):
            if inst.target.name in self.fndesc.typemap:
                self.storevar(self.value(inst.value), inst.target.name)
        elif isinstance(inst, ir.Branch):
            self.builder.cbranch(self.loadvar(inst.cond.name), self.blkmap[inst.truebr], self.blkmap[inst.falsebr])
        elif isinstance(inst, ir.Jump):
            self.builder.branch(self.blkmap[inst.target])
        else:
            value = self.loadvar(inst.value.name)
            self.call_conv.return_value(self.builder, self.context.get_return_value(self.builder, self.fndesc.restype, value))

    def value(self, value: Any) -> Any:
        """Return LLVM's value of the right side of an assignment."""
        if isinstance(value, ir.Const):
            kind = CONSTANTS.get(type(value.value)) or types.literal(value.value).literal_type
            return llvm_ir.Constant(self.context.get_value_type(kind), value.value)
        if isinstance(value, ir.Arg):
            return self.fnargs[value.index]
        if isinstance(value, ir.Var):
            return self.loadvar(value.name)
        if value.op == "unary":
            return self.builder.not_(self.loadvar(value.value.name))
        if value.op == "cast":
            return self.loadvar(value.value.name)
        call, names = self.fndesc.calltypes[value]
        return call.build(self, [self.loadvar(name) for name in names])

    def alloca(self, name: str, type: Any) -> Any:  # noqa: A002
        return alloca_once(self.builder, self.context.get_value_type(type), name=name)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def loadvar(self, name: str) -> Any:
        value = self._blk_local_varmap.get(name)
        return self.builder.load(self.getvar(name)) if value is None else value


class EmittedCalls(BaseCallConv):
    """Functions return their results as LLVM's functions do, and have no exceptions."""

    def get_function_type(self, restype: Any, argtypes: Any) -> Any:
        result = llvm_ir.VoidType() if restype == types.none else self.get_return_type(restype).pointee
        return llvm_ir.FunctionType(result, list(self._get_arg_packer(argtypes).argument_types))

    def decorate_function(self, fn: Any, args: Any, fe_argtypes: Any, noalias: bool = False) -> None:
        self._get_arg_packer(fe_argtypes).assign_names(fn.args, [f"arg.{name}" for name in args])

    def get_arguments(self, func: Any) -> Any:
        return func.args

    def return_value(self, builder: Any, retval: Any) -> None:
        if isinstance(builder.function.ftype.return_type, llvm_ir.VoidType):
            builder.ret_void()
        else:
            builder.ret(retval)

    def _make_call_helper(self, builder: Any) -> None:
        return None

    def call_function(self, builder: Any, callee: Any, resty: Any, argtys: Any, args: Any) -> Any:
        """Call a function; returns its result."""
        result = builder.call(callee, self._get_arg_packer(argtys).as_arguments(builder, args))
        if resty == types.none:
            return self.context.get_dummy_value()
        return self.context.get_returned_value(builder, resty, result)


class EmittedContext(CPUContext):
    """numba's context of this CPU without registries; ``program`` is the library of the program being compiled."""

    program: CPUCodeLibrary

    @property
    def call_conv(self) -> EmittedCalls:
        return EmittedCalls(self)


@functools.cache
def context() -> EmittedContext:
    return EmittedContext(None)


class FunctionLibrary(CPUCodeLibrary):
    """LLVM's code of a function, optimised before its callers contain it. It gets no machine code of its own."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave out numba's first passes, which LLVM's passes over a module begin with."""
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Leave out numba's passes for reference counts."""
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)

    def _finalize_final_module(self) -> None:
        self._finalized = True


class SingleLibrary(FunctionLibrary):
    """LLVM's code of a kernel, which LLVM optimises only in the module of ``entry``, its single caller."""

    def _optimize_final_module(self) -> None:
        pass


class EntryLibrary(FunctionLibrary):
    """A whole program, with its machine code in ``object_code``."""

    def finalize(self) -> None:
        """Link callers before the functions that they call: LLVM's linker drops functions without a call."""
        self._linking_libraries.reverse()
        super().finalize()

    def _finalize_final_module(self) -> None:
        self.object_code: bytes = self._codegen._tm.emit_object(self._final_module)
        super()._finalize_final_module()
