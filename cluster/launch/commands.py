"""Commands that start other programs of the project: this environment's Python, and the launcher of ranks."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]


def python_command(started: Sequence[str]) -> list[str]:
    """Return the command of a `drivers.workload.declaration.WorkloadDeclaration` (``-m`` and a module, or a file).

    `-m` searches the current folder first, where a user may have a `drivers.py` or `core.py`. So ``-P`` excludes it,
    except in the project's folder, which may not be importable otherwise.
    """
    elsewhere = started[0] == "-m" and Path(os.getcwd()) != ROOT
    return [sys.executable, *(["-P"] if elsewhere else []), *started]


def find_mpirun() -> str | None:
    """Return the MPI launcher beside this Python, else the one on the path, else None."""
    installed = Path(sys.executable).with_name("mpirun")
    return str(installed) if installed.exists() else shutil.which("mpirun")
