"""Measures dynamic programming for `drivers.bench`: LCS, 0-1 knapsack and Held-Karp, with and without a trace.

Solves are timed and nothing else, in turn and after one that is not timed. What was found must be the same everywhere:
on every backend, with and without a trace, with decisions on the device or streamed, and by the packages beside them.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from drivers.bench_ants import spread
from drivers.bench_devices import Place, one_core, opened
from drivers.bench_local_search import in_turn

TRACED = "traced"
NOT_TRACED = "no trace"


class Sizes(NamedTuple):
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


ON_CORES = Sizes(200_000, 50_000, 1500, 10**6, (20,), (), 64 << 20)
ON_GPU = Sizes(1_000_000, 200_000, 1500, 10**7, (25, 28, 30), (34,), 512 << 20)


class Contestant(NamedTuple):
    """What is timed, and what of its outcome must be equal to others': values by name."""

    solve: Callable[[], Any]
    facts: Callable[[Any], Mapping[str, Any]]


class Toured(NamedTuple):
    """What Held-Karp found."""

    length: int
    tour: np.ndarray
    cells: int


class DynamicProgramming:
    """The measurements, and what has been found so far.

    Parameters
    ----------
    options
        With ``repeats``, ``seed`` and ``full``.

    """

    def __init__(self, options: Any) -> None:
        self.options = options
        self.found: dict[tuple[str, str], tuple[Any, str]] = {}

    # --- devices ---

    def on_cores(self, devices: Sequence[Place]) -> None:
        """One core, and all of them, beside rapidfuzz and held-karp where these are installed."""
        made = opened(devices)
        self.measure(made, ON_CORES, peers=True)
        for backend in made.values():
            backend.close()

    def on_gpu(self, backend: Any) -> None:
        """A GPU."""
        self.measure({backend.name: backend}, ON_GPU, peers=False)

    def measure(self, made: Mapping[str, Any], sizes: Sizes, peers: bool) -> None:
        """All problems on some backends in turn."""
        where = ", ".join(f"{name} on {backend.device.name}" for name, backend in made.items())
        print(f"\ndynamic programming, {where}, median of {self.options.repeats} (min .. max), seconds", flush=True)
        self.lcs(made, sizes, peers)
        self.knapsack(made, sizes)
        for cities in (*sizes.cities, *(sizes.full_cities if self.options.full else ())):
            self.held_karp(made, cities, sizes, peers)

    # --- problems ---

    def lcs(self, made: Mapping[str, Any], sizes: Sizes, peers: bool) -> None:
        """The length of a longest common subsequence, and what tracing one costs."""
        from core.problems.strings import random_strings

        seed = self.options.seed
        a, b = random_strings(sizes.letters, letters=4, seed=seed)
        race = {name: common(backend, a, b, False) for name, backend in made.items()}
        if peers:
            race |= installed("rapidfuzz", lambda package: by_rapidfuzz(a, b))
        self.race(f"LCS, {sizes.letters:,} random letters of 4", race, one_core(made))
        a, b = random_strings(sizes.traced_letters, letters=4, seed=seed)
        for name, backend in made.items():
            race = {
                NOT_TRACED: common(backend, a, b, False),
                TRACED: common(backend, a, b, True),
                streamed(sizes.room): common(backend, a, b, True, sizes.room),
            }
            title = f"LCS, {sizes.traced_letters:,} random letters of 4"
            self.race(title, race, NOT_TRACED, name)

    def knapsack(self, made: Mapping[str, Any], sizes: Sizes) -> None:
        """The largest value, with its items, and what tracing them costs."""
        from core.problems.knapsack import generate

        instance = generate("paper", sizes.items, sizes.capacity, self.options.seed)
        for name, backend in made.items():
            race = {
                NOT_TRACED: packed(backend, instance, False),
                TRACED: packed(backend, instance, True),
                streamed(sizes.room): packed(backend, instance, True, sizes.room),
            }
            title = f"knapsack, {instance.n:,} items, capacity {instance.capacity:,}"
            self.race(title, race, NOT_TRACED, name)

    def held_karp(self, made: Mapping[str, Any], cities: int, sizes: Sizes, peers: bool) -> None:
        """A shortest tour."""
        from core.errors import UserError
        from core.problems import tsp

        instance = tsp.load(f"uniform:{cities}:seed={self.options.seed + 1}")
        race: dict[str, Contestant] = {}
        for name, backend in made.items():
            try:
                race[name] = toured(backend, instance)
            except UserError as error:
                print(f"Held-Karp, {cities} cities, {name}: not measured ({error})", flush=True)
        if peers:
            race |= installed("held_karp", lambda package: by_held_karp(package, instance))
        repeats = 1 if cities in sizes.full_cities else None
        self.race(f"Held-Karp, {cities} cities", race, one_core(made), repeats=repeats)

    # --- timing ---

    def race(
        self, title: str, race: Mapping[str, Contestant], first: str, where: str = "", repeats: int | None = None
    ) -> None:
        """Time contestants in turn, compare what they found, and print a line for each and its ratio to the first.

        Raises
        ------
        RuntimeError
            Two of them, now or before under the same title, did not find the same.

        """
        runs: dict[str, Callable[[], float]] = {}
        notes: dict[str, str] = {}
        cells = 0
        for name, contestant in race.items():
            whose = f"{where} {name}".strip()
            outcome = contestant.solve()  # compiles, allocates and fills caches
            self.agreed(title, whose, contestant.facts(outcome))
            cells = cells or int(getattr(outcome, "cells", 0))
            notes[name] = how(outcome)
            runs[name] = self.timed(title, whose, contestant)
        print(f"  {title}{', ' + where if where else ''}")
        times = in_turn(runs, repeats or self.options.repeats)
        for name, seconds in times.items():
            rate = cells / statistics.median(seconds) / 1e9
            ratio = ""
            if name != first and first in times:
                pairs = [mine / its for mine, its in zip(seconds, times[first], strict=True)]
                ratio = f"  {statistics.median(pairs):7.3f} of the time of {first}"
            print(f"    {name:24} {spread(seconds)}  {rate:11.3f} G cells/s{ratio}{notes[name]}", flush=True)

    def timed(self, title: str, name: str, contestant: Contestant) -> Callable[[], float]:
        """A function that solves once and returns the seconds of that."""

        def run() -> float:
            began = time.perf_counter()
            outcome = contestant.solve()
            seconds = time.perf_counter() - began
            self.agreed(title, name, contestant.facts(outcome))
            return seconds

        return run

    def agreed(self, title: str, name: str, facts: Mapping[str, Any]) -> None:
        """Remember what somebody found, or compare it with what is known."""
        for fact, value in facts.items():
            known, whose = self.found.setdefault((title, fact), (value, name))
            if value != known:
                raise RuntimeError(f"{title}: {fact} is {value} by {name}, but {known} by {whose}")


