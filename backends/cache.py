"""The user's cache of compiled kernels. Files appear complete or not at all, so any number of ranks may start at once.

Processes execute the cached code, so the user must own every file: folders and files of other owners are ignored. If
the folder cannot be used or is full, a temporary folder replaces it until the process ends, and a `CacheWarning` is
given once.
"""

from __future__ import annotations

import functools
import hashlib
import os
import stat
import time

from core.errors import warn_caller

VARIABLE = "ONEKERNEL_CACHE"


class CacheWarning(UserWarning):
    """The cache cannot be used; this process compiles its kernels again."""


def cache_folder(kind: str) -> str:
    """Return the folder for one kind of compiled code; ``$ONEKERNEL_CACHE`` moves it."""
    path = os.path.join(_chosen_folder(), kind)
    reason = unusable(path)
    return path if not reason else _temporary_folder(kind, reason)


def _chosen_folder() -> str:
    """Return the folder that the user chose, or the default place of caches on this system."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return os.path.abspath(chosen)
    import platformdirs

    return platformdirs.user_cache_dir("onekernel", appauthor=False)


def unusable(path: str) -> str:
    """Return the reason why a folder, made if necessary, cannot be used as cache; empty if it can."""
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        for folder in (os.path.dirname(path), path):
            status = os.stat(folder)
            if not hasattr(os, "geteuid"):
                continue  # Windows reports the mode 777 for every folder, and no owner
            if status.st_uid != os.geteuid():
                return f"{folder} belongs to another user (number {status.st_uid})"
            if status.st_mode & stat.S_IWOTH:
                return f"{folder} is writable by all users"
    except OSError as error:
        return f"{path}: {error.strerror}"
    return "" if os.access(path, os.R_OK | os.W_OK | os.X_OK) else f"{path}: no permission to read and write"


def _temporary_folder(kind: str, reason: str) -> str:
    """Return the folder that replaces one of the cache; the first call warns with the reason."""
    if not _temporary_root.cache_info().currsize:
        message = f"no cache of compiled kernels ({reason}): compiling again; set {VARIABLE} to a private folder"
        warn_caller(message, CacheWarning)
    path = os.path.join(_temporary_root(), kind)
    os.makedirs(path, exist_ok=True)
    return path


@functools.cache
def _temporary_root() -> str:
    import atexit
    import shutil
    import tempfile

    path = tempfile.mkdtemp(prefix="onekernel-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def write_once(path: str, content: bytes) -> str:
    """Write a file by one rename, and return its path, or one in a temporary folder if the disk is full.

    Of several writers the last one wins, with the same content.
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
    """Write a file like `write_once`, with a digest of content and name for `read_sealed`."""
    return write_once(path, _seal(path, content) + content)


def read_sealed(path: str) -> bytes | None:
    """Return the content of a file of `write_sealed`; None if it is missing, damaged, renamed or of another owner."""
    try:
        with open(path, "rb") as file:
            if hasattr(os, "geteuid") and os.fstat(file.fileno()).st_uid != os.geteuid():
                return None
            digest, content = file.read(32), file.read()
    except OSError:
        return None
    return content if _seal(path, content) == digest else None


def _seal(path: str, content: bytes) -> bytes:
    """Return a digest of the content and the file's name; the name depends on source, options and machine."""
    return hashlib.sha256(os.path.basename(path).encode() + b"\0" + content).digest()
