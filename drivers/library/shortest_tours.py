"""Shortest tours of many small instances from Python, in one launch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cluster import Solo
from core.arguments import checked_call, sequence
from drivers.options.declaration import Options
from drivers.runs.device_selection import gpus_here, select_backend

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from core.search.exact import Solution


@checked_call
def shortest_tours(
    instances: Iterable[ArrayLike], *, backend: str = "auto", device: str | int = "0", cores: int | None = None
) -> list[Solution]:
    """Prove a shortest tour of each of many instances of 5 to 15 cities; a lane of the device takes one at a time.

    Parameters
    ----------
    instances : iterable of array_like, shape (n, n)
        Symmetric integer distances. The diagonal is not read, and instances may differ in n.
    backend, device, cores
        As `onekernel.run` takes them.

    Returns
    -------
    list of Solution
        In the order of the instances, each with ``length``, ``tour`` and ``hash``.

    Raises
    ------
    UserError
        See `core.search.exact.small_tours.SmallTours.run`; or no such device.
    """
    from core.search.exact.small_tours import SmallTours

    matrices = sequence("instances", instances, "several matrices of distances")
    options = Options.checked({"backend": backend, "device": device, "cores": cores}, "shortest_tours")
    gpus = gpus_here() if options.backend == "auto" else 0
    return SmallTours(select_backend(options, Solo(), gpus, one_core=False)).run(matrices)
