"""Exit codes and messages of errors, for all programs. Few imports: 64 ranks may start this at once on two cores."""

from __future__ import annotations

import errno
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from cluster.mpi import launcher
from cluster.mpi.failures import abort
from core.standard_output import LostOutputError, watched
from drivers.cli import interrupts
from drivers.cli.messages import print_note

DONE = 0
FAILED = abort.FAILED
LIBRARY_MEMORY_ERROR = "failed to map segment from shared object"
MEMORY_ADVICE = "expected a smaller instance, fewer walks, ants, climbers or ranks, or less --device-memory"


def run_driver(function: Callable[[Sequence[str] | None], int | None], argv: Sequence[str] | None = None) -> int:
    """Call a driver and convert its result or error to an exit code.

    ``function`` takes the command line's arguments (None: `sys.argv`) and returns an exit code, or None for 0.

    Returns
    -------
    int
        0 done; 1 a rejected result, or a bug with its traceback; 2 a user error, printed as one line
        (`core.errors.UserError`, and every exception with an ``exit_code``), including too little memory; 130
        interrupted; 141 standard output closed. A failing rank ends the whole MPI job with that code instead.
    """
    try:
        with interrupts.exit_on_interrupt(), watched(), format_warnings_briefly():
            code = function(argv) or DONE
        abort.leave(code)
        return code
    except SystemExit as stop:
        if stop.code:
            abort.end_job(stop.code if isinstance(stop.code, int) else FAILED)
        raise
    except BaseException as error:
        code = report_error(error)
    abort.end_job(code)
    return code


@contextmanager
def format_warnings_briefly() -> Iterator[None]:
    """Print the suite's own warnings without their source line, on rank 0 only."""
    others = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, UserWarning):
            others(message, category, *place, **more)
        elif launcher.rank() == 0:
            print_note(str(message))

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = others


def report_error(error: BaseException) -> int:
    """Print the error that ended a driver, in a line or with its traceback; return the exit code."""
    abort.wait_for_reporter(error)
    if interrupts.is_interrupt(error):
        print("interrupted", file=sys.stderr)
        # Python ends by a signal instead of the code if the exception passed through an `exec` of text, until the next
        # one succeeds.
        exec("")
        interrupts.interrupt_raised.clear()
        return abort.INTERRUPTED
    if isinstance(error, LostOutputError):
        return error.report()
    code = getattr(error, "exit_code", None)
    if code in (FAILED, abort.USER_ERROR):
        abort.report_user_error(error)
        return int(code)
    refused = find_memory_error(error)
    if refused is not None:
        asked = f": {refused}" if str(refused) else ""
        abort.report_user_error(f"out of memory{asked}; {MEMORY_ADVICE}")
        return abort.USER_ERROR
    # The hook, not the `traceback` module: it ends the other ranks under MPI.
    sys.excepthook(type(error), error, error.__traceback__)
    return FAILED


def find_memory_error(error: BaseException | None) -> BaseException | None:
    """Return the error of refused memory, ours or a library loader's, or None."""
    if isinstance(error, MemoryError):
        return error
    if not isinstance(error, (OSError, ImportError)):
        return None
    if getattr(error, "errno", None) == errno.ENOMEM or LIBRARY_MEMORY_ERROR in str(error):
        return error
    return find_memory_error(error.__cause__ or error.__context__)
