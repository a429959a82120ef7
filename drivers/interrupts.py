"""Ctrl-C while a program still imports: the same word and exit code as later, and no traceback."""

import sys
from types import TracebackType


def install() -> None:
    """Let an interrupt that nobody catches end the program quietly; all else is shown as before."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            before(kind, error, traceback)
            return
        print("interrupted", file=sys.stderr)
        raise SystemExit(130)

    sys.excepthook = hook
