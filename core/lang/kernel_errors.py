"""The kernel language's errors: the function with the error first, then its callers, up to the kernel.

Callers in the suite's templates are left out, unless the error is in one of them too.
"""

from __future__ import annotations

import os

from core.errors import UserError

INNERMOST, OUTERMOST = 8, 4
"""Calls reported of a long chain: those nearest to the error, and those nearest to the kernel."""
LIBRARY_FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
"""Folder of the suite's templates and libraries."""


class KernelError(UserError):
    """The kernel language refuses something: ``file:line: function: error, and what to write instead``.

    ``calls`` are the locations of the call, of its caller's call and so on up to the kernel, one line each; for an
    error outside the project only callers outside of it.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.calls: list[str] = []

    def add_caller(self, path: str, line: int, name: str) -> None:
        """Append the call in a line of function ``name`` to the chain, unless only the suite could change that line."""
        if not path.startswith(LIBRARY_FOLDER) or super().__str__().startswith(LIBRARY_FOLDER):
            self.calls.append(f"called at {path}:{line} in {name}")

    def __str__(self) -> str:
        calls = self.calls
        left_out = len(calls) - INNERMOST - OUTERMOST
        if left_out > 1:
            calls = [*calls[:INNERMOST], f"and {left_out} calls more, up to that", *calls[-OUTERMOST:]]
        return "\n  ".join([super().__str__(), *calls])


LOCATED_ERRORS: dict[type[Exception], type[KernelError]] = {
    kind: type(f"Kernel{kind.__name__}", (KernelError, kind), {"__doc__": f"{kind.__name__} of a kernel, located."})
    for kind in (IndexError, OverflowError, ZeroDivisionError, TypeError, ValueError, AssertionError)
}
"""Errors of the language: Python's exception, and a `KernelError` with the kernel's line."""
