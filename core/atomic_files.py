"""Files that are written whole or not at all: to a temporary file, fsynced, and renamed in one step."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

UNFINISHED = ".unfinished"
"""Suffix of a file that is being written; the next process overwrites one left by a killed process."""


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the content of a file without surrounding white space; empty if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Write a file inside the block; after an error or the end of the process an existing file is unchanged.

    If the name is a link, its target is replaced, and keeps its permissions.
    """
    target = os.path.realpath(path)
    temporary = target + UNFINISHED
    try:
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    if not hasattr(os, "O_DIRECTORY"):  # Windows opens no folders
        return
    folder = os.open(os.path.dirname(target), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
