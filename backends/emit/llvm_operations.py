"""The operations of the numba dialects as LLVM instructions.

A `LlvmOperations` turns a name such as ``add_i32`` or ``u16_from_i64`` into a numba intrinsic. Subclasses override the
differences between CPU and GPU: float arithmetic without contraction, ordering of atomics, mathematical functions,
address spaces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
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
            return self.memory_word(getattr(self, "word_" + name))
        if "_from_" in name:
            target, source = name.split("_from_")
            return self.plain(lambda b, x: self.convert(b, x, source, target), target, [source])
        operation, _, kind = name.rpartition("_")
        if kind not in self.numba:
            raise AttributeError(f"no word {name}")
        if operation.startswith("atomic"):
            return self.atomic(operation, kind)
        for group, count in ((BinaryOperations, None), (UnaryOperations, 1)):
            if hasattr(group, operation):
                method = getattr(group, operation)
                result = "i32" if operation in ("popcount", "clz") else kind
                return self.plain(partial(apply, method, self, kind), result, [kind] * (count or 2))
        if operation in ORDER:
            return self.plain(lambda b, x, y: compare(b, kind, ORDER[operation], x, y), BOOLEAN, [kind] * 2)
        if operation in ("sin", "cos", "exp", "log", "pow"):
            arity = 2 if operation == "pow" else 1
            return self.plain(lambda b, *x: self.mathematics(b, operation, kind, x), kind, [kind] * arity)
        if operation == "local":
            return self.literal_intrinsic(self.kind_local(kind))
        if operation in ("literal", "pointer", "slot", "shared"):
            return self.memory_word(getattr(self, "kind_" + operation), kind)
        raise AttributeError(f"no word {name}")

    def plain(self, build: Callable[..., Value], result: str, arguments: list[str]) -> object:
        """Make an intrinsic from scalars to a scalar."""
        numba_types = [self.numba[a] for a in arguments]
        signature = self.numba[result](*numba_types)

        def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
            return build(builder, *values)

        def one(typing: object, a: Type) -> Coded:
            return signature, codegen

        def two(typing: object, a: Type, b: Type) -> Coded:
            return signature, codegen

        return self.intrinsic(one if len(arguments) == 1 else two)

    def memory_word(self, method: Callable[..., Definition], *bound: str) -> object:
        """Make an intrinsic with a signature that depends on its arguments' types."""
        return self.intrinsic(method(*bound))

    # --- memory ---

    def element_pointer(self, builder: IRBuilder, pointer: Value, index: Value, index_type: Type) -> Value:
        index_64 = index
        if index.type.width < 64:
            index_64 = (builder.sext if index_type.signed else builder.zext)(index, ir.IntType(64))
        return builder.gep(pointer, [index_64], inbounds=True)

    def word_load(self) -> Definition:
        """``load(array, index)``."""

        def load(typing: object, array: Type, index: Type) -> Coded:
            def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
                return builder.load(self.element_pointer(builder, values[0], values[1], sig.args[1]))

            return array.dtype(array, index), codegen

        return load

    def word_view(self) -> Definition:
        """``view(array, offset)``: the address of an element, as an array."""

        def view(typing: object, array: Type, offset: Type) -> Coded:
            def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
                return self.element_pointer(builder, values[0], values[1], sig.args[1])

            return array(array, offset), codegen

        return view

    def word_store(self) -> Definition:
        """``store(array, index, value)``."""

        def store(typing: object, array: Type, index: Type, value: Type) -> Coded:
            def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
                builder.store(values[2], self.element_pointer(builder, values[0], values[1], sig.args[1]))
                return context.get_dummy_value()

            return self.types.void(array, index, array.dtype), codegen

        return store

    def kind_literal(self, kind: str) -> Definition:
        """Make an intrinsic for literals of a type, such as ``literal_u64(5)``."""
        scalar = self.numba[kind]

        def literal(typing: object, value: Type) -> Coded:
            def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
                width = ir.IntType(scalar.bitwidth)
                return values[0] if values[0].type == width else builder.trunc(values[0], width)

            return scalar(value), codegen

        return literal

    def kind_local(self, kind: str) -> Definition:
        """``local_u32(count)``: memory on the stack, allocated once at the function's entry."""
        scalar = self.numba[kind]

        def local(typing: object, count: Type) -> Coded:
            length = count.literal_value

            def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
                array = ir.ArrayType(context.get_data_type(scalar), length)
                with builder.goto_entry_block():
                    place = builder.alloca(array)
                    place.align = 64 if length * scalar.bitwidth >= 512 else 16
                return builder.bitcast(place, array.element.as_pointer())

            return self.types.CPointer(scalar)(count), codegen

        return local

    def atomic(self, operation: str, kind: str) -> object:
        """``atomic_add_u32(array, index, value)`` and the other atomics."""
        scalar = self.numba[kind]
        signed = "" if kind.startswith("i") else "u"
        name = {"atomic_add": "add", "atomic_min": signed + "min", "atomic_max": signed + "max"}.get(operation)

        def update(typing: object, array: Type, index: Type, value: Type) -> Coded:
            def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
                place = self.element_pointer(builder, values[0], values[1], sig.args[1])
                return builder.atomic_rmw(name, place, values[2], self.atomic_ordering)

            return scalar(array, index, scalar), codegen

        def exchange(typing: object, array: Type, index: Type, expected: Type, desired: Type) -> Coded:
            def codegen(context: BaseContext, builder: IRBuilder, sig: Signature, values: Values) -> Value:
                place = self.element_pointer(builder, values[0], values[1], sig.args[1])
                ordering = self.atomic_ordering
                pair = builder.cmpxchg(place, values[2], values[3], ordering, ordering)
                return builder.extract_value(pair, 0)

            return scalar(array, index, scalar, scalar), codegen

        return self.intrinsic(update if name else exchange)

    # --- numbers ---

    def convert(self, builder: IRBuilder, x: Value, source: str, target: str) -> Value:
        """Convert between any two scalar types."""
        to = (
            ir.IntType(int(target[1:]))
            if target[0] in "iu"
            else {"f32": ir.FloatType(), "f64": ir.DoubleType()}[target]
        )
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


