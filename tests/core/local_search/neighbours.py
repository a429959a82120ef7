"""Costs of all neighbours of a solution: by a problem's kernel functions, and by rescoring each with NumPy."""

import itertools


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
