"""What `--backend auto` stands for on this rank, found without importing what a device needs."""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import sys
from typing import Any


def gpus_here(folder: str = "/dev") -> int:
    """Count this machine's NVIDIA GPUs by their device files, fewer where ``CUDA_VISIBLE_DEVICES`` names some.

    0 where numba-cuda, which would run them, is not installed.
    """
    if importlib.util.find_spec("numba_cuda") is None or not os.path.isdir(folder):
        return 0
    present = sum(re.fullmatch("nvidia[0-9]+", name) is not None for name in os.listdir(folder))
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return present
    # CUDA itself stops at the first entry that names no device.
    named = re.match(r"(?:[0-9A-Za-z/-]*[0-9A-Za-z](?:,|$))*", visible.replace("-1", ""))
    return min(present, len([name for name in named[0].split(",") if name])) if named else 0


def best_backend(size: int, local_rank: int, gpus: int) -> str:
    """The backend of a rank: a GPU of its own, else one core of several ranks, else all cores.

    Ranks beyond the number of GPUs take a core each, so that no two wait for one device.
    """
    if local_rank < gpus:
        return "cuda"
    return "cpu" if size > 1 else "threads"


def automatic_device(options: argparse.Namespace, ranks: Any, gpus: int) -> Any:
    """The best backend that works on this rank; says so on standard error where a GPU does not."""
    import backends

    name = best_backend(ranks.size, ranks.local_rank, gpus)
    if name == "cuda":
        try:
            return backends.create(name, str(ranks.local_rank) if ranks.size > 1 else options.device)
        except backends.Unavailable as error:
            name = best_backend(ranks.size, ranks.local_rank, 0)
            print(f"note: {error}; {name} instead", file=sys.stderr)
    return backends.create(name, None)
