"""Benchmark cases of iterative hill climbing: one core against C, all cores against one, both scans on a GPU.

The C program `reference_programs/hill_climbing.c` makes the same climbs, move for move; its digest must be ours.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

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
from drivers.bench.devices import BenchmarkDevice, all_cores, one_core, one_core_first

FIRST = "kroE100"
"""The instance of GPUs where the user names none; climbers are as many as the user says."""
LARGE = (("a280", 2000), ("d493", 2000), ("pr1002", 2000), ("pr2392", 2000))
"""Instances for GPUs beside the first, and climbers."""
LONG = 2000
"""Cities from which two repetitions are enough."""
SCANS = ("full", "pruned")
EFFORT = {"full": 1.0, "pruned": 0.7}
"""The time of a scan as a multiple of the full one's, roughly."""
C_SOURCE = "hill_climbing.c"
C_FORMS: dict[str, tuple[str, ...]] = {"C, plain loops": (), "C, ordered copies": ("-DORDERED",)}
"""The forms of the C program: further arguments of gcc. The second keeps the distances in the order of the tour too."""
C_EFFORT = 3.0
SPEED = 3e9
"""Moves a second that one core evaluates."""


def cases(field: BenchmarkContext) -> Iterator[BenchmarkCase]:
    """All cases that this machine can hold."""
    from core.problems.instances.sources import default_instance

    options = field.options
    if field.cores:
        yield core_cases(field, field.instances.named(options.instance or default_instance(options.data)[0]))
    for gpu in field.gpus:
        if options.instance:
            yield gpu_cases(field, field.instances.named(options.instance), options.gpu_climbers, gpu)
        for name, climbers in (*(() if options.instance else ((FIRST, options.gpu_climbers),)), *LARGE):
            instance = field.instances.at_hand(name)
            if instance is not None:
                yield gpu_cases(field, instance, climbers, gpu)


