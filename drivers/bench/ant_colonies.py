"""Benchmark cases of ant colonies: one core against C, rates on a GPU, Max-Min Ant System with 2-opt, candidate lists.

The C program `reference_programs/ant_system.c` does the same work draw for draw, in plain loops or with GNU C's vector
types (`ant_system_vectors.h`); its digest must be ours. The strategies of `menezes2019` are in `ant_strategies.py`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drivers.bench.c_programs import run_program
from drivers.bench.cases import (
    BenchmarkCandidate,
    BenchmarkCase,
    BenchmarkContext,
    CandidateResult,
    PreparedCandidate,
    RecordSubject,
)
from drivers.bench.devices import BenchmarkDevice, one_core_first

C_SOURCE = "ant_system.c"
C_FORMS: dict[str, tuple[str, ...]] = {"C, plain loops": (), "C, vector types": ("-DVECTORS",)}
"""The forms of the C program: further arguments of gcc."""
UNIT = "selections"
STRATEGY = "fine-deposit"
"""How a colony works unless it is told."""
SPEED = 5e9
"""Selections a second of one core: cities that an ant weighs in a step."""

ON_CORES = (("d198", 198, 200), ("pcb442", 64, 200), ("pr1002", 64, 50))
"""Instance, ants, iterations."""
ON_GPU = (("lu980", 8192, 20), ("pr1002", 1002, 50), ("pr1002", 8192, 20))
CANDIDATES = 32
SEEDS = 5
ROULETTES = (("pr1002", 1002, 50), ("pr1002", 8192, 20))


class MmasInstance(NamedTuple):
    """An instance for MMAS with 2-opt, an ant per city; what Skinderowicz's GPU-MMAS reaches on an H200."""

    instance: str
    iterations: int
    published_gap: float
    published_s: float


MMAS_INSTANCES = (
    MmasInstance("lin318", 500, 0.0, 0.29),
    MmasInstance("pcb442", 500, 0.0053, 0.39),
    MmasInstance("rat783", 500, 0.0014, 0.58),
    MmasInstance("pr1002", 1000, 0.0025, 1.27),
)


class CProgramOutcome(NamedTuple):
    """What the C program printed.

    The best length and the first ant that had it; the seconds of all iterations, of which the tours took those of
    ``constructing``.
    """

    length: int
    ant: int
    digest: int
    seconds: float
    constructing: float


# --- cases ---


def cases(field: BenchmarkContext) -> Iterator[BenchmarkCase]:
    """All cases that this machine can hold."""
    for name, ants, iterations in ON_CORES if field.cores else ():
        instance = field.instances.at_hand(name)
        if instance is not None:
            yield cases_against_c(field, instance, ants, iterations)
    for gpu in field.gpus:
        yield from gpu_cases(field, gpu)


def ant_system_case(work: ColonyTask, candidates: Sequence[BenchmarkCandidate], where: str = "") -> BenchmarkCase:
    """A case of Ant System."""
    instance, ants, iterations = work.instance, work.settings.ants, work.iterations
    title = f"Ant System, {instance.name}, {ants:,} ants, {iterations} iterations"
    return BenchmarkCase(title, tuple(candidates), UNIT, float(ants * instance.n**2 * iterations), SPEED, where)


def cases_against_c(field: BenchmarkContext, instance: Any, ants: int, iterations: int) -> BenchmarkCase:
    """Ant System on every device that is no GPU, and in every form of the C program."""
    from core.search.ant_colony import Settings

    work = ColonyTask(instance, Settings(ants=ants), iterations, (field.options.seed,))
    forms = {} if field.compiler.obstacle else C_FORMS
    ours = [
        BenchmarkCandidate(place.label, partial(prepare_colonies, work, ns_per_step), place)
        for place in one_core_first(field.cores)
    ]
    theirs = [BenchmarkCandidate(name, prepare_c_program(field, work, form)) for name, form in forms.items()]
    return ant_system_case(work, [*ours, *theirs])


def gpu_cases(field: BenchmarkContext, gpu: BenchmarkDevice) -> Iterator[BenchmarkCase]:
    """Rates of Ant System and where its time goes; MMAS with 2-opt; candidate lists against full roulette."""
    from core.search.ant_colony import Settings

    where = f"{gpu.label} on {gpu.name}"
    for name, ants, iterations in ON_GPU:
        instance = field.instances.at_hand(name)
        if instance is not None:
            work = ColonyTask(instance, Settings(ants=ants), iterations, (field.options.seed,))
            yield ant_system_case(
                work, [BenchmarkCandidate(gpu.label, partial(prepare_colonies, work, phase_times), gpu)], where
            )
    for climbed in MMAS_INSTANCES:
        instance = field.instances.at_hand(climbed.instance)
        if instance is not None:
            yield mmas_case(field, instance, climbed, gpu)
    for name, ants, iterations in ROULETTES:
        instance = field.instances.at_hand(name)
        if instance is not None:
            yield roulette_cases(field, instance, ants, iterations, gpu)


