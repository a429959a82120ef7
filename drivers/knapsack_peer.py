"""OR-tools' knapsack solver on the same instance in the same run, if it is installed."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import statistics
import time
from typing import Any, NamedTuple

import numpy as np

LIMIT_S = 60.0
"""Seconds after which a run of the peer is cut short."""


class Peer(NamedTuple):
    """What a solver did: the median time of its repetitions; `trouble` says why there is nothing."""

    name: str
    value: int | None = None
    proved: bool = False
    solve_s: float = 0.0
    repetitions: int = 0
    version: str = ""
    trouble: str = ""


def ortools(instance: Any, repeats: int) -> Peer:
    """OR-tools' branch and bound for knapsacks on one core, from lists of integers to the selection, which is scored.

    Parameters
    ----------
    instance : core.problems.knapsack.Knapsack
    repeats : int
        Runs; the first also loads nothing, since the import is not timed.

    """
    name = "ortools"
    if importlib.util.find_spec(name) is None:
        return Peer(name, trouble="not found: pip install ortools")
    try:
        package = importlib.import_module("ortools.algorithms.python.knapsack_solver")
    except ImportError as error:
        return Peer(name, trouble=f"failed: {' '.join(str(error).split())}")
    kind = package.SolverType.KNAPSACK_MULTIDIMENSION_BRANCH_AND_BOUND_SOLVER
    values, weights = instance.values.tolist(), [instance.weights.tolist()]
    seconds, found = [], []
    for _ in range(repeats):
        began = time.perf_counter()
        solver = package.KnapsackSolver(kind, "knapsack")
        solver.set_time_limit(LIMIT_S)
        solver.init(values, weights, [instance.capacity])
        solver.solve()
        chosen = np.array([solver.best_solution_contains(item) for item in range(instance.n)], bool)
        seconds.append(time.perf_counter() - began)
        weight, value = instance.weight_and_value(chosen)
        if weight > instance.capacity:
            return Peer(name, trouble=f"failed: a selection of weight {weight}, expected at most {instance.capacity}")
        found.append((value, bool(solver.is_solution_optimal())))
    value, proved = min(found)
    return Peer(name, value, proved, statistics.median(seconds), repeats, importlib.metadata.version(name))
