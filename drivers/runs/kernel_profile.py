"""`--profile`: counters of Nsight Compute for a program's kernels, as in the paper (section V.C).

The driver's command line runs again under `ncu` on CUDA, which also profiles each kernel of a CUDA graph. Three metrics
are those that replace nvprof's gld_efficiency, warp_execution_efficiency and ipc, of a multiprocessor; the fourth is a
launch's duration. `run_profiled` returns a part of the details of a run's records.
"""

from __future__ import annotations

import argparse
import itertools
import math
import re
import shlex
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

TOOL = "ncu"
METRICS = {
    "seconds": ("gpu__time_duration.sum", 1e9),
    "load_efficiency": ("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", 100.0),
    "warp_efficiency": ("smsp__thread_inst_executed_per_inst_executed.ratio", 32.0),
    "ipc": ("sm__inst_executed.avg.per_cycle_active", 1.0),
}
"""Name, Nsight Compute's name, and the value that is 1 here: 10^9 ns, parts of all bytes or lanes, 1 per clock."""
MAY_BE_MISSING = "load_efficiency"
"""A kernel without global loads has none, which Nsight Compute prints as 0."""

FIRST, STEP, SAMPLED = 9, 10, ".*0|[1-9]"
"""Profiled launches of a kernel: the first nine and every tenth, also as a regular expression of their numbers."""
MOST_LAUNCHES = 2000
SELF_TEST = "known_answer"
"""Kernel of `backends.self_test`, no part of any algorithm."""

DROPPED_FLAGS = ("--profile", "--peers", "--verify")
DROPPED_OPTIONS = ("--record", "--output", "--tour", "--svg", "--backend", "--repeats", "--measure", "--rate-amount")
"""Options for further outputs, another device, or more repetitions."""


class ProfileError(Exception):
    """The reason for a missing profile."""


def run_profiled(
    workload: str, argv: Sequence[str] | None, *, backend: str, ranks: int = 1, metrics: Sequence[str] = tuple(METRICS)
) -> dict[str, Any] | None:
    """Run a command line again under Nsight Compute, and print a line for each kernel, or the reason of a failure.

    Returns for a record's ``details["profile"]``, which `reports.papers.measures` reads: `arguments`, the command as
    text, and `kernels`, one dictionary per kernel.

    Parameters
    ----------
    workload
        The driver `drivers.<workload>`.
    argv
        Its command line; None means `sys.argv`.
    backend
        Value of `--backend`: one with kernels that Nsight Compute can profile, or auto, which then selects one.
    ranks
        MPI ranks of this run; a profile has one.
    metrics
        Names of `METRICS`: a kernel runs several times for most of them, and once for its duration alone.
    """
    import backends

    own_arguments = list(sys.argv[1:] if argv is None else argv)
    arguments = ["-m", f"drivers.{workload}", *remove_options(own_arguments)]
    try:
        profiled = next(name for name in backends.NAMES if backends.backend_class(name).profiler == TOOL)
        tool = find_profiler(backend, profiled, ranks)
        rows = run_profiler(tool, [*arguments, "--backend", profiled, "--repeats", "1"], metrics)
        kernels = summarise_kernels(rows, metrics)
    except ProfileError as error:
        print(f"no profile: {error}", flush=True)
        return None
    command = shlex.join(["python", *arguments])
    print(f"Nsight Compute, {command}: averages over a kernel's first nine launches and every tenth")
    for one in kernels:
        averages = [f"{name.replace('_', ' ')} {one[name][1]:.3g}" for name in metrics if one[name]]
        part = [] if one["part"] is None else [f"{100 * one['part']:.1f} % of the time"]
        print(f"{one['kernel']}: launches {one['launches']:,}", *part, *averages, sep=", ", flush=True)
    return {"arguments": command, "kernels": kernels}


# --- running ---


def find_profiler(backend: str, profiled: str, ranks: int) -> str:
    """Return the path of Nsight Compute's program. Raises `ProfileError` if it cannot profile this run."""
    if backend not in (profiled, "auto"):
        raise ProfileError(f"found --backend {backend}, expected {profiled}: Nsight Compute profiles CUDA kernels")
    if ranks > 1:
        raise ProfileError(f"found {ranks} ranks, expected one: start the driver without mpirun")
    path = shutil.which(TOOL)
    if path is None:
        raise ProfileError(f"{TOOL} is not on PATH: it comes with Nsight Compute, a part of NVIDIA's CUDA toolkit")
    return path


