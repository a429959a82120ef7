"""Pairs, triples and insertions by index, on every backend, against NumPy's and Python's combinations and lists."""

import itertools
import math

import numpy as np
import pytest

from core.lang import Array, Generic, function, i32, kernel, lane, team_count, team_rank, team_size, u32
from core.local_search.kernels.index_mappings import (
    insertion_source,
    insertion_target,
    pair_column,
    pair_index,
    pair_row,
    triple_first,
    triple_rest,
    triples,
)

T = Generic("T")
LARGEST = 65_535
LARGEST_OF_U32 = 2_954


@function
def triple_index(i: T, j: T, k: T, n: T) -> T:
    """Return the index of the triple i < j < k."""
    return triples(n) - triples(n - i) + T(pair_index(i32(j - i - 1), i32(k - i - 1), i32(n - i - 1)))


@function
def insertion_index(i: i32, j: i32, n: i32) -> u32:
    """Return the index of the insertion of element i at j; j is neither i nor i - 1."""
    if j > i:
        return u32(i) * u32(n - 1) + u32(j - 1)
    return u32(i - 1) * u32(n - 1) + u32(j)


@kernel
def map_pairs(n: i32, count: i32, indices: Array[u32], first: Array[i32], second: Array[i32], again: Array[u32]):
    for p in range(team_rank() * team_size() + lane(), count, team_count() * team_size()):
        i = pair_row(indices[p], n)
        j = pair_column(indices[p], i, n)
        first[p] = i
        second[p] = j
        again[p] = pair_index(i, j, n)


@kernel
def map_triples(
    n: i32, count: i32, indices: Array[T], first: Array[i32], second: Array[i32], third: Array[i32], again: Array[T]
):
    for p in range(team_rank() * team_size() + lane(), count, team_count() * team_size()):
        i = triple_first(indices[p], n)
        rest = triple_rest(indices[p], i, n)
        j = pair_row(rest, n - i - 1)
        first[p] = i
        second[p] = i + 1 + j
        third[p] = i + 1 + pair_column(rest, j, n - i - 1)
        again[p] = triple_index(T(i), T(second[p]), T(third[p]), T(n))


@kernel
def map_insertions(n: i32, count: i32, indices: Array[u32], first: Array[i32], second: Array[i32], again: Array[u32]):
    for p in range(team_rank() * team_size() + lane(), count, team_count() * team_size()):
        first[p] = insertion_source(indices[p], n)
        second[p] = insertion_target(indices[p], n)
        again[p] = insertion_index(first[p], second[p], n)


def mapped(backend, kernel, n, indices, elements):
    """Elements of each index, one array for each place, after a check of the inverse."""
    uploaded = backend.upload(indices)
    outputs = [backend.allocate(indices.size, np.int32) for _ in range(elements)]
    again = backend.allocate(indices.size, indices.dtype)
    backend.launch(kernel, 4, 1, n, indices.size, uploaded, *outputs, again)
    np.testing.assert_array_equal(backend.download(again), indices)
    return [backend.download(output) for output in outputs]


def pairs(backend, n, indices):
    return mapped(backend, map_pairs, n, indices.astype(np.uint32), 2)


def row_starts(lengths):
    """Index at which each row begins; the last entry is the number of indices."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def test_every_pair_of_small_sizes(backend):
    most = 9 if backend.name == "python" else 40
    for n in range(2, most + 1):
        expected = np.array(list(itertools.combinations(range(n), 2)))
        np.testing.assert_array_equal(np.transpose(pairs(backend, n, np.arange(len(expected)))), expected)


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_every_triple_of_small_sizes(backend, dtype):
    most = 8 if backend.name == "python" else 30
    for n in range(3, most + 1):
        expected = np.array(list(itertools.combinations(range(n), 3)))
        triples = mapped(backend, map_triples, n, np.arange(len(expected), dtype=dtype), 3)
        np.testing.assert_array_equal(np.transpose(triples), expected)


def test_both_ends_of_every_row_of_pairs(backend):
    # Largest index of every size: rows are found from the back, by a square root that never falls.
    n = LARGEST
    starts = row_starts(np.arange(n - 1, 0, -1))
    assert starts[-1] == math.comb(n, 2)
    rows = np.arange(0, n - 1, 1_000 if backend.name == "python" else 1)
    for indices, columns in ((starts[rows], rows + 1), (starts[rows + 1] - 1, np.full(rows.size, n - 1))):
        first, second = pairs(backend, n, indices)
        np.testing.assert_array_equal(first, rows)
        np.testing.assert_array_equal(second, columns)


@pytest.mark.parametrize(("n", "dtype"), [(LARGEST, np.uint64), (LARGEST_OF_U32, np.uint32)])
def test_both_ends_of_every_first_element_of_triples(backend, n, dtype):
    after = np.arange(n - 1, 1, -1, dtype=np.int64)
    starts = row_starts(after * (after - 1) // 2)
    assert starts[-1] == math.comb(n, 3)
    firsts = np.arange(0, n - 2, 1_000 if backend.name == "python" else 1)
    begin = (firsts, firsts + 1, firsts + 2)
    end = (firsts, np.full(firsts.size, n - 2), np.full(firsts.size, n - 1))
    for indices, expected in ((starts[firsts], begin), (starts[firsts + 1] - 1, end)):
        triples = mapped(backend, map_triples, n, indices.astype(dtype), 3)
        np.testing.assert_array_equal(triples, expected)


# --- insertions ---


def insertions(backend, n, indices):
    return mapped(backend, map_insertions, n, indices.astype(np.uint32), 2)


def after_insertion(solution, i, j):
    other = list(solution)
    other.insert(j, other.pop(i))
    return tuple(other)


def test_every_neighbour_by_insertion_of_small_sizes_has_one_index(backend):
    for n in range(2, 7 if backend.name == "python" else 20):
        pairs = np.transpose(insertions(backend, n, np.arange((n - 1) ** 2)))
        reached = [after_insertion(range(n), i, j) for i, j in pairs.tolist()]
        orders = {after_insertion(range(n), i, j) for i, j in itertools.permutations(range(n), 2)}
        assert len(reached) == len(orders) and set(reached) == orders


def test_the_ends_of_every_row_of_insertions_and_both_sides_of_its_diagonal(backend):
    n = LARGEST
    rows = np.arange(1, n - 1, 1_000 if backend.name == "python" else 1)
    for columns, expected in (
        (np.zeros_like(rows), (rows + 1, np.zeros_like(rows))),
        (rows - 1, (rows + 1, rows - 1)),
        (rows, (rows, rows + 1)),
        (np.full_like(rows, n - 2), (rows, np.full_like(rows, n - 1))),
    ):
        pairs = insertions(backend, n, rows * (n - 1) + columns)
        np.testing.assert_array_equal(pairs, expected)
    np.testing.assert_array_equal(insertions(backend, n, np.array([0, n - 2])), [[0, 0], [1, n - 1]])
