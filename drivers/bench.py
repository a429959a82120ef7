"""Measures the speeds that the project promises, in pairs and in one run: python -m drivers.bench.

Each pair is run in turn, A B A B ..., so that a machine whose speed drifts treats both alike; medians are shown. A
C program that does the paper's scan on one core serves as an outside yardstick where its source and gcc are at hand.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from drivers import bench_ants, bench_dp, bench_exact, bench_local_search
from drivers.bench_devices import Place, all_cores, on_each, one_core, opened, places
from drivers.bench_local_search import in_turn
from drivers.options import add_work_options, positive, run_driver

LARGE = (("a280", 2000), ("d493", 2000), ("pr1002", 2000), ("pr2392", 2000))
C_FLAGS = ("-O3", "-march=native")
SCANS = ("pruned", "full")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and print a table."""
    import backends
    from cluster.command_line import RankParser

    parser = RankParser(prog="python -m drivers.bench", description=__doc__)
    add_work_options(parser, repeats=5)
    parser.add_argument("--climbers", type=positive, default=2000, metavar="C", help="climbs on a CPU (%(default)s)")
    parser.add_argument(
        "--gpu-climbers", type=positive, default=100_000, metavar="C", help="climbs on a GPU (%(default)s)"
    )
    parser.add_argument("--c-source", metavar="FILE", help="a C program: arguments instance and climbers, one core")
    parser.add_argument(
        "--workload",
        choices=("all", "ihc", "local-search", "aco", "aco-strategies", "exact", "dp"),
        default="all",
        help="what to measure; all leaves out aco-strategies, which takes minutes of a GPU and whose --instance may "
        "be several, with commas between (%(default)s)",
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="with dp on a GPU also Held-Karp with 34 cities, which takes most of 80 GB and minutes",
    )
    options = parser.parse_args(argv)
    rows = backends.survey()
    cores, gpus = places(rows, on_gpu=False), places(rows, on_gpu=True)
    print("usable:", ", ".join(f"{name}:{device}" for name, device in [*cores, *gpus]), flush=True)
    if options.workload in ("all", "ihc"):
        bench_cpu(options, cores)
        on_each(gpus, lambda backend: bench_gpu(options, backend))
    if options.workload in ("all", "local-search"):
        bench_local_search.bench_cpu(options, cores)
        on_each(gpus, lambda backend: bench_local_search.bench_gpu(options, backend))
    if options.workload in ("all", "aco"):
        bench_ants.bench_cpu(options, cores)
        on_each(gpus, lambda backend: bench_ants.bench_gpu(options, backend))
    if options.workload in ("all", "exact"):
        bench_exact.bench_cpu(options, cores)
        on_each(gpus, lambda backend: bench_exact.bench_gpu(options, backend))
    if options.workload in ("all", "dp"):
        dynamic_programming = bench_dp.DynamicProgramming(options)
        dynamic_programming.on_cores(cores)
        on_each(gpus, dynamic_programming.on_gpu)
    if options.workload == "aco-strategies":
        one_way = [gpu for gpu in gpus if gpu.backend == backends.automatic("gpu")] or gpus
        on_each(one_way, lambda backend: bench_ants.bench_strategies(options, backend))
    return 0