def remove_options(argv: Sequence[str]) -> list[str]:
    """Return a command line without options that a profiled run must not repeat."""
    dropped = argparse.ArgumentParser(add_help=False)
    for flag in DROPPED_FLAGS:
        dropped.add_argument(flag, action="store_true")
    for option in DROPPED_OPTIONS:
        dropped.add_argument(option)
    return dropped.parse_known_args(list(argv))[1]


def run_profiler(tool: str, arguments: Sequence[str], metrics: Sequence[str]) -> list[dict[str, str]]:
    """Run Python under Nsight Compute; return the rows of its output.

    Raises `ProfileError` if Nsight Compute or the program failed, or it saw no kernel.
    """
    import subprocess

    from cluster.launch.commands import python_command

    with tempfile.TemporaryDirectory(prefix="onekernel-") as folder:
        log = Path(folder) / "profile.csv"
        command = [
            *(tool, "--csv", "--log-file", str(log), "--metrics", ",".join(METRICS[name][0] for name in metrics)),
            *("--print-units", "base", "--clock-control", "none", "--kernel-id", f":::{SAMPLED}"),
            *("--launch-count", str(MOST_LAUNCHES), *python_command(arguments)),
        ]
        print("profiling:", shlex.join(["python", *arguments]), flush=True)
        done = subprocess.run(command, capture_output=True, text=True)
        written = log.read_text() if log.exists() else ""
    rows = list(read_rows(written.splitlines()))
    if done.returncode or not rows:
        failure = f"ended with code {done.returncode}" if done.returncode else "saw no kernel"
        lines = [line.strip() for line in "\n".join((written, done.stdout, done.stderr)).splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("==ERROR==")]  # lines of Nsight Compute itself
        raise ProfileError(f"{TOOL} {failure}: {(errors or lines[-1:] or ['it printed nothing'])[0]}")
    return rows


# --- reading ---


def read_rows(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Yield the rows of Nsight Compute's CSV, without messages and the program's output.

    A row is one metric of one launch, with as many cells as the heading.
    """
    import csv

    quoted = (line for line in lines if line.startswith('"'))
    rows = csv.DictReader(itertools.dropwhile(lambda line: '"Metric Name"' not in line, quoted))
    return (row for row in rows if None not in row and None not in row.values())


def summarise_kernels(rows: Iterable[Mapping[str, str]], metrics: Sequence[str]) -> list[dict[str, Any]]:
    """Return the kernels by name, as a record has them.

    Each has its name as `kernel`, the number of its profiled `launches`, least, average and largest value of each
    metric, or None without any, and its `part` of the seconds of all kernels, or None without its own. Averages are
    over launches with equal weights, as nvprof's were. In a part each tenth launch counts for ten. Raises
    `ProfileError` if a metric is nowhere in the rows.
    """
    known = {METRICS[name][0]: (name, METRICS[name][1]) for name in metrics}
    launches: dict[str, set[str]] = defaultdict(set)
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    seen = set()
    for row in rows:
        kernel = short_name(row["Kernel Name"])
        if kernel == SELF_TEST or row["Metric Name"] not in known:
            continue
        name, unit = known[row["Metric Name"]]
        seen.add(name)
        launches[kernel].add(row["ID"])
        value = number(row["Metric Value"]) / unit
        if math.isfinite(value) and not (name == MAY_BE_MISSING and value == 0):
            values[kernel, name].append(value)
    missing = [printed for printed, (name, _) in known.items() if name not in seen]
    if missing:
        raise ProfileError(f"{TOOL} does not know {', '.join(missing)} on this device")
    spent = {one: sum(values[one, "seconds"][:FIRST]) + STEP * sum(values[one, "seconds"][FIRST:]) for one in launches}
    whole_s = sum(spent.values())
    return [
        {
            **{"kernel": kernel, "launches": len(numbers), "part": spent[kernel] / whole_s if spent[kernel] else None},
            **{name: spread(values[kernel, name]) for name in metrics},
        }
        for kernel, numbers in sorted(launches.items())
    ]


def short_name(printed: str) -> str:
    """Return a kernel's name in the language, without module, parameters, marks of the compiler and final line."""
    return re.split(r"[(<\[$]", printed)[0].split("::")[-1].strip().removesuffix("_")


def number(text: str) -> float:
    """Return a value with grouped thousands; NaN if Nsight Compute has none."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return math.nan


def spread(values: Sequence[float]) -> list[float] | None:
    return [min(values), sum(values) / len(values), max(values)] if values else None
