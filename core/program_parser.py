"""Command-line parser of all programs: the name of the call, and completion of words in a shell."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from core.errors import UserError

COMMAND = "onekernel"
"""The command that starts any program, `drivers.console`."""
COMPLETION_VARIABLE = "_ARGCOMPLETE"
"""Variable by which a shell requests completions, through `argcomplete`."""


def invocation(module: str) -> str:
    """Return the user's call of a program, for its help and its errors: ``onekernel NAME`` or ``python -m MODULE``."""
    called = sys.argv[0] if sys.argv else ""
    return called if called.split(" ")[0] == COMMAND else f"python -m {module}"


def refuse_unknown(called: str, name: str, known: Sequence[str]) -> NoReturn:
    import difflib

    near = difflib.get_close_matches(name, known, 1)
    suggestion = f" (did you mean {near[0]}?)" if near else ""
    raise UserError(f"{called} {name}{suggestion}: expected one of {', '.join(known)}; `{called}` says what they do")


class CompletingParser(argparse.ArgumentParser):
    """An `ArgumentParser` that completes words in a shell.

    Options have their whole names, and a description or epilog of several lines is printed unchanged.
    """

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("allow_abbrev", False)
        if any("\n" in (settings.get(text) or "") for text in ("description", "epilog")):
            settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(**settings)

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        self._complete()
        return super().parse_args(args, namespace)

    def parse_known_intermixed_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        self._complete()
        return super().parse_known_intermixed_args(args, namespace)

    def _complete(self) -> None:
        if COMPLETION_VARIABLE in os.environ:
            import argcomplete

            argcomplete.autocomplete(self)
