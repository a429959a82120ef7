"""Exit codes and messages of errors, for all programs. Few imports: 64 ranks may start this at once on two cores."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from cluster.mpi import launcher
from cluster.mpi.failures import abort
from core.errors import refusal
from core.standard_output import LostOutputError, warnings_as_notes, watched
from drivers.cli import interrupts
from drivers.cli.messages import print_note

DONE = 0
FAILED = abort.FAILED


def run_driver(function: Callable[[Sequence[str] | None], int | None], argv: Sequence[str] | None = None) -> int:
    """Call a driver and convert its result or error to an exit code.

    ``function`` takes the command line's arguments (None: `sys.argv`) and returns an exit code, or None for 0.

    Returns
    -------
    int
        0 done; 1 a rejected result, or a bug with its traceback; 2 a user error, printed as one line
        (`core.errors.UserError`, and every exception with an ``exit_code``), including what the system refuses; 130
        interrupted; 141 standard output closed. A failing rank ends the whole MPI job with that code instead.
    """
    show = print_note if launcher.rank() == 0 else str  # other ranks give the same warnings
    try:
        with interrupts.exit_on_interrupt(), watched(), warnings_as_notes(show):
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
    line = refusal(error)
    if line is not None:
        abort.report_user_error(line)
        return abort.USER_ERROR
    # The hook, not the `traceback` module: it ends the other ranks under MPI.
    sys.excepthook(type(error), error, error.__traceback__)
    return FAILED
