"""Estimated time of a run, before any device is made, for lists of runs that take hours.

A workload says its work of a search that is made ready (`drivers.workload.declaration.Workload.work`). Here stands what
such a search would say, from the options and the problem alone; where that depends on the device it is the most that it
can be.
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
"""Seconds that a process takes before its first repetition: imports, the self-test of the device, compilation."""
EMULATED_MEETING_S = 0.02
"""Seconds of a reduction over five emulated sites, as measured; fewer hosts are faster."""


def planned_work(workload: Workload[Any], task: Task) -> RepetitionWork | None:
    """Return the work of one repetition; None if unknown in advance.

    Raises
    ------
    UserError
        No device can run the search.

    """
    is_local = isinstance(task.options, SearchOptions)
    has_plan = is_local and task.options.has_plan
    declared = local_search if has_plan else WORK_BY_WORKLOAD.get(workload.name)
    search = declared(task) if declared else SimpleNamespace()
    return workload.work(PreparedRun(with_usual_iterations(task), task.problem, task.source, search, Solo()))


def with_usual_iterations(task: Task) -> Any:
    """The options, with as many iterations as a search that ends by itself usually makes.

    A climb takes about as many steps as a solution has elements, and seldom as many as its limit allows.
    """
    options = task.options
    if getattr(options, "algorithm", None) in CLIMBS and options.iterations is not None:
        return replace(options, iterations=min(options.iterations, task.problem.encoding.n))
    return options


def estimate_seconds(work: RepetitionWork, where: Configuration, repetitions: int, iterations: int = 0) -> float:
    """Return the estimated duration of repetitions on a configuration; emulated hosts share this machine's cores.

    Their ranks synchronise in each of the `iterations`, over a slow network.
    """
    ranks = min(where.ranks, cores()) if where.network else where.ranks
    speed = usual_speed(work, where.kind, where.compute_units, ranks, is_reference=where.is_reference)
    waiting_s = EMULATED_MEETING_S * iterations if where.network else 0.0
    return repetitions * (min(work.amount, 10**300) / speed + waiting_s)


def format_estimate(seconds: float) -> str:
    """A time for people who decide whether to wait for it."""
    return f"{seconds:.0f} s" if seconds < 120 else duration(seconds)


# --- what searches would say ---


def local_search(task: Task) -> Any:
    """Walks, and the sizes of all neighbourhoods; refuses what every device would."""
    from core.search.local_search.plan import Plan
    from drivers.workload.local_search import chosen_neighbourhoods, setting_names

    options = task.options
    names, tuned = chosen_neighbourhoods(options, task.problem), options.shape != "fixed"
    settings = {name: getattr(options, name) for name in setting_names()}
    plan = Plan.make(task.problem, options.chosen_algorithm(), names, tuned=tuned, **settings)
    return SimpleNamespace(plan=plan)


def lcs(task: Task) -> Any:
    """All cells of the table."""
    return SimpleNamespace(work=len(task.problem.a) * len(task.problem.b), work_unit="cells")


def knapsack(task: Task) -> Any:
    """Return all cells of the table as an upper bound; None for branch and bound."""
    cells = len(task.problem.useful_items()) * (task.problem.capacity + 1)
    return SimpleNamespace(work=None if task.options.bounded else cells, work_unit="cells")


def held_karp(task: Task) -> Any:
    """All transitions, although meeting in the middle takes about half of them; of one pass where it is restricted."""
    n, options = task.problem.n, task.options
    if options.k is None:
        return SimpleNamespace(work=(n - 1) * ((n - 2) * 2 ** max(0, n - 3) + 1), work_unit="transitions")
    from core.kernels.dp.restricted_tour import network
    from core.search.dp.held_karp.neighbourhood import LEAST_K

    net = network(max(LEAST_K, min(options.k, n - 1)))
    return SimpleNamespace(work=(options.rotations or 1) * (n - 1) * net.transitions, work_unit="transitions")


def exact(task: Task) -> Any:
    """Return all beginnings of tours, or all tours; the number left by a bound is unknown."""
    from math import perm

    options, cities = task.options, task.problem.n - 1
    if options.bound != "none":
        return SimpleNamespace(work=None, work_unit="nodes")
    by_number = options.enumerate == "permutations"
    nodes = perm(cities) if by_number else sum(perm(cities, k) for k in range(max(1, cities - 2)))
    return SimpleNamespace(work=nodes * (2 if options.count else 1), work_unit="nodes")


WORK_BY_WORKLOAD: Mapping[str, Callable[[Task], Any]] = {
    "lcs": lcs,
    "knapsack": knapsack,
    "heldkarp": held_karp,
    "exact": exact,
}
"""By workload other than local search; the work of others follows from their options and problems."""
