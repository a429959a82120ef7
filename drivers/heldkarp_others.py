"""Who else solves an instance of `drivers.heldkarp`: branch and bound, plain NumPy, and the package held-karp."""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np

MOST_PEER = 20
"""Cities that the package held-karp takes."""
MOST_DIRECTED = 20
"""Cities up to which `--verify` has another algorithm for asymmetric distances."""


def check_others(options: argparse.Namespace, instance: Any) -> None:
    """Refuse checks by others that cannot take so many cities."""
    from core.errors import UserError
    from core.search.exact import MOST_CITIES

    most = MOST_CITIES if is_symmetric(instance) else MOST_DIRECTED
    if options.verify and instance.n > most:
        raise UserError(f"--verify: found {instance.n} cities in {instance.name}, expected at most {most}")
    if options.peers and instance.n > MOST_PEER:
        raise UserError(f"--peers: found {instance.n} cities in {instance.name}; held-karp takes at most {MOST_PEER}")


def is_symmetric(instance: Any) -> bool:
    """Whether every way back is as long as the way there."""
    return bool((instance.distances == instance.distances.T).all())


def second_opinion(instance: Any) -> tuple[str, int]:
    """Name and result of another algorithm: branch and bound on one core, or NumPy where distances are asymmetric."""
    if is_symmetric(instance):
        from drivers.exact import solve

        return "branch and bound", int(solve(instance.distances).length)
    from core.problems.small_tours import held_karp as plain

    return "plain dynamic programming in NumPy", int(plain(instance.distances).length)


class Peer(NamedTuple):
    """What held-karp did: the median time of its repetitions; `trouble` says why there is nothing."""

    name: str
    length: int | None = None
    solve_s: float = 0.0
    repetitions: int = 0
    version: str = ""
    trouble: str = ""


def held_karp(distances: np.ndarray, repeats: int) -> Peer:
    """The optimum by the package held-karp, the plain algorithm in Rust, on one core in this process."""
    if importlib.util.find_spec("held_karp") is None:
        return Peer("held-karp", trouble="not found: pip install held-karp")
    package = importlib.import_module("held_karp")
    flat = distances.astype(float).ravel().tolist()
    seconds, length = [], 0
    for _ in range(repeats):
        began = time.perf_counter()
        _, found = package.solve_flat(flat, len(distances))
        seconds.append(time.perf_counter() - began)
        length = round(found)
    version = str(getattr(package, "__version__", ""))
    return Peer("held-karp", length, statistics.median(seconds), repeats, version)
