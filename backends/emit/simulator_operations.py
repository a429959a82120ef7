"""The operations of `CudaPython` as plain functions, for numba's CUDA simulator: slow and exact."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np
from numba import cuda
from numba.cuda.simulator.kernel import _get_kernel_context as gpu

from core.lang import intrinsics
from core.lang.types import BY_DTYPE, BY_NAME, Integer

SAME_NAME = ("add", "sub", "mul", "floordiv", "mod", "xor", "lt", "le", "gt", "ge", "eq", "ne")
INTRINSICS = ("min", "max", "sqrt", "sin", "cos", "exp", "log", "pow", "popcount", "clz", "mulhi")
OPERATORS = {
    **{op: getattr(operator, op) for op in SAME_NAME},
    "and": operator.and_, "or": operator.or_, "shl": operator.lshift, "shr": operator.rshift,
    "div": operator.truediv, "neg": operator.neg, "invert": operator.invert, "abs": abs,
    **{op: getattr(intrinsics, op) for op in INTRINSICS},
}  # fmt: skip
PLACES: dict[str, Callable[[], Integer | None]] = {
    "lane": lambda: BY_NAME["i32"](gpu().threadIdx.x),
    "team_rank": lambda: BY_NAME["i32"](gpu().blockIdx.x),
    "team_count": lambda: BY_NAME["i32"](gpu().gridDim.x),
    "barrier": lambda: gpu().syncthreads(),
    "warp_barrier": lambda: gpu().syncthreads(),
}


def team_kernel(team_size: int) -> Callable[..., object]:
    return cuda.jit


def team_function() -> Callable[..., object]:
    return cuda.jit(device=True)


def position(array: np.ndarray, index: int) -> int:
    """Return an index; one outside the array is an error."""
    if not 0 <= int(index) < array.size:
        raise IndexError(f"index {int(index)} outside an array of {array.size} elements")
    return int(index)


def load(array: np.ndarray, index: int) -> Integer | np.floating:
    value, scalar = array[position(array, index)], BY_DTYPE[array.dtype]
    return scalar(int(value)) if issubclass(scalar, Integer) else scalar(value)


load_readonly = load


def store(array: np.ndarray, index: int, value: Integer | np.floating) -> None:
    array[position(array, index)] = value if array.dtype.kind == "f" else array.dtype.type(int(value))


def view(array: np.ndarray, offset: int) -> np.ndarray:
    """Return the array from one of its elements on."""
    if not 0 <= int(offset) <= array.size:
        raise IndexError(f"a view from element {int(offset)} of an array of {array.size} elements")
    return array[int(offset) :]


def pointer(array: np.ndarray) -> np.ndarray:
    """Return a kernel's array argument unchanged."""
    return array


def _atomic(name: str, scalar: type[Integer]) -> Callable[..., Integer]:
    """Return an atomic; the simulator's exist only inside a running kernel."""

    def update(array: np.ndarray, index: int, *values: Integer) -> Integer:
        function = getattr(gpu().atomic, name.removeprefix("atomic_"))
        return scalar(int(function(array, int(index), *(array.dtype.type(int(v)) for v in values))))

    return update


def __getattr__(name: str) -> object:
    if name in PLACES:
        return PLACES[name]
    if "_from_" in name:
        return BY_NAME[name.partition("_from_")[0]]
    operation, _, kind = name.rpartition("_")
    if operation == "div":
        return lambda a, b: np.divide(a, b)
    if operation in OPERATORS:
        return OPERATORS[operation]
    if operation == "literal":
        return BY_NAME[kind]
    if operation == "local":
        return lambda count: np.zeros(count, BY_NAME[kind].dtype)
    if operation == "shared":
        return lambda offset, count: shared(offset, count, BY_NAME[kind].dtype)
    if operation.startswith("atomic"):
        return _atomic(operation, BY_NAME[kind])
    raise AttributeError(name)


def shared(offset: int, count: int, dtype: np.dtype) -> np.ndarray:
    """Return a part of the simulated block's dynamic shared memory."""
    memory = gpu().shared.array(0, np.dtype(np.uint8))
    return memory[offset : offset + count * dtype.itemsize].view(dtype)
