"""Measures ant colonies for `drivers.bench`: one core against C, rates on a GPU, the strategies of `menezes2019`, MMAS.

The C program `ant_system.c` beside this file does the same work draw for draw, in plain loops or with GNU C's vector
types (`ant_system_vectors.h`); its digest must be ours.
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

from drivers.bench_devices import Place, one_core, opened
from drivers.bench_local_search import in_turn

C_SOURCE = Path(__file__).with_name("ant_system.c")
C_FLAGS = ("-O3", "-march=native")
C_FORMS = {"C, plain loops": (), "C, vector types": ("-DVECTORS",)}
"""The forms of the C program: further arguments of gcc."""

ON_ONE_CORE = (("d198", 198, 200), ("pcb442", 64, 200), ("pr1002", 64, 50))
"""Instance, ants, iterations."""
ON_GPU = (("lu980", 8192, 20), ("pr1002", 1002, 50), ("pr1002", 8192, 20))
TABLE_II = ("dj38", "lu980", "qa194", "a280", "d198", "lin318", "pcb442", "pr1002", "rat783")
TABLE_II_ANTS = (1024, 2048, 4096, 8192)
TIME_ENOUGH_S = 0.2
"""What a cell of the table is timed for at least."""
CANDIDATES = 32
SEEDS = 5
ROULETTES = (("pr1002", 1002, 50), ("pr1002", 8192, 20))


class Climbed(NamedTuple):
    """An instance for MMAS with 2-opt, an ant per city; what Skinderowicz's GPU-MMAS reaches on an H200."""

    instance: str
    iterations: int
    published_gap: float
    published_s: float


CLIMBED = (
    Climbed("lin318", 500, 0.0, 0.29),
    Climbed("pcb442", 500, 0.0053, 0.39),
    Climbed("rat783", 500, 0.0014, 0.58),
    Climbed("pr1002", 1000, 0.0025, 1.27),
)


class Yardstick(NamedTuple):
    """What the C program printed: seconds of all iterations, and those of them that the tours took."""

    length: int
    digest: int
    seconds: float
    constructing: float


def bench_cpu(options: Any, devices: Sequence[Place]) -> None:
    """One core against C; whatever uses all cores against one core."""
    made = opened(devices)
    with tempfile.TemporaryDirectory(prefix="onekernel-") as folder:
        programs = compiled_yardsticks(folder)
        for name, ants, iterations in ON_ONE_CORE:
            instance = loaded(name, options.data)
            if instance is not None:
                against_c(options, made, instance, ants, iterations, programs)
    for backend in made.values():
        backend.close()


