"""Checkpoint file of a run: its identity, its progress, the checkpoint of its search, and its lock.

One run at a time uses a file. The lock is the system's, so the system frees it when a process ends. A checkpoint
is replaced as a whole, so the lock belongs to a file beside it, which is removed at the end of the run.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import struct
import time
import warnings
import zipfile
import zlib
from contextlib import suppress
from typing import Annotated, Any

import msgspec
import numpy as np
from filelock import lock_descriptor

from core.atomic_files import atomic_write
from core.errors import UserError
from core.run.checkpoint import Checkpoint
from drivers.cli.messages import print_note

VERSION = 2
"""Version of the file and its content; other versions are refused."""
IDENTITY_ARRAY = "about"
"""Name of the array with the checkpoint's identity, as JSON in UTF-8."""
NAMES_ARRAY = "arrays"
"""Name of the array that lists all others: a damaged directory may have lost one."""
DIGEST_ARRAY = "sha256"
"""Name of the array with the SHA-256 digest of all others: an edited file is damaged."""
DAMAGED_FILE_ERRORS = (
    *(OSError, ValueError, KeyError, EOFError, TypeError, AttributeError, SyntaxError, RuntimeError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, struct.error, msgspec.ValidationError),
)
"""Errors of NumPy and `zipfile` for other, truncated or changed files (each array has a checksum).

A changed byte may claim a later version of zip, a password, another compression, or arrays of any type and size.
"""


LOCK_SUFFIX = ".lock"
"""Suffix after the name of the checkpoint."""
WITHOUT_RANK_S = 10.0
"""Seconds to wait for the lock of a lost rank, whose process may still run."""
RESUME_WAIT_S = 5.0
"""The same for a run that resumes: a rank of the earlier run may still end, if its `mpirun` was killed."""
POLL_S = 0.05


