"""Lateness of runs that a time limit ends: every search that takes one, with limits of 0.1 and 1 s.

python -m drivers.bench --workload time-limits                               on the device that programs choose
python -m drivers.bench --workload time-limits --backend cpu --rows ants     some rows of the table, on one core
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from core.errors import UserError
from core.search.stop import Seconds
from drivers.bench.cases import TABLES, is_chosen
from drivers.options.declaration import options_for_rank
from drivers.runs.device_selection import gpus_here, select_backend
from drivers.runs.seeds import load_task
from drivers.runs.workload_main import parse_options
from drivers.workload.registry import get_workload
from reports.text.tables import TextTable

LIMITS = (0.1, 1.0)
LATE_PART, LEAST_LATE_S = 0.1, 0.05
"""Allowed lateness: a tenth of the limit, or 50 ms."""


class TimeLimitLine(NamedTuple):
    """Lateness of a row's repetitions with one limit, in seconds."""

    name: str
    limit_s: float
    late_s: Sequence[float]

    @property
    def is_kept(self) -> bool:
        return max(self.late_s) <= max(LATE_PART * self.limit_s, LEAST_LATE_S)


def measure_table(options: argparse.Namespace) -> int:
    """Measure the table; return 1 if a run was late, else 0. Raises `UserError` if no row is chosen."""
    table = TABLES["limit"]
    rows = [row for row in table if is_chosen(row["name"], options)]
    if not rows:
        raise UserError(f"--rows {options.rows}: expected a part of one of: {'; '.join(row['name'] for row in table)}")
    lines: list[TimeLimitLine] = []
    for row in rows:
        for limit_s in LIMITS:
            line = measure_row(row, limit_s, options)
            if isinstance(line, str):
                print(f"{row['name']}: not measured ({line})", flush=True)
                break
            lines.append(line)
            kept = "" if line.is_kept else "  LATE"
            print(f"{row['name']:36} {limit_s:4g} s  late by {lateness(line)} ms{kept}", flush=True)
    late = sum(not line.is_kept for line in lines)
    columns = {
        "search": lambda line: line.name,
        ">limit, s": lambda line: f"{line.limit_s:g}",
        ">late by, ms (minimum .. maximum)": lateness,
        "kept": lambda line: "yes" if line.is_kept else "no",
    }
    print(f"\n{TextTable.of('', lines, columns)}")
    print(f"\n{late} of {len(lines)} later than {LATE_PART:.0%} of the limit, or {LEAST_LATE_S:g} s")
    return int(late > 0)


def measure_row(row: Mapping[str, str], limit_s: float, arguments: argparse.Namespace) -> TimeLimitLine | str:
    """Repetitions of a row with one limit, or the reason against them."""
    from cluster import Solo
    from cluster.mpi.proxies import TimedCommunicator

    workload, ranks = get_workload(row["workload"]), TimedCommunicator(Solo())
    words = row["arguments"].split()
    if any(one.name == "seconds" for one, _ in workload.options.declared()):
        words += ["--seconds", str(limit_s)]
    own = parse_options(workload, None, words)
    own = replace(own, data=arguments.data, seed=arguments.seed, backend=arguments.backend, progress=False)
    try:
        task = load_task(workload, own, 1)
        options = options_for_rank(task.options, own)
        backend = select_backend(options, ranks, gpus_here(), one_core=workload.on_one_core(options))
        search = workload.search(backend, ranks, task.problem, options)
    except UserError as error:
        return str(error)
    try:
        late = [run_seconds(search, limit_s) - limit_s for _ in range(arguments.repeats)]
    finally:
        backend.close()
    return TimeLimitLine(row["name"], limit_s, late)


def run_seconds(search: Any, limit_s: float) -> float:
    timings = search.backend.timings
    compiled, began = timings.compile_s, time.perf_counter()
    search.run(Seconds(limit_s))
    return time.perf_counter() - began - (timings.compile_s - compiled)


def lateness(line: TimeLimitLine) -> str:
    """Least and largest lateness in milliseconds; negative for early ends."""
    return f"{1e3 * min(line.late_s):.0f} .. {1e3 * max(line.late_s):.0f}"
