"""The user's cache of compiled kernels: written whole or not at all, so any number of ranks may start at once.

What lies there is run, so it must be the user's own: a folder or file of another owner is not taken. A folder that
cannot be used, or is full, is replaced by a temporary one that ends with the process; `CacheWarning` says so once.
"""

from __future__ import annotations

import functools
import hashlib
import os
import stat
import time
import warnings

VARIABLE = "ONEKERNEL_CACHE"


class CacheWarning(UserWarning):
    """The cache cannot be used: kernels are compiled anew in this process."""


def cache_folder(kind: str) -> str:
    """The folder for one kind of compiled code; ``$ONEKERNEL_CACHE`` moves it."""
    path = os.path.join(_chosen_folder(), kind)
    reason = _unusable(path)
    return path if not reason else _temporary_folder(kind, reason)


def _chosen_folder() -> str:
    """What the user says, or where this system keeps caches."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return os.path.abspath(chosen)
    import platformdirs

    return platformdirs.user_cache_dir("onekernel", appauthor=False)


def _unusable(path: str) -> str:
    """Why a folder of the cache, which is made if there is none, cannot be used; an empty text if it can."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        for folder in (os.path.dirname(path), path):
            found = os.stat(folder)
            if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
                return f"{folder} belongs to another user (number {found.st_uid})"
            if found.st_mode & stat.S_IWOTH:
                return f"{folder} is writable by all users"
    except OSError as error:
        return f"{path}: {error.strerror}"
    return "" if os.access(path, os.R_OK | os.W_OK | os.X_OK) else f"{path}: no permission to read and write"


def _temporary_folder(kind: str, reason: str) -> str:
    """The folder that stands in for one of the cache; the first call says why."""
    if not _temporary_root.cache_info().currsize:
        message = f"no cache of compiled kernels ({reason}): compiling again; set {VARIABLE} to a private folder"
        warnings.warn(message, CacheWarning, stacklevel=2)
    path = os.path.join(_temporary_root(), kind)
    os.makedirs(path, exist_ok=True)
    return path


@functools.cache
def _temporary_root() -> str:
    """A folder of this process alone, removed when it ends."""
    import atexit
    import shutil
    import tempfile

    path = tempfile.mkdtemp(prefix="onekernel-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def write_once(path: str, content: bytes) -> str:
    """Put a finished file in place by one rename; of several writers the last one wins with the same content.

    Returns
    -------
    Where the file is: ``path``, or its place in a temporary folder if the cache does not take it (a full disk).

    """
    try:
        _write(path, content)
    except OSError as error:
        kind = os.path.basename(os.path.dirname(path))
        path = os.path.join(_temporary_folder(kind, f"{path}: {error.strerror}"), os.path.basename(path))
        _write(path, content)
    return path


def _write(path: str, content: bytes) -> None:
    temporary = f"{path}.{os.getpid()}-{time.time_ns()}"
    try:
        with open(temporary, "xb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def write_sealed(path: str, content: bytes) -> str:
    """Like `write_once`, with a digest in front by which `read_sealed` knows the content and its name again."""
    return write_once(path, _seal(path, content) + content)


def read_sealed(path: str) -> bytes | None:
    """What `write_sealed` wrote under this name; None if the file is missing, damaged, another's or renamed."""
    try:
        with open(path, "rb") as file:
            if hasattr(os, "geteuid") and os.fstat(file.fileno()).st_uid != os.geteuid():
                return None
            digest, content = file.read(32), file.read()
    except OSError:
        return None
    return content if _seal(path, content) == digest else None


def _seal(path: str, content: bytes) -> bytes:
    """A digest of the content and of the file's name, which tells what was compiled, how and for what machine."""
    return hashlib.sha256(os.path.basename(path).encode() + b"\0" + content).digest()
