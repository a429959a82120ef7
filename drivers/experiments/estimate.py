"""Estimated time of a run, before a device is made, for lists of runs that take hours.

A prepared search reports its work (`drivers.workload.declaration.Workload.work`). This module computes the same from
the options and the problem alone; it is an upper bound if the work depends on the device.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from cluster import Solo
from drivers.experiments.configurations import Configuration
from drivers.options.local_search import SearchOptions
from drivers.workload.declaration import PreparedRun, Task, Workload
from drivers.workload.run_time import RepetitionWork, usual_speed
from reports.records.environment import cores
from reports.text.formatting import duration

CLIMBS = ("hill", "first")
"""Algorithms of local search that end in the first local optimum."""
START_S = 3.0
"""Seconds before the first repetition: imports, the device's self-test, compilation."""
EMULATED_MEETING_S = 0.02
"""Measured seconds of a reduction over five emulated sites; fewer hosts are faster."""


def planned_work(workload: Workload[Any], task: Task) -> RepetitionWork | None:
    """Return the work of one repetition; None if unknown. Raises `UserError` if no device can run the search."""
    is_local = isinstance(task.options, SearchOptions)
    has_plan = is_local and task.options.has_plan
    declared = local_search if has_plan else WORK_BY_WORKLOAD.get(workload.name)
    search = declared(task) if declared else SimpleNamespace()
    return workload.work(PreparedRun(with_usual_iterations(task), task.problem, task.source, search, Solo()))


def with_usual_iterations(task: Task) -> Any:
    """The options with the usual number of iterations of a search that ends by itself.

    A climb takes about as many steps as a solution has elements, and seldom as many as its limit.
    """
    options = task.options
    if getattr(options, "algorithm", None) in CLIMBS and options.iterations is not None:
        return replace(options, iterations=min(options.iterations, task.problem.encoding.n))
    return options


def estimate_seconds(work: RepetitionWork, where: Configuration, repetitions: int, iterations: int = 0) -> float:
    """Return the estimated duration of repetitions on a configuration.

    Emulated hosts share this machine's cores, and synchronise in each of the `iterations` over a slow network.
    """
    ranks = min(where.ranks, cores()) if where.network else where.ranks
    speed = usual_speed(work, where.kind, where.compute_units, ranks, is_reference=where.is_reference)
    waiting_s = EMULATED_MEETING_S * iterations if where.network else 0.0
    return repetitions * (min(work.amount, 10**300) / speed + waiting_s)


def format_estimate(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else duration(seconds)


# --- what searches would say ---


def local_search(task: Task) -> Any:
    """Walks and sizes of all neighbourhoods. Refuses searches that every device would refuse."""
    from core.local_search.plan import Plan
    from drivers.workload.local_search import chosen_neighbourhoods, setting_names

    options = task.options
    names, tuned = chosen_neighbourhoods(options, task.problem), options.shape != "fixed"
    settings = {name: getattr(options, name) for name in setting_names()}
    plan = Plan.make(task.problem, options.chosen_algorithm(), names, tuned=tuned, **settings)
    return SimpleNamespace(plan=plan)


def lcs(task: Task) -> Any:
    return SimpleNamespace(work=len(task.problem.a) * len(task.problem.b), work_unit="cells")


def knapsack(task: Task) -> Any:
    """All cells of the table as an upper bound; None for branch and bound."""
    cells = len(task.problem.useful_items()) * (task.problem.capacity + 1)
    return SimpleNamespace(work=None if task.options.bounded else cells, work_unit="cells")


def held_karp(task: Task) -> Any:
    """All transitions, although meeting in the middle takes about half of them."""
    n, options = task.problem.n, task.options
    if options.k is None:
        return SimpleNamespace(work=(n - 1) * ((n - 2) * 2 ** max(0, n - 3) + 1), work_unit="transitions")
    from core.tables.held_karp.kernels.restricted_tour import network
    from core.tables.held_karp.neighbourhood import LEAST_K

    net = network(max(LEAST_K, min(options.k, n - 1)))
    return SimpleNamespace(work=(n - 1) * net.transitions, work_unit="transitions")


def exact(task: Task) -> Any:
    """All beginnings of tours; None with a bound."""
    from math import perm

    options, cities = task.options, task.problem.n - 1
    if options.bound != "none":
        return SimpleNamespace(work=None, work_unit="nodes")
    nodes = sum(perm(cities, k) for k in range(max(1, cities - 2)))
    return SimpleNamespace(work=nodes * (2 if options.count else 1), work_unit="nodes")


WORK_BY_WORKLOAD: Mapping[str, Callable[[Task], Any]] = {
    "lcs": lcs,
    "knapsack": knapsack,
    "heldkarp": held_karp,
    "exact": exact,
}
"""Workloads other than local search; others' work follows from their options and problems."""
