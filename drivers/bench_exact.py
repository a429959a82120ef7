"""Measures exact search for `drivers.bench`: the thesis' 15 instances, and nodes per second with its own bound."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

from drivers.bench_ants import loaded
from drivers.bench_devices import Place, one_core, opened

TABLE = "5.2"
"""The thesis' table of its faster machine."""
BY_EDGES = ("ulysses16", "gr21", "gr24")
ON_ONE_CORE = ("gr17", "gr21")


def published() -> dict[str, str]:
    """The thesis' times by instance, as printed; in words where there is none."""
    from reports import literature

    content = literature.publication("exact", "tables")
    assert content is not None
    table = next(table for table in content["tables"] if table["number"] == TABLE)
    return {row["instance"]: f"{row['solver']} s" if "solver" in row else "not solved" for row in table["rows"]}


def bench_cpu(options: Any, devices: Sequence[Place]) -> None:
    """Every instance of the thesis on one core; its own bound on one core and on all."""
    made = opened(devices)
    one = one_core(made)
    if one:
        print(f"\nexact, 1-trees, {made[one].device.name}, one core, median of {options.repeats}, ms end to end")
    for name in published() if one else ():
        measure(options, made[one], name, {})
    for other, backend in made.items():
        print(f"\nexact, the thesis' bound, {other}")
        for name in ON_ONE_CORE:
            measure(options, backend, name, {"bound": "edges"})
        backend.close()


def bench_gpu(options: Any, backend: Any) -> None:
    """The thesis' own bound."""
    print(f"\nexact, the thesis' bound, {backend.name} on {backend.device.name}")
    for name in BY_EDGES:
        measure(options, backend, name, {"bound": "edges"})


def measure(options: Any, backend: Any, name: str, how: dict[str, Any]) -> None:
    """A line of the table."""
    from cluster import Solo
    from core.search.exact import ExactSearch

    instance = loaded(name, options.data)
    if instance is None:
        return
    search = ExactSearch(backend, Solo(), instance.distances, **how)
    search.warm_up()
    seconds = []
    for _ in range(options.repeats):
        began = time.perf_counter()
        solution = search.run()
        seconds.append(time.perf_counter() - began)
    nodes, median = int(solution.nodes.sum()), statistics.median(seconds)
    print(
        f"  {name:10} {solution.length:6} {median * 1e3:12.3f} ({min(seconds) * 1e3:.3f} .. {max(seconds) * 1e3:.3f})  "
        f"{nodes:15,} nodes  {nodes / median / 1e6:10.2f} M nodes/s  thesis, RTX 3090: {published()[name]}",
        flush=True,
    )
