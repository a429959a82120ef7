"""The kernel language: typed Python over flat arrays, run by teams of lanes; `LANGUAGE.md` lists all constructs.

`kernel` and `function` make `Kernel` and `Function` objects, with `bundle` classes as parameters. `front` translates a
kernel to a `tree.Program`, which a backend prints and compiles, or `reference_interpreter` runs.

Import words from here, functions written in the language from `library`; backends also use `tree`, `types` and
`bundles`. Code generation for devices belongs in `backends`.
"""

from typing import TYPE_CHECKING

from core.lang.decorators import Kernel, kernel
from core.lang.intrinsics import *
from core.lang.kernel_errors import KernelError
from core.lang.source import Function

if TYPE_CHECKING:
    from typing import TypeVar as Generic

    from core.lang.annotations import *
    from core.lang.types import Table
else:
    from core.lang.bundles import Row, Rows, bundle
    from core.lang.decorators import function
    from core.lang.named_arrays import NamedArray
    from core.lang.types import Array, Const, Generic, Table, boolean, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64

__all__ = [
    "Array",
    "Const",
    "Function",
    "Generic",
    "Kernel",
    "KernelError",
    "NamedArray",
    "Row",
    "Rows",
    "Table",
    "atomic_add",
    "atomic_cas",
    "atomic_max",
    "atomic_min",
    "barrier",
    "boolean",
    "bundle",
    "clz",
    "cos",
    "exp",
    "f32",
    "f64",
    "function",
    "i16",
    "i32",
    "i64",
    "i8",
    "kernel",
    "lane",
    "local_array",
    "log",
    "max",
    "min",
    "mulhi",
    "popcount",
    "pow",
    "set_bits",
    "shared_array",
    "sin",
    "sqrt",
    "team_count",
    "team_rank",
    "team_size",
    "u16",
    "u32",
    "u64",
    "u8",
    "unroll",
    "view",
]
