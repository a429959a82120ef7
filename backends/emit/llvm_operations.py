"""The operations of the numba dialects as LLVM instructions.

A `LlvmOperations` turns a name such as ``add_i32`` or ``u16_from_i64`` into a numba intrinsic. Subclasses override the
differences between CPU and GPU: float arithmetic without contraction, ordering of atomics, mathematical functions,
address spaces.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING

from llvmlite import ir

if TYPE_CHECKING:
    from llvmlite.ir import IRBuilder, Value
    from numba.core.base import BaseContext
    from numba.core.types import Type
    from numba.core.typing import Signature

    Values = Sequence[Value]
    # Result of an intrinsic's definition, for the types of its arguments: signature, and writer of LLVM's code.
    Coded = tuple[Signature, Callable[[BaseContext, IRBuilder, Signature, Values], Value]]
    Definition = Callable[..., Coded]
    Intrinsic = Callable[[Definition], object]
    # Writer of LLVM's code of an operation on one or two numbers of a type: words, builder, name of the type, values.
    Build = Callable[..., Value]

BOOLEAN = "boolean"
ORDER = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}


class LlvmOperations:
    """Makes operations for one target, with numba's decorators and types for it.

    ``literal_intrinsic`` types an integer argument by its value.
    """

    atomic_ordering = "seq_cst"

    def __init__(self, intrinsic: Intrinsic, literal_intrinsic: Intrinsic, types: ModuleType) -> None:
        self.intrinsic = intrinsic
        self.literal_intrinsic = literal_intrinsic
        self.types = types
        self.numba = {
            **{f"{k}{b}": getattr(types, f"{'u' * (k == 'u')}int{b}") for k in "iu" for b in (8, 16, 32, 64)},
            "f32": types.float32,
            "f64": types.float64,
            BOOLEAN: types.boolean,
        }
        self.made: dict[str, object] = {}

    def __getitem__(self, name: str) -> object:
        if name not in self.made:
            self.made[name] = self.make(name)
        return self.made[name]

    def make(self, name: str) -> object:
        """Build an intrinsic, or raise AttributeError if there is no such operation."""
        if hasattr(self, "word_" + name):
            return self.intrinsic(getattr(self, "word_" + name)())
        if "_from_" in name:
            target, source = name.split("_from_")
            return self.plain(lambda _, b, kind, x: self.convert(b, x, kind, target), source, target, 1)
        operation, _, kind = name.rpartition("_")
        if kind in self.numba:
            result = RESULTS.get(operation, kind)
            for arity, operations in ((1, UNARY), (2, BINARY)):
                if operation in operations:
                    return self.plain(operations[operation], kind, result, arity)
            if operation.startswith("atomic"):
                return self.intrinsic(self.atomic(operation, kind))
            if operation == "local":
                return self.literal_intrinsic(self.kind_local(self.numba[kind]))
            if operation in ("literal", "pointer", "slot", "shared"):
                return self.intrinsic(getattr(self, "kind_" + operation)(self.numba[kind]))
        raise AttributeError(f"no word {name}")

    def plain(self, build: Build, kind: str, result: str, arity: int) -> object:
        """Make an intrinsic from one or two scalars of a kind to a scalar."""
        signature = self.numba[result](*[self.numba[kind]] * arity)
        return self.intrinsic(
            definition(
                (lambda a: signature) if arity == 1 else (lambda a, b: signature),
                lambda context, builder, kinds, *values: build(self, builder, kind, *values),
            )
        )

    # --- memory ---

    @staticmethod
    def element_pointer(builder: IRBuilder, kinds: Sequence[Type], pointer: Value, index: Value) -> Value:
        """Return the address of an element; ``kinds`` are the types of array and index."""
        if index.type.width < 64:
            index = (builder.sext if kinds[1].signed else builder.zext)(index, ir.IntType(64))
        return builder.gep(pointer, [index], inbounds=True)

    def word_load(self) -> Definition:
        """``load(array, index)``."""
        return definition(
            lambda array, index: array.dtype(array, index),
            lambda context, builder, kinds, *place: builder.load(self.element_pointer(builder, kinds, *place)),
        )

    def word_view(self) -> Definition:
        """``view(array, offset)``: the address of an element, as an array."""
        return definition(
            lambda array, offset: array(array, offset),
            lambda context, builder, kinds, *place: self.element_pointer(builder, kinds, *place),
        )

    def word_store(self) -> Definition:
        """``store(array, index, value)``."""

        def build(context: BaseContext, builder: IRBuilder, kinds: Sequence[Type], *values: Value) -> None:
            builder.store(values[2], self.element_pointer(builder, kinds, *values[:2]))

        return definition(lambda array, index, value: self.types.void(array, index, array.dtype), build)

    def kind_literal(self, scalar: Type) -> Definition:
        """Define literals of a type, such as ``literal_u64(5)``."""

        def build(context: BaseContext, builder: IRBuilder, kinds: Sequence[Type], value: Value) -> Value:
            width = ir.IntType(scalar.bitwidth)
            return value if value.type == width else builder.trunc(value, width)

        return definition(lambda value: scalar(value), build)

    def kind_local(self, scalar: Type) -> Definition:
        """``local_u32(count)``: memory on the stack, allocated once at the function's entry."""

        def build(context: BaseContext, builder: IRBuilder, kinds: Sequence[Type], count: Value) -> Value:
            length = kinds[0].literal_value
            array = ir.ArrayType(context.get_data_type(scalar), length)
            with builder.goto_entry_block():
                place = builder.alloca(array)
                place.align = 64 if length * scalar.bitwidth >= 512 else 16
            return builder.bitcast(place, array.element.as_pointer())

        return definition(lambda count: self.types.CPointer(scalar)(count), build)

    def atomic(self, operation: str, kind: str) -> Definition:
        """``atomic_add_u32(array, index, value)`` and the other atomics."""
        scalar, ordering = self.numba[kind], self.atomic_ordering
        signed = "" if kind.startswith("i") else "u"

        def update(context: BaseContext, builder: IRBuilder, kinds: Sequence[Type], *values: Value) -> Value:
            name = {"atomic_add": "add", "atomic_min": signed + "min", "atomic_max": signed + "max"}[operation]
            return builder.atomic_rmw(name, self.element_pointer(builder, kinds, *values[:2]), values[2], ordering)

        def exchange(context: BaseContext, builder: IRBuilder, kinds: Sequence[Type], *values: Value) -> Value:
            place = self.element_pointer(builder, kinds, *values[:2])
            return builder.extract_value(builder.cmpxchg(place, *values[2:], ordering, ordering), 0)

        if operation == "atomic_cas":
            return definition(lambda array, index, old, new: scalar(array, index, scalar, scalar), exchange)
        return definition(lambda array, index, value: scalar(array, index, scalar), update)

    # --- numbers ---

    def convert(self, builder: IRBuilder, x: Value, source: str, target: str) -> Value:
        """Convert between any two scalar types."""
        to = {"f32": ir.FloatType(), "f64": ir.DoubleType()}.get(target) or ir.IntType(int(target[1:]))
        if source[0] == "f" and target[0] == "f":
            if source == target:
                return x
            return builder.fpext(x, to) if target == "f64" else builder.fptrunc(x, to)
        if source[0] == "f":
            return builder.fptosi(x, to) if target[0] == "i" else builder.fptoui(x, to)
        if target[0] == "f":
            return builder.sitofp(x, to) if source[0] == "i" else builder.uitofp(x, to)
        if x.type == to:
            return x
        if x.type.width > to.width:
            return builder.trunc(x, to)
        return builder.sext(x, to) if source[0] == "i" else builder.zext(x, to)

    def float_arithmetic(self, builder: IRBuilder, operation: str, kind: str, values: Values) -> Value:
        """``add``, ``sub``, ``mul``, ``div`` or ``sqrt``, rounded once and never contracted."""
        if operation == "sqrt":
            return self.call(builder, f"llvm.sqrt.{kind}", values)
        return getattr(builder, "f" + operation)(*values)

    def mathematics(self, builder: IRBuilder, operation: str, kind: str, values: Values) -> Value:
        """Emit ``sin``, ``cos``, ``exp``, ``log`` or ``pow``."""
        return self.call(builder, f"llvm.{operation}.{kind}", values)

    @staticmethod
    def call(builder: IRBuilder, name: str, values: Values, result: ir.Type | None = None) -> Value:
        """Call a function from the type of its arguments to the same type, or to another one."""
        kind = values[0].type
        function = builder.module.globals.get(name)
        if function is None:
            function = ir.Function(builder.module, ir.FunctionType(result or kind, [kind] * len(values)), name)
        return builder.call(function, values)


