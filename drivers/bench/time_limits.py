"""Lateness of runs that a time limit ends: every search that takes one, with limits of 0.1 and 1 s.

python -m drivers.bench --workload time-limits                               on the device that programs choose
python -m drivers.bench --workload time-limits --backend cpu --rows ants     some rows of the table, on one core
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from core.errors import UserError
from core.search.stop import Seconds
from drivers.options.declaration import options_for_rank
from drivers.runs.device_selection import gpus_here, select_backend
from drivers.runs.seeds import load_task
from drivers.runs.workload_main import parse_options
from drivers.workload.registry import get_workload

LIMITS = (0.1, 1.0)
LATE_PART, LEAST_LATE_S = 0.1, 0.05
"""A run may be late by a tenth of its limit, or by 50 ms."""


class TimeLimitRow(NamedTuple):
    """A row of the table.

    Attributes
    ----------
    name : str
        Search and instance; `--rows` takes parts of it.
    workload, arguments : str
        Program and its command line, without a limit.

    """

    name: str
    workload: str
    arguments: str


def local_search_row(algorithm: str) -> TimeLimitRow:
    """A row of local search for a tour of pr2392."""
    return TimeLimitRow(f"tsp pr2392, {algorithm}", "tsp", f"--instance pr2392 --algorithm {algorithm}")


ROWS = (
    *(local_search_row(algorithm) for algorithm in ("tabu", "hill", "first", "ils", "annealing")),
    TimeLimitRow("tsp pr2392, tabu, 64 walks", "tsp", "--instance pr2392 --algorithm tabu --walks 64"),
    TimeLimitRow("tsp pr2392, annealing, 64 walks", "tsp", "--instance pr2392 --algorithm annealing --walks 64"),
    TimeLimitRow("tsp kroA100, annealing", "tsp", "--instance kroA100 --algorithm annealing"),
    TimeLimitRow("weierstrass, annealing", "weierstrass", "--algorithm annealing"),
    TimeLimitRow("weierstrass n = 100", "weierstrass", "--instance 100 --walks 1"),
    TimeLimitRow("qap tai60a", "qap", "--instance tai60a"),
    TimeLimitRow("qap tai60a, vns", "qap", "--instance tai60a --algorithm vns --neighbourhood exchange2,exchange3"),
    TimeLimitRow("ppp 401-417, first", "ppp", "--instance 401-417 --algorithm first"),
    TimeLimitRow("ppp 73-73, published", "ppp", "--instance 73-73 --mapping published"),
    TimeLimitRow("maxsat, ils", "maxsat", "--algorithm ils --walks 64"),
    TimeLimitRow("ants, kroA100", "aco", "--instance kroA100"),
    TimeLimitRow("ants, pcb442", "aco", "--instance pcb442"),
    TimeLimitRow("ants, pcb442, 4 colonies", "aco", "--instance pcb442 --colonies 4"),
    TimeLimitRow("climbs, kroA100", "ihc", "--instance kroA100"),
    TimeLimitRow("climbs, pcb442", "ihc", "--instance pcb442"),
    TimeLimitRow("exact, the thesis' bound, 24 cities", "exact", "--instance gr24 --bound edges"),
    TimeLimitRow("exact, no bound, 17 cities", "exact", "--instance gr17 --bound none"),
    TimeLimitRow("knapsack, branch and bound", "knapsack", "--items 200 --class strongly-correlated --method bb"),
)


class TimeLimitLine(NamedTuple):
    """A row as measured with one limit: seconds by which the repetitions were late."""

    name: str
    limit_s: float
    late_s: Sequence[float]

    @property
    def is_kept(self) -> bool:
        """True if no repetition was later than it may be."""
        return max(self.late_s) <= max(LATE_PART * self.limit_s, LEAST_LATE_S)


def measure_table(options: argparse.Namespace) -> int:
    """Measure the table; returns 1 if a run was late, else 0.

    Raises
    ------
    UserError
        No row has the parts that are asked for.

    """
    parts = options.rows.lower().split(",") if options.rows else [""]
    rows = [row for row in ROWS if any(part in row.name.lower() for part in parts)]
    if not rows:
        raise UserError(f"--rows {options.rows}: expected a part of one of: {'; '.join(row.name for row in ROWS)}")
    lines: list[TimeLimitLine] = []
    for row in rows:
        for limit_s in LIMITS:
            line = measure_row(row, limit_s, options)
            if isinstance(line, str):
                print(f"{row.name}: not measured ({line})", flush=True)
                break
            lines.append(line)
            kept = "" if line.is_kept else "  LATE"
            print(f"{row.name:36} {limit_s:4g} s  late by {format_lateness(line.late_s)}{kept}", flush=True)
    late = sum(not line.is_kept for line in lines)
    print("\n" + "\n".join(format_table(lines)))
    print(f"\n{late} of {len(lines)} later than {LATE_PART:.0%} of the limit, or {LEAST_LATE_S:g} s")
    return int(late > 0)


def measure_row(row: TimeLimitRow, limit_s: float, given: argparse.Namespace) -> TimeLimitLine | str:
    """Repetitions of a row with one limit, or the reason that there are none."""
    from cluster import Solo
    from cluster.mpi.proxies import TimedCommunicator

    workload, ranks = get_workload(row.workload), TimedCommunicator(Solo())
    words = row.arguments.split()
    if any(one.name == "seconds" for one, _ in workload.options.declared()):
        words += ["--seconds", str(limit_s)]
    own = parse_options(workload, None, words)
    own = replace(own, data=given.data, seed=given.seed, backend=given.backend, progress=False)
    try:
        task = load_task(workload, own, 1)
        options = options_for_rank(task.options, own)
        backend = select_backend(options, ranks, gpus_here(), one_core=workload.on_one_core(options))
        search = workload.search(backend, ranks, task.problem, options)
    except UserError as error:
        return str(error)
    try:
        late = [run_seconds(search, limit_s) - limit_s for _ in range(given.repeats)]
    finally:
        backend.close()
    return TimeLimitLine(row.name, limit_s, late)


def run_seconds(search: Any, limit_s: float) -> float:
    """Seconds of one run, compilation apart."""
    timings = search.backend.timings
    compiled, began = timings.compile_s, time.perf_counter()
    search.run(Seconds(limit_s))
    return time.perf_counter() - began - (timings.compile_s - compiled)


def format_lateness(late_s: Sequence[float]) -> str:
    """Least and most of some seconds, in milliseconds; negative where a run ended early."""
    return f"{1e3 * min(late_s):.0f} .. {1e3 * max(late_s):.0f} ms"


def format_table(lines: Sequence[TimeLimitLine]) -> Iterator[str]:
    """The table of all rows."""
    yield "| search | limit, s | late by, ms (minimum .. maximum) | kept |"
    yield "|---|--:|--:|---|"
    for line in lines:
        yield f"| {line.name} | {line.limit_s:g} | {format_lateness(line.late_s)} | {'yes' if line.is_kept else 'no'} |"
