"""The decorators ``@kernel`` and ``@function``, and kernels, which specialise themselves for each kind of launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.lang.free_names import FreeNames
from core.lang.source import Function, Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from core.lang import tree

MOST_PROGRAMS = 8
"""Translated programs kept for a kernel; one more replaces the oldest."""


class Kernel(Source):
    """The entry point of a launch."""

    is_kernel = True

    def __init__(self, python: Callable[..., None]) -> None:
        super().__init__(python)
        self._programs: dict[tuple[object, ...], tree.Program] = {}
        self._free_names: FreeNames | None = None
        self._revision = 0

    def __getstate__(self) -> dict[str, Any]:
        """Return all but what this process has found out about the kernel."""
        return {**super().__getstate__(), "_programs": {}, "_free_names": None}

    @property
    def revision(self) -> int:
        """Number of the kernel's present meaning; it changes with a function or constant that the kernel uses."""
        if self._free_names is None or not self._free_names.are_unchanged():
            names = FreeNames(self)
            self._revision += 1
            self._programs = {}
            self._free_names = names  # last: another thread that comes before must not take the old programs
        return self._revision

    def specialise(
        self, constants: dict[str, Any], team_size: int, types: dict[str, Any] | None = None
    ) -> tree.Program:
        """Return the typed program for these constants, team size and types of `Generic` parameters."""
        from core.lang.front.translator import translate  # late: a rank that finds its machine code never needs it

        types = types or {}
        key = (self.revision, tuple(sorted(constants.items())), team_size, tuple(sorted(types.items(), key=str)))
        programs = self._programs
        program = programs.get(key)
        if program is None:
            program = programs[key] = translate(self, constants, team_size, types)
            for oldest in list(programs)[:-MOST_PROGRAMS]:
                programs.pop(oldest, None)
        return program


def kernel(python: Callable[..., None]) -> Kernel:
    return Kernel(python)


def function(python: Callable[..., object]) -> Function:
    return Function(python)
