"""Times of short calls from Python: each workload repeatedly on one core, end to end, in this process.

A call consists of instance, device, search and check of the result. Kernels and devices are kept, so nothing is
compiled.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from core.errors import UserError
from drivers.bench.cases import is_chosen
from reports.text import formatting
from reports.text.tables import TextTable

CALLS = 20
LETTERS = 10_000
"""Length of both strings in the longer call, which rapidfuzz gets too."""


class ShortCall(NamedTuple):
    """A call of ``onekernel.run`` with almost no work: a workload and its options."""

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


def measure_table(options: argparse.Namespace) -> int:
    """Time the calls of each workload, and of two long strings with rapidfuzz too; print the table.

    Raises `UserError` if rapidfuzz finds another length, or no call is chosen.
    """
    import onekernel

    def ours(call: ShortCall) -> Callable[[], Any]:
        backend = "cpu" if options.backend == "auto" else options.backend
        return lambda: onekernel.run(call.workload, **call.options, backend=backend).cost

    text = long_strings(options.seed)
    longer = f"lcs, {LETTERS:,} letters"
    timed = {call.workload: ours(call) for call in SHORT_CALLS} | {longer: ours(ShortCall("lcs", {"text": text}))}
    if importlib.util.find_spec("rapidfuzz") is not None:
        similarity = importlib.import_module("rapidfuzz.distance").LCSseq.similarity
        timed[f"{longer}, rapidfuzz"] = lambda: similarity(*text)
    timed = {name: call for name, call in timed.items() if is_chosen(name, options)}
    if not timed:
        raise UserError(f"--rows {options.rows}: expected a part of a workload's name")
    # The first call compiles, and fills the caches of the process.
    costs = {name: call() for name, call in timed.items()}
    same = {cost for name, cost in costs.items() if name.startswith(longer)}
    if len(same) > 1:
        raise UserError(f"{longer}: found lengths {same}, expected one")
    seconds: dict[str, list[float]] = {name: [] for name in timed}
    for _ in range(options.repeats):
        for name, call in timed.items():
            seconds[name].append(call_seconds(call))
    columns = {
        "call": lambda name: name,
        ">median": lambda name: formatting.seconds(statistics.median(seconds[name])),
        ">least": lambda name: formatting.seconds(min(seconds[name])),
        ">most": lambda name: formatting.seconds(max(seconds[name])),
        ">calls/s": lambda name: formatting.rate(1 / statistics.median(seconds[name])),
        ">cost": lambda name: formatting.cost(costs[name]),
    }
    print(f"seconds of a call, means over {CALLS} calls, {formatting.counted(options.repeats, 'repetition')}")
    print(TextTable("", tuple(columns), [[str(cell(name)) for cell in columns.values()] for name in timed]).terminal())
    return 0


def call_seconds(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - began) / CALLS


def long_strings(seed: int) -> tuple[str, str]:
    from core.problems.tables.strings import random_strings

    first, second = random_strings(LETTERS, seed=seed)
    return first.tobytes().decode(), second.tobytes().decode()