def apply(method: Callable[..., Value], words: LlvmOperations, kind: str, builder: IRBuilder, *values: Value) -> Value:
    """Call a method of `BinaryOperations` or `UnaryOperations` for one type."""
    return method(words, builder, kind, *values)


def compare(builder: IRBuilder, kind: str, symbol: str, x: Value, y: Value) -> Value:
    if kind[0] == "f":
        return builder.fcmp_unordered(symbol, x, y) if symbol == "!=" else builder.fcmp_ordered(symbol, x, y)
    return (builder.icmp_signed if kind[0] == "i" else builder.icmp_unsigned)(symbol, x, y)


class BinaryOperations:
    """Operations with two operands; signed overflow is an error of the language, so LLVM may assume its absence."""

    @staticmethod
    def _ring(words: LlvmOperations, builder: IRBuilder, operation: str, kind: str, x: Value, y: Value) -> Value:
        if kind[0] == "f":
            return words.float_arithmetic(builder, operation, kind, (x, y))
        return getattr(builder, operation)(x, y, flags=("nsw",) if kind[0] == "i" else ())

    @staticmethod
    def add(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value, y: Value) -> Value:
        return BinaryOperations._ring(words, builder, "add", kind, x, y)

    @staticmethod
    def sub(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value, y: Value) -> Value:
        return BinaryOperations._ring(words, builder, "sub", kind, x, y)

    @staticmethod
    def mul(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value, y: Value) -> Value:
        return BinaryOperations._ring(words, builder, "mul", kind, x, y)

    @staticmethod
    def div(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value, y: Value) -> Value:
        return words.float_arithmetic(builder, "div", kind, (x, y))

    @staticmethod
    def _floored(builder: IRBuilder, x: Value, y: Value) -> tuple[Value, Value, Value, Value]:
        """Return if the divisor is -1, the divisor or else 1, the remainder towards zero, and if Python's differs.

        CPUs stop a process that divides the lowest number by -1. Compilers fold the choice for a constant divisor.
        """
        zero, one = ir.Constant(x.type, 0), ir.Constant(x.type, 1)
        negates = builder.icmp_signed("==", y, ir.Constant(x.type, -1))
        divisor = builder.select(negates, one, y)
        rest = builder.srem(x, divisor)
        opposed = builder.icmp_signed("<", builder.xor(rest, divisor), zero)
        return negates, divisor, rest, builder.and_(builder.icmp_signed("!=", rest, zero), opposed)

    @staticmethod
    def floordiv(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value, y: Value) -> Value:
        if kind[0] == "u":
            return builder.udiv(x, y)
        negates, divisor, _, differs = BinaryOperations._floored(builder, x, y)
        quotient = builder.sub(builder.sdiv(x, divisor), builder.zext(differs, x.type))
        return builder.select(negates, builder.sub(ir.Constant(x.type, 0), x), quotient)

    @staticmethod
    def mod(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value, y: Value) -> Value:
        if kind[0] == "u":
            return builder.urem(x, y)
        _, divisor, rest, differs = BinaryOperations._floored(builder, x, y)
        return builder.select(differs, builder.add(rest, divisor), rest)

    @staticmethod
    def shl(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value, y: Value) -> Value:
        return builder.shl(x, y)

    @staticmethod
    def shr(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value, y: Value) -> Value:
        return builder.ashr(x, y) if kind[0] == "i" else builder.lshr(x, y)

    @staticmethod
    def min(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value, y: Value) -> Value:
        return builder.select(compare(builder, kind, "<", y, x), y, x)

    @staticmethod
    def max(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value, y: Value) -> Value:
        return builder.select(compare(builder, kind, ">", y, x), y, x)

    @staticmethod
    def mulhi(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value, y: Value) -> Value:
        width = x.type.width
        extend = builder.sext if kind[0] == "i" else builder.zext
        product_type = ir.IntType(2 * width)
        product = builder.mul(extend(x, product_type), extend(y, product_type))
        return builder.trunc(builder.lshr(product, ir.Constant(product_type, width)), x.type)