class CheckpointIdentity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Identity of a checkpoint's run.

    Attributes
    ----------
    workload, instance, instance_sha256, seed, parameters
        As in `reports.records.files.Record`: all that decides the work.
    history
        True if the run records its history, which must begin with the run.
    repetition
        Number of earlier repetitions of the run.
    resumed
        Number of times that this repetition has resumed.
    version
        See `VERSION`.
    """

    workload: str
    instance: str
    instance_sha256: str
    seed: int
    parameters: dict[str, Any]
    history: bool = False
    repetition: Annotated[int, msgspec.Meta(ge=0)] = 0
    resumed: Annotated[int, msgspec.Meta(ge=0)] = 0
    version: int = VERSION

    @property
    def work(self) -> dict[str, Any]:
        """Return the values that must be equal in a resumed run, the most important first."""
        return {"version": self.version, **{name: getattr(self, name) for name in self.__struct_fields__[:6]}}


def read_checkpoint(path: str, expected: CheckpointIdentity) -> tuple[CheckpointIdentity, Checkpoint]:
    """Return a checkpoint and its identity from a file.

    Raises `UserError` for a damaged or edited file, and for one of another version or run.
    """
    try:
        with warnings.catch_warnings(action="ignore"), np.load(path, allow_pickle=False) as file:
            about, names = _read_identity(path, bytes(file[IDENTITY_ARRAY]).decode())
            # The file's content comes from JSON, where tuples are lists.
            wanted = json.loads(json.dumps(expected.work))
            for name, found in about.work.items():
                if found != wanted[name]:
                    difference = describe_difference(name, found, wanted[name])
                    raise UserError(f"{path}: a checkpoint of another run: {difference}")
            state = {name: file[name] for name in names}
            if content_digest(file[IDENTITY_ARRAY], state).tolist() != file[DIGEST_ARRAY].tolist():
                raise ValueError(f"its content does not have the {DIGEST_ARRAY} digest that it names")
            return about, state
    except DAMAGED_FILE_ERRORS as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"{path}: expected a checkpoint, found a damaged file ({why})") from None


def _read_identity(path: str, text: str) -> tuple[CheckpointIdentity, list[str]]:
    identity = json.loads(text)
    if not isinstance(identity, dict) or identity.get("version") != VERSION:
        version = identity.get("version") if isinstance(identity, dict) else identity
        raise UserError(f"{path}: found a checkpoint of version {version}, expected {VERSION}")
    names = identity.pop(NAMES_ARRAY)
    return msgspec.convert(identity, CheckpointIdentity), names


def write_checkpoint(path: str, about: CheckpointIdentity, state: Checkpoint) -> None:
    """Replace a checkpoint. Raises `UserError` if the disk fails; the earlier checkpoint stays."""
    described = json.dumps({**msgspec.structs.asdict(about), NAMES_ARRAY: list(state)})
    words = np.frombuffer(described.encode(), np.uint8)
    arrays = {IDENTITY_ARRAY: words, DIGEST_ARRAY: content_digest(words, state), **state}
    try:
        with atomic_write(path) as file:
            np.savez(file, allow_pickle=False, **arrays)
    except OSError as error:
        raise UserError(f"{path}: cannot save the checkpoint: {error.strerror or error}") from None


def content_digest(about: np.ndarray, state: Checkpoint) -> np.ndarray:
    """Return the SHA-256 digest of names, types, shapes and elements of all arrays, as bytes."""
    digest = hashlib.sha256()
    for name, array in {IDENTITY_ARRAY: about, **state}.items():
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return np.frombuffer(digest.digest(), np.uint8)


def describe_difference(name: str, found: object, expected: object) -> str:
    """Return a difference as text; for parameters the first one."""
    if name == "history":
        without = "found one without a history, expected no --history, --curve or --plot"
        return "found one with a history, expected --history too" if found else without
    if isinstance(found, dict) and isinstance(expected, dict):
        different = next(key for key in {**found, **expected} if found.get(key) != expected.get(key))
        name, found, expected = different, found.get(different), expected.get(different)
    return f"found {name.replace('_', ' ')} {found}, expected {expected}"


# --- the lock ---


class RunCheckpointLock:
    """Lock of a checkpoint, held by this process until `free`.

    ``wait_s`` are the seconds to wait for another process. Raises `UserError` if another run has the lock, or its file
    cannot be made.
    """

    def __init__(self, path: str, wait_s: float = 0.0) -> None:
        self.name = os.path.realpath(path) + LOCK_SUFFIX
        self.descriptor: int | None = None
        until = time.monotonic() + wait_s
        while not self._take(path, is_last=time.monotonic() >= until):
            time.sleep(POLL_S)

    def _take(self, path: str, *, is_last: bool) -> bool:
        """Try once; return True if there is nothing to wait for."""
        try:
            descriptor = os.open(self.name, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise UserError(f"--checkpoint {path}: cannot make {self.name}: {error.strerror}") from None
        try:
            if not lock_descriptor(descriptor, blocking=False):
                owner = self._owner(descriptor)
                os.close(descriptor)
                if not is_last:
                    return False
                user = f"found another run that uses it ({owner})"
                raise UserError(f"--checkpoint {path}: {user}, expected its end or another file")
            is_the_same = os.path.samestat(os.fstat(descriptor), os.stat(self.name))
        except FileNotFoundError:
            is_the_same = False
        except OSError as error:
            os.close(descriptor)
            self._remove()
            print_note(
                f"--checkpoint {path}: this file system has no locks ({error.strerror}): no other run may use the file"
            )
            return True
        if not is_the_same:
            # The run that had the lock has removed its file meanwhile.
            os.close(descriptor)
            return self._take(path, is_last=is_last)
        self.descriptor = descriptor
        with suppress(OSError):  # a full disk: the words are for a message alone
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        return True

    @staticmethod
    def _owner(descriptor: int) -> str:
        with suppress(OSError):  # Windows reads no locked file
            return os.read(descriptor, 200).decode(errors="replace").strip() or "unknown"
        return "unknown"

    def free(self) -> None:
        if self.descriptor is not None:
            self._remove()  # while the lock is still held: the next run makes a new file
            os.close(self.descriptor)
            self.descriptor = None

    def _remove(self) -> None:
        with suppress(OSError):
            os.unlink(self.name)
