"""The decorators ``@kernel`` and ``@function``, and kernels, which specialise themselves for each kind of launch."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from core.lang.device_messages import message_kinds
from core.lang.source import Function, Source
from core.lang.types import Const

if TYPE_CHECKING:
    from core.lang import tree


class Kernel(Source):
    """The entry point of a launch."""

    is_kernel = True

    def __init__(self, python: Any) -> None:
        super().__init__(python)
        self._programs: dict[Any, Any] = {}

    def specialise(
        self, constants: dict[str, Any], team_size: int, types: dict[str, Any] | None = None
    ) -> tree.Program:
        """The typed `core.lang.tree.Program` for these constants, team size and types of `Generic` parameters."""
        from core.lang.front.translator import translate  # late: a rank that finds its machine code never needs it

        types = types or {}
        key = (tuple(sorted(constants.items())), team_size, tuple(sorted(types.items(), key=str)))
        if key not in self._programs:
            self._programs[key] = translate(self, constants, team_size, types)
        return self._programs[key]

    @cached_property
    def says(self) -> tuple[str, ...]:
        """Which of ``assert`` and ``print`` it has, or a function that it may call."""
        return message_kinds(self)

    @property
    def constants(self) -> list[str]:
        """Names of the parameters that are known at compile time."""
        return [name for name, kind in self.signature.items() if isinstance(kind, Const)]


def kernel(python: Any) -> Kernel:
    """Decorator: the function is a kernel."""
    return Kernel(python)


def function(python: Any) -> Function:
    """Decorator: the function may be called by kernels."""
    return Function(python)
