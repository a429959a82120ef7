"""The lock of a checkpoint: one run at a time keeps its state in a file.

The lock is advisory (`flock`), so that the system frees it however a process ends. A checkpoint is replaced as a whole,
so the lock belongs to a file beside it, which is removed when the run ends.
"""

from __future__ import annotations

import fcntl
import os
import socket
import time
from contextlib import suppress

from core.errors import UserError
from drivers.cli.messages import print_note

LOCK_SUFFIX = ".lock"
"""Behind the name of the checkpoint."""
WITHOUT_RANK_S = 10.0
"""Seconds to wait for the lock of a lost rank: its process may still run."""
POLL_S = 0.05


class RunCheckpointLock:
    """The lock of one checkpoint, which this process has; `free` gives it back.

    Parameters
    ----------
    path
        Of the checkpoint.
    wait_s
        Seconds to wait for another process that has the lock.

    Raises
    ------
    UserError
        Another run has the lock, or there can be no file for it.

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
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_the_same = os.path.samestat(os.fstat(descriptor), os.stat(self.name))
        except BlockingIOError:
            owner = os.read(descriptor, 200).decode(errors="replace").strip() or "unknown"
            os.close(descriptor)
            if is_last:
                raise UserError(
                    f"--checkpoint {path}: found another run that uses it ({owner}), expected its end or another file"
                ) from None
            return False
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

    def free(self) -> None:
        """Give the lock back, and remove its file."""
        if self.descriptor is not None:
            self._remove()  # while the lock is still held: the next run makes a new file
            os.close(self.descriptor)
            self.descriptor = None

    def _remove(self) -> None:
        with suppress(OSError):
            os.unlink(self.name)
