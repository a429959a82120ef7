"""Ctrl-C in a program: one word and exit code 130, no traceback; also in imports, callbacks and machine code."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType, TracebackType

INTERRUPTED = 130
GRACE_S = 2.0
"""Seconds for a launch of machine code to end by itself."""
REPEAT_S = 0.1
"""Seconds until a dropped interrupt is repeated."""

interrupt_raised = threading.Event()
"""Set after an interrupt was raised. A later error is its consequence: C code makes an `ImportError` of it."""


def install_handlers() -> None:
    """Let an uncaught interrupt end the program quietly; show other errors as before."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if not is_interrupt(error):
            before(kind, error, traceback)
            return
        print("interrupted", file=sys.stderr)
        raise SystemExit(INTERRUPTED)

    sys.excepthook = hook
    if is_default_handler():
        signal.signal(signal.SIGINT, handle_interrupt)


def is_interrupt(error: BaseException) -> bool:
    """True for an interrupt and its consequences."""
    return isinstance(error, KeyboardInterrupt) or interrupt_raised.is_set()


def handle_interrupt(number: int, frame: FrameType | None) -> None:
    interrupt_raised.set()
    raise KeyboardInterrupt


def is_default_handler() -> bool:
    return signal.getsignal(signal.SIGINT) in (signal.default_int_handler, handle_interrupt)


@contextmanager
def exit_on_interrupt() -> Iterator[None]:
    """Make every Ctrl-C inside end the program; no effect in a thread, or if the caller handles the signal.

    Python raises `KeyboardInterrupt` only in Python code, and a launch of machine code may take hours. So a thread ends
    the process if the exception was not raised after `GRACE_S`.
    """
    interrupt_raised.clear()
    if threading.current_thread() is not threading.main_thread() or not is_default_handler():
        yield
        return
    reading, writing = os.pipe()
    if hasattr(os, "set_blocking"):
        os.set_blocking(writing, False)
    watcher = threading.Thread(target=watch_signals, args=[reading], daemon=True)
    watcher.start()
    before = signal.signal(signal.SIGINT, handle_interrupt)
    wakeup = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    report = sys.unraisablehook
    sys.unraisablehook = partial(repeat_if_dropped, report, threading.main_thread())
    try:
        yield
    finally:
        sys.unraisablehook = report
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGINT, before)
        os.write(writing, b"\0")
        watcher.join()
        os.close(reading)
        os.close(writing)


def watch_signals(signals: int) -> None:
    """Read the numbers of signals as they come, up to a 0, and end the process at an interrupt that is not raised."""
    while (number := os.read(signals, 1)) != b"\0":
        if number == bytes([signal.SIGINT]) and not interrupt_raised.wait(GRACE_S) and is_default_handler():
            try:
                print("interrupted", file=sys.stderr, flush=True)
                sys.stdout.flush()
            finally:
                os._exit(INTERRUPTED)


def repeat_if_dropped(
    report: Callable[[sys.UnraisableHookArgs], object], thread: threading.Thread, dropped: sys.UnraisableHookArgs
) -> None:
    """Repeat an interrupt that Python drops in a thread; report other dropped errors as before.

    It drops the exception, with a traceback, in a callback of a C library, such as LLVM's during a compilation.
    """
    if not issubclass(dropped.exc_type, KeyboardInterrupt):
        report(dropped)
        return
    interrupt_raised.clear()
    again = threading.Timer(REPEAT_S, signal.pthread_kill, (thread.ident, signal.SIGINT))
    again.daemon = True
    again.start()
