"""What `--backend auto` stands for on this rank, found without importing what a device needs.

A backend says for which kind of device it is taken (`backends.base.Backend.automatic_for`).
"""

from __future__ import annotations

import argparse
import sys
from typing import Any


def gpus_here() -> int:
    """Count the GPUs of the backend that is taken for them; 0 where there is none."""
    import backends

    name = backends.automatic("gpu")
    return backends.backend_class(name).present() if name else 0


def best_backend(size: int, local_rank: int, gpus: int) -> str:
    """The backend of a rank: a GPU of its own, else one core of several ranks, else all cores.

    Ranks beyond the number of GPUs take a core each, so that no two wait for one device.
    """
    return backend_for("gpu" if local_rank < gpus else "core" if size > 1 else "cores")


def backend_for(kind: str) -> str:
    """The backend that is taken for a kind of device.

    Raises
    ------
    Unavailable
        None is.

    """
    import backends

    name = backends.automatic(kind)
    if name is None:
        raise backends.Unavailable(f"no backend is taken for a device of kind {kind!r} here: name one with --backend")
    return name


def one_core() -> Any:
    """A backend on one core."""
    import backends

    return backends.create(backend_for("core"))


def automatic_device(options: argparse.Namespace, ranks: Any, gpus: int) -> Any:
    """The best backend that works on this rank; says so on standard error where a GPU does not."""
    import backends

    name = best_backend(ranks.size, ranks.local_rank, gpus)
    if ranks.local_rank < gpus:
        try:
            return backends.create(name, own_gpu(name, ranks.local_rank) if ranks.size > 1 else options.device)
        except backends.Unavailable as error:
            name = best_backend(ranks.size, ranks.local_rank, 0)
            print(f"note: {error}; {name} instead", file=sys.stderr)
    return backends.create(name, None)


def own_gpu(name: str, local_rank: int) -> str:
    """The index of a rank's own GPU among a backend's devices.

    Raises
    ------
    Unavailable
        The backend has fewer GPUs than it seemed to have.

    """
    import backends

    found = [device.index for device in backends.backend_class(name).devices() if device.kind == "gpu"]
    if local_rank >= len(found):
        raise backends.Unavailable(f"{name}: {len(found)} GPUs here, none of them for rank {local_rank} of this host")
    return found[local_rank]
