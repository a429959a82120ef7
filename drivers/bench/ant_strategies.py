"""Benchmark cases of the strategies of `menezes2019`: all cells of its table II, our ratios beside the paper's."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import backends
from drivers.bench.ant_colonies import SPEED, UNIT, record_subject
from drivers.bench.cases import BenchmarkCandidate, BenchmarkCase, BenchmarkContext, CandidateResult, PreparedCandidate
from drivers.bench.devices import BenchmarkDevice

TABLE_II = ("dj38", "lu980", "qa194", "a280", "d198", "lin318", "pcb442", "pr1002", "rat783")
TABLE_II_ANTS = (1024, 2048, 4096, 8192)
PAIRS = (("coarse", "fine"), ("fine", "fine-deposit"))
"""Strategies whose ratios the paper discusses."""
TIMED_S = 0.2
"""What a cell of the table is timed for at least."""


class IterationTiming(NamedTuple):
    """Seconds of an iteration, the first iteration's outcome, and whether the scorer confirms its best tour."""

    seconds: float
    outcome: Any
    confirmed: bool


def cases(field: BenchmarkContext) -> Iterator[BenchmarkCase]:
    """A case of three strategies for every cell of the table, on GPUs of the backend that is automatic for them."""
    chosen = [gpu for gpu in field.gpus if gpu.backend == backends.automatic("gpu")] or field.gpus
    asked = field.options.instance
    for gpu in chosen:
        for name in asked.split(",") if asked else TABLE_II:
            instance = field.instances.at_hand(name)
            for ants in TABLE_II_ANTS if instance is not None else ():
                yield make_case(field, instance, ants, gpu)


def make_case(field: BenchmarkContext, instance: Any, ants: int, device: BenchmarkDevice) -> BenchmarkCase:
    """One cell of the table."""
    from core.search.ant_colony import STRATEGIES

    theirs = published_seconds().get((instance.name, ants))
    candidates = [
        BenchmarkCandidate(strategy, partial(prepare_iteration, instance, ants, strategy, field.options.seed), device)
        for strategy in STRATEGIES
    ]
    return BenchmarkCase(
        f"an iteration of Ant System, {instance.name}, {ants:,} ants",
        tuple(candidates),
        UNIT,
        float(ants * instance.n**2),
        SPEED,
        f"{device.label} on {device.name}",
        repeats=1,
        remark=lambda medians: ratio_notes(medians, theirs),
    )


def prepare_iteration(instance: Any, ants: int, strategy: str, seed: int, backend: Any) -> PreparedCandidate:
    """A colony on a backend, of which an iteration is timed."""
    from core.search.ant_colony import Settings

    settings = Settings(ants=ants)
    colony = ready_colony(backend, instance, settings, strategy, seed)

    def read(found: IterationTiming) -> CandidateResult:
        outcome, digest = found.outcome, f"{found.outcome.digest:016x}"
        result = {
            "seed": seed,
            "best_cost": outcome.length,
            "best_index": outcome.ant,
            "evaluations": outcome.evaluations,
            "hash": digest,
            "details": {
                "cities": instance.n,
                "optimum": instance.optimum,
                "instance_source": instance.source,
                "timed": "one iteration, a mean over many where it is short",
            },
        }
        facts = {"length": outcome.length, "hash": digest}
        return CandidateResult(outcome.evaluations, facts, found.confirmed, result, found.seconds)

    return PreparedCandidate(
        lambda repetition: timed_iteration(colony, instance),
        read,
        subject=record_subject(instance, settings, 1, {"strategy": strategy}),
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


def timed_iteration(colony: Any, instance: Any) -> IterationTiming:
    """Seconds of an iteration, and the outcome of the first.

    One that takes long, as with a pheromone update by one lane, is run once; of short ones it is a mean of many.
    """
    from core.search.stop import Iterations

    iterations, first, confirmed = 1, None, False
    while True:
        began = time.perf_counter()
        outcome = colony.run(Iterations(iterations))
        seconds = time.perf_counter() - began
        if first is None:
            first, confirmed = outcome, instance.tour_length(outcome.tour) == outcome.length
        if seconds >= TIMED_S:
            return IterationTiming(seconds / iterations, first, confirmed)
        iterations *= 4


def published_seconds() -> dict[tuple[str, int], dict[str, float]]:
    """Table II of the paper: the seconds of the strategies, by instance and ants."""
    from reports.papers.files import load

    (table,) = load("menezes2019").chosen("table", "II")
    found: dict[tuple[str, int], dict[str, float]] = {}
    for line in table.lines:
        for column, (seconds,) in zip(table.columns, line.figures, strict=True):
            found.setdefault((line.key, column.parameters["ants"]), {})[column.parameters["strategy"]] = seconds
    return found


def ratio_notes(ours: Mapping[str, float], theirs: Mapping[str, float] | None) -> Sequence[str]:
    """Our ratios of strategies' times, and the paper's."""
    lines = []
    for slow, fast in PAIRS:
        if slow in ours and fast in ours:
            paper = f"{theirs[slow] / theirs[fast]:.2f}" if theirs else "not published"
            lines.append(f"{slow} / {fast}: {ours[slow] / max(ours[fast], 1e-9):.2f}, paper: {paper}")
    return lines
