"""Devices of a benchmark, distinguished by kind and never by the name of a backend."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

MULTIPROCESSOR = 5
"""Cores that do as much as one multiprocessor of a GPU, roughly."""


class BenchmarkDevice(NamedTuple):
    """A device of a backend: the first two as `--backend` and `--device` take them, then what it is.

    ``label`` is how it is called among others: the backend's name, with the device where that is not its first here.
    """

    backend: str
    device: str
    kind: str
    units: int
    name: str
    label: str


def usable_devices(rows: Sequence[Any], on_gpu: bool) -> list[BenchmarkDevice]:
    """The usable devices of a survey that are GPUs, or the others without the reference interpreter."""
    found: list[BenchmarkDevice] = []
    for row in rows:
        if row.usable and not row.is_reference and (row.kind == "gpu") == on_gpu:
            again = any(place.backend == row.backend for place in found)
            label = f"{row.backend} {row.device}" if again else row.backend
            found.append(BenchmarkDevice(row.backend, row.device, row.kind, row.compute_units, row.name, label))
    return found


def one_core(devices: Sequence[BenchmarkDevice]) -> BenchmarkDevice | None:
    """Which of these devices is one core; None if none is."""
    return next((place for place in devices if place.kind == "core"), None)


def all_cores(devices: Sequence[BenchmarkDevice]) -> BenchmarkDevice | None:
    """Which of these devices is taken for all cores where nobody names one; None if none is."""
    from backends import backend_class

    return next(
        (place for place in devices if backend_class(place.backend).automatic_for == place.kind == "cores"), None
    )


def one_core_first(devices: Sequence[BenchmarkDevice]) -> list[BenchmarkDevice]:
    """These devices, one core ahead of all others: the first of a case is what others are compared with."""
    return sorted(devices, key=lambda place: place.kind != "core")


def equivalent_cores(place: BenchmarkDevice | None) -> float:
    """How many cores do as much as a device, roughly; no device is a program on one core."""
    if place is None:
        return 1
    return max(1, place.units) * (MULTIPROCESSOR if place.kind == "gpu" else 1)


class OpenDevices:
    """Backends of one case, made when the first candidate needs them; a context manager that closes them all.

    No others are open meanwhile: idle workers of another backend would take the cores.
    """

    def __init__(self) -> None:
        self.made: dict[BenchmarkDevice, Any] = {}
        self.stack = ExitStack()

    def __enter__(self) -> OpenDevices:
        return self

    def __exit__(self, *error: Any) -> None:
        self.made.clear()
        self.stack.close()

    def backend(self, place: BenchmarkDevice | None) -> Any:
        """The backend on a device, None on none; raises `Unavailable` where it cannot be used after all."""
        import backends

        if place is None:
            return None
        if place not in self.made:
            self.made[place] = backends.create(place.backend, place.device)
            self.stack.callback(self.made[place].close)
        return self.made[place]
