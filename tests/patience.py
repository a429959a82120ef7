"""Waiting for what happens soon, but not at once."""

import time

PATIENCE_S = 10.0


def soon(condition):
    """Wait until a condition holds; False if it does not within `PATIENCE_S`."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
