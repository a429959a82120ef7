"""Tables of dynamic programming in NumPy and plain Python, which these tests compare with, and random problems."""

import itertools
from functools import cache

import numpy as np

from cluster import Solo
from core.tables.engine.table_search import PublishedTable, TableRun
from core.tables.held_karp.waves import SubsetWaves
from core.tables.knapsack.problem import Knapsack

BIG = 2**32 - 1

# --- strings ---


def letters(text):
    return np.frombuffer(text, getattr(text, "dtype", np.uint8))


def drawn(seed, *lengths, letters=4):
    """Random strings that have all letters; another number of letters needs another program."""
    rng = np.random.default_rng(seed)
    strings = [rng.integers(0, letters, length, np.uint8) for length in lengths]
    for string in strings:
        string[rng.permutation(len(string))[:letters]] = np.arange(letters)[: len(string)]
    return [string.tobytes() for string in strings]


def common_table(a, b):
    a, b = letters(a), letters(b)
    table = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    for i, letter in enumerate(a.tolist()):
        matched = np.where(b == letter, table[i, :-1] + 1, table[i, 1:])
        table[i + 1, 1:] = np.maximum.accumulate(matched)
    return table


def common_pairs(a, b):
    """Matched pairs by the rule for ties: left where that keeps the length, else up, else both."""
    table = common_table(a, b)
    i, j, pairs = len(a), len(b), []
    while table[i, j]:
        if table[i, j - 1] == table[i, j]:
            j -= 1
        elif table[i - 1, j] == table[i, j]:
            i -= 1
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]


# --- knapsacks ---


def knapsack(items, capacity):
    weights, values = zip(*items, strict=True)
    return Knapsack("test", np.array(weights), np.array(values), capacity)


def packed_table(instance):
    """The table of best values, item by item in the order of weights; and that order."""
    order = sorted(range(instance.n), key=lambda item: (int(instance.weights[item]), item))
    table = np.zeros((instance.n + 1, instance.capacity + 1), np.uint64)
    for row, item in enumerate(order):
        weight, value = int(instance.weights[item]), np.uint64(instance.values[item])
        table[row + 1] = table[row]
        if weight <= instance.capacity:
            with_it = table[row, : instance.capacity + 1 - weight] + value
            table[row + 1, weight:] = np.maximum(table[row, weight:], with_it)
    return table, order


def best_selection(instance):
    """Value and selection of the table. An item is taken only for a strictly better value."""
    table, order = packed_table(instance)
    left, chosen = instance.capacity, set()
    for k in reversed(range(len(order))):
        if table[k + 1, left] > table[k, left]:
            chosen.add(order[k])
            left -= int(instance.weights[order[k]])
    return int(table[-1, -1]), chosen


def chosen_items(selection):
    return set(np.flatnonzero(selection.chosen).tolist())


# --- tours ---


def by_layers(backend, distances, lanes=None):
    """Held and Karp's recursion by the paper's mapping, and its answer."""
    problems = SubsetWaves(distances), SubsetWaves(distances[:2, :2])
    table = PublishedTable(backend, Solo(), *problems, team_size=lanes)
    return table, table.compute(TableRun(True, None, Solo()))


def random_distances(n, seed, most, directed):
    table = np.random.default_rng([n, seed]).integers(0, most + 1, (n, n))
    table = table if directed else np.triu(table, 1) + np.triu(table, 1).T
    np.fill_diagonal(table, 0)
    return table


@cache
def tours_of(n):
    return np.array([(0, *rest) for rest in itertools.permutations(range(1, n))])


def by_permutations(distances):
    """Length of a shortest tour, by enumeration."""
    tours = tours_of(len(distances))
    return int(distances[tours, np.roll(tours, -1, axis=1)].sum(axis=1).min())


def path_lengths(distances):
    """Shortest paths from city 0 through each set of cities to each of its members, over Python's sets."""
    table, others = distances.tolist(), range(1, len(distances))
    shortest_paths = {(frozenset([i]), i): table[0][i] for i in others}
    for size in range(2, len(table)):
        for chosen in map(frozenset, itertools.combinations(others, size)):
            for i in chosen:
                shortest_paths[chosen, i] = min(shortest_paths[chosen - {i}, j] + table[j][i] for j in chosen - {i})
    return shortest_paths
