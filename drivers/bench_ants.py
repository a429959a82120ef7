"""Measures ant colonies for `drivers.bench`: one core against C, rates on a GPU, the strategies of `menezes2019`, MMAS.

The C program `ant_system.c` beside this file does the same work draw for draw; its digest must be ours.
"""

from __future__ import annotations

import shutil
import statistics
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drivers.bench_local_search import in_turn

C_SOURCE = Path(__file__).with_name("ant_system.c")
C_FLAGS = ("-O3", "-march=native")

ON_ONE_CORE = (("d198", 198, 200), ("pcb442", 64, 200))
"""Instance, ants, iterations."""
ON_GPU = (("lu980", 8192, 20), ("pr1002", 1002, 50), ("pr1002", 8192, 20))
TABLE_II = ("dj38", "lu980", "qa194", "a280", "d198", "lin318", "pcb442", "pr1002", "rat783")
TABLE_II_ANTS = (1024, 2048, 4096, 8192)
TIME_ENOUGH_S = 0.2
"""What a cell of the table is timed for at least."""
CLIMBED = (("lin318", 500), ("pcb442", 500), ("rat783", 500), ("pr1002", 1000))
CANDIDATES = 32
ROULETTES = ("pr1002", 1024, 50)


class Yardstick(NamedTuple):
    """What the C program printed."""

    length: int
    digest: int
    seconds: float


def bench_cpu(options: Any, names: list[str]) -> None:
    """One core against C; many cores and PoCL against one core."""
    import backends

    made = {name: backends.create(name) for name in names}
    narrow = {name: backend for name, backend in made.items() if backend.capabilities.lanes_resident == 1}
    with tempfile.TemporaryDirectory(prefix="onekernel-") as folder:
        program = compiled_yardstick(folder)
        for name, ants, iterations in ON_ONE_CORE:
            instance = loaded(name, options.data)
            if instance is not None:
                against_c(options, narrow, instance, ants, iterations, program)
    for backend in made.values():
        backend.close()


def against_c(
    options: Any, made: Mapping[str, Any], instance: Any, ants: int, iterations: int, program: Path | None
) -> None:
    """Time the Ant System on every backend and in C, in turn.

    Raises
    ------
    RuntimeError
        The contestants did not do the same work: their digests differ.
    """
    from core.search.ant_colony import Settings

    settings = Settings(ants=ants)
    runs: dict[str, Callable[[], float]] = {}
    found: dict[str, dict[str, Any]] = {}
    for name, backend in made.items():
        runs[name], found[name] = contestant(backend, instance, settings, iterations, options.seed)
    if program is not None:
        name = f"C, gcc {' '.join(C_FLAGS)}"
        path = program.with_name(f"{instance.name}.ants")
        write_instance(path, instance.distances, settings.beta)
        runs[name], found[name] = yardstick(program, path, settings, iterations, options.seed)
    times = in_turn(runs, options.repeats)
    print(
        f"\nAnt System, {instance.name}, {ants} ants, {iterations} iterations, median of {options.repeats} "
        "(min .. max), seconds"
    )
    for name, seconds in times.items():
        outcome = found[name]["outcome"]
        rate = ants * instance.n**2 * iterations / statistics.median(seconds) / 1e9
        print(
            f"  {name:28} {spread(seconds)}  {rate:8.3f} G selection evaluations/s  best {outcome.length}  "
            f"{outcome.digest:016x}",
            flush=True,
        )
    if len({(result["outcome"].length, result["outcome"].digest) for result in found.values()}) > 1:
        raise RuntimeError(f"{instance.name}: the ants of {', '.join(found)} did not walk the same tours")
    for name in [name for name in times if name != "cpu" and "cpu" in times]:
        fast, slow = (name, "cpu") if name in made else ("cpu", name)
        pairs = [b / a for a, b in zip(times[fast], times[slow], strict=True)]
        print(f"  {fast} against {slow}: {statistics.median(pairs):.2f}x")


def contestant(
    backend: Any, instance: Any, settings: Any, iterations: int, seed: int, strategy: str = "fine-deposit"
) -> tuple[Callable[[], float], dict[str, Any]]:
    """A function that runs once and returns seconds end to end, without compiling, and where its outcome goes."""
    from cluster import Solo
    from core.search.ant_colony import AntColony

    colony = AntColony(backend, Solo(), instance.distances, settings, strategy=strategy, seed=seed)
    colony.warm_up()
    found: dict[str, Any] = {"colony": colony}

    def run() -> float:
        began = time.perf_counter()
        found["outcome"] = colony.run(iterations)
        return time.perf_counter() - began

    return run, found


