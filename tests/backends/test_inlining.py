"""Functions that are called once are written into their callers, and programs compute the same."""

import numpy as np

from core.lang import Array, atomic_add, barrier, function, i32, kernel, lane, local_array, team_rank, view


@function
def twice(x: i32) -> i32:
    half = x
    return x + half


@function
def early(x: i32) -> i32:
    if x > 2:
        return 7
    return x


@function
def filled(x: i32, rounds: i32, values: Array[i32]) -> i32:
    room = local_array(4, i32)
    total = 0
    for k in range(rounds):
        room[k] = x
        x += 1
    for k in range(rounds):
        total += room[k] * values[k]
    return total


@function
def add(x: i32, sums: Array[i32]):
    barrier()
    if lane() == 0:
        atomic_add(sums, team_rank(), x)


@function
def last(values: Array[i32]) -> i32:
    total = values[0]
    return total


@kernel
def called_once(values: Array[i32], sums: Array[i32]):
    x = twice(1)
    total = 5  # a name that the functions have too
    for k in range(3):
        result = filled(twice(k) + x, 4, values)
        total += result
    two = early(total)
    three = last(view(values, 2))
    add(total * 100 + two * 10 + three + x, sums)


def test_what_is_written_into_the_caller_computes_the_same(backend):
    values = [3, -1, 4, 1, 5]
    total = 5 + sum((2 * (k + 1) + m) * values[m] for k in range(3) for m in range(4))
    expected = total * 100 + 7 * 10 + values[2] + 2
    for size in (1, 7):
        if size <= backend.capabilities.max_team_size:
            sums = backend.upload(np.zeros(2, np.int32))
            backend.launch(called_once, 2, size, backend.upload(np.array(values, np.int32)), sums)
            assert backend.download(sums).tolist() == [expected, expected]
