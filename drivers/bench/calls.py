"""Benchmark cases of short calls from Python: each workload again and again on one core, end to end.

All that a call does counts: instance, device, search, check of the result. Kernels and devices are kept by the process,
so nothing is compiled.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from drivers.bench.cases import BenchmarkCandidate, BenchmarkCase, BenchmarkContext, CandidateResult, PreparedCandidate
from drivers.bench.devices import BenchmarkDevice, one_core

CALLS = 20
"""Calls of one repetition."""
SPEED = 300.0
"""Calls per second of one core."""
LETTERS = 10_000
"""Of either string of the longer call, beside which rapidfuzz is measured."""


class ShortCall(NamedTuple):
    """A call of ``onekernel.run`` that computes next to nothing: a workload and its options."""

    workload: str
    options: Mapping[str, Any]


SHORT_CALLS = (
    ShortCall("ihc", {"instance": "uniform:20:seed=1", "climbers": 10}),
    ShortCall("aco", {"instance": "uniform:20:seed=1", "ants": 8, "iterations": 2}),
    ShortCall("exact", {"instance": "uniform:9:seed=1"}),
    ShortCall("lcs", {"text": ("ABCBDAB", "BDCABA")}),
    ShortCall("knapsack", {"items": 30, "capacity": 500}),
    ShortCall("heldkarp", {"instance": "uniform:8:seed=1"}),
    ShortCall("tsp", {"instance": "uniform:20:seed=1", "iterations": 5}),
    ShortCall("qap", {"instance": "taillard:12:seeds=3,4", "iterations": 5}),
    ShortCall("ppp", {"instance": "11-11:seed=5", "iterations": 5}),
    ShortCall("weierstrass", {"instance": "4", "points": 5, "iterations": 5}),
    ShortCall("labs", {"instance": "13", "iterations": 5}),
    ShortCall("maxsat", {"instance": "random:20:seed=1", "iterations": 5}),
    ShortCall("maxcut", {"instance": "random:20:seed=1", "iterations": 5}),
    ShortCall("flowshop", {"instance": "taillard:8:3", "iterations": 5}),
    ShortCall("linearordering", {"instance": "random:12:seed=1", "iterations": 5}),
)


def cases(field: BenchmarkContext) -> Iterator[BenchmarkCase]:
    """A case for each workload, and one for two long strings."""
    place = one_core(field.cores)
    if place is None:
        return
    for call in SHORT_CALLS:
        yield make_case(f"{CALLS} short calls of {call.workload}", call, place)
    text = long_strings(field.options.seed)
    title = f"{CALLS} calls of lcs, {LETTERS:,} letters"
    longer = make_case(title, ShortCall("lcs", {"text": text}), place, calls_per_second=100.0)
    if importlib.util.find_spec("rapidfuzz") is not None:
        beside = BenchmarkCandidate("rapidfuzz", partial(prepare_rapidfuzz, text))
        longer = BenchmarkCase(
            longer.work, (beside, *longer.candidates), longer.unit, longer.amount, longer.speed, rehearsed=True
        )
    yield longer


def make_case(
    work: str, call: ShortCall, place: BenchmarkDevice, calls_per_second: float = SPEED
) -> BenchmarkCase:  # fmt: skip
    """The case of one call."""
    candidate = BenchmarkCandidate(place.label, partial(prepare_call, call, place), place)
    return BenchmarkCase(work, (candidate,), "calls", CALLS, calls_per_second, rehearsed=True)


def prepare_call(call: ShortCall, place: BenchmarkDevice, backend: Any) -> PreparedCandidate:
    """Make the calls, each with the process's own device, as a program of a user does."""
    import onekernel

    def solve(repetition: int) -> Any:
        for _ in range(CALLS):
            found = onekernel.run(call.workload, **call.options, backend=place.backend, device=place.device)
        return found

    return PreparedCandidate(solve, lambda found: CandidateResult(CALLS, {"cost": found.cost}, found.confirmed))


def prepare_rapidfuzz(text: tuple[str, str], backend: None) -> PreparedCandidate:
    """The length alone by rapidfuzz."""
    from drivers.bench.dynamic_programming import RAPIDFUZZ

    similarity = importlib.import_module(f"{RAPIDFUZZ}.distance").LCSseq.similarity

    def solve(repetition: int) -> int:
        for _ in range(CALLS):
            length = similarity(*text)
        return int(length)

    return PreparedCandidate(solve, lambda length: CandidateResult(CALLS, {"cost": length}, True))


def long_strings(seed: int) -> tuple[str, str]:
    """Two random strings of four letters."""
    from core.problems.tables.strings import random_strings

    first, second = random_strings(LETTERS, seed=seed)
    return first.tobytes().decode(), second.tobytes().decode()
