"""Device of a rank: `--backend` and `--device`, or the choice of `auto`, with few imports.

A backend declares the kind of device for which it is taken (`backends.device.Device.automatic_for`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.errors import UserError
from drivers.cli.messages import print_note
from drivers.options.declaration import Options

if TYPE_CHECKING:
    from backends.device import DeviceInfo
    from backends.launch import Backend
    from cluster import Communicator


def select_backend(options: Options, ranks: Communicator, gpus: int, *, one_core: bool) -> Backend:
    """Return the backend of the options, on their device or a rank's turn of several like it; else the best one."""
    import backends
    from backends import kept

    if options.backend != "auto":
        device = options.device
        if ranks.size > 1:
            device = device_of_rank(backends.backend_class(options.backend).devices(), device, ranks.local_rank)
        return kept.take(options.backend, device, options.cores, options.compiler)
    if options.cores is not None:
        return kept.take(backend_for("cores"), None, options.cores, options.compiler)
    if one_core:
        return kept.take(backend_for("core"), compiler=options.compiler)
    return select_automatic_device(options, ranks, gpus)


def cores_of_a_rank(options: Options) -> int:
    """Return the number of cores that a rank uses on its host, counted before it is bound to them.

    Raises `UserError` if the options' backend does not run in the rank's own threads and processes.
    """
    import backends

    on_host = [name for name in backends.NAMES if backends.backend_class(name).memory == "host"]
    if options.backend not in on_host:
        raise UserError(f"--pin-cores with {options.backend}: expected one of {', '.join(on_host)}")
    units = backends.backend_class(options.backend).devices()[0].compute_units
    return units if options.cores is None else options.cores


def gpus_here() -> int:
    """Count the GPUs of the backend that is used for them; 0 if there is none."""
    import backends

    name = backends.automatic("gpu")
    return backends.backend_class(name).present() if name else 0


def select_best_backend(size: int, local_rank: int, gpus: int) -> str:
    """Return the backend of a rank: a separate GPU, else one core if there are several ranks, else all cores.

    Ranks beyond the number of GPUs use a core each, so that no two wait for one device.
    """
    return backend_for("gpu" if local_rank < gpus else "core" if size > 1 else "cores")


def backend_for(kind: str) -> str:
    """Return the backend for a kind of device. Raises `Unavailable` if there is none."""
    import backends

    name = backends.automatic(kind)
    if name is None:
        raise backends.Unavailable(f"found no backend for a device of kind {kind!r} here: choose one with --backend")
    return name


def select_automatic_device(options: Options, ranks: Communicator, gpus: int) -> Backend:
    """Return the best backend that works on this rank; report a failing GPU on standard error."""
    import backends
    from backends import kept

    number, device = ranks.local_rank, options.device
    name = select_best_backend(ranks.size, number, gpus)
    if number >= gpus:
        return kept.take(name, compiler=options.compiler)
    try:
        if ranks.size > 1:
            own = [device.index for device in backends.backend_class(name).devices() if device.kind == "gpu"]
            if number >= len(own):
                raise backends.Unavailable(f"{name}: found {len(own)} GPUs, none for rank {number} of this host")
            device = own[number]
        return kept.take(name, device, compiler=options.compiler)
    except backends.Unavailable as error:
        name = select_best_backend(ranks.size, number, 0)
        print_note(f"{error}; {name} instead")
        return kept.take(name, compiler=options.compiler)


def device_of_rank(devices: Sequence[DeviceInfo], device: str, local_rank: int) -> str:
    """Return the index of a rank's device on its host: of the chosen one's kind, the next for each rank.

    Two drivers of one processor are not two processors, so only one driver's devices take turns. All ranks use a device
    that is named by a part of its name.
    """
    chosen = next((other for other in devices if other.index == device), None)
    if chosen is None:
        return device
    alike = [device.index for device in devices if (device.kind, device.driver) == (chosen.kind, chosen.driver)]
    return alike[(alike.index(chosen.index) + local_rank) % len(alike)]
