"""Estimated time of a run, before a device is made, for lists of runs that take hours."""

from __future__ import annotations

from drivers.experiments.configurations import Configuration
from drivers.workload.run_time import usual_speed
from reports.records.environment import cores
from reports.text.formatting import duration

START_S = 2.0
"""Seconds of a run beside its repetitions: imports, self-test, cached kernels; 1.4 to 2.5 on an H200's host."""
EMULATED_MEETING_S = 0.02
"""Measured seconds of a reduction over five emulated sites; fewer hosts are faster."""


def estimate_seconds(core_s: float, where: Configuration, repetitions: int, iterations: int = 0) -> float:
    """Return the estimated duration of repetitions, each of `core_s` seconds on one core, on a configuration.

    Emulated hosts share this machine's cores, and synchronise in each of the `iterations` over a slow network.
    """
    ranks = min(where.ranks, cores()) if where.network else where.ranks
    speed = usual_speed(where.kind, where.compute_units, ranks, is_reference=where.is_reference)
    waiting_s = EMULATED_MEETING_S * iterations if where.network else 0.0
    return repetitions * (core_s / speed + waiting_s)


def format_estimate(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else duration(seconds)
