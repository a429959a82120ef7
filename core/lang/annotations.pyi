"""Words of the kernel language as type checkers see them: a stub, which no program imports.

A number of any width is an `int`, `float` or `bool`, since the front end checks widths. A bundle takes arrays of
NumPy or a device where its fields are arrays, and functions read their elements.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal, ParamSpec, Protocol, Self, TypeAlias, TypeVar, dataclass_transform
from typing import Generic as Parametrised

import numpy as np

from core.lang.source import Function

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
B = TypeVar("B", bound=type)

i8: TypeAlias = int
i16: TypeAlias = int
i32: TypeAlias = int
i64: TypeAlias = int
u8: TypeAlias = int
u16: TypeAlias = int
u32: TypeAlias = int
u64: TypeAlias = int
f32: TypeAlias = float
f64: TypeAlias = float
boolean: TypeAlias = bool
Const: TypeAlias = Annotated[T, "known when the kernel is compiled"]

class DeviceMemory(Protocol):
    handle: Any
    dtype: np.dtype
    size: int

class Array(Parametrised[T]):
    def __getitem__(self, index: int, /) -> T: ...
    def __setitem__(self, index: int, value: T, /) -> None: ...
    def __get__(self, owner: object, kind: type, /) -> Array[T]: ...
    def __set__(self, owner: object, value: np.ndarray | DeviceMemory | Array[Any]) -> None: ...

class NamedArray:
    def __getitem__(self, index: int, /) -> Any: ...
    def __setitem__(self, index: int, value: Any, /) -> None: ...
    def __get__(self, owner: object, kind: type, /) -> Self: ...
    def __set__(self, owner: object, value: np.ndarray | DeviceMemory | Self) -> None: ...

class Rows(Parametrised[T]):
    bundle: T
    count: int
    def __getitem__(self, row: int, /) -> T: ...
    def __getattr__(self, name: str) -> Any: ...

class TypedFunction(Function, Parametrised[P, R]):
    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R: ...

def Row(size: int | str = "", *, init: Literal[False] = False) -> Any: ...  # noqa: N802
@dataclass_transform(field_specifiers=(Row,))
def bundle(cls: B) -> B: ...
def function(python: Callable[P, R]) -> TypedFunction[P, R]: ...