def definition(kinds: Callable[..., Signature], build: Callable[..., Value | None]) -> Definition:
    """Return an operation's definition for numba's `intrinsic`.

    ``kinds`` returns the signature for the types of the arguments. ``build(context, builder, types, *values)`` writes
    LLVM's code and returns the result; None for an operation without one.
    """

    def define(typing: object, *arguments: Type) -> Coded:
        def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
            result = build(context, builder, sig.args, *values)
            return context.get_dummy_value() if result is None else result

        return kinds(*arguments), codegen

    names = ("typing", *inspect.signature(kinds).parameters)
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    define.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return define


# --- operations on numbers; signed overflow is an error of the language, so LLVM may assume its absence ---


def ring(operation: str) -> Build:
    def build(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value, y: Value) -> Value:
        if kind[0] == "f":
            return words.float_arithmetic(builder, operation, kind, (x, y))
        return getattr(builder, operation)(x, y, flags=("nsw",) if kind[0] == "i" else ())

    return build


def bitwise(method: str) -> Build:
    return lambda words, builder, kind, x, y: getattr(builder, method)(x, y)


def comparison(symbol: str) -> Build:
    def build(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value, y: Value) -> Value:
        if kind[0] == "f":
            return builder.fcmp_unordered(symbol, x, y) if symbol == "!=" else builder.fcmp_ordered(symbol, x, y)
        return (builder.icmp_signed if kind[0] == "i" else builder.icmp_unsigned)(symbol, x, y)

    return build


