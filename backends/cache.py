"""The user's cache of compiled kernels: written whole or not at all, so any number of ranks may start at once."""

from __future__ import annotations

import hashlib
import os
import time


def cache_folder(kind: str) -> str:
    """The folder for one kind of compiled code; ``$ONEKERNEL_CACHE`` moves it."""
    base = os.environ.get("ONEKERNEL_CACHE")
    if base is None:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        base = os.path.join(home, "onekernel")
    path = os.path.join(base, kind)
    os.makedirs(path, exist_ok=True)
    return path


def write_once(path: str, content: bytes) -> None:
    """Put a finished file in place by one rename; of several writers the last one wins with the same content."""
    temporary = f"{path}.{os.getpid()}-{time.time_ns()}"
    try:
        with open(temporary, "xb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def write_sealed(path: str, content: bytes) -> None:
    """Like `write_once`, with a digest in front by which `read_sealed` knows the content again."""
    write_once(path, hashlib.sha256(content).digest() + content)


def read_sealed(path: str) -> bytes | None:
    """What `write_sealed` wrote, or None if the file is missing or damaged."""
    try:
        with open(path, "rb") as file:
            digest, content = file.read(32), file.read()
    except FileNotFoundError:
        return None
    return content if hashlib.sha256(content).digest() == digest else None