def compiled_yardstick(folder: str) -> Path | None:
    """The C program, compiled into a folder; None without gcc, and says so."""
    compiler = shutil.which("gcc")
    if compiler is None:
        print("no C yardstick of ants: it needs gcc")
        return None
    program = Path(folder) / "ant_system"
    subprocess.run([compiler, *C_FLAGS, str(C_SOURCE), "-o", str(program)], check=True)
    return program


def write_instance(path: Path, distances: np.ndarray, beta: float) -> None:
    """Write what the C program reads: cities renumbered along a nearest-neighbour tour, and the heuristic values.

    The heuristic is computed by NumPy for all: another library's power function may differ in the last bit.
    """
    from core.search.ant_colony.settings import heuristic, nearest_neighbour_tour

    tour = nearest_neighbour_tour(distances)
    renumbered = distances[np.ix_(tour, tour)]
    length = int(distances[tour, np.roll(tour, -1)].sum(dtype=np.int64))
    with path.open("wb") as file:
        file.write(struct.pack("<QQ", len(tour), length))
        file.write(renumbered.astype("<u4").tobytes())
        file.write(heuristic(renumbered, beta).astype("<f4").tobytes())


def run_yardstick(program: Path, path: Path, ants: int, iterations: int, rho: float, seed: int) -> Yardstick:
    """Run the C program on a file of `write_instance`."""
    from core.search.ant_colony.settings import part_of_32_bits

    command = [str(program), str(path), *(str(number) for number in (ants, iterations, part_of_32_bits(rho), seed))]
    words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    said = dict(zip(words[::2], words[1::2], strict=True))
    return Yardstick(int(said["best"]), int(said["digest"], 16), float(said["seconds"]))


def yardstick(
    program: Path, path: Path, settings: Any, iterations: int, seed: int
) -> tuple[Callable[[], float], dict[str, Any]]:
    """A function that runs the C program once and returns the seconds of its iterations, and where it puts the rest."""
    found: dict[str, Any] = {}

    def run() -> float:
        outcome = run_yardstick(program, path, settings.ants, iterations, settings.rho, seed)
        found["outcome"] = outcome
        return outcome.seconds

    return run, found


def bench_gpu(options: Any, backend: Any) -> None:
    """Rates of the Ant System and where its time goes; MMAS with 2-opt; candidate lists against full roulette."""
    from core.search.ant_colony import Settings

    print(f"\nants, {backend.name} on {backend.device.name}, median of {options.repeats} (min .. max)")
    for name, ants, iterations in ON_GPU:
        instance = loaded(name, options.data)
        if instance is not None:
            run, found = contestant(backend, instance, Settings(ants=ants), iterations, options.seed)
            seconds = in_turn({"": run}, options.repeats)[""]
            show_rate(f"{name} {ants} ants", seconds, iterations, found["outcome"])
            show_phases(found["colony"].phase_seconds(iterations))
    bench_mmas(options, backend)
    bench_roulettes(options, backend)


def bench_mmas(options: Any, backend: Any) -> None:
    """Max-Min Ant System with candidate lists and 2-opt: seconds, and the gap to the optimum."""
    from core.search.ant_colony import Settings

    settings = Settings(variant="mmas", rho=0.2, candidates=CANDIDATES, local_search="2opt")
    for name, iterations in CLIMBED:
        instance = loaded(name, options.data)
        if instance is not None:
            run, found = contestant(backend, instance, settings, iterations, options.seed)
            seconds = run()
            outcome = found["outcome"]
            gap = f"{outcome.length / instance.optimum - 1:.3%} above the optimum" if instance.optimum else "no optimum"
            print(
                f"  MMAS, {CANDIDATES} candidates, 2-opt: {name} {settings.ants} ants {iterations} iterations "
                f"{seconds:.2f} s, {seconds / iterations * 1e3:.2f} ms an iteration, best {outcome.length} ({gap}) "
                f"found in iteration {outcome.iteration}  {outcome.digest:016x}",
                flush=True,
            )


def bench_roulettes(options: Any, backend: Any) -> None:
    """What candidate lists save an iteration of MMAS without local search."""
    from core.search.ant_colony import Settings

    name, ants, iterations = ROULETTES
    instance = loaded(name, options.data)
    if instance is None:
        return
    both = {}
    for candidates in (0, CANDIDATES):
        settings = Settings(ants=ants, variant="mmas", candidates=candidates)
        label = f"MMAS, {f'{candidates} candidates' if candidates else 'all cities'}, {name} {ants} ants"
        both[label] = contestant(backend, instance, settings, iterations, options.seed)
    times = in_turn({label: run for label, (run, _) in both.items()}, options.repeats)
    for label, seconds in times.items():
        show_rate(label, seconds, iterations, both[label][1]["outcome"])
    full, listed = times.values()
    pairs = [a / b for a, b in zip(full, listed, strict=True)]
    print(f"  candidates against all cities: {statistics.median(pairs):.2f}x", flush=True)


