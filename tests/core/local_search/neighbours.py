"""Costs of all neighbours of a solution: by a problem's kernel functions, and by rescoring each with NumPy."""

import itertools

import numpy as np

from core.local_search import Iterations
from core.local_search.initial import start_solutions
from core.local_search.kernels.moves import NEVER
from core.local_search.kernels.walks import Share


def neighbours(name, solution, choices):
    """Every neighbour in the order of its index, as in `luong2013` and `core.local_search.kernels`; None for an invalid index."""
    n, solution = len(solution), list(map(int, solution))
    if name == "assign":
        for i in range(n):
            for value in range(choices):
                if value != solution[i]:
                    yield [*solution[:i], value, *solution[i + 1 :]]
    elif name == "insert":
        for row, column in itertools.product(range(n - 1), repeat=2):
            i, j = (row, column + 1) if column >= row else (row + 1, column)
            rest = [*solution[:i], *solution[i + 1 :]]
            yield [*rest[:j], solution[i], *rest[j:]]
    elif name == "reverse":
        for i, j in itertools.combinations(range(n), 2):
            yield [*solution[:i], *solution[i : j + 1][::-1], *solution[j + 1 :]]
    elif name == "2opt":
        for i, j in itertools.combinations(range(n), 2):
            fresh = j > i + 1 and (i, j) != (0, n - 1)
            yield [*solution[: i + 1], *solution[i + 1 : j + 1][::-1], *solution[j + 1 :]] if fresh else None
    else:
        changed = int(name[-1])
        for places in itertools.combinations(range(n), changed):
            other = list(solution)
            for at, source in zip(places, (*places[1:], places[0]), strict=True):
                other[at] = 1 - solution[at] if name.startswith("flip") else solution[source]
            yield other


def rescored(problem, name, solution):
    now = problem.cost(np.array(solution))
    solutions = neighbours(name, solution, problem.encoding.choices)
    return [NEVER if other is None else problem.cost(np.array(other)) - now for other in solutions]


def differences(search, iterations, start=None):
    """Differences of all neighbours after some iterations of a walk, and the walk's solution.

    By `delta`, and by `quick` if the evaluation keeps tables. The walk's memory is cleared first, since forbidden moves
    have no difference.
    """
    backend, plan, on = search.backend, search.plan, search.launcher.memory
    search.walks.begin(Iterations(10**6), start_solutions(plan.problem, 1, start))
    search.iterate(iterations)
    search.launcher.refresh()
    backend.write(on.walkers.memory, np.zeros(on.walkers.memory.size, np.int32))
    size, lanes = plan.sizes[0], min(4, backend.capabilities.max_team_size)
    by_evaluation = []
    for quick in (False, True)[: 1 + plan.is_quick]:
        fitnesses = backend.allocate(max(1, size), np.int32)
        share = Share(0, 1, 0, size)
        kernel = search.launcher.kernels.fitness
        backend.launch(kernel, 2, lanes, quick, 0, share, fitnesses, on.walkers, on.data)
        by_evaluation.append(backend.download(fitnesses)[:size].tolist())
    return by_evaluation, backend.download(on.walkers.solution)[: plan.problem.encoding.n]
