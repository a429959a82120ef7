"""Errors for the user to correct, shown as their message alone with exit code 2; texts of messages; warnings."""

import errno
import os
import re
import reprlib
import sys
import warnings
from collections.abc import Collection, Iterable

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARY = tuple(f"{ROOT}/{name}/" for name in ("core", "backends", "cluster", "reports", "drivers", "onekernel"))
"""Beginnings of the project's file names."""
MEMORY_ADVICE = "expected a smaller instance, fewer walks, ants, climbers or ranks, or less --device-memory"
REFUSALS = {
    **dict.fromkeys((errno.EMFILE, errno.ENFILE), "expected a higher limit of open files, such as `ulimit -n 1024`"),
    errno.EAGAIN: "expected a higher limit of processes (`ulimit -u`), or fewer cores, workers or ranks",
    errno.EFBIG: "expected a higher limit of file sizes, such as `ulimit -f unlimited`",
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "expected free space there, or another folder"),
    errno.EROFS: "expected a file system that can be written",
    **dict.fromkeys((errno.EACCES, errno.EPERM), "expected a file or folder that this user may use"),
}
"""Numbers of errors by which the system refuses something, and what helps."""
LONGEST_FOUND, MOST_BITS = 60, 2000
"""Most characters of a value found, and bits of such an integer that is printed at all."""
LONG = re.compile(r"\d{41,}|\S{1001,}")
"""Numbers and words, such as paths, that a message does not repeat."""


class UserError(Exception):
    """A mistake in the user's input.

    The message names the file, line, option or instance, the value found and the value expected. A program ends with
    `exit_code` and prints the message alone. Exceptions derived from other classes have the same attribute.
    """

    exit_code = 2

    def __str__(self) -> str:
        return shorten(super().__str__())


def escape_unprintable(text: str) -> str:
    """Return a text with escapes for line breaks and control characters, which names of files may have."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def shorten(message: str) -> str:
    """Return a message in one line of printable characters, without long numbers and words."""
    text = escape_unprintable(message)
    return LONG.sub(lambda long: f"{long[0][:20]}...{long[0][-20:]} ({len(long[0])} characters)", text)


class _Found(reprlib.Repr):
    def repr_int(self, x: int, level: int) -> str:
        if x.bit_length() <= MOST_BITS:
            return super().repr_int(x, level)
        return f"<an integer of about {round(x.bit_length() * 0.30103)} digits>"  # Python refuses to print it

    def repr_instance(self, x: object, level: int) -> str:
        return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(x))  # no addresses of memory


def shown(value: object) -> str:
    """Return a value found as a short text in one line for a message."""
    text = " ".join(_Found().repr(value).split())
    return text if len(text) <= LONGEST_FOUND else f"{text[: LONGEST_FOUND - 20]}...{text[-17:]}"


def did_you_mean(name: object, known: Iterable[str], least: float = 0.6) -> str:
    """Return the known name that a wrong one begins, or that is most similar, as a question; empty if there is none.

    ``least`` is the least similarity, as `difflib`'s ratio.
    """
    import difflib

    names = [one for one in known if isinstance(name, str) and name]
    near = [one for one in names if one.startswith(str(name))] or difflib.get_close_matches(str(name), names, 1, least)
    return f" (did you mean {near[0]}?)" if near else ""


def check_choice(name: str, value: str, choices: Collection[str]) -> None:
    """Raise `UserError` unless a setting has one of its values."""
    if value not in choices:
        raise UserError(f"{name} {value!r}; choose one of {', '.join(choices)}")


class NoRoom(UserError):
    """A table that needs more memory, or larger indices, than there are; a program adds how to do without it."""


class LaunchRefused(UserError):
    """The device cannot run this launch: team too large, too much shared memory, arguments that do not fit."""


class TeamTooLarge(LaunchRefused):
    """The kernel needs too many registers for the team size; the device runs it with smaller teams."""


def refusal(error: BaseException | None) -> str | None:
    """Return a line for an error by which the system refuses memory, files, threads or a disk; None for another one."""
    text, number = " ".join(str(error).split()), getattr(error, "errno", None)
    if isinstance(error, MemoryError) or number == errno.ENOMEM or "failed to map segment" in text:
        return f"out of memory{': ' * bool(text)}{text}; {MEMORY_ADVICE}"
    if isinstance(error, ModuleNotFoundError) and error.name in ("fcntl", "resource"):
        return f"found no Python module {error.name!r}, expected Linux or macOS, or on Windows WSL 2"
    if isinstance(error, RuntimeError) and "can't start new thread" in text:
        return f"{text}; {REFUSALS[errno.EAGAIN]}"
    if isinstance(error, OSError) and "temporary directory" in text:
        return f"{error.strerror}; expected a folder that can be written, which TMPDIR may name"
    if isinstance(error, OSError) and number in REFUSALS:
        return f"{': '.join(str(one) for one in (error.filename, error.strerror) if one)}; {REFUSALS[number]}"
    return refusal(error.__cause__ or error.__context__) if isinstance(error, (OSError, ImportError)) else None


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's program that called the library, at any depth."""
    import traceback

    files = [frame.f_code.co_filename for frame, _ in traceback.walk_stack(sys._getframe())]
    of_library = [depth for depth, file in enumerate(files, 1) if file.startswith(LIBRARY)]
    warnings.warn(message, category, stacklevel=of_library[-1] + 1)
