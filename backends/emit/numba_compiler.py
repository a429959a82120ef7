"""numba's compiler with only the steps that emitted modules need, which take a third of the time.

numba reads bytecode, writes LLVM's code and optimises it. A name has one type in an emitted function, so one pass finds
all types. Functions call each other as in C, since kernels raise no exceptions. The context is separate from numba's
own, and loads no registries for arrays, containers and mathematics.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from llvmlite import ir as llvm
from llvmlite.binding import address_of_symbol
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

if TYPE_CHECKING:
    from backends.emit.llvm_operations import Definition, IRBuilder, Type, Value, Values

ENTRY_TYPES = (types.int32, types.int32, types.int32, types.CPointer(types.int64))
"""Types of the arguments of ``entry(begin, end, team_count, slots)``."""
CONSTANT_TYPES = {type(None): types.none, bool: types.boolean, float: types.float64}
"""Types of constants that are not integers."""


def compile_entry(entry: Callable[..., None]) -> tuple[str, bytes]:
    """Compile ``entry`` of an emitted module; returns its symbol and an object file.

    Raises `RuntimeError` if it calls a function without code.
    """
    with global_compiler_lock:
        library = context().program = EntryLibrary(context().codegen(), "entry")
        descriptor = translate(entry, ENTRY_TYPES, library, inline=False)
        library.finalize()
    return descriptor.llvm_func_name, library.object_code


def translate(
    function: Callable[..., object], kinds: tuple[Type, ...], library: CPUCodeLibrary, *, inline: bool
) -> PythonFunctionDescriptor:
    """Add LLVM's code of a function with arguments of these types to a library; returns numba's descriptor of it."""
    code = run_frontend(function)
    typed = FunctionTypes(code, kinds)
    descriptor = PythonFunctionDescriptor.from_specialized_function(
        code, typed.kinds, typed.result, typed.calls, mangler=None, inline=inline, noalias=False, abi_tags=()
    )
    with ConfigStack().enter(Flags()), context().push_code_library(library):
        EmittedLower(context(), library, descriptor, code).lower()
    return descriptor


class EmittedCall(NamedTuple):
    """A call: the type of its result, and ``build(lower, values)``, which writes LLVM's code and returns the result."""

    result: Type
    build: Callable[[EmittedLower, list[Value]], Value]


TRUTH = EmittedCall(types.boolean, lambda lower, values: values[0])
"""``bool(x)``, which numba's front end adds to conditions."""


class EmittedOperation:
    """An operation of emitted modules; ``definition`` returns its signature and its code, as for numba's `intrinsic`.

    With ``takes_literals`` the definition gets types that contain the values of constant arguments.
    """

    def __init__(self, definition: Definition, takes_literals: bool = False) -> None:
        self.definition = definition
        self.takes_literals = takes_literals
        self.calls: dict[tuple[Type, ...], EmittedCall] = {}

    def call(self, kinds: tuple[Type, ...]) -> EmittedCall:
        """Return the call with arguments of these types."""
        kinds = kinds if self.takes_literals else tuple(map(types.unliteral, kinds))
        if kinds not in self.calls:
            signature, codegen = self.definition(None, *kinds)

            def build(lower: EmittedLower, values: list[Value]) -> Value:
                return codegen(lower.context, lower.builder, signature, values)

            self.calls[kinds] = EmittedCall(signature.return_type, build)
        return self.calls[kinds]


class EmittedFunction:
    """A function of an emitted module, translated to LLVM's code with its first caller."""

    def __init__(self, function: Callable[..., object], library: type[FunctionLibrary], inline: bool) -> None:
        self.function, self.library, self.inline = function, library, inline
        self.translated: EmittedCall | None = None

    def call(self, kinds: tuple[Type, ...]) -> EmittedCall:
        """Return the call with arguments of these types, which are the same in all calls."""
        if self.translated is None:
            library = self.library(context().codegen(), self.function.__name__)
            descriptor = translate(self.function, tuple(map(types.unliteral, kinds)), library, inline=self.inline)

            def build(lower: EmittedLower, values: list[Value]) -> Value:
                (lower.library if self.inline else context().program).add_linking_library(library)
                callee = lower.context.declare_function(lower.module, descriptor)
                return lower.call_conv.call_function(
                    lower.builder, callee, descriptor.restype, descriptor.argtypes, values
                )

            self.translated = EmittedCall(descriptor.restype, build)
        return self.translated


