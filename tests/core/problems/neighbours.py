"""What every neighbour of a solution costs: by the kernel functions of a problem, and by rescoring each with NumPy."""

import itertools

import numpy as np

from core.kernels.hooks import BEST, HALT, Rules
from core.kernels.local_search import search_kernels
from core.kernels.moves import MOVES, NEVER
from core.kernels.walks import CHANGED, CONTROL, COST, EVERYTHING, Share, Walk
from core.lang.bundles import fields_of
from core.search.local_search import NEIGHBOURHOODS

made = {}


def neighbours(name, solution, choices):
    """Every neighbour in the order of its index, as `luong2013` and `core.kernels` define it; None for an index that is none."""
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
    """Cost differences of all neighbours by the NumPy scorer."""
    now = problem.cost(np.array(solution))
    every = neighbours(name, solution, problem.encoding.choices)
    return [NEVER if other is None else problem.cost(np.array(other)) - now for other in every]


def by_kernels(backend, problem, name, evaluation, solution):
    """The same by an evaluation of the problem, from state that is built for this solution."""
    its, data, encoding = problem.evaluations(name)[evaluation], problem.data_for(evaluation), problem.encoding
    kinds = [getattr(getattr(data, field), "dtype", "") for field in fields_of(type(data))]
    key = (type(problem), name, evaluation, *map(str, kinds))
    one = NEIGHBOURHOODS[name]
    if key not in made:  # serves every instance of that kind, so that compiling is paid for once
        made[key] = search_kernels(problem.hooks(its, name), Rules((one.shape,), one.change, MOVES, BEST, HALT))
    walkers = backend.rows(Walk(room=1, length=encoding.n, choices=encoding.choices), 1, S=encoding.dtype)
    backend.write(walkers.solution, np.array(solution, encoding.dtype))
    control = np.zeros(CONTROL, np.int32)
    control[CHANGED] = EVERYTHING
    control[COST] = problem.cost(np.array(solution))
    backend.write(walkers.control, control)
    rows = backend.rows(data, 1)
    lanes = min(4, backend.capabilities.max_team_size)
    backend.launch(made[key].begin, 1, lanes, walkers, rows)
    return fitness(backend, made[key], one.size(encoding), walkers, rows)


def after_a_walk(search):
    """The same from the state in which a search has left its first walk, and the solution where it stands.

    Its memory is blank then, since what is forbidden has no difference.
    """
    search.backend.write(search.walkers.memory, np.zeros(search.walkers.memory.size, np.int32))
    found = fitness(search.backend, search.kernels, search.sizes[0], search.walkers, search.data)
    return found, search.backend.download(search.walkers.solution)[: search.problem.encoding.n]


def fitness(backend, kernels, size, walkers, data):
    """The difference of every neighbour of the first level, by `delta`."""
    fitnesses = backend.allocate(max(1, size), np.int32)
    lanes = min(4, backend.capabilities.max_team_size)
    backend.launch(kernels.fitness, 2, lanes, False, 0, Share(0, 1, 0, size), fitnesses, walkers, data)
    return backend.download(fitnesses)[:size].tolist()