def estimate_moves(instance: Any, climbers: int) -> float:
    """About as many moves as all climbs evaluate: a step for every city, and one in which all are tried in vain."""
    return float(climbers * instance.n * (instance.n * (instance.n - 3) // 2))


def core_cases(field: BenchmarkContext, instance: Any) -> BenchmarkCase:
    """Both scans on every device that is no GPU, and the C program's forms."""
    climbers = field.options.climbers
    forms = {} if field.compiler.obstacle else C_FORMS
    opponents = comparison_partner(field.cores, next(iter(forms), ""))
    ours = [
        BenchmarkCandidate(
            f"{place.label} {scan}",
            partial(prepare_climbs, instance, climbers, scan, field.options.seed),
            place,
            opponents[f"{place.label} {scan}"],
            EFFORT[scan],
        )
        for place in one_core_first(field.cores)
        for scan in SCANS
    ]
    theirs = [
        BenchmarkCandidate(name, prepare_c_program(field, instance, form), effort=C_EFFORT)
        for name, form in forms.items()
    ]
    return make_case(instance, climbers, (*ours, *theirs))


def gpu_cases(field: BenchmarkContext, instance: Any, climbers: int, gpu: BenchmarkDevice) -> BenchmarkCase:
    """Both scans."""
    ours = [
        BenchmarkCandidate(
            scan, partial(prepare_climbs, instance, climbers, scan, field.options.seed), gpu, effort=EFFORT[scan]
        )
        for scan in SCANS
    ]
    repeats = None if instance.n < LONG else 2
    return make_case(instance, climbers, tuple(ours), f"{gpu.label} on {gpu.name}", repeats)


def make_case(
    instance: Any,
    climbers: int,
    candidates: tuple[BenchmarkCandidate, ...],
    where: str = "",
    repeats: int | None = None,
) -> BenchmarkCase:
    """A case of climbs."""
    return BenchmarkCase(
        f"hill climbing, {instance.name}, {climbers:,} climbers",
        candidates,
        "moves",
        estimate_moves(instance, climbers),
        SPEED,
        where,
        repeats,
        by_kernels=True,
    )


def comparison_partner(devices: Sequence[BenchmarkDevice], reference: str) -> dict[str, str]:
    """Whose time stands beside whose: C's beside one core's, one core's beside all cores', theirs beside others'."""
    one, every = one_core(devices), all_cores(devices)
    found = {}
    for place in devices:
        for scan in SCANS:
            other = every if every is not None and place != every else one
            found[f"{place.label} {scan}"] = reference if place == one else f"{other.label} {scan}" if other else ""
    return found


def record_subject(instance: Any, climbers: int, settings: dict[str, Any]) -> RecordSubject:
    """What a record says of all runs, as `drivers.ihc` does."""
    return RecordSubject(
        "ihc",
        instance,
        {"climbers": climbers, "start": "oneil2011"},
        {"mapping": "native", **settings},
        "moves",
        "climbs",
    )


def prepare_climbs(instance: Any, climbers: int, scan: str, seed: int, backend: Any) -> PreparedCandidate:
    """All climbs on a backend."""
    from cluster import Solo
    from core.search.hill_climbing.search import HillClimbing
    from core.search.stop import Iterations

    search: Any = HillClimbing(backend, Solo(), instance.distances, scan=scan)
    search.warm_up()
    search.run(Iterations(max(1, climbers // 20)), trace=False)
    confirmed: dict[int, bool] = {}

    def read(outcome: Any) -> CandidateResult:
        if outcome.climber not in confirmed:
            confirmed[outcome.climber] = instance.tour_length(search.tour_of(outcome.climber)) == outcome.length
        digest = f"{outcome.digest:016x}"
        return read_outcome(instance, search.scan.counted, outcome, digest, confirmed[outcome.climber], seed)

    return PreparedCandidate(
        lambda repetition: search.run(Iterations(climbers), trace=False),
        read,
        subject=record_subject(instance, climbers, search.scan.execution),
    )


def read_outcome(
    instance: Any, counted: str, outcome: Any, digest: str, confirmed: bool | None, seed: int
) -> CandidateResult:
    """What climbs came to; ``outcome`` has the fields of `core.search.hill_climbing.outcome.HillClimbOutcome`."""
    result = {
        "seed": seed,
        "best_cost": outcome.length,
        "best_index": outcome.climber,
        "evaluations": outcome.evaluations,
        "hash": digest,
        "details": {
            "cities": instance.n,
            "optimum": instance.optimum,
            "instance_source": instance.source,
            "evaluation_definition": counted,
        },
    }
    facts = {"length": outcome.length, "climber": outcome.climber, "hash": digest}
    return CandidateResult(outcome.evaluations, facts, confirmed, result)


def prepare_c_program(
    field: BenchmarkContext, instance: Any, form: tuple[str, ...]
) -> Callable[[Any], PreparedCandidate]:
    """What prepares a form of the C program."""

    def prepare(backend: None) -> PreparedCandidate:
        from core.search.hill_climbing.scans import FULL_COUNT

        climbers, compiler = field.options.climbers, field.compiler
        program = compiler.program(C_SOURCE, form)
        path = compiler.room / f"{instance.sha256}.cities"
        write_instance(path, instance.distances)

        def read(outcome: tuple[Any, str, float]) -> CandidateResult:
            found, digest, seconds = outcome
            return read_outcome(instance, FULL_COUNT, found, digest, None, field.options.seed)._replace(seconds=seconds)

        settings = {"scan": "full", "program": " ".join((C_SOURCE, *form)), "compiler": compiler.version}
        subject = record_subject(instance, climbers, settings)
        return PreparedCandidate(
            lambda repetition: run_reference_program(program, path, climbers), read, subject=subject
        )

    return prepare


def write_instance(path: Path, distances: np.ndarray) -> None:
    """Write what the C program reads."""
    path.write_bytes(struct.pack("<Q", len(distances)) + distances.astype("<u4").tobytes())


def run_reference_program(program: Path, path: Path, climbers: int) -> tuple[Any, str, float]:
    """Run the C program on a file of `write_instance`: outcome, digest, and seconds of its climbs."""
    from core.search.hill_climbing.outcome import HillClimbOutcome

    said = run_program(program, path, climbers)
    best, climber, steps, moves = (int(said[name]) for name in ("best", "climber", "steps", "moves"))
    outcome = HillClimbOutcome(best, climber, steps, moves, int(said["digest"], 16), climbers)
    return outcome, said["digest"], float(said["seconds"])
