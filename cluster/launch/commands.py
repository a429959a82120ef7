"""Commands that start other programs of the project: this environment's Python, and the launcher of ranks."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]


def python_command(started: Sequence[str]) -> list[str]:
    """Return the command that runs `drivers.workload.declaration.Workload.started` with Python.

    `-m` searches the current folder first, where a user may have a `drivers.py` or `core.py`. So ``-P`` excludes it,
    except in the project's folder, which may not be importable otherwise.

    Parameters
    ----------
    started
        ``-m`` and a module of the suite, or a file of the user's.
    """
    elsewhere = started[0] == "-m" and Path(os.getcwd()) != ROOT
    return [sys.executable, *(["-P"] if elsewhere else []), *started]


def find_mpirun() -> str | None:
    """Find the MPI launcher: the one installed beside this Python, else the one on the path, else None."""
    beside = Path(sys.executable).with_name("mpirun")
    return str(beside) if beside.exists() else shutil.which("mpirun")
