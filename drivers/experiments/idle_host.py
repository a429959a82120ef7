"""Wait for an idle host: ratios are measured while no other program runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from core.errors import UserError
from drivers.cli.messages import print_note
from reports.rates import BUSY_CORES
from reports.records.environment import cores
from reports.records.meters import busy_seconds

SAMPLE_S = 0.3
PATIENCE_S = 60.0


def read_busy_seconds() -> float | None:
    busy = busy_seconds(Path("/"))
    return None if busy is None else busy[0]


def wait_until_idle(
    read: Callable[[], float | None] = read_busy_seconds,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Return when other programs keep fewer than `BUSY_CORES` cores busy, at once if the system does not tell.

    Raises `UserError` after `PATIENCE_S` seconds of other load.
    """
    began, before = clock(), read()
    sampled = began
    while before is not None:
        sleep(SAMPLE_S)
        now, after = clock(), read()
        assert after is not None
        busy = (after - before) / (now - sampled)
        if busy < BUSY_CORES:
            return
        if sampled == began:
            print_note(f"other programs keep {busy:.1f} cores busy: waiting up to {PATIENCE_S:.0f} s for them to end")
        if now - began >= PATIENCE_S:
            raise UserError(
                f"other programs keep {busy:.1f} of {cores()} cores busy: expected an idle host, or --busy, which the "
                "page then says"
            )
        before, sampled = after, now
