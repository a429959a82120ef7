"""The kernel language: typed Python over flat arrays, run by teams of lanes. `core/lang/LANGUAGE.md` lists all of it."""

from core.lang.intrinsics import (
    atomic_add,
    atomic_cas,
    atomic_max,
    atomic_min,
    barrier,
    clz,
    cos,
    exp,
    lane,
    local_array,
    log,
    max,
    min,
    mulhi,
    popcount,
    pow,
    shared_array,
    sin,
    sqrt,
    team_count,
    team_rank,
    team_size,
    unroll,
)
from core.lang.source import Function, Kernel, KernelError, function, kernel
from core.lang.types import Array, Const, Generic, boolean, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64

__all__ = [
    "Array", "Const", "Function", "Generic", "Kernel", "KernelError", "atomic_add", "atomic_cas", "atomic_max",
    "atomic_min", "barrier", "boolean", "clz", "cos", "exp", "f32", "f64", "function", "i16", "i32", "i64", "i8",
    "kernel", "lane", "local_array", "log", "max", "min", "mulhi", "popcount", "pow", "shared_array", "sin", "sqrt",
    "team_count", "team_rank", "team_size", "u16", "u32", "u64", "u8", "unroll",
]
