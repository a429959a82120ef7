"""Errors for the user to correct: shown as their message alone, exit code 2, no traceback; warnings of the library."""

import errno
import os
import sys
import warnings

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARY = tuple(f"{ROOT}/{name}" for name in ("core/", "backends/", "cluster/", "reports/", "drivers/", "onekernel.py"))
"""Beginnings of the project's file names."""
NO_THREADS = "expected a higher limit of processes and threads (`ulimit -u`), or fewer cores, workers or ranks"
REFUSALS = {
    errno.ENOMEM: "expected more memory, or a smaller input",
    errno.EMFILE: "expected a higher limit of open files, such as `ulimit -n 1024`",
    errno.ENFILE: "expected fewer open files of all programs on this machine",
    errno.EAGAIN: NO_THREADS,
    errno.EFBIG: "expected a higher limit of file sizes, such as `ulimit -f unlimited`",
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "expected free space there, or another folder"),
    errno.EROFS: "expected a file system that can be written",
    **dict.fromkeys((errno.EACCES, errno.EPERM), "expected a file or folder that this user may use"),
}
"""Numbers of errors by which the system refuses something, and what helps."""
UNIX_MODULES = ("fcntl", "resource")
LIBRARY_MEMORY_ERROR = "failed to map segment from shared object"


class UserError(Exception):
    """A mistake in the user's input.

    The message names the file, line, option or instance, the value found and the value expected. A program ends with
    `exit_code` and prints the message alone. Exceptions derived from other classes have the same attribute.
    """

    exit_code = 2


class LaunchRefused(UserError):
    """The device cannot run this launch: team too large, too much shared memory, arguments that do not fit."""


class TeamTooLarge(LaunchRefused):
    """The kernel needs too many registers for the team size; the device runs it with smaller teams."""


def find_memory_error(error: BaseException | None) -> BaseException | None:
    """Return the error of refused memory, ours or a library loader's, or None."""
    if isinstance(error, MemoryError):
        return error
    if not isinstance(error, (OSError, ImportError)):
        return None
    if getattr(error, "errno", None) == errno.ENOMEM or LIBRARY_MEMORY_ERROR in str(error):
        return error
    return find_memory_error(error.__cause__ or error.__context__)


def refusal(error: BaseException | None) -> str | None:
    """Return a line for an error by which the system refuses memory, files, threads or a disk; None for another one."""
    if find_memory_error(error) is not None:
        return f"out of memory; {REFUSALS[errno.ENOMEM]}"
    if isinstance(error, ModuleNotFoundError) and error.name in UNIX_MODULES:
        return f"found no Python module {error.name!r}, expected Linux or macOS, or on Windows WSL 2"
    if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
        return f"{error}; {NO_THREADS}"
    if any(kind.__name__ == "BrokenExecutor" for kind in type(error).__mro__):
        return f"{' '.join(str(error).split())}; {REFUSALS[errno.ENOMEM]}"
    if not isinstance(error, OSError):
        return None
    if error.errno in REFUSALS:
        return f"{': '.join(str(one) for one in (error.filename, error.strerror) if one)}; {REFUSALS[error.errno]}"
    if "temporary directory" in str(error):
        return f"{error.strerror}; expected a folder that can be written, which TMPDIR may name"
    return refusal(error.__cause__ or error.__context__)


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's program that called the library, at any depth."""
    import traceback

    level = 2
    for depth, (frame, _) in enumerate(traceback.walk_stack(sys._getframe()), 1):
        if frame.f_code.co_filename.startswith(LIBRARY):
            level = depth + 1
    warnings.warn(message, category, stacklevel=level)