class FunctionTypes:
    """Types of a function's variables, found in the order of its statements.

    Attributes
    ----------
    kinds
        Types by the names of variables. Variables that hold functions or tuples have none.
    calls
        An `EmittedCall` for each call of the function, and the names of its arguments.
    result
        Type of the result.
    """

    def __init__(self, code: ir.FunctionIR, kinds: tuple[Type, ...]) -> None:
        self.kinds = {f"arg.{name}": kind for name, kind in zip(code.arg_names, kinds, strict=True)}
        self.calls: dict[ir.Expr, tuple[EmittedCall, list[str]]] = {}
        self.result: Type = types.none
        self.callees: dict[str, type[bool] | EmittedOperation | EmittedFunction] = {}
        self.tuples: dict[str, list[ir.Var]] = {}  # Python passes more than 30 arguments as a tuple
        for _, block in sorted(code.blocks.items()):
            for statement in block.body:
                if isinstance(statement, ir.Assign):
                    self.assign(statement.target.name, statement.value)
                elif isinstance(statement, ir.Return):
                    self.result = self.kinds[statement.value.name]

    def assign(self, name: str, value: ir.AbstractRHS) -> None:
        """Store the type, function or tuple of a variable."""
        if isinstance(value, ir.Global):
            self.callees[name] = value.value
        elif isinstance(value, ir.Var) and value.name in self.callees:
            self.callees[name] = self.callees[value.name]
        elif isinstance(value, ir.Expr) and value.op == "build_tuple":
            self.tuples[name] = value.items
        elif isinstance(value, ir.Const):
            self.kinds[name] = CONSTANT_TYPES.get(type(value.value)) or types.literal(value.value)
        else:
            self.kinds[name] = types.unliteral(self.kind(value))

    def kind(self, value: ir.AbstractRHS) -> Type:
        """Return the type of a value that is no constant; raises `KeyError` for a variable without a type."""
        if isinstance(value, ir.Arg):
            return self.kinds[f"arg.{value.name}"]
        if isinstance(value, ir.Var):
            return self.kinds[value.name]
        if value.op == "call":
            arguments = self.tuples[value.vararg.name] if value.vararg else value.args
            names = [argument.name for argument in arguments]
            callee = self.callees[value.func.name]
            call = TRUTH if callee is bool else callee.call(tuple(self.kinds[name] for name in names))
            self.calls[value] = call, names
            return call.result
        return self.kinds[value.value.name]  # `not` of a boolean, or the value of a return


