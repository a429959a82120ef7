"""Checkpoint file of a run: its identity, its progress, and the checkpoint of its search."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from core.atomic_files import atomic_write
from core.errors import UserError
from core.search.checkpoint import Checkpoint

VERSION = 2
"""Of the file, and of what searches write into it: a state of another version is refused."""
IDENTITY_ARRAY = "about"
"""The name of the array that says whose state it is, as JSON in UTF-8."""
NAMES_ARRAY = "arrays"
"""Its list of all others: a damaged directory of the file may have lost one."""
DIGEST_ARRAY = "sha256"
"""The name of the array with the SHA-256 digest of all others: a file that was edited is damaged."""
DAMAGED_FILE_ERRORS = (
    *(OSError, ValueError, KeyError, EOFError, TypeError, AttributeError, SyntaxError, RuntimeError, MemoryError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)
"""What NumPy and `zipfile` raise for files that are none, cut short or changed (each array has a checksum).

A changed byte may claim a later version of zip, a password, another compression, or arrays of any type and size.
"""


class CheckpointIdentity(NamedTuple):
    """Whose state it is.

    Attributes
    ----------
    workload, instance, instance_sha256, seed, parameters
        As in `reports.records.files.Record`: what decides the work.
    history : bool
        True if the run keeps its history, which has to begin with the run.
    repetition : int
        How many repetitions of the run were done before this one.
    resumed : int
        How often this repetition has gone on from a state.
    version : int
        See `VERSION`.

    """

    workload: str
    instance: str
    instance_sha256: str
    seed: int
    parameters: Mapping[str, Any]
    history: bool = False
    repetition: int = 0
    resumed: int = 0
    version: int = VERSION

    @property
    def work(self) -> dict[str, Any]:
        """What has to be the same where a run goes on, the most telling first."""
        return {"version": self.version, **{name: getattr(self, name) for name in self._fields[:6]}}

    @classmethod
    def from_json(cls, found: Any) -> CheckpointIdentity:
        """Return what a file says.

        Raises
        ------
        TypeError, ValueError
            It says something else.

        """
        about = cls(**found)
        for kind, names in FIELD_TYPES.items():
            for name in names:
                if type(getattr(about, name)) is not kind:
                    raise ValueError(f"{name} {getattr(about, name)!r}")
        if about.repetition < 0 or about.resumed < 0:
            raise ValueError(f"repetition {about.repetition}, resumed {about.resumed}")
        return about


FIELD_TYPES = {
    str: ("workload", "instance", "instance_sha256"),
    int: ("seed", "repetition", "resumed", "version"),
    dict: ("parameters",),
    bool: ("history",),
}
"""The fields of `CheckpointIdentity`, by the type that JSON has for them."""


class RunCheckpointFile:
    """The file of one run; the first rank reads and writes it.

    Parameters
    ----------
    path
        Its name.

    """

    def __init__(self, path: str) -> None:
        self.path = path

    def exists(self) -> bool:
        """Whether there is a state."""
        return os.path.exists(self.path)

    def read(self, expected: CheckpointIdentity) -> tuple[CheckpointIdentity, Checkpoint]:
        """Whose state it is, and the state.

        Raises
        ------
        UserError
            The file is damaged or was edited, of another version of the suite, or of another run than the expected.

        """
        try:
            with warnings.catch_warnings(action="ignore"), np.load(self.path, allow_pickle=False) as file:
                about, names = self._about(bytes(file[IDENTITY_ARRAY]).decode())
                self._require(about, expected)
                state = {name: file[name] for name in names}
                if content_digest(file[IDENTITY_ARRAY], state).tolist() != file[DIGEST_ARRAY].tolist():
                    raise ValueError(f"its content does not have the {DIGEST_ARRAY} digest that it names")
                return about, state
        except DAMAGED_FILE_ERRORS as error:
            why = " ".join(str(error).split()) or type(error).__name__
            raise UserError(f"{self.path}: expected a checkpoint, found a damaged file ({why})") from None

    def write(self, about: CheckpointIdentity, state: Checkpoint) -> None:
        """Keep a state in place of the one before.

        Raises
        ------
        UserError
            The disk does not take it; the one before is still there.

        """
        words = np.frombuffer(json.dumps({**about._asdict(), NAMES_ARRAY: list(state)}).encode(), np.uint8)
        try:
            with atomic_write(self.path) as file:
                np.savez(
                    file,
                    allow_pickle=False,
                    **{IDENTITY_ARRAY: words, DIGEST_ARRAY: content_digest(words, state)},
                    **state,
                )
        except OSError as error:
            raise UserError(f"{self.path}: cannot save the checkpoint: {error.strerror or error}") from None

    def remove(self) -> None:
        """Forget the state of a run that is done."""
        with suppress(FileNotFoundError):
            os.unlink(self.path)

    def _about(self, text: str) -> tuple[CheckpointIdentity, list[str]]:
        """Whose state it is, and the names of its arrays."""
        found = json.loads(text)
        if not isinstance(found, dict) or found.get("version") != VERSION:
            version = found.get("version") if isinstance(found, dict) else found
            raise UserError(f"{self.path}: found a checkpoint of version {version}, expected {VERSION}")
        try:
            names = found.pop(NAMES_ARRAY)
            return CheckpointIdentity.from_json(found), names
        except TypeError as error:
            raise ValueError(str(error)) from None

    def _require(self, about: CheckpointIdentity, expected: CheckpointIdentity) -> None:
        # What a file holds has been JSON, in which tuples are lists.
        wanted = json.loads(json.dumps(expected.work))
        for name, found in about.work.items():
            if found != wanted[name]:
                raise UserError(
                    f"{self.path}: a checkpoint of another run: {describe_difference(name, found, wanted[name])}"
                )


def content_digest(about: np.ndarray, state: Checkpoint) -> np.ndarray:
    """Return the SHA-256 digest of a file's content, as bytes: names, types, shapes and elements of all arrays."""
    digest = hashlib.sha256()
    for name, array in {IDENTITY_ARRAY: about, **state}.items():
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return np.frombuffer(digest.digest(), np.uint8)


def describe_difference(name: str, found: Any, expected: Any) -> str:
    """What differs, in words; of parameters the first that does."""
    if name == "history":
        without = "found one without a history, expected no --history, --curve or --plot"
        return "found one with a history, expected --history too" if found else without
    if isinstance(found, dict):
        one = next(key for key in {**found, **expected} if found.get(key) != expected.get(key))
        name, found, expected = one, found.get(one), expected.get(one)
    return f"found {name.replace('_', ' ')} {found}, expected {expected}"
