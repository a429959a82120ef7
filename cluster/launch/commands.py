"""Commands that start other programs of the project: this environment's Python, and the launcher of ranks."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
HYDRA_UNBOUND = ("-bind-to", "none", "-genv", "I_MPI_PIN", "0")
"""Words of Hydra for ranks on any core: MPICH reads the first two, Intel MPI the others."""


def python_command(started: Sequence[str]) -> list[str]:
    """Return the command of a `drivers.workload.declaration.WorkloadDeclaration` (``-m`` and a module, or a file).

    `-m` searches the current folder first, where a user may have a `drivers.py` or `core.py`. So ``-P`` excludes it,
    except in the project's folder, which may not be importable otherwise.
    """
    elsewhere = started[0] == "-m" and Path(os.getcwd()) != ROOT
    return [sys.executable, *(["-P"] if elsewhere else []), *started]


def find_mpirun() -> str | None:
    """Return the MPI launcher beside this Python, else the one on the path, else None.

    If `MPI4PY_MPIABI` selects the ABI of MPICH and Intel MPI, it is their launcher Hydra, from the path.
    """
    if os.environ.get("MPI4PY_MPIABI", "").lower() in ("mpich", "impi"):
        return shutil.which("mpiexec.hydra")
    installed = Path(sys.executable).with_name("mpirun")
    return str(installed) if installed.exists() else shutil.which("mpirun")


@cache
def is_hydra(launcher: str) -> bool:
    """Return True for the launcher of MPICH and Intel MPI. Its options differ from those of Open MPI."""
    return prints(r"HYDRA|Intel\(R\) MPI", launcher, "--version")


def crowded_words(launcher: str, ranks: int, is_bound: bool) -> list[str]:
    """Return the words that start ranks on this host, which may exceed its cores.

    If they are not ``is_bound``, each rank may use all cores; otherwise the launcher decides.
    """
    if is_hydra(launcher):
        return [launcher, "-n", str(ranks), *(() if is_bound else HYDRA_UNBOUND)]
    return [launcher, "-n", str(ranks), "--map-by", ":OVERSUBSCRIBE", *([] if is_bound else ["--bind-to", "none"])]


def prints(pattern: str, *command: str) -> bool:
    """Run a command, and return True if its output contains the pattern in one line."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    return re.search(pattern, done.stdout + done.stderr, re.MULTILINE) is not None