def against_c(
    options: Any,
    made: Mapping[str, Any],
    instance: Any,
    ants: int,
    iterations: int,
    programs: Mapping[str, Path],
) -> None:
    """Time the Ant System on every backend and in every form of the C program, in turn.

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
    for name, program in programs.items():
        path = program.with_name(f"{instance.name}.ants")
        write_instance(path, instance.distances, settings.beta)
        runs[name], found[name] = yardstick(program, path, settings, iterations, options.seed)
    times = in_turn(runs, options.repeats)
    print(
        f"\nAnt System, {instance.name}, {ants} ants, {iterations} iterations, median of {options.repeats} "
        f"(min .. max), seconds; C: gcc {' '.join(C_FLAGS)}"
    )
    for name, seconds in times.items():
        outcome = found[name]["outcome"]
        rate = ants * instance.n**2 * iterations / statistics.median(seconds) / 1e9
        step = constructing(found[name], iterations) / (ants * (instance.n - 1) * iterations)
        print(
            f"  {name:16} {spread(seconds)}  {rate:8.3f} G selection evaluations/s  {step * 1e9:7.2f} ns a step of a "
            f"tour  best {outcome.length}  {outcome.digest:016x}",
            flush=True,
        )
    if len({(result["outcome"].length, result["outcome"].digest) for result in found.values()}) > 1:
        raise RuntimeError(f"{instance.name}: the ants of {', '.join(found)} did not walk the same tours")
    one = one_core(made)
    for name in [name for name in times if name != one and one in times]:
        fast, slow = (name, one) if name in made else (one, name)
        pairs = [b / a for a, b in zip(times[fast], times[slow], strict=True)]
        print(f"  {fast} against {slow}: {statistics.median(pairs):.2f}x")


def constructing(found: Mapping[str, Any], iterations: int) -> float:
    """Seconds that the tours of all iterations take: of a colony it is measured now, a C program has printed it."""
    if "colony" not in found:
        return float(found["outcome"].constructing)
    return float(found["colony"].phase_seconds(iterations)["construct"] * iterations)


def contestant(
    backend: Any, instance: Any, settings: Any, iterations: int, seed: int
) -> tuple[Callable[[], float], dict[str, Any]]:
    """A function that runs once and returns seconds end to end, without compiling, and where its outcome goes."""
    from cluster import Solo
    from core.search.ant_colony import AntColony

    colony = AntColony(backend, Solo(), instance.distances, settings, seed=seed)
    colony.warm_up()
    found: dict[str, Any] = {"colony": colony}

    def run() -> float:
        began = time.perf_counter()
        found["outcome"] = colony.run(iterations)
        return time.perf_counter() - began

    return run, found


def compiled_yardsticks(folder: str) -> dict[str, Path]:
    """The forms of the C program, compiled into a folder; none without gcc, and says so."""
    compiler = shutil.which("gcc")
    if compiler is None:
        print("no C yardstick of ants: it needs gcc")
        return {}
    programs = {}
    for number, (name, form) in enumerate(C_FORMS.items()):
        program = programs[name] = Path(folder) / f"ant_system_{number}"
        subprocess.run([compiler, *C_FLAGS, *form, str(C_SOURCE), "-o", str(program)], check=True)
    return programs


def write_instance(path: Path, distances: np.ndarray, beta: float) -> None:
    """Write what the C program reads: cities renumbered along a nearest-neighbour tour, and the heuristic values.

    The heuristic is computed by NumPy for all: another library's power function may differ in the last bit.
    """
    from core.search.ant_colony.settings import heuristic
    from core.search.start_tours import nearest_neighbour_tour

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
    return Yardstick(int(said["best"]), int(said["digest"], 16), float(said["seconds"]), float(said["constructing"]))


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
    """Max-Min Ant System with candidate lists and 2-opt, several seeds: seconds, and gaps to the optimum."""
    from core.search.ant_colony import Settings

    print(f"  MMAS, {CANDIDATES} candidates, 2opt-near, seeds {options.seed} to {options.seed + SEEDS - 1}, end to end")
    for work in CLIMBED:
        instance = loaded(work.instance, options.data)
        if instance is None:
            continue
        settings = Settings(
            ants=instance.n, variant="mmas", rho=0.1, best_every=1, candidates=CANDIDATES, local_search="2opt-near"
        )
        seconds, lengths = [], []
        for seed in range(options.seed, options.seed + SEEDS):
            run, found = contestant(backend, instance, settings, work.iterations, seed)
            seconds.append(run())
            lengths.append(found["outcome"].length)
        print(
            f"  {work.instance:8}{settings.ants:5} ants {work.iterations:5} iterations {spread(seconds)} s  "
            f"{gaps(lengths, instance.optimum)}  GPU-MMAS on an H200: {work.published_gap:+.2%} in "
            f"{work.published_s:.2f} s",
            flush=True,
        )


def gaps(lengths: Sequence[int], optimum: int | None) -> str:
    """How far tours are above the optimum, or their lengths where none is known."""
    if not optimum:
        return "lengths " + " ".join(str(length) for length in lengths)
    return " ".join(f"{length / optimum - 1:+.2%}" for length in lengths)


def bench_roulettes(options: Any, backend: Any) -> None:
    """What candidate lists save an iteration of MMAS without local search."""
    from core.search.ant_colony import Settings

    for name, ants, iterations in ROULETTES:
        instance = loaded(name, options.data)
        if instance is None:
            continue
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
    """All cells of the paper's table II: our seconds an iteration, and both ratios beside the paper's.

    ``options.instance`` may name some instances, with commas between.
    """
    from core.search.ant_colony import STRATEGIES, Settings

    published = published_seconds()
    print(f"\nAnt System by strategy, {backend.name} on {backend.device.name}, ms an iteration; ratios: ours, paper's")
    print(
        f"  {'':13}" + "".join(f"{strategy:>14}" for strategy in STRATEGIES) + "   coarse / fine   fine / fine-deposit",
        flush=True,
    )
    for name in options.instance.split(",") if options.instance else TABLE_II:
        instance = loaded(name, options.data)
        for ants in TABLE_II_ANTS if instance is not None else ():
            ours, digests = {}, set()
            for strategy in STRATEGIES:
                colony = ready_colony(backend, instance, Settings(ants=ants), strategy, options.seed)
                ours[strategy], digest = timed_iteration(colony)
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


def ready_colony(backend: Any, instance: Any, settings: Any, strategy: str, seed: int) -> Any:
    """A colony whose kernels are compiled, by an iteration of one team.

    Where one lane deposits for all ants, an iteration takes seconds: it looks at ants * n edges, and the whole of
    table II at 70 million of them per strategy.
    """
    from cluster import Solo
    from core.search.ant_colony import AntColony

    colony = AntColony(backend, Solo(), instance.distances, settings, strategy=strategy, seed=seed)
    team = (colony.team_size, colony.ants_per_team)
    few = settings._replace(ants=colony.ants_per_team)
    AntColony(backend, Solo(), instance.distances, few, strategy=strategy, seed=seed, team=team).warm_up()
    return colony


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
        print(f"  {name}: not measured ({error})", flush=True)
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
