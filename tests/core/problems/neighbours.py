"""What every neighbour of a solution costs: by the kernel functions of a problem, and by rescoring each with NumPy."""

import itertools

import numpy as np

from core.kernels.local_search import BEST, CONTROL, EVERYTHING, HALT, search_kernels
from core.kernels.local_search import CHANGED as CHANGED_WORD
from core.kernels.moves import MOVES, NEVER
from core.search.local_search import NEIGHBOURHOODS

made = {}


def neighbours(name, solution, choices):
    """Every neighbour in the order of its index, as `luong2013` defines it; None for an index that is none."""
    n, solution = len(solution), list(map(int, solution))
    if name == "assign":
        for i in range(n):
            for value in range(choices):
                if value != solution[i]:
                    yield [*solution[:i], value, *solution[i + 1 :]]
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
    way, data = problem.evaluations(name)[evaluation], problem.data_for(evaluation)
    kinds = [getattr(value, "dtype", type(value)) for value in data.values()]
    key = (type(problem), name, evaluation, *map(str, kinds))
    if key not in made:  # serves every instance of that kind, so that compiling is paid for once
        one = NEIGHBOURHOODS[name]
        made[key] = search_kernels(problem.hooks(way, data, name), (one.shape,), one.change, MOVES, BEST, HALT)
    given = [backend.upload(v.reshape(-1)) if isinstance(v, np.ndarray) else v for v in data.values()]
    given += [backend.allocate(max(1, count), dtype) for count, dtype in problem.kept_sizes(way, data).values()]
    n, choices = problem.encoding.n, problem.encoding.choices
    solutions, bests, homes = (backend.upload(np.array(solution, problem.encoding.dtype)) for _ in range(3))
    control = np.zeros(CONTROL, np.int32)
    control[CHANGED_WORD] = EVERYTHING
    lanes = min(4, backend.capabilities.max_team_size)
    backend.launch(made[key].begin, 1, lanes, 1, solutions, bests, homes, n, *given)
    return fitness(backend, made[key], NEIGHBOURHOODS[name].size(problem.encoding), backend.upload(control),
                   backend.allocate(1, np.int32), solutions, n, choices, given)  # fmt: skip


def after_a_walk(search):
    """The same from the state in which a search has left its first walk, and the solution where it stands."""
    encoding = search.problem.encoding
    found = fitness(search.backend, search.kernels, search.sizes[0], search.controls, search.memories,
                    search.solutions, encoding.n, encoding.choices, search.data)  # fmt: skip
    return found, search.backend.download(search.solutions)[: encoding.n]


def fitness(backend, kernels, size, controls, memories, solutions, n, choices, given):
    """The difference of every neighbour of the first level, by `delta`."""
    found, no_tabu = backend.allocate(max(1, size), np.int32), backend.allocate(max(1, size), np.int32)
    lanes = min(4, backend.capabilities.max_team_size)
    backend.launch(kernels.fitness, 2, lanes, 0, 0, 0, size, controls, memories, found, no_tabu, solutions, n,
                   choices, *given)  # fmt: skip
    return backend.download(found)[:size].tolist()
