"""Waiting for what happens soon, but not at once, and telling that it has."""

import time

PATIENCE_S = 10.0


def soon(condition):
    """Wait until a condition holds; False if it does not within `GRACE_S`."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def written(path):
    """Time when a file was written in ns; None if missing or empty.

    Programs test an output file at their start by writing an empty one and removing it.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_mtime_ns if status.st_size else None
