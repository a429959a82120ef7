"""Ctrl-C in a search from Python: a wish that the search hears, which then returns the best so far."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class InterruptRequest:
    """Whether somebody has pressed Ctrl-C; the second time interrupts at once, as it always does.

    Attributes
    ----------
    heard : bool

    """

    def __init__(self) -> None:
        self.heard = False

    def hear(self, number: int, frame: FrameType | None) -> None:
        """Be the handler of the signal."""
        if self.heard:
            raise KeyboardInterrupt
        self.heard = True
        print("stopping with the best solution so far; press Ctrl-C again to interrupt at once", file=sys.stderr)


@contextmanager
def deferred_interrupt() -> Iterator[InterruptRequest]:
    """Take Ctrl-C for a wish to end, inside; in a thread that gets no signals nothing changes."""
    interrupt = InterruptRequest()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    before = signal.signal(signal.SIGINT, interrupt.hear)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)