def extreme(symbol: str) -> Build:
    precedes = comparison(symbol)
    return lambda words, builder, kind, x, y: builder.select(precedes(words, builder, kind, y, x), y, x)


def mathematical(operation: str) -> Build:
    return lambda words, builder, kind, *values: words.mathematics(builder, operation, kind, values)


def floored(builder: IRBuilder, x: Value, y: Value) -> tuple[Value, Value, Value, Value]:
    """Return if the divisor is -1, the divisor or else 1, the remainder towards zero, and if Python's differs.

    CPUs stop a process that divides the lowest number by -1. Compilers fold the choice for a constant divisor.
    """
    zero, one = ir.Constant(x.type, 0), ir.Constant(x.type, 1)
    negates = builder.icmp_signed("==", y, ir.Constant(x.type, -1))
    divisor = builder.select(negates, one, y)
    rest = builder.srem(x, divisor)
    opposed = builder.icmp_signed("<", builder.xor(rest, divisor), zero)
    return negates, divisor, rest, builder.and_(builder.icmp_signed("!=", rest, zero), opposed)


def floordiv(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value, y: Value) -> Value:
    if kind[0] == "u":
        return builder.udiv(x, y)
    negates, divisor, _, differs = floored(builder, x, y)
    quotient = builder.sub(builder.sdiv(x, divisor), builder.zext(differs, x.type))
    return builder.select(negates, builder.sub(ir.Constant(x.type, 0), x), quotient)


def mod(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value, y: Value) -> Value:
    if kind[0] == "u":
        return builder.urem(x, y)
    _, divisor, rest, differs = floored(builder, x, y)
    return builder.select(differs, builder.add(rest, divisor), rest)


def shr(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value, y: Value) -> Value:
    return builder.ashr(x, y) if kind[0] == "i" else builder.lshr(x, y)


def mulhi(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value, y: Value) -> Value:
    width = x.type.width
    extend = builder.sext if kind[0] == "i" else builder.zext
    product_type = ir.IntType(2 * width)
    product = builder.mul(extend(x, product_type), extend(y, product_type))
    return builder.trunc(builder.lshr(product, ir.Constant(product_type, width)), x.type)


def neg(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value) -> Value:
    if kind[0] == "f":
        return builder.fsub(ir.Constant(x.type, -0.0), x)  # NVVM's text has no fneg
    return builder.sub(ir.Constant(x.type, 0), x, flags=("nsw",) if kind[0] == "i" else ())


def absolute(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value) -> Value:
    if kind[0] == "f":
        return words.call(builder, f"llvm.fabs.{kind}", (x,))
    zero = ir.Constant(x.type, 0)
    return builder.select(builder.icmp_signed("<", x, zero), builder.sub(zero, x, flags=("nsw",)), x)


def narrow_count(builder: IRBuilder, x: Value) -> Value:
    return builder.trunc(x, ir.IntType(32)) if x.type.width > 32 else x


BINARY: dict[str, Build] = {
    **{name: ring(name) for name in ("add", "sub", "mul", "div")},
    "floordiv": floordiv,
    "mod": mod,
    "and": bitwise("and_"),
    "or": bitwise("or_"),
    "xor": bitwise("xor"),
    "shl": bitwise("shl"),
    "shr": shr,
    "min": extreme("<"),
    "max": extreme(">"),
    "mulhi": mulhi,
    "pow": mathematical("pow"),
    **{name: comparison(symbol) for name, symbol in ORDER.items()},
}
UNARY: dict[str, Build] = {
    "neg": neg,
    "invert": lambda words, builder, kind, x: builder.not_(x),
    "abs": absolute,
    "sqrt": lambda words, builder, kind, x: words.float_arithmetic(builder, "sqrt", kind, (x,)),
    "popcount": lambda words, builder, kind, x: narrow_count(builder, builder.ctpop(x)),
    "clz": lambda words, builder, kind, x: narrow_count(builder, builder.ctlz(x, ir.Constant(ir.IntType(1), 0))),
    **{name: mathematical(name) for name in ("sin", "cos", "exp", "log")},
}
RESULTS = {"popcount": "i32", "clz": "i32", **dict.fromkeys(ORDER, BOOLEAN)}
"""Types of the results of operations, if they are not those of the operands."""