def mmas_case(field: BenchmarkContext, instance: Any, climbed: MmasInstance, gpu: BenchmarkDevice) -> BenchmarkCase:
    """Max-Min Ant System with candidate lists and 2-opt: every repetition has a seed of its own."""
    from core.search.ant_colony import Settings

    settings = Settings(
        ants=instance.n, variant="mmas", rho=0.1, best_every=1, candidates=CANDIDATES, local_search="2opt-near"
    )
    seeds = tuple(field.options.seed + k for k in range(SEEDS))
    work = ColonyTask(instance, settings, climbed.iterations, seeds)
    return BenchmarkCase(
        f"MMAS, {CANDIDATES} candidates, 2opt-near, {climbed.instance}, {settings.ants} ants, "
        f"{work.iterations} iterations, seeds {seeds[0]} to {seeds[-1]}",
        (BenchmarkCandidate(gpu.label, partial(prepare_colonies, work, optimum_gaps), gpu),),
        UNIT,
        float(settings.ants * instance.n * CANDIDATES * work.iterations),
        SPEED / 10,
        f"{gpu.label} on {gpu.name}",
        repeats=SEEDS,
        remark=lambda _: [f"GPU-MMAS on an H200: {climbed.published_gap:+.2%} in {climbed.published_s:.2f} s"],
    )


def roulette_cases(
    field: BenchmarkContext, instance: Any, ants: int, iterations: int, gpu: BenchmarkDevice
) -> BenchmarkCase:
    """What candidate lists save of MMAS without local search; the two make different tours."""
    from core.search.ant_colony import Settings

    def who(name: str, candidates: int) -> BenchmarkCandidate:
        settings = Settings(ants=ants, variant="mmas", candidates=candidates)
        work = ColonyTask(instance, settings, iterations, (field.options.seed,), f" of {name}")
        return BenchmarkCandidate(name, partial(prepare_colonies, work, ms_per_iteration), gpu)

    title = f"MMAS, {instance.name}, {ants:,} ants, {iterations} iterations"
    both = (who("all cities", 0), who(f"{CANDIDATES} candidates", CANDIDATES))
    amount = float(ants * instance.n**2 * iterations)
    return BenchmarkCase(title, both, UNIT, amount, SPEED, f"{gpu.label} on {gpu.name}")


# --- candidates on backends ---


class ColonyTask(NamedTuple):
    """What a colony does: so many iterations, with the first seed in the first repetition, and so on in turn.

    ``label`` tells apart what candidates of one case find who make different tours.
    """

    instance: Any
    settings: Any
    iterations: int
    seeds: tuple[int, ...]
    label: str = ""


def record_subject(instance: Any, settings: Any, iterations: int, execution: Mapping[str, Any]) -> RecordSubject:
    """What a record says of all runs, as `drivers.aco` does."""
    parameters = {**settings._asdict(), "iterations": iterations}
    return RecordSubject("aco", instance, parameters, {"mapping": "native", **execution}, "selections", "tours")


def prepare_colonies(
    work: ColonyTask, note: Callable[[ColonyTask, Any, Sequence[Any], float], str], backend: Any
) -> PreparedCandidate:
    """Colonies on a backend, one for each seed, end to end.

    ``note`` makes what stands at the end of the line, from the work, a colony, all outcomes and their median time.
    """
    from cluster import Solo
    from core.search.ant_colony import AntColony
    from core.search.stop import Iterations

    colonies = [
        AntColony(backend, Solo(), work.instance.distances, work.settings, strategy=STRATEGY, seed=seed)
        for seed in work.seeds
    ]
    for colony in colonies:
        colony.warm_up()

    def solve(repetition: int) -> tuple[int, Any]:
        which = repetition % len(colonies)
        return which, colonies[which].run(Iterations(work.iterations))

    def read(found: tuple[int, Any]) -> CandidateResult:
        which, outcome = found
        length = work.instance.tour_length(outcome.tour)
        return read_outcome(work, work.seeds[which], outcome, length == outcome.length)

    return PreparedCandidate(
        solve,
        read,
        lambda found, median: note(work, colonies[0], [outcome for _, outcome in found], median),
        record_subject(work.instance, work.settings, work.iterations, {"strategy": STRATEGY}),
    )


def read_outcome(work: ColonyTask, seed: int, outcome: Any, confirmed: bool) -> CandidateResult:
    """What a colony came to; ``outcome`` is its `core.search.ant_colony.ColonyOutcome`."""
    digest = f"{outcome.digest:016x}"
    result = {
        "seed": seed,
        "best_cost": outcome.length,
        "best_index": outcome.ant,
        "evaluations": outcome.evaluations,
        "hash": digest,
        "details": {
            "cities": work.instance.n,
            "optimum": work.instance.optimum,
            "instance_source": work.instance.source,
            "best_iteration": outcome.iteration,
        },
    }
    label = work.label + (f" of seed {seed}" if len(work.seeds) > 1 else "")
    return CandidateResult(
        outcome.evaluations, {f"length{label}": outcome.length, f"hash{label}": digest}, confirmed, result
    )


