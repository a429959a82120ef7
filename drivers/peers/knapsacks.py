"""A solver of the 0-1 knapsack problem: OR-tools."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

import numpy as np

from core.tables.knapsack.problem import Knapsack
from drivers.peers.peer import PeerAnswer, PeerError, PeerPackage, PeerSubject

Items = tuple[list[int], list[int], int]


def value(instance: Knapsack, chosen: Sequence[bool]) -> int:
    weight, total = instance.weight_and_value(np.array(chosen, bool))
    if weight > instance.capacity:
        raise PeerError(f"a selection of weight {weight}, expected at most {instance.capacity}")
    return int(total)


KNAPSACKS = PeerSubject(value, Knapsack("minimal", [1, 2, 3], [1, 2, 3], 3), largest_is_best=True)


def item_lists(instance: Knapsack) -> Items:
    return instance.values.tolist(), instance.weights.tolist(), instance.capacity


def with_ortools(items: Items, seconds: float, seed: int) -> PeerAnswer:
    """Branch and bound on one core, from lists of integers to the selection, without a seed."""
    package = importlib.import_module("ortools.algorithms.python.knapsack_solver")
    values, weights, capacity = items
    kind = package.SolverType.KNAPSACK_MULTIDIMENSION_BRANCH_AND_BOUND_SOLVER
    solver = package.KnapsackSolver(kind, "knapsack")
    solver.set_time_limit(seconds)
    solver.init(values, [weights], [capacity])
    solver.solve()
    chosen = [bool(solver.best_solution_contains(item)) for item in range(len(values))]
    return PeerAnswer(chosen, bool(solver.is_solution_optimal()))


ORTOOLS = PeerPackage("ortools", KNAPSACKS, "ortools>=9.10,<10", item_lists, with_ortools)