class EmittedLower(Lower):
    """Writes LLVM's code of a function with the types of `FunctionTypes`."""

    def lower(self) -> None:
        self.lower_normal_function(self.fndesc)
        self.library.add_ir_module(self.module)

    def lower_block(self, block: ir.Block) -> None:
        for statement in block.body:
            self.lower_inst(statement)

    def lower_inst(self, inst: ir.Stmt) -> None:
        if isinstance(inst, ir.Assign):
            if inst.target.name in self.fndesc.typemap:
                self.storevar(self.value(inst.value), inst.target.name)
        elif isinstance(inst, ir.Branch):
            self.builder.cbranch(self.loadvar(inst.cond.name), self.blkmap[inst.truebr], self.blkmap[inst.falsebr])
        elif isinstance(inst, ir.Jump):
            self.builder.branch(self.blkmap[inst.target])
        else:
            value = self.loadvar(inst.value.name)
            returned = self.context.get_return_value(self.builder, self.fndesc.restype, value)
            self.call_conv.return_value(self.builder, returned)

    def value(self, value: ir.AbstractRHS) -> Value:
        """Return LLVM's value of the right side of an assignment."""
        if isinstance(value, ir.Const):
            kind = CONSTANT_TYPES.get(type(value.value)) or types.literal(value.value).literal_type
            return llvm.Constant(self.context.get_value_type(kind), value.value)
        if isinstance(value, ir.Arg):
            return self.fnargs[value.index]
        if isinstance(value, ir.Var):
            return self.loadvar(value.name)
        if value.op == "call":
            call, names = self.fndesc.calltypes[value]
            return call.build(self, [self.loadvar(name) for name in names])
        operand = self.loadvar(value.value.name)
        return self.builder.not_(operand) if value.op == "unary" else operand

    def alloca(self, name: str, type: Type) -> llvm.AllocaInstr:  # noqa: A002
        return alloca_once(self.builder, self.context.get_value_type(type), name=name)

    def storevar(self, value: Value, name: str, argidx: int | None = None) -> None:
        if name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def loadvar(self, name: str) -> Value:
        value = self._blk_local_varmap.get(name)
        return self.builder.load(self.getvar(name)) if value is None else value


class EmittedCalls(BaseCallConv):
    """Functions return their results as in C."""

    def get_function_type(self, restype: Type, argtypes: list[Type]) -> llvm.FunctionType:
        result = llvm.VoidType() if restype == types.none else self.get_return_type(restype).pointee
        return llvm.FunctionType(result, list(self._get_arg_packer(argtypes).argument_types))

    def decorate_function(
        self, fn: llvm.Function, args: list[str], fe_argtypes: list[Type], noalias: bool = False
    ) -> None:
        self._get_arg_packer(fe_argtypes).assign_names(fn.args, [f"arg.{name}" for name in args])

    def get_arguments(self, func: llvm.Function) -> tuple[llvm.Argument, ...]:
        return func.args

    def return_value(self, builder: IRBuilder, retval: Value) -> None:
        if builder.function.ftype.return_type == llvm.VoidType():
            builder.ret_void()
        else:
            builder.ret(retval)

    def call_function(self, builder: IRBuilder, callee: Value, resty: Type, argtys: list[Type], args: Values) -> Value:
        result = builder.call(callee, self._get_arg_packer(argtys).as_arguments(builder, args))
        if resty == types.none:
            return self.context.get_dummy_value()
        return self.context.get_returned_value(builder, resty, result)

    def _make_call_helper(self, builder: IRBuilder) -> None:
        return None


class EmittedContext(CPUContext):
    """numba's context of this CPU without registries; ``program`` is the library that is being compiled."""

    program: EntryLibrary

    @property
    def call_conv(self) -> EmittedCalls:
        return EmittedCalls(self)


@functools.cache
def context() -> EmittedContext:
    return EmittedContext(None, "cpu")


class FunctionLibrary(CPUCodeLibrary):
    """LLVM's code of a function, optimised before its callers contain it."""

    def _finalize_final_module(self) -> None:
        """Make no machine code: the program of ``entry`` contains the function."""
        self._finalized = True


class SingleLibrary(FunctionLibrary):
    """LLVM's code of a function that the program contains once. It is optimised with the code around it."""

    def _optimize_final_module(self) -> None:
        pass


class EntryLibrary(FunctionLibrary):
    """The program of ``entry``, with its machine code in ``object_code``."""

    def finalize(self) -> None:
        # Callers come first, because LLVM's linker drops functions that nothing calls yet.
        self._linking_libraries.reverse()
        super().finalize()

    def _finalize_final_module(self) -> None:
        for function in self._final_module.functions:
            is_called = function.is_declaration and not function.name.startswith("llvm.")
            if is_called and address_of_symbol(function.name) is None:
                raise RuntimeError(f"{function.name}: no code")
        self.object_code: bytes = self._codegen._tm.emit_object(self._final_module)
        super()._finalize_final_module()
