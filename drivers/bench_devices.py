"""The devices that `drivers.bench` measures, told apart by what they are and never by a backend's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple


class Place(NamedTuple):
    """A device of a backend, as `--backend` and `--device` take them."""

    backend: str
    device: str


def places(rows: Sequence[Any], on_gpu: bool) -> list[Place]:
    """The usable devices of a survey that are GPUs, or those that are not; the oracle is too slow for any bench."""
    chosen = [row for row in rows if row.usable and not row.oracle and (row.kind == "gpu") == on_gpu]
    return [Place(row.backend, row.device) for row in chosen]


def opened(devices: Sequence[Place]) -> dict[str, Any]:
    """Backends on these devices by their names, with the device where it is not the backend's first here."""
    import backends

    made: dict[str, Any] = {}
    for name, device in devices:
        made[f"{name} {device}" if name in made else name] = backends.create(name, device)
    return made


def one_core(made: Mapping[str, Any]) -> str:
    """Which of these backends runs on one core; empty if none does."""
    return next((name for name, backend in made.items() if backend.device.kind == "core"), "")


def all_cores(made: Mapping[str, Any]) -> str:
    """Which of these backends is taken for all cores where nobody names one; empty if none is."""
    return next((name for name, backend in made.items() if backend.automatic_for == backend.device.kind == "cores"), "")


def on_each(devices: Sequence[Place], measure: Callable[[Any], None]) -> None:
    """Measure on every device, one after the other."""
    for device in devices:
        (backend,) = opened([device]).values()
        measure(backend)
        backend.close()
