"""Output files of a run, which are checked before the search, so that no hours are wasted."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile

from core.errors import UserError


class OutputFile(str):
    """Name of a file to write, as an `argparse` type; `require_writable_files` finds such options by it."""


def require_writable_files(options: object) -> None:
    """Refuse options with files that could not be written at the end; no file is changed.

    These are folders, missing folders, missing permissions, full disks, other kinds of files (a FIFO would wait for a
    reader for ever), files that the run reads, and files of two options.
    """
    values = vars(options)
    read = [values.get("instance"), values.get("matrix"), *values.get("strings", ())]
    reasons = {
        os.path.realpath(name): "the run reads it" for name in read if isinstance(name, str) and os.path.isfile(name)
    }
    for option, path in values.items():
        if isinstance(path, OutputFile):
            reason = reasons.get(os.path.realpath(path)) or writing_obstacle(path)
            if reason:
                raise UserError(f"--{option} {path}: cannot write there: {reason}")
            reasons[os.path.realpath(path)] = f"--{option} names the same file"


def writing_obstacle(path: str) -> str | None:
    """Return the reason against writing a file, as text, or None; changes nothing."""
    if not path:
        return "expected the name of a file, found nothing"
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        return f"there is no folder {folder}"
    # The target of a broken link is made when it is written.
    target = os.path.realpath(path) if os.path.islink(path) else path
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        mode = None
    except OSError as error:
        return error.strerror
    if mode is not None and not stat.S_ISREG(mode):
        return "it is a folder" if stat.S_ISDIR(mode) else "it is no regular file"
    try:
        # Another process may make the file meanwhile, so a missing one is not made here.
        with open(target, "ab") if mode else TemporaryFile(dir=os.path.dirname(target) or ".") as file:
            room = os.fstatvfs(file.fileno()) if hasattr(os, "fstatvfs") else None
    except OSError as error:
        return error.strerror
    # Some network file systems report neither size nor free space, and Windows has no such function.
    return os.strerror(errno.ENOSPC) if room and room.f_blocks and not room.f_bavail else None


@contextmanager
def reporting_write_errors(path: str) -> Iterator[None]:
    """Write a file inside the block; errors of the disk become a `UserError` with file and reason."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{path}: cannot write there: {error.strerror or error}") from None
