"""Processor time of each program's first run with an empty cache of compiled kernels, on one core.

Python's own byte code is not counted: a run before the others fills a folder (``PYTHONPYCACHEPREFIX``) for all of them.

python -m drivers.bench --workload first-calls
python -m drivers.bench --workload first-calls --rows tsp,qap --repeats 3
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile

from backends.cache import VARIABLE
from core.errors import UserError
from drivers.bench.cases import is_chosen
from reports.text import formatting
from reports.text.tables import TextTable

FIRST_CALLS = {
    **dict.fromkeys(("tsp", "qap", "ppp", "weierstrass", "labs", "maxsat", "maxcut", "flowshop"), "--iterations 1"),
    "linearordering": "--iterations 1",
    "aco": "--iterations 1",
    "ihc": "--climbers 10",
    **dict.fromkeys(("exact", "lcs", "knapsack", "heldkarp"), ""),
}
"""Arguments that leave almost no work for the default kernels."""
PROMISED = 4.0
"""Seconds of a quiet core."""
PROMISED_FOR = {"exact": 6.0}


def measure_table(options: argparse.Namespace) -> int:
    """Run each program in turn with an empty cache, and print the medians.

    Raises `UserError` if no program is chosen, or one fails.
    """
    names = [name for name in FIRST_CALLS if is_chosen(name, options)]
    if not names:
        raise UserError(f"--rows {options.rows}: expected a part of a workload's name")
    backend = "cpu" if options.backend == "auto" else options.backend
    with tempfile.TemporaryDirectory(prefix="onekernel-byte-code-") as folder:
        rounds = [
            {name: first_call_seconds(name, backend, folder) for name in names} for _ in range(1 + options.repeats)
        ][1:]
    seconds = {name: [one[name] for one in rounds] for name in names}
    columns = ("program", ">median", ">least", ">most", ">promised on a quiet core")
    rows = [
        [
            name,
            *(formatting.seconds(of(its)) for of in (statistics.median, min, max)),
            formatting.seconds(PROMISED_FOR.get(name, PROMISED)),
        ]
        for name, its in seconds.items()
    ]
    counted = formatting.counted(options.repeats, "repetition")
    print(f"seconds of processor time of a first run with an empty cache and Python's byte code, {counted}")
    print(TextTable("", columns, rows).terminal())
    return 0


def first_call_seconds(name: str, backend: str, byte_code: str) -> float:
    """Return the processor time of a program in a new process with an empty cache of compiled kernels.

    ``byte_code`` is the folder of Python's byte code, which the process adds to.
    """
    command = [sys.executable, "-m", f"drivers.{name}", "--backend", backend, *FIRST_CALLS[name].split()]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = byte_code
    with tempfile.TemporaryDirectory(prefix="onekernel-first-") as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        environment[VARIABLE] = folder
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise UserError(f"{' '.join(command[2:])}: exit code {done.returncode}: {done.stderr.strip()[-300:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
