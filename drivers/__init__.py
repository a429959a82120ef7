"""Programs of the suite: a module for each `python -m drivers.NAME`, and packages with code that they share.

A program declares a workload (`drivers.workload.declaration.WorkloadDeclaration`) and its options. `runs` executes it,
writes records and prints results; `experiments` starts many runs and makes a page of `reports` from their records.
Modules that are no programs belong in a package. Only `onekernel` imports `drivers` from outside, through
`drivers.library`.
"""

import atexit
import gc
import os
import sys


def prepare_process() -> None:
    """Prepare a process that runs one of these programs and nothing else, before most of its imports."""
    # Interrupts during the following imports are no crashes either.
    from drivers.cli.interrupts import install_handlers

    install_handlers()
    # Objects made at the start of a program live to its end. Garbage collection would take a third of a short run's
    # processor time, and 64 ranks on two cores pay for it.
    gc.set_threshold(100_000, 50, 100)
    atexit.register(gc.freeze)


def search_current_folder_last() -> None:
    """Search for modules in the current folder last: a user may have a `core.py` or `reports.py` there."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # `-m` puts it first, unless Python has `-P`.
    if not sys.flags.safe_path and sys.path[0] != root:
        sys.path.append(sys.path.pop(0))


if sys.argv[:1] == ["-m"]:
    # `python -m drivers.NAME` imports this first.
    search_current_folder_last()
    prepare_process()