def contestant(backend: Any, instance: Any, climbers: int, scan: str) -> tuple[Callable[[], float], Any]:
    """A function that runs once and returns seconds of kernel time, and the search behind it."""
    from cluster import Solo
    from core.search.ihc import HillClimbing

    search: Any = HillClimbing(backend, Solo(), instance.distances, scan=scan)
    search.warm_up()
    search.run(max(1, climbers // 20))

    def run() -> float:
        backend.timings.reset()
        search.outcome = search.run(climbers)
        return float(backend.timings.kernel_s)

    return run, search


def bench_cpu(options: Any, devices: Sequence[Place]) -> None:
    """One core against C, all cores against one, others that use all cores against these."""
    from core.problems import tsp
    from core.problems.sources import default_instance

    spec = options.instance or default_instance(options.data)[0]
    instance = tsp.load(spec, options.data)
    runs: dict[str, Callable[[], float]] = {}
    searches: dict[str, Any] = {}
    made = opened(devices)
    for name, backend in made.items():
        for scan in SCANS:
            runs[f"{name} {scan}"], searches[f"{name} {scan}"] = contestant(backend, instance, options.climbers, scan)
    program = compiled_c(options, instance)
    if program:
        runs["C, gcc " + " ".join(C_FLAGS)] = timed_program(program, instance, options.climbers)
    times = in_turn(runs, options.repeats)
    print(f"\n{instance.name}, {options.climbers} climbers, median of {options.repeats} (min .. max), seconds")
    for name, seconds in times.items():
        rate = ""
        if name in searches:
            outcome = searches[name].outcome
            rate = f"  {outcome.evaluations / statistics.median(seconds) / 1e9:8.3f} G moves/s  {outcome.digest:016x}"
        print(f"  {name:28} {statistics.median(seconds):8.4f} ({min(seconds):.4f} .. {max(seconds):.4f}){rate}")
    for faster, slower in ratios(times, one_core(made), all_cores(made)):
        pairs = [b / a for a, b in zip(times[faster], times[slower], strict=True)]
        print(f"  {faster} against {slower}: {statistics.median(pairs):.2f}x")
    for backend in made.values():
        backend.close()


def ratios(times: Mapping[str, list[float]], one: str, every: str) -> list[tuple[str, str]]:
    """The pairs of the table of promises that were measured: one core, all cores, and others that use these."""
    yardstick = next((name for name in times if name.startswith("C,")), "")
    wanted = [(f"{one} {scan}", yardstick) for scan in SCANS]
    for scan in SCANS:
        others = [name for name in times if name.endswith(f" {scan}") and name not in (f"{one} {scan}", yardstick)]
        wanted += [(name, f"{one} {scan}" if name == f"{every} {scan}" else f"{every} {scan}") for name in others]
    return [(a, b) for a, b in wanted if a in times and b in times]


def bench_gpu(options: Any, backend: Any) -> None:
    """The full and the pruned scan on small and large instances."""
    from core.problems import tsp
    from core.problems.errors import InstanceError

    print(f"\n{backend.name} on {backend.device.name}, median of {options.repeats}")
    for name, climbers in ((options.instance or "kroE100", options.gpu_climbers), *LARGE):
        try:
            instance = tsp.load(name, options.data)
        except InstanceError as error:
            print(f"  {name}: not measured ({error})")
            continue
        for scan in ("full", "pruned"):
            run, search = contestant(backend, instance, climbers, scan)
            seconds = [run() for _ in range(options.repeats if instance.n < 2000 else 2)]
            middle, outcome = statistics.median(seconds), search.outcome
            print(
                f"  {name:8} {climbers:7} climbers {scan:6} {middle * 1e3:10.2f} ms "
                f"{outcome.evaluations / middle / 1e9:9.1f} G moves/s  best {outcome.length} by {outcome.climber}  "
                f"{outcome.digest:016x}",
                flush=True,
            )


def compiled_c(options: Any, instance: Any) -> str | None:
    """The yardstick compiled into a temporary folder, or None with the reason printed."""
    here = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "..", "shared", "prototypes")
    source = options.c_source or os.path.join(here, "ihc_cpu.c")
    compiler = shutil.which("gcc")
    path = instance.source.removeprefix("file ")
    if not (compiler and os.path.exists(source) and os.path.exists(path)):
        print("no C yardstick: it needs gcc, its source (--c-source) and an instance that is a file")
        return None
    program = os.path.join(tempfile.mkdtemp(prefix="onekernel-"), "yardstick")
    subprocess.run([compiler, *C_FLAGS, source, "-o", program, "-lm"], check=True)
    return program


def timed_program(program: str, instance: Any, climbers: int) -> Callable[[], float]:
    """Seconds of wall-clock time of a whole process, which reads a small file and then climbs."""
    command = [program, instance.source.removeprefix("file "), str(climbers)]

    def run() -> float:
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - began

    return run


if __name__ == "__main__":
    sys.exit(run_driver(main))