# --- what stands at the end of a line ---


def ns_per_step(work: ColonyTask, colony: Any, outcomes: Sequence[Any], median: float) -> str:
    """Nanoseconds that a step of a tour takes, measured now."""
    seconds = colony.phase_seconds(work.iterations)["construct"]
    return f"{seconds / (work.settings.ants * (work.instance.n - 1)) * 1e9:.2f} ns a step of a tour"


def phase_times(work: ColonyTask, colony: Any, outcomes: Sequence[Any], median: float) -> str:
    """Milliseconds an iteration, and those of its phases that take any, measured now."""
    each = colony.phase_seconds(work.iterations)
    total = sum(each.values())
    parts = ", ".join(f"{name} {s * 1e3:.3f} ms ({s / total:.1%})" for name, s in each.items() if s > 0)
    return f"{ms_per_iteration(work, colony, outcomes, median)}: {parts}"


def ms_per_iteration(work: ColonyTask, colony: Any, outcomes: Sequence[Any], median: float) -> str:
    """Milliseconds an iteration."""
    return f"{median / work.iterations * 1e3:.3f} ms an iteration"


def optimum_gaps(work: ColonyTask, colony: Any, outcomes: Sequence[Any], median: float) -> str:
    """How far the tours of all seeds are above the optimum, or their lengths where none is known."""
    optimum, lengths = work.instance.optimum, [outcome.length for outcome in outcomes]
    if not optimum:
        return "lengths " + " ".join(str(length) for length in lengths)
    return "gaps " + " ".join(f"{length / optimum - 1:+.2%}" for length in lengths)


# --- candidates in C ---


def prepare_c_program(
    field: BenchmarkContext, work: ColonyTask, form: tuple[str, ...]
) -> Callable[[Any], PreparedCandidate]:
    """What prepares a form of the C program."""

    def prepare(backend: None) -> PreparedCandidate:
        instance, settings, (seed,) = work.instance, work.settings, work.seeds
        program = field.compiler.program(C_SOURCE, form)
        path = field.compiler.room / f"{instance.sha256}.ants"
        write_instance(path, instance.distances, settings.beta)

        def solve(repetition: int) -> CProgramOutcome:
            return run_reference_program(program, path, settings.ants, work.iterations, settings.rho, seed)

        def read(walked: CProgramOutcome) -> CandidateResult:
            evaluations = settings.ants * instance.n**2 * work.iterations
            digest = f"{walked.digest:016x}"
            result = {
                "seed": seed,
                "best_cost": walked.length,
                "best_index": walked.ant,
                "evaluations": evaluations,
                "hash": digest,
                "details": {"cities": instance.n, "optimum": instance.optimum, "instance_source": instance.source},
            }
            return CandidateResult(evaluations, {"length": walked.length, "hash": digest}, None, result, walked.seconds)

        def note(outcomes: Sequence[CProgramOutcome], median: float) -> str:
            steps = settings.ants * (instance.n - 1) * work.iterations
            return f"{outcomes[-1].constructing / steps * 1e9:.2f} ns a step of a tour"

        # On a lone core, where one lane does everything, the strategies are one.
        execution = {"strategy": STRATEGY, "program": " ".join((C_SOURCE, *form)), "compiler": field.compiler.version}
        return PreparedCandidate(solve, read, note, record_subject(instance, settings, work.iterations, execution))

    return prepare


def write_instance(path: Path, distances: np.ndarray, beta: float) -> None:
    """Write what the C program reads: cities renumbered along a nearest-neighbour tour, and the heuristic values.

    The heuristic is computed by NumPy for all: another library's power function may differ in the last bit.
    """
    from core.search.ant_colony.settings import heuristic
    from core.search.hill_climbing.start_tours import nearest_neighbour_tour

    tour = nearest_neighbour_tour(distances)
    renumbered = distances[np.ix_(tour, tour)]
    length = int(distances[tour, np.roll(tour, -1)].sum(dtype=np.int64))
    with path.open("wb") as file:
        file.write(struct.pack("<QQ", len(tour), length))
        file.write(renumbered.astype("<u4").tobytes())
        file.write(heuristic(renumbered, beta).astype("<f4").tobytes())


def run_reference_program(
    program: Path, path: Path, ants: int, iterations: int, rho: float, seed: int
) -> CProgramOutcome:
    """Run the C program on a file of `write_instance`."""
    from core.search.ant_colony.settings import part_of_32_bits

    said = run_program(program, path, ants, iterations, part_of_32_bits(rho), seed)
    length, ant, digest = int(said["best"]), int(said["ant"]), int(said["digest"], 16)
    return CProgramOutcome(length, ant, digest, float(said["seconds"]), float(said["constructing"]))
