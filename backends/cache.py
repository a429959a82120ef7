"""The user's cache of compiled kernels: written whole or not at all, so any number of ranks may start at once."""

from __future__ import annotations

import os
import tempfile


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
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