def _bitwise(method: str) -> staticmethod[..., Value]:
    return staticmethod(lambda words, builder, kind, x, y: getattr(builder, method)(x, y))


for _operation, _method in (("and", "and_"), ("or", "or_"), ("xor", "xor")):
    setattr(BinaryOperations, _operation, _bitwise(_method))


class UnaryOperations:
    """Operations with one operand."""

    @staticmethod
    def neg(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value) -> Value:
        if kind[0] == "f":
            return builder.fsub(ir.Constant(x.type, -0.0), x)  # NVVM's text has no fneg
        return builder.sub(ir.Constant(x.type, 0), x, flags=("nsw",) if kind[0] == "i" else ())

    @staticmethod
    def invert(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value) -> Value:
        return builder.not_(x)

    @staticmethod
    def abs(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value) -> Value:
        if kind[0] == "f":
            return words.call(builder, f"llvm.fabs.{kind}", (x,))
        zero = ir.Constant(x.type, 0)
        return builder.select(builder.icmp_signed("<", x, zero), builder.sub(zero, x, flags=("nsw",)), x)

    @staticmethod
    def sqrt(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value) -> Value:
        return words.float_arithmetic(builder, "sqrt", kind, (x,))

    @staticmethod
    def popcount(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value) -> Value:
        return narrow_count(builder, builder.ctpop(x))

    @staticmethod
    def clz(words: LlvmOperations, builder: IRBuilder, kind: str, x: Value) -> Value:
        return narrow_count(builder, builder.ctlz(x, ir.Constant(ir.IntType(1), 0)))


def narrow_count(builder: IRBuilder, x: Value) -> Value:
    return builder.trunc(x, ir.IntType(32)) if x.type.width > 32 else x
