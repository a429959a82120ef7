"""Benchmark cases of dynamic programming: LCS, 0-1 knapsack and Held-Karp, with and without a trace.

Solves are timed and nothing else, after one that is not timed. What was found must be the same everywhere: on every
backend, with and without a trace, with decisions on the device or streamed, and by the packages beside them.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from drivers.bench.cases import (
    BenchmarkCandidate,
    BenchmarkCase,
    BenchmarkContext,
    CandidateResult,
    PreparedCandidate,
    RecordSubject,
)
from drivers.bench.devices import BenchmarkDevice, one_core_first

NOT_TRACED, TRACED = "no trace", "traced"
LETTERS = 4
LCS_SPEED, KNAPSACK_SPEED, HELD_KARP_SPEED = 4.5e10, 4.5e9, 9e8
"""Cells a second of one core."""
RAPIDFUZZ, HELD_KARP = PACKAGES = ("rapidfuzz", "held_karp")
"""Modules of packages that do the same on one core."""
PLAIN_HELD_KARP = 50.0
"""The time of the package held-karp as a multiple of ours."""


class TableSizes(NamedTuple):
    """What a kind of device is measured with.

    ``letters`` of either string whose length is computed, and ``traced_letters`` of strings that are traced; items and
    ``capacity`` of the knapsack; ``cities`` of Held-Karp, and ``full_cities`` only with `--full`. ``room``: bytes of
    the device for decisions in the runs that must stream them.
    """

    letters: int
    traced_letters: int
    items: int
    capacity: int
    cities: tuple[int, ...]
    full_cities: tuple[int, ...]
    room: int


class TableMethod(NamedTuple):
    """How a table is computed: whether its decisions are kept, and in how many bytes of the device; None: freely."""

    trace: bool
    room: int | None = None

    @property
    def name(self) -> str:
        """In words."""
        if self.room is not None:
            return f"{TRACED}, {self.room >> 20} MiB of memory"
        return TRACED if self.trace else NOT_TRACED


ON_CORES = TableSizes(200_000, 50_000, 1500, 10**6, (20,), (), 64 << 20)
ON_GPU = TableSizes(1_000_000, 200_000, 1500, 10**7, (25, 28, 30), (34,), 512 << 20)


# --- cases ---


def cases(field: BenchmarkContext) -> Iterator[BenchmarkCase]:
    """All cases that this machine can hold; rapidfuzz and held-karp, where they are installed, beside the cores."""
    for module in PACKAGES if field.cores else ():
        if importlib.util.find_spec(module) is None:
            name = module.replace("_", "-")
            print(f"reference solver {name} not measured: pip install {name}", flush=True)
    if field.cores:
        yield from device_cases(field, one_core_first(field.cores), ON_CORES, beside=True)
    for gpu in field.gpus:
        yield from device_cases(field, [gpu], ON_GPU, beside=False)


def device_cases(
    field: BenchmarkContext, devices: Sequence[BenchmarkDevice], sizes: TableSizes, beside: bool
) -> Iterator[BenchmarkCase]:
    """All problems on some devices; tracing is compared on each of them with not tracing."""
    from core.problems import tsp
    from core.problems.tables.knapsack import generate
    from core.problems.tables.strings import generate as strings

    seed, where = field.options.seed, f"{devices[0].label} on {devices[0].name}" if len(devices) == 1 else ""
    ways = (TableMethod(False), TableMethod(True), TableMethod(True, sizes.room))
    pair = strings(f"random:{sizes.letters}:letters={LETTERS}:seed={seed}")
    entrants = [
        BenchmarkCandidate(place.label, partial(prepare_lcs, pair, TableMethod(False)), place) for place in devices
    ]
    yield lcs_case(
        pair, [*entrants, *(package_candidates(RAPIDFUZZ, partial(prepare_rapidfuzz, pair)) if beside else ())], where
    )
    pair = strings(f"random:{sizes.traced_letters}:letters={LETTERS}:seed={seed}")
    for place in devices:
        yield lcs_case(
            pair, single_device_candidates(place, ways, partial(prepare_lcs, pair)), f"{place.label} on {place.name}"
        )
    instance = generate("paper", sizes.items, sizes.capacity, seed)
    for place in devices:
        yield BenchmarkCase(
            f"knapsack, {instance.n:,} items, capacity {instance.capacity:,}",
            single_device_candidates(place, ways, partial(prepare_knapsack, instance, seed)),
            "cells",
            float(instance.n * instance.capacity),
            KNAPSACK_SPEED,
            f"{place.label} on {place.name}",
            rehearsed=True,
        )
    for cities in (*sizes.cities, *(sizes.full_cities if field.options.full else ())):
        tour = tsp.load(f"uniform:{cities}:seed={seed + 1}")
        entrants = [BenchmarkCandidate(place.label, partial(prepare_tour, tour), place) for place in devices]
        if beside:
            entrants += package_candidates(HELD_KARP, partial(prepare_held_karp, tour), PLAIN_HELD_KARP)
        yield held_karp_case(tour, entrants, where, 1 if cities in sizes.full_cities else None)


def lcs_case(pair: Any, candidates: Sequence[BenchmarkCandidate], where: str) -> BenchmarkCase:
    """A case of common subsequences."""
    letters = len(pair.a)
    work = f"LCS, {letters:,} random letters of {LETTERS}"
    return BenchmarkCase(work, tuple(candidates), "cells", float(letters) ** 2, LCS_SPEED, where, rehearsed=True)


def held_karp_case(
    instance: Any, candidates: Sequence[BenchmarkCandidate], where: str, repeats: int | None
) -> BenchmarkCase:
    """A case of shortest tours, by paths through half of the cities."""
    n = instance.n
    return BenchmarkCase(
        f"Held-Karp, {n} cities",
        tuple(candidates),
        "transitions",
        float((n - 1) * (n - 2)) * 2.0 ** (n - 4),
        HELD_KARP_SPEED,
        where,
        repeats,
        rehearsed=True,
    )


def single_device_candidates(
    place: BenchmarkDevice, ways: Sequence[TableMethod], prepare: Callable[..., PreparedCandidate]
) -> tuple[BenchmarkCandidate, ...]:
    """One device that works in several ways."""
    return tuple(BenchmarkCandidate(way.name, partial(prepare, way), place) for way in ways)


def package_candidates(
    module: str, prepare: Callable[[Any], PreparedCandidate], effort: float = 1.0
) -> list[BenchmarkCandidate]:
    """A package beside the backends, by its name; none if it is not installed."""
    if importlib.util.find_spec(module) is None:
        return []
    return [BenchmarkCandidate(module.replace("_", "-"), prepare, effort=effort)]


# --- candidates on backends ---


def prepare_lcs(pair: Any, way: TableMethod, backend: Any) -> PreparedCandidate:
    """A longest common subsequence by a backend."""
    from cluster import Solo
    from core.search.dp.lcs.search import LongestCommonSubsequence

    search = LongestCommonSubsequence(backend, Solo(), pair.a, pair.b, room=way.room)

    def read(outcome: Any) -> CandidateResult:
        facts: dict[str, Any] = {"length": outcome.length}
        confirmed = None
        hashed = hashlib.blake2b(str(outcome.length).encode(), digest_size=8)
        if outcome.pairs is not None:
            facts["subsequence"] = digest(outcome.pairs)
            confirmed = pair.objection(outcome.length, outcome.pairs) is None
            hashed.update(outcome.pairs.astype("<i8").tobytes())
        result = {
            "seed": 0,
            "best_cost": outcome.length,
            "best_index": 0,
            "evaluations": outcome.cells,
            "hash": hashed.hexdigest(),
            "details": {
                "instance_source": pair.source,
                "evaluation_definition": "cells of the table, one for a letter of each string",
                "string_lengths": [len(pair.a), len(pair.b)],
                **streaming_details(outcome),
            },
        }
        return CandidateResult(outcome.cells, facts, confirmed, result)

    subject = RecordSubject("lcs", pair, {"trace": way.trace}, execution_settings(way), "cells", "result")
    return PreparedCandidate(lambda repetition: search.run(trace=way.trace), read, method_details, subject)


def prepare_knapsack(instance: Any, seed: int, way: TableMethod, backend: Any) -> PreparedCandidate:
    """A knapsack packed by a backend."""
    from cluster import Solo
    from core.search.dp.knapsack.search import KnapsackSearch

    search = KnapsackSearch(backend, Solo(), instance, room=way.room)

    def read(outcome: Any) -> CandidateResult:
        facts: dict[str, Any] = {"value": outcome.value}
        confirmed = None
        if outcome.chosen is not None:
            facts["selection"] = digest(np.asarray(outcome.chosen))
            weight, value = instance.weight_and_value(outcome.chosen)
            confirmed = weight <= instance.capacity and value == outcome.value
        result = {
            "seed": seed,
            "best_cost": outcome.value,
            "best_index": 0,
            "evaluations": outcome.cells,
            "hash": f"{outcome.digest:016x}",
            "details": {
                "instance_source": instance.source,
                "evaluation_definition": "cells of the table, one for an item and a capacity",
                "items": instance.n,
                "capacity": instance.capacity,
                **streaming_details(outcome),
            },
        }
        return CandidateResult(outcome.cells, facts, confirmed, result)

    parameters = {"method": "dp", "trace": way.trace, "nodes": None, "seconds": None}
    subject = RecordSubject("knapsack", instance, parameters, execution_settings(way), "cells", "result")
    return PreparedCandidate(lambda repetition: search.run(trace=way.trace), read, method_details, subject)


def prepare_tour(instance: Any, backend: Any) -> PreparedCandidate:
    """A shortest tour by a backend."""
    from cluster import Solo
    from core.search.dp.held_karp.search import HeldKarp

    search = HeldKarp(backend, Solo(), instance.distances)

    def read(outcome: Any) -> CandidateResult:
        result = {
            "seed": 0,
            "best_cost": outcome.length,
            "best_index": 0,
            "evaluations": outcome.transitions,
            "hash": f"{outcome.digest:016x}",
            "details": {
                "cities": instance.n,
                "optimum": instance.optimum,
                "instance_source": instance.source,
                "evaluation_definition": "steps from a path to one that is a city longer",
                "tour": outcome.tour.tolist(),
                "start_cost": outcome.start_length,
            },
        }
        confirmed = instance.tour_length(outcome.tour) == outcome.length
        facts = {"length": outcome.length, "tour": digest(outcome.tour)}
        return CandidateResult(outcome.transitions, facts, confirmed, result)

    parameters = {"trace": True, "k": None, "rotations": None, "improve": False}
    subject = RecordSubject(
        "heldkarp", instance, parameters, execution_settings(TableMethod(True)), "transitions", "result"
    )
    return PreparedCandidate(lambda repetition: search.run(), read, subject=subject)


def execution_settings(way: TableMethod) -> dict[str, Any]:
    """Execution settings, as the drivers record them."""
    return {"mapping": "native", "tiling": "auto", "device_memory": way.room, "spill_to_files": False}


def streaming_details(outcome: Any) -> dict[str, Any]:
    """Details that reports show of a table, however it was traced."""
    method = {"method": outcome.method} if hasattr(outcome, "method") else {}
    return {**method, "cells": outcome.cells, "streamed_bytes": outcome.streamed_bytes}


def method_details(outcomes: Sequence[Any], median: float) -> str:
    """What an outcome says of how it was found: the method, and what left the device."""
    parts = [getattr(outcomes[-1], "method", "")]
    if outcomes[-1].streamed_bytes:
        parts.append(f"{outcomes[-1].streamed_bytes:,} bytes streamed")
    return ", ".join(part for part in parts if part)


# --- packages ---


def prepare_rapidfuzz(pair: Any, backend: None) -> PreparedCandidate:
    """The length by rapidfuzz's bit-parallel C++ on one core."""
    similarity = importlib.import_module(f"{RAPIDFUZZ}.distance").LCSseq.similarity
    first, second = pair.a.tobytes(), pair.b.tobytes()
    cells = len(first) * len(second)
    return PreparedCandidate(
        lambda repetition: similarity(first, second),
        lambda length: CandidateResult(cells, {"length": int(length)}, True),
    )


def prepare_held_karp(instance: Any, backend: None) -> PreparedCandidate:
    """A shortest tour by the plain algorithm in Rust on one core, which looks at all subsets."""
    solver = importlib.import_module(HELD_KARP)
    flat, n = instance.distances.astype(float).ravel().tolist(), instance.n
    transitions = (n - 1) * (n - 2) * 2 ** (n - 3)
    return PreparedCandidate(
        lambda repetition: solver.solve_flat(flat, n),
        lambda outcome: CandidateResult(transitions, {"length": round(outcome[1])}, True),
    )


def digest(values: np.ndarray) -> str:
    """64 bits of some integers."""
    return hashlib.blake2b(values.astype("<i8").tobytes(), digest_size=8).hexdigest()
