"""Files that a run leaves: their places are looked at before the search, so that no hours are spent for nothing."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from core.errors import UserError


class OutputFile(str):
    """The name of a file to write, as an `argparse` type; by it `require_writable_files` finds such options."""


def require_writable_files(options: Any) -> None:
    """Refuse options that name a file which could not be written at the end; no file is changed.

    Raises
    ------
    UserError
        A folder, a missing folder, no permission, a full disk, what is no file (a FIFO would wait for a reader for
        ever), a file that the run reads, or one that two options name.

    """
    given = vars(options)
    read = [given.get("instance"), given.get("matrix"), *given.get("strings", ())]
    taken = {os.path.realpath(name): "the run reads it" for name in read if name and os.path.isfile(name)}
    for option, path in given.items():
        if isinstance(path, OutputFile):
            reason = taken.get(os.path.realpath(path)) or writing_obstacle(path)
            if reason:
                raise UserError(f"--{option} {path}: cannot write there: {reason}")
            taken[os.path.realpath(path)] = f"--{option} names the same file"


def writing_obstacle(path: str) -> str | None:
    """Return the reason why a file cannot be written, as text, or None; changes nothing."""
    if not path:
        return "expected the name of a file, found nothing"
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        return f"there is no folder {folder}"
    # The end of a link that leads nowhere is made when it is written.
    target = os.path.realpath(path) if os.path.islink(path) else path
    try:
        found = os.stat(target).st_mode if os.path.lexists(target) else None
        if found is not None and not stat.S_ISREG(found):
            return "it is a folder" if stat.S_ISDIR(found) else "it is no regular file"
        descriptor = os.open(target, os.O_WRONLY | (os.O_CREAT | os.O_EXCL if found is None else 0), 0o644)
    except OSError as error:
        return error.strerror
    try:
        room = os.fstatvfs(descriptor)
        # Some network file systems report neither their size nor their free space.
        return os.strerror(errno.ENOSPC) if room.f_blocks and not room.f_bavail else None
    finally:
        os.close(descriptor)
        if found is None:
            os.unlink(target)


@contextmanager
def reporting_write_errors(path: str) -> Iterator[None]:
    """Write a file inside the block; errors of the disk are reported in one line.

    Raises
    ------
    UserError
        Names the file and the reason.

    """
    try:
        yield
    except OSError as error:
        raise UserError(f"{path}: cannot write there: {error.strerror or error}") from None