def streamed(room: int) -> str:
    """The name of a run that has so many bytes for decisions."""
    return f"{TRACED}, {room >> 20} MiB of room"


def how(outcome: Any) -> str:
    """What an outcome says of how it was found: the method, and what left the device."""
    parts = [getattr(outcome, "method", "")]
    if getattr(outcome, "streamed_bytes", 0):
        parts.append(f"{outcome.streamed_bytes:,} bytes streamed")
    return "".join(f"  {part}" for part in parts if part)


# --- the contestants ---


def common(backend: Any, a: np.ndarray, b: np.ndarray, trace: bool, room: int | None = None) -> Contestant:
    """A longest common subsequence by a backend."""
    from cluster import Solo
    from core.search.dp.lcs import LongestCommonSubsequence

    search = LongestCommonSubsequence(backend, Solo(), a, b, room=room)

    def facts(outcome: Any) -> dict[str, Any]:
        known = {"length": outcome.length}
        if outcome.pairs is not None:
            matched = np.asarray(outcome.pairs)
            if not np.array_equal(a[matched[:, 0]], b[matched[:, 1]]) or (np.diff(matched, axis=0) <= 0).any():
                raise RuntimeError(f"{backend.name} traced no common subsequence")
            # In linear space another subsequence of that length may be found.
            known[f"subsequence, {outcome.method}"] = digest(matched)
        return known

    return Contestant(lambda: search.run(trace), facts)


def packed(backend: Any, instance: Any, trace: bool, room: int | None = None) -> Contestant:
    """A knapsack packed by a backend."""
    from cluster import Solo
    from core.search.dp.knapsack import KnapsackSearch

    search = KnapsackSearch(backend, Solo(), instance, room=room)

    def facts(outcome: Any) -> dict[str, Any]:
        known = {"value": outcome.value}
        if outcome.chosen is not None:
            weight, known["value"] = instance.weight_and_value(outcome.chosen)
            if weight > instance.capacity or known["value"] != outcome.value:
                raise RuntimeError(f"{backend.name} traced no selection of value {outcome.value}")
            known["selection"] = digest(np.asarray(outcome.chosen))
        return known

    return Contestant(lambda: search.run(trace), facts)


def toured(backend: Any, instance: Any) -> Contestant:
    """A shortest tour by a backend; its cells are the transitions of meeting in the middle."""
    from cluster import Solo
    from core.search.dp.held_karp import HeldKarp

    search = HeldKarp(backend, Solo(), instance.distances)

    def solve() -> Toured:
        found = search.run()
        assert found.tour is not None
        return Toured(found.length, found.tour, found.transitions)

    def facts(outcome: Toured) -> dict[str, Any]:
        if instance.tour_length(outcome.tour) != outcome.length:
            raise RuntimeError(f"{backend.name} traced no tour of length {outcome.length}")
        return {"length": outcome.length, "tour": digest(outcome.tour)}

    return Contestant(solve, facts)


def installed(module: str, contestant: Callable[[Any], Contestant]) -> dict[str, Contestant]:
    """A package beside the backends, by its name; none if it is not installed, and says so."""
    name = module.replace("_", "-")
    if importlib.util.find_spec(module) is None:
        print(f"  no {name} beside them: pip install {name}")
        return {}
    return {name: contestant(importlib.import_module(module))}


def by_rapidfuzz(a: np.ndarray, b: np.ndarray) -> Contestant:
    """The length by rapidfuzz's bit-parallel C++ on one core."""
    similarity = importlib.import_module("rapidfuzz.distance").LCSseq.similarity
    first, second = a.tobytes(), b.tobytes()
    return Contestant(lambda: similarity(first, second), lambda length: {"length": int(length)})


def by_held_karp(package: Any, instance: Any) -> Contestant:
    """A shortest tour by the plain algorithm in Rust on one core."""
    flat = instance.distances.astype(float).ravel().tolist()
    return Contestant(lambda: package.solve_flat(flat, instance.n), lambda outcome: {"length": round(outcome[1])})


def digest(values: np.ndarray) -> str:
    """64 bits of some integers."""
    return hashlib.blake2b(values.astype("<i8").tobytes(), digest_size=8).hexdigest()