def bench_strategies(options: Any, backend: Any) -> None:
    """All cells of the paper's table II: our seconds an iteration, and both ratios beside the paper's."""
    from core.search.ant_colony import STRATEGIES, Settings

    published = published_seconds()
    print(f"\nAnt System by strategy, {backend.name} on {backend.device.name}, ms an iteration; ratios: ours, paper's")
    print(
        f"  {'':13}" + "".join(f"{strategy:>14}" for strategy in STRATEGIES) + "   coarse / fine   fine / fine-deposit"
    )
    for name in TABLE_II:
        instance = loaded(name, options.data)
        for ants in TABLE_II_ANTS if instance is not None else ():
            ours, digests = {}, set()
            for strategy in STRATEGIES:
                found = contestant(backend, instance, Settings(ants=ants), 1, options.seed, strategy)[1]
                ours[strategy], digest = timed_iteration(found["colony"])
                digests.add(digest)
            if len(digests) > 1:
                raise RuntimeError(f"{name}, {ants} ants: the strategies did not walk the same tours")
            theirs = published.get((name, ants))
            cells = "".join(f"{ours[strategy] * 1e3:14.3f}" for strategy in STRATEGIES)
            print(
                f"  {name:8}{ants:5}{cells}   {beside(ours, theirs, 'coarse', 'fine')}   "
                f"{beside(ours, theirs, 'fine', 'fine-deposit')}",
                flush=True,
            )


def timed_iteration(colony: Any) -> tuple[float, int]:
    """Seconds of an iteration, and the digest of the first.

    One that takes long, as with a pheromone update by one lane, is run once; of short ones it is a mean of many.
    """
    iterations, digests = 1, []
    while True:
        began = time.perf_counter()
        digests.append(colony.run(iterations).digest)
        seconds = time.perf_counter() - began
        if seconds >= TIME_ENOUGH_S:
            return seconds / iterations, digests[0]
        iterations *= 4


def published_seconds() -> dict[tuple[str, int], dict[str, float]]:
    """Table II of the paper: the seconds of the strategies, by instance and ants; empty if nothing is published."""
    from core.search.ant_colony import STRATEGIES
    from reports import literature

    content = literature.publication("aco", "tables")
    if content is None:
        return {}
    table = content["tables"]
    return {
        (row["instance"], ants): {strategy: row[strategy][place] for strategy in STRATEGIES}
        for row in table["rows"]
        for place, ants in enumerate(table["ants"])
    }


def beside(ours: Mapping[str, float], theirs: Mapping[str, float] | None, slow: str, fast: str) -> str:
    """Our ratio of two strategies' times and the paper's."""
    paper = f"{theirs[slow] / theirs[fast]:.2f}" if theirs else "not published"
    return f"{ours[slow] / ours[fast]:9.2f} {paper:>5}"


def loaded(name: str, data: str | None) -> Any:
    """An instance, or None if it is not at hand, and says so."""
    from core.problems import tsp
    from core.problems.errors import InstanceError

    try:
        return tsp.load(name, data)
    except InstanceError as error:
        print(f"  {name}: not measured ({error})")
        return None


def spread(seconds: Sequence[float]) -> str:
    """Median, least and most."""
    return f"{statistics.median(seconds):8.4f} ({min(seconds):.4f} .. {max(seconds):.4f})"


def show_rate(label: str, seconds: Sequence[float], iterations: int, outcome: Any) -> None:
    """A line of the table: milliseconds an iteration, and evaluations as the issue counts them."""
    each = [s / iterations * 1e3 for s in seconds]
    rate = outcome.evaluations / statistics.median(seconds) / 1e9
    print(
        f"  {label:40} {spread(each)} ms an iteration  {rate:9.2f} G selection evaluations/s  best {outcome.length}  "
        f"{outcome.digest:016x}",
        flush=True,
    )


def show_phases(phases: Mapping[str, float]) -> None:
    """Milliseconds of the phases that take any, and their parts of an iteration."""
    total = sum(phases.values())
    parts = ", ".join(f"{name} {s * 1e3:.3f} ms ({s / total:.1%})" for name, s in phases.items() if s > 0)
    print(f"    {parts}", flush=True)
